"""Conversations: direct posts and their answers, as each participant's inbox has them."""

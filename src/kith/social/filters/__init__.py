"""Filters: what a member does not want to read, by words and by single statuses."""

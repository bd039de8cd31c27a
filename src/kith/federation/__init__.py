"""Kith spoken as ActivityPub: who we are to other servers, and who they are to us."""

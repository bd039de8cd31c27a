"""Relays: servers that pass public posts on to each other's members."""

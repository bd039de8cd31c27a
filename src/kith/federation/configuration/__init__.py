"""Relays and lists of servers to block, as models of blueprints."""

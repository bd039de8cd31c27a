"""Copies of a whole server, and servers made of them: used by commands, never loaded by the server itself."""

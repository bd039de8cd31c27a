"""Kith: a community's home on the fediverse and its single sign-on, in one server."""

__version__ = "0.1.0"

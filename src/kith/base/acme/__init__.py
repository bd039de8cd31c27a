"""Certificates from an ACME server (RFC 8555): ordered, kept in a folder, renewed in time.

Nothing of it is loaded unless `KITH_ACME` is on (docs/decisions/0033).
"""

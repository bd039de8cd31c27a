"""Signing in with an account at a SAML identity provider: we are its service."""

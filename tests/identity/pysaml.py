"""pysaml2, which is older than the library whose ciphers it names: its warnings are none of ours."""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
    from saml2.client import Saml2Client
    from saml2.config import IdPConfig, SPConfig
    from saml2.saml import NAMEID_FORMAT_PERSISTENT, NameID
    from saml2.server import Server

__all__ = [
    "BINDING_HTTP_POST",
    "BINDING_HTTP_REDIRECT",
    "NAMEID_FORMAT_PERSISTENT",
    "IdPConfig",
    "NameID",
    "SPConfig",
    "Saml2Client",
    "Server",
]

"""Words made from the API's own names, for what has no words of its own yet."""

from __future__ import annotations

__all__ = ["label_of"]

_WHOLE = (
    "AAGUID",
    "ACS",
    "API",
    "ASN",
    "CSS",
    "DN",
    "GID",
    "ID",
    "IP",
    "JWKS",
    "JWT",
    "LDAP",
    "MFA",
    "OTP",
    "PKCE",
    "SAML",
    "SCIM",
    "SLO",
    "SLS",
    "SNI",
    "SP",
    "SSO",
    "TLS",
    "TOTP",
    "UID",
    "URI",
    "URL",
    "UUID",
)
_SHORT = {word.lower(): word for word in _WHOLE}
_SHORT |= {"uris": "URIs", "idp": "IdP", "oidc": "OpenID", "oauth": "OAuth", "oauth2": "OAuth", "pk": "ID"}


def label_of(name: str) -> str:
    words = [_SHORT.get(word, word) for word in name.strip("_").split("_")]
    first = words[0]
    return " ".join([first if first.isupper() else first[:1].upper() + first[1:], *words[1:]])

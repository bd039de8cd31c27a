"""Scopes of OpenID Connect; those of the two APIs are in `identity.scopes`."""

from __future__ import annotations

from kith.identity.scopes import (
    DEFAULT_SOCIAL,
    ENTITLEMENTS,
    KNOWN,
    OPENID_DEFAULTS,
    PARENTS,
    SOCIAL,
    are_social,
    covers,
    split,
    within,
)

__all__ = [
    "DEFAULT_SOCIAL",
    "ENTITLEMENTS",
    "KNOWN",
    "OPENID_DEFAULTS",
    "PARENTS",
    "SOCIAL",
    "are_social",
    "covers",
    "split",
    "within",
]

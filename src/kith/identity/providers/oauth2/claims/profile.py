"""The standard claims of `profile` that no mapping has to name (OpenID Connect Core 5.1)."""

from __future__ import annotations

from typing import Any

from kith.base.work import Work
from kith.identity.users.pictures import page_of, picture_of
from kith.identity.users.tables import User

NAMES = ("picture", "profile", "website", "locale", "zoneinfo", "updated_at")
_MOST_IN_ADDRESS = 2000


async def profile_claims(work: Work, user: User) -> dict[str, Any]:
    """What we know of somebody; what we do not know is None."""
    website = user.attributes.get("website")
    is_address = (
        isinstance(website, str) and website.startswith(("https://", "http://")) and len(website) <= _MOST_IN_ADDRESS
    )
    return {
        "picture": await picture_of(work, user),
        "profile": await page_of(work, user),
        "website": website if is_address else None,
        "locale": user.locale or None,
        "zoneinfo": user.timezone or None,
        "updated_at": int(user.updated_at.timestamp()),
    }

"""The sources that people can sign in with: on the sign-in page, and to link in their settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import msgspec

from kith.base.work import Work
from kith.identity.sources import store

# The address where signing in through a source begins. Kinds that are not listed are not offered.
WAYS_IN: dict[str, Callable[[str], str]] = {
    "oauth": lambda slug: f"/source/oauth/login/{slug}/",
    "saml": lambda slug: f"/source/saml/{slug}/",
}


class LinkableSource(msgspec.Struct, frozen=True):
    name: str
    icon: str
    to: str


async def offered(work: Work, chosen: Sequence[str], query: Mapping[str, str]) -> list[dict[str, Any]]:
    """The enabled ones of those selected, promoted ones first."""
    if not chosen:
        return []
    wanted, more = set(chosen), f"?{urlencode(query)}" if query else ""
    return [
        {
            "name": one.name,
            "icon_url": one.icon,
            "promoted": one.promoted,
            "challenge": {"component": "redirect", "to": f"{WAYS_IN[one.kind](one.slug)}{more}"},
        }
        for one in await store.enabled_sources(work.db)
        if one.pbm_uuid in wanted and one.kind in WAYS_IN
    ]


async def linkable(work: Work) -> list[LinkableSource]:
    """All enabled ones that lead somewhere; a POST there by somebody who is signed in links."""
    found = await store.enabled_sources(work.db)
    return [LinkableSource(one.name, one.icon, WAYS_IN[one.kind](one.slug)) for one in found if one.kind in WAYS_IN]

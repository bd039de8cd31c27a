"""The sources shown on the sign-in page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import and_, select

from kith.base.db import any_of, query
from kith.base.work import Work
from kith.identity.sources.family import sources

# The address where signing in through a source begins. Kinds that are not listed are not offered.
WAYS_IN: dict[str, Callable[[str], str]] = {}

_chosen = query(
    select(sources.c.kind, sources.c.slug, sources.c.name, sources.c.icon, sources.c.promoted)
    .where(and_(sources.c.enabled, any_of(sources.c.pbm_uuid, "ids")))
    .order_by(sources.c.promoted.desc(), sources.c.name, sources.c.slug),
    tuple,
)


async def offered(work: Work, chosen: Sequence[str]) -> list[dict[str, Any]]:
    """The enabled ones of those selected, promoted ones first."""
    if not chosen:
        return []
    return [
        {
            "name": name,
            "icon_url": icon,
            "promoted": promoted,
            "challenge": {"component": "redirect", "to": WAYS_IN[kind](slug)},
        }
        for kind, slug, name, icon, promoted in await work.db.all(_chosen, ids=list(chosen))
        if kind in WAYS_IN
    ]

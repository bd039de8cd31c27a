"""NodeInfo: what kind of server this is, and how much goes on here."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import lru_cache

import msgspec

from kith import __version__
from kith.base.settings import Settings
from kith.base.work import Work
from kith.federation.vocabulary.outgoing.contexts import Doc
from kith.identity import for_social as identity
from kith.social.instance import store

__all__ = ["SCHEMA", "VERSIONS", "Usage", "document", "links", "pages_in", "project_pages", "usage_of"]

SCHEMA = "http://nodeinfo.diaspora.software/ns/schema"
VERSIONS = ("2.0", "2.1")
UPSTREAM = "mastodon"  # whose dialect of the API is spoken here: client libraries look for it
_LABELS = {"homepage": "homepage", "repository": "repository", "source": "repository", "source code": "repository"}
MONTH, HALF_YEAR = timedelta(days=30), timedelta(days=180)


class Usage(msgspec.Struct, frozen=True):
    members: int
    active_month: int
    active_half_year: int
    posts: int


async def usage_of(work: Work) -> Usage:
    today = work.now.date()

    async def active(since: timedelta) -> int:
        return await store.present(work.db, (today - since).isoformat(), today.isoformat())

    return Usage(
        members=await identity.count_members(work),
        active_month=await active(MONTH),
        active_half_year=await active(HALF_YEAR),
        posts=await store.count_said(work.db),
    )


@lru_cache(1)
def project_pages() -> dict[str, str]:
    """Where the software, not this server, is at home, as far as its package says: 2.1 has a place for it."""
    from importlib import metadata  # noqa: PLC0415 - loaded when first used

    try:
        found = metadata.metadata("kith-server").get_all("Project-URL", [])
    except metadata.PackageNotFoundError:
        return {}
    return pages_in(found)


def pages_in(urls: Sequence[str]) -> dict[str, str]:
    """`Project-URL` lines are a label, a comma and an address; of several labels for the same the first counts."""
    pages: dict[str, str] = {}
    for label, _, url in (one.partition(",") for one in urls):
        name = _LABELS.get(label.strip().lower())
        if name is not None and url.strip().startswith(("https://", "http://")):
            pages.setdefault(name, url.strip())
    return pages


def document(settings: Settings, version: str, usage: Usage) -> Doc:
    software = {"name": "kith", "version": __version__}
    if version == "2.1":
        software |= project_pages() | ({"repository": settings.source_url} if settings.source_url else {})
    return {
        "version": version,
        "software": software,
        "protocols": ["activitypub"],
        "services": {"inbound": [], "outbound": []},
        "openRegistrations": settings.registrations != "closed",
        "usage": {
            "users": {
                "total": usage.members,
                "activeMonth": usage.active_month,
                "activeHalfyear": usage.active_half_year,
            },
            "localPosts": usage.posts,
        },
        "metadata": {
            "nodeName": settings.title,
            "nodeDescription": settings.description,
            "upstream": {"name": UPSTREAM},
        },
    }


def links(settings: Settings) -> Doc:
    return {
        "links": [
            {"rel": f"{SCHEMA}/{version}", "href": f"{settings.base_url}/nodeinfo/{version}"} for version in VERSIONS
        ]
    }

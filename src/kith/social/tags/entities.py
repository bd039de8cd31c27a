"""Tags on the wire: the last seven days of each, and what the viewer has to do with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from kith.base.settings import Settings
from kith.base.work import Work
from kith.social.accounts.tables import Account
from kith.social.addresses import profile_url, tag_url
from kith.social.ids import AccountId
from kith.social.moments import day_of
from kith.social.tags import store
from kith.social.tags.tables import FeaturedTag, Tag

DAYS = 7


async def render_tags(work: Work, tags: Sequence[Tag], me: AccountId | None) -> list[dict[str, Any]]:
    """In the order they came, whether there are any uses of them or not."""
    ids = [tag.id for tag in tags if tag.id]
    days = days_before(work.now)
    used = {(tag, day): (people, uses) for tag, day, people, uses in await store.days_of(work.db, ids, days[-1])}
    shown = [_tag(work.settings, tag, days, used) for tag in tags]
    if me is None:
        return shown
    followed, featured = await store.followed_by(work.db, me, ids), await store.featured_by(work.db, me, ids)
    return [
        told | {"following": tag.id in followed, "featuring": tag.id in featured}
        for told, tag in zip(shown, tags, strict=True)
    ]


def days_before(now: datetime) -> list[str]:
    """Today and the six days before, newest first."""
    return [(now - timedelta(days=ago)).date().isoformat() for ago in range(DAYS)]


def _tag(
    settings: Settings, tag: Tag, days: Sequence[str], used: dict[tuple[int, str], tuple[int, int]]
) -> dict[str, Any]:
    return {
        "id": str(tag.id) if tag.id else "",
        "name": tag.display,
        "url": tag_url(settings, tag.name),
        "history": history(tag.id, days, used),
    }


def history(id: int, days: Sequence[str], used: Mapping[tuple[int, str], tuple[int, int]]) -> list[dict[str, str]]:
    """How many people used it on each day, and how often; `used` is by its id and the day."""
    return [_day(day, *used.get((id, day), (0, 0))) for day in days]


def _day(day: str, people: int, uses: int) -> dict[str, str]:
    midnight = datetime.fromisoformat(day).replace(tzinfo=UTC)
    return {"day": str(int(midnight.timestamp())), "uses": str(uses), "accounts": str(people)}


def render_featured(settings: Settings, account: Account, featured: FeaturedTag) -> dict[str, Any]:
    profile = profile_url(settings, account.username) if account.is_local else account.url or account.uri
    return {
        "id": str(featured.id),
        "name": featured.display,
        "url": f"{profile}/tagged/{quote(featured.display, safe='')}",
        "statuses_count": str(featured.statuses_count),
        "last_status_at": day_of(featured.last_status_at),
    }

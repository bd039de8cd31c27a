from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import and_, select

from kith.base.db import any_of, query
from kith.base.settings import Settings
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.addresses import file_url, tag_url
from kith.social.announcements import store
from kith.social.announcements.tables import Announcement, ReactionCount
from kith.social.emojis.service import find_named, used_in_each
from kith.social.emojis.tables import Emoji
from kith.social.ids import AccountId
from kith.social.moments import maybe, moment
from kith.social.pages import numbers
from kith.social.statuses.tables import PUBLIC, UNLISTED, statuses
from kith.social.text.html import to_html
from kith.social.text.parts import find, hashtags, mentions, normal_tag

MOST_MENTIONS = 50  # in all that is shown at once
MOST_STATUSES = 50

_linked = query(
    select(statuses.c.id, statuses.c.url).where(
        and_(
            any_of(statuses.c.id, "ids"),
            statuses.c.visibility.in_((PUBLIC, UNLISTED)),
            statuses.c.deleted_at.is_(None),
        )
    ),
    tuple,
)


async def render_all(
    work: Work, shown: Sequence[Announcement], me: AccountId | None, read: set[int]
) -> list[dict[str, Any]]:
    """As somebody sees them; without a viewer, as they are streamed to everybody."""
    if not shown:
        return []
    texts = [one.text for one in shown]
    people, linked = await _people(work, texts), await _statuses(work, texts)
    emojis = await used_in_each(work, [([text], "") for text in texts])
    counts = await store.reaction_counts(work.db, [one.id for one in shown], me)
    custom = await find_named(work, [one.name for one in counts if one.name.isascii()])
    found = []
    for one, used in zip(shown, emojis, strict=True):
        told = _render(work, one, people, linked) | {"emojis": used}
        told["reactions"] = [
            render_reaction(work.settings, count, custom, with_me=me is not None)
            for count in counts
            if count.announcement_id == one.id
        ]
        found.append(told if me is None else told | {"read": one.id in read})
    return found


async def render_for_staff(work: Work, shown: Sequence[Announcement]) -> list[dict[str, Any]]:
    return [
        told
        | {
            "text": one.text,
            "published": one.published,
            "scheduled_at": maybe(one.scheduled_at),
            "mailed_at": maybe(one.mailed_at),
        }
        for one, told in zip(shown, await render_all(work, shown, None, set()), strict=True)
    ]


def render_reaction(
    settings: Settings, one: ReactionCount, custom: Mapping[str, Emoji], *, with_me: bool
) -> dict[str, Any]:
    told: dict[str, Any] = {"name": one.name, "count": one.count}
    if with_me:
        told["me"] = bool(one.mine)
    emoji = custom.get(one.name)
    if emoji is not None:
        told["url"] = file_url(settings, emoji.file)
        told["static_url"] = file_url(settings, emoji.static_file or emoji.file)
    return told


def _render(
    work: Work, one: Announcement, people: Mapping[tuple[str, str], Account], linked: Mapping[int, str]
) -> dict[str, Any]:
    named = {account.id: account for name in mentions(one.text) if (account := people.get(name)) is not None}
    addresses = {name: (account.url or account.uri, account.username) for name, account in people.items()}
    return {
        "id": str(one.id),
        "content": to_html(one.text, addresses, lambda name: tag_url(work.settings, name)),
        "starts_at": maybe(one.starts_at),
        "ends_at": maybe(one.ends_at),
        "all_day": one.all_day,
        "published_at": moment(one.published_at or one.created_at),
        "updated_at": moment(one.updated_at),
        "mentions": [
            {
                "id": str(account.id),
                "username": account.username,
                "url": account.url or account.uri,
                "acct": account.acct,
            }
            for account in named.values()
        ],
        "statuses": [{"id": str(id), "url": linked[id]} for id in _status_ids(work, one.text) if id in linked],
        "tags": [{"name": name, "url": tag_url(work.settings, normal_tag(name))} for name in hashtags(one.text)],
    }


async def _people(work: Work, texts: Sequence[str]) -> dict[tuple[str, str], Account]:
    """Whoever is mentioned and known here, by the name as it is written."""
    named = list(dict.fromkeys(one for text in texts for one in mentions(text)))[:MOST_MENTIONS]
    is_ours = work.settings.is_own_domain
    keys = {(name, domain): (name, "" if is_ours(domain) else domain) for name, domain in named}
    known = await accounts.find_all_named(work.db, list(dict.fromkeys(keys.values())))
    return {
        spelled: one
        for spelled, key in keys.items()
        if (one := known.get(key)) is not None and one.is_listed and not one.is_gone
    }


async def _statuses(work: Work, texts: Sequence[str]) -> dict[int, str]:
    """Posts of this server that are linked to and that everybody may see."""
    ids = list(dict.fromkeys(id for text in texts for id in _status_ids(work, text)))[:MOST_STATUSES]
    return dict(await work.db.all(_linked, ids=ids)) if ids else {}


def _status_ids(work: Work, text: str) -> list[int]:
    here = (f"{work.settings.base_url}/@", f"{work.settings.base_url}/users/")
    links = [one.text.partition("?")[0].partition("#")[0] for one in find(text) if one.kind == "url"]
    return numbers([link.rstrip("/").rpartition("/")[2] for link in links if link.startswith(here)])

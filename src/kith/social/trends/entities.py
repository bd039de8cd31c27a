from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.ids import AccountId, StatusId
from kith.social.moments import maybe
from kith.social.statuses import entities as status_entities
from kith.social.statuses.cards.entities import render_cards
from kith.social.tags.entities import days_before, history, render_tags
from kith.social.tags.tables import Tag
from kith.social.trends import review_store, store
from kith.social.trends.tables import LinkPublisher, TrendAuthor


async def render_tags_for_staff(work: Work, tags: Sequence[Tag], me: AccountId | None) -> list[dict[str, Any]]:
    by_default = (await store.settings(work.db)).trendable_by_default
    return [
        told
        | {
            "trendable": by_default if tag.trendable is None else tag.trendable,
            "usable": tag.usable,
            "listable": tag.listable,
            "requires_review": tag.reviewed_at is None,
        }
        for tag, told in zip(tags, await render_tags(work, tags, me), strict=True)
    ]


async def render_links(work: Work, card_ids: Sequence[int]) -> list[dict[str, Any]]:
    """Each as a Trends::Link, in the order they came."""
    shown = await render_cards(work, card_ids)
    days = days_before(work.now)
    shared = {
        (day.card_id, day.day): (day.accounts, day.uses)
        for day in await store.history_of_links(work.db, card_ids, days[-1])
    }
    return [shown[id] | {"history": history(id, days, shared)} for id in card_ids if id in shown]


async def render_links_for_staff(work: Work, card_ids: Sequence[int]) -> list[dict[str, Any]]:
    waiting = await review_store.links_waiting(work.db, card_ids)
    return [
        told | {"id": str(id), "requires_review": id in waiting}
        for id, told in zip(card_ids, await render_links(work, card_ids), strict=True)
    ]


async def render_statuses_for_staff(work: Work, ids: Sequence[StatusId], me: AccountId | None) -> list[bytes]:
    """Also of authors who block the viewer: they are for everybody."""
    shown = await status_entities.render_for_staff(work, ids, me)
    waiting = await review_store.statuses_waiting(work.db, ids)
    return [
        b'%b,"requires_review":%b}' % (shown[id][:-1], b"true" if id in waiting else b"false")
        for id in ids
        if id in shown
    ]


def render_publisher(publisher: LinkPublisher, *, by_default: bool) -> dict[str, Any]:
    return {
        "id": str(publisher.id),
        "domain": publisher.domain,
        "trendable": by_default if publisher.trendable is None else publisher.trendable,
        "reviewed_at": maybe(publisher.reviewed_at),
        "requested_review_at": maybe(publisher.requested_review_at),
        "requires_review": publisher.reviewed_at is None,
    }


async def render_authors(work: Work, authors: Sequence[TrendAuthor]) -> list[dict[str, Any]]:
    """Whose posts were asked about or reviewed."""
    by_default = (await store.settings(work.db)).trendable_by_default
    known = await accounts.find_all(work.db, [one.account_id for one in authors])
    return [
        {
            "id": str(one.account_id),
            "acct": known[one.account_id].acct,
            "trendable": by_default if one.trendable is None else one.trendable,
            "reviewed_at": maybe(one.reviewed_at),
            "requested_review_at": maybe(one.requested_review_at),
            "requires_review": one.reviewed_at is None,
        }
        for one in authors
        if one.account_id in known
    ]

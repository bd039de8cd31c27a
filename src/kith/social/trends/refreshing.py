"""Scores, reckoned anew from what people did: every few minutes, and when somebody or something is gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from kith.base.work import Work
from kith.social.statuses.cards import store as cards
from kith.social.statuses.languages import is_language
from kith.social.trends import figures, review_store, store
from kith.social.trends.figures import Liked, LinkDay
from kith.social.trends.scores import (
    LEAST_STATUS_SCORE,
    LINK_HALF_LIFE,
    TAG_HALF_LIFE,
    Peak,
    scored,
    status_score,
)
from kith.social.trends.store import ScoreRow

NEEDED = ("title", "description", "image", "provider_name")  # of a page to be an article


async def refresh(work: Work) -> None:
    """All is counted before anything is written, and by one worker at a time."""
    people = await figures.people_by_tag(work.db, work.now)
    links = await figures.shared_links(work.db, work.now)
    days = await figures.days_of_links(work.db, links, work.now)
    pages = {id: data for id, data, _ in await cards.find_shown(work.db, links)}
    liked = await figures.liked_statuses(work.db, work.now)
    await work.db.hold("trends")
    await _score_tags(work, people)
    await _score_links(work, links, days, pages)
    await _score_statuses(work, liked)


async def _score_tags(work: Work, people: Mapping[int, Mapping[str, int]]) -> None:
    peaks = await store.tag_peaks(work.db)
    rows = []
    for id in sorted({*peaks, *people}):
        score, peak = scored(peaks.get(id, Peak()), people.get(id, {}), work.now, TAG_HALF_LIFE)
        rows.append(ScoreRow(id, score, peak))
    await store.score_tags(work.db, rows)


async def _score_links(
    work: Work, ids: Sequence[int], days: Sequence[LinkDay], pages: Mapping[int, dict[str, Any]]
) -> None:
    people: dict[int, dict[str, int]] = {}
    for day in days:
        if day.card_id in pages and is_article(pages[day.card_id]):
            people.setdefault(day.card_id, {})[day.day] = day.accounts
    peaks = await store.link_peaks(work.db, ids)
    rows = []
    for id in ids:
        score, peak = scored(peaks.get(id, Peak()), people.get(id, {}), work.now, LINK_HALF_LIFE)
        rows.append(ScoreRow(id, score, peak))
    await store.score_links(work.db, await _with_pages(work, rows, pages), days)


async def _score_statuses(work: Work, liked: Sequence[Liked]) -> None:
    scores = {one.id: status_score(one.marks, work.now - one.created_at) for one in liked}
    await store.score_statuses(work.db, {id: score for id, score in scores.items() if score >= LEAST_STATUS_SCORE})


def is_article(page: Mapping[str, Any]) -> bool:
    return page["type"] == "link" and all(page[name] for name in NEEDED)


async def _with_pages(work: Work, rows: Sequence[ScoreRow], pages: Mapping[int, dict[str, Any]]) -> list[ScoreRow]:
    """Each with its site and its language."""
    hosts = {row.id: host_of(pages[row.id]["url"]) for row in rows if row.peak.at is not None and row.id in pages}
    sites = await _publishers(work, sorted({host for host in hosts.values() if host}))
    return [
        row
        if row.id not in hosts
        else row._replace(publisher_id=sites.get(hosts[row.id]), language=_language(pages[row.id]))
        for row in rows
    ]


def _language(page: Mapping[str, Any]) -> str | None:
    language = page["language"]
    return language if isinstance(language, str) and is_language(language) else None


def host_of(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def domains_of(host: str) -> list[str]:
    """The host and the domains above it, the longest first."""
    labels = host.split(".")
    return [".".join(labels[place:]) for place in range(len(labels))]


async def _publishers(work: Work, hosts: Sequence[str]) -> dict[str, int]:
    """The site that each host belongs to: the closest that is known, or a new one."""
    names = sorted({name for host in hosts for name in domains_of(host)})
    known = await review_store.publishers_named(work.db, names)
    new = [host for host in hosts if not any(name in known for name in domains_of(host))]
    for host in new:
        await review_store.add_publisher(work.db, work.new_id(), host, work.now)
    if new:
        known |= await review_store.publishers_named(work.db, new)
    return {host: next(known[name].id for name in domains_of(host) if name in known) for host in hosts}

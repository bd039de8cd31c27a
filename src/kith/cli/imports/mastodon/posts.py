"""Posts with their ids, dates and addresses, and what belongs to them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from kith.cli.imports.mastodon.media import media_row, told
from kith.cli.imports.mastodon.move import Move, RowBatch
from kith.cli.imports.mastodon.staging import Row
from kith.cli.imports.mastodon.values import at, is_true, must_at, numbers, text, uri_in, web_address, words
from kith.social.addresses import boost_uri, profile_url, status_uri, status_url, tag_url
from kith.social.ids import StatusId
from kith.social.statuses.tables import NOT_KNOWN
from kith.social.text.html import kept, to_html
from kith.social.text.parts import normal_tag
from kith.social.versions import FIRST
from kith.social.webpages.values import is_web

__all__ = [
    "BOOSTS",
    "POSTS",
    "take_boosts",
    "take_edits",
    "take_polls",
    "take_posts",
    "take_stats",
    "take_tags",
    "take_votes",
]

_S = (
    "t.*, a.username, a.domain, a.id_scheme, p.id AS poll_number, q.quoted_status_id, q.state AS quote_number,"
    " q.approval_uri, c.uri AS thread, y.name AS app_name, y.website AS app_website,"
    " (SELECT id FROM kept_statuses WHERE id = t.in_reply_to_id) AS parent_id,"
    " (SELECT id FROM kept_statuses WHERE id = q.quoted_status_id) AS quoted_id"
    " FROM statuses t JOIN kept_statuses k ON k.id = t.id JOIN accounts a ON a.id = t.account_id"
    " LEFT JOIN polls p ON p.id = t.poll_id LEFT JOIN quotes q ON q.status_id = t.id"
    " LEFT JOIN conversations c ON c.id = t.conversation_id LEFT JOIN oauth_applications y ON y.id = t.application_id"
)
POSTS = f"{_S} WHERE t.reblog_of_id IS NULL"
BOOSTS = f"{_S} WHERE t.reblog_of_id IS NOT NULL"
_QUOTE_STATES = {0: "pending", 1: "accepted", 2: "rejected", 3: "revoked", 4: "deleted"}
_AUTOMATIC = 16  # of the number of a quote policy, the upper half says who may without being asked
_PUBLIC, _FOLLOWERS = 1 << 1, 1 << 2
LONGEST_LANGUAGE = 35
MOST_ANCESTORS = 4096
_COUNTS = ("replies_count", "reblogs_count", "favourites_count", "quotes_count")


async def take_posts(move: Move, batch: RowBatch) -> None:
    staging, ids = move.staging, [row["id"] for row in batch.items]
    media = staging.by("media_attachments", "status_id", ids)
    tags = _tags(move, ids)
    marks = ",".join("?" * len(ids))
    mentioned: dict[int, list[Row]] = {}
    for one in staging.all(
        "SELECT m.status_id, m.silent, a.id, a.username, a.domain, a.url, a.uri FROM mentions m"
        f" JOIN accounts a ON a.id = m.account_id JOIN kept_accounts k ON k.id = a.id WHERE m.status_id IN ({marks})",
        *ids,
    ):
        mentioned.setdefault(one["status_id"], []).append(one)
    for row in batch.items:
        people, named = mentioned.get(row["id"], []), tags.get(row["id"], [])
        values = _common(move, row) | _said(move, row, people) | _answered(move, row) | _quoting(row)
        values["media_ids"] = _attached(row, media.get(row["id"], []))
        values["tag_names"] = [name for _, name in named]
        values["poll_id"] = row["poll_number"]
        batch.rows.add("social_statuses", **values)
        for one in people:
            silent = is_true(one, "silent")
            batch.rows.add("social_mentions", status_id=row["id"], account_id=one["id"], silent=silent)
        for tag_id, _ in named:
            author = row["account_id"]
            batch.rows.add("social_status_tags", tag_id=tag_id, status_id=row["id"], account_id=author)
        if row["domain"] is not None:
            thread, stamp = text(row, "thread") or None, text(row, "approval_uri") or None
            batch.rows.add("federation_posts", status_id=row["id"], conversation=thread, stamp=stamp)
        batch.taken += 1


async def take_boosts(move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        values = _common(move, row) | {
            "in_reply_to_id": None,
            "in_reply_to_account_id": None,
            "reblog_of_id": row["reblog_of_id"],
            "text": "",
            "content": "",
            "spoiler_text": "",
            "sensitive": is_true(row, "sensitive"),
            "media_ids": [],
            "tag_names": [],
            "quote_policy": "public",
        }
        batch.rows.add("social_statuses", **values)
        batch.taken += 1


def _common(move: Move, row: Row) -> dict[str, Any]:
    is_local, id = row["domain"] is None, StatusId(row["id"])
    uri, url = uri_in(row, "uri"), web_address(row, "url")
    if is_local:
        name = text(row, "username")
        author = move.actor_uri(row["account_id"], name, row["id_scheme"])
        make: Callable[[str, StatusId], str] = status_uri if row["reblog_of_id"] is None else boost_uri
        uri = uri or make(author, id)
        url = status_url(move.settings, name, id)
    made = must_at(row, "created_at", move.started_at)
    application = {"name": row["app_name"], "website": row["app_website"]} if row["app_name"] else None
    return {
        "id": id,
        "version": FIRST,
        "account_id": row["account_id"],
        "local": is_local,
        "uri": uri or f"{move.settings.base_url}/statuses/{id}",
        "url": url or (uri if is_web(uri) else None),
        "visibility": min(max(row["visibility"] or 0, 0), 4),
        "conversation_id": row["conversation_id"] or id,
        "language": (text(row, "language")[:LONGEST_LANGUAGE]) or None,
        "application": application if is_local else None,
        "replies_count": 0,
        "reblogs_count": 0,
        "favourites_count": 0,
        "quotes_count": 0,
        "created_at": made,
        "edited_at": at(row, "edited_at"),
        "fetched_at": None if is_local else move.started_at,
    }


def _said(move: Move, row: Row, people: list[Row]) -> dict[str, Any]:
    """People here wrote plain text; of others there is the HTML that came."""
    said = text(row, "text")
    if row["domain"] is not None:
        content = kept(said)
        said = ""
    else:
        content = to_html(said, _named(move, people), lambda tag: tag_url(move.settings, tag))
    return {
        "text": said,
        "content": content,
        "spoiler_text": text(row, "spoiler_text"),
        "sensitive": is_true(row, "sensitive"),
    }


def _named(move: Move, people: list[Row]) -> dict[tuple[str, str], tuple[str, str]]:
    """As they may be spelled in the text: those who live here with the domain or without."""
    named: dict[tuple[str, str], tuple[str, str]] = {}
    for one in people:
        name = text(one, "username")
        if one["domain"] is None:
            known = (profile_url(move.settings, name), name)
            named |= {(name.lower(), ""): known, (name.lower(), move.settings.domain.lower()): known}
        else:
            shown = web_address(one, "url") or web_address(one, "uri")
            named[name.lower(), text(one, "domain").lower()] = (shown, name)
    return named


def _answered(move: Move, row: Row) -> dict[str, Any]:
    if row["parent_id"] is not None and not _goes_in_a_circle(move, row):
        return {"in_reply_to_id": row["parent_id"], "in_reply_to_account_id": row["in_reply_to_account_id"]}
    if is_true(row, "reply") or row["in_reply_to_id"] is not None:
        return {"in_reply_to_id": NOT_KNOWN, "in_reply_to_account_id": row["in_reply_to_account_id"] or NOT_KNOWN}
    return {"in_reply_to_id": None, "in_reply_to_account_id": None}


def _goes_in_a_circle(move: Move, row: Row) -> bool:
    """Whether a post is above itself, which Mastodon does not prevent; or the way up is too long to tell.

    In every circle some post is older than what it answers, by their ids: only those are followed, and let go.
    """
    id = row["parent_id"]
    if id < row["id"]:
        return False
    for _ in range(MOST_ANCESTORS):
        if id is None or id == row["id"]:
            return id is not None
        id = move.staging.one("SELECT in_reply_to_id FROM statuses WHERE id = ?", id)
    return True


def _quoting(row: Row) -> dict[str, Any]:
    policy = int(row["quote_approval_policy"] or 0) >> _AUTOMATIC
    allowed = "public" if policy & _PUBLIC else "followers" if policy & _FOLLOWERS else "nobody"
    if row["quote_approval_policy"] is None:
        allowed = "public"  # a release that knew no quotes
    state = _QUOTE_STATES.get(int(row["quote_number"] or 0)) if row["quoted_id"] is not None else None
    return {"quoted_id": row["quoted_id"], "quote_state": state, "quote_policy": allowed}


def _attached(row: Row, media: list[Row]) -> list[int]:
    """In the order that was chosen; older posts have none."""
    there = [one["id"] for one in media]
    ordered = [id for id in numbers(row, "ordered_media_attachment_ids") if id in there]
    return ordered or there


def _tags(move: Move, ids: list[int]) -> dict[int, list[tuple[int, str]]]:
    marks = ",".join("?" * len(ids))
    found: dict[int, list[tuple[int, str]]] = {}
    for row in move.staging.all(
        "SELECT s.status_id, t.id, t.name FROM statuses_tags s JOIN tags t ON t.id = s.tag_id"
        f" JOIN kept_tags k ON k.id = t.id WHERE s.status_id IN ({marks}) ORDER BY t.id",
        *ids,
    ):
        named = (row["id"], normal_tag(row["name"]))
        if named not in found.setdefault(row["status_id"], []):
            found[row["status_id"]].append(named)
    return found


async def take_tags(move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        name = text(row, "name")
        batch.rows.add(
            "social_tags",
            id=row["id"],
            name=normal_tag(name),
            display=text(row, "display_name") or name,
            usable=is_true(row, "usable", default=True),
            listable=is_true(row, "listable", default=True),
            trendable=None if row["trendable"] is None else is_true(row, "trendable"),
            last_status_at=at(row, "last_status_at"),
            created_at=must_at(row, "created_at", move.started_at),
            reviewed_at=at(row, "reviewed_at"),
        )
        batch.taken += 1


async def take_stats(_move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        counts: dict[str, Any] = {name: min(max(row[name] or 0, 0), 2**31 - 1) for name in _COUNTS}
        batch.rows.change("social_statuses", row["status_id"], **counts)
        batch.taken += 1


async def take_polls(move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        options, tallies = words(row, "options"), numbers(row, "cached_tallies")
        ends, voters = at(row, "expires_at"), row["voters_count"]
        batch.rows.add(
            "social_polls",
            id=row["id"],
            status_id=row["status_id"],
            account_id=row["account_id"],
            options=options,
            tallies=(tallies + [0] * len(options))[: len(options)],
            voters_count=min(voters, 2**31 - 1) if voters is not None else None,
            multiple=is_true(row, "multiple"),
            hide_totals=is_true(row, "hide_totals"),
            expires_at=ends,
            ended_at=ends if _is_over(ends, move.started_at) else None,
            fetched_at=None,
        )
        batch.taken += 1


def _is_over(ends: datetime | None, now: datetime) -> bool:
    """Whoever took part was told there; nobody is told again."""
    return ends is not None and ends <= now


async def take_votes(move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        batch.rows.add(
            "social_poll_votes",
            id=row["id"],
            poll_id=row["poll_id"],
            account_id=row["account_id"],
            choice=int(row["choice"] or 0),
            created_at=must_at(row, "created_at", move.started_at),
        )
        batch.taken += 1


async def take_edits(move: Move, batch: RowBatch) -> None:
    ids = [id for row in batch.items for id in numbers(row, "ordered_media_attachment_ids")]
    media = {
        id: [media_row(move, one) for one in rows if one["account_id"] is not None]
        for id, rows in move.staging.by("media_attachments", "id", ids).items()
    }
    for row in batch.items:
        said = text(row, "text")
        is_local = row["domain"] is None
        tag = lambda name: tag_url(move.settings, name)  # noqa: E731 - said where it is used
        batch.rows.add(
            "social_status_edits",
            id=row["id"],
            status_id=row["status_id"],
            text=said if is_local else "",
            content=to_html(said, {}, tag) if is_local else kept(said),
            spoiler_text=text(row, "spoiler_text"),
            sensitive=is_true(row, "sensitive"),
            media=[told(one) for id in numbers(row, "ordered_media_attachment_ids") for one in media.get(id, [])],
            poll_options=words(row, "poll_options") or None,
            created_at=must_at(row, "created_at", move.started_at),
        )
        batch.taken += 1

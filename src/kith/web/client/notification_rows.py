"""Groups of notifications as pages show them: who did what, and the post that it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from html import unescape
from typing import Any

import msgspec
from markupsafe import Markup, escape

from kith.base.work import Work
from kith.social.ids import AccountId
from kith.web.client.people import shown_people
from kith.web.client.readers import PageReader
from kith.web.client.status_html import page_of, piece
from kith.web.shown_posts import emphasised

__all__ = ["NotificationGroups", "named", "newest_of", "rows_of"]

LONGEST_EXCERPT = 200
# Of these the post is one's own, and a line of it is enough.
_IN_SHORT = frozenset(("favourite", "reblog"))
_ICONS = {
    "mention": "at",
    "status": "bell",
    "reblog": "boost",
    "follow": "people",
    "follow_request": "people",
    "favourite": "star",
    "poll": "poll",
    "update": "pen",
    "quoted_update": "pen",
    "quote": "quote",
    "admin.sign_up": "people",
    "admin.report": "flag",
    "moderation_warning": "warning",
    "severed_relationships": "warning",
}

_posts = msgspec.json.Decoder()


class NotificationGroups(msgspec.Struct):
    """What the API answers. Posts stay as they are, so that their pieces are found by them."""

    accounts: list[dict[str, Any]]
    statuses: list[msgspec.Raw]
    notification_groups: list[dict[str, Any]]


def named(text: str, name: Markup) -> Markup:
    """A sentence with somebody's name, which is HTML, where `{name}` stands in it."""
    return Markup(str(escape(text)).replace("{name}", name))  # noqa: S704 - escaped


def newest_of(found: NotificationGroups) -> int:
    return max((int(one["most_recent_notification_id"]) for one in found.notification_groups), default=0)


def rows_of(
    work: Work, found: NotificationGroups, me: AccountId, reader: PageReader, *, read: int
) -> list[dict[str, Any]]:
    """Newer ones than `read` are marked as new. A post is shown whole once, and then in short."""
    people = {one["id"]: one for one in shown_people(found.accounts)}
    posts = {one["id"]: (one, bytes(raw)) for raw in found.statuses for one in (_posts.decode(raw),)}
    whole: set[str] = set()
    rows = []
    for group in found.notification_groups:
        row = _row(group, people, read=read)
        post, raw = posts.get(group.get("status_id", ""), (None, b""))
        if post is not None:
            id = (post["reblog"] or post)["id"]
            if group["type"] in _IN_SHORT or id in whole:
                row["short"] = _in_short(post)
            else:
                whole.add(id)
                row["post"] = Markup(piece(work, raw, me, reader))  # noqa: S704 - our own
        rows.append(row)
    return rows


def _row(group: Mapping[str, Any], people: Mapping[str, dict[str, Any]], *, read: int) -> dict[str, Any]:
    senders = [people[id] for id in group["sample_account_ids"] if id in people]
    return {
        "key": group["group_key"],
        "id": group["most_recent_notification_id"],
        "type": group["type"],
        "icon": _ICONS.get(group["type"], "bell"),
        "at": datetime.fromisoformat(group["latest_page_notification_at"]),
        "people": senders,
        "name": _name(senders),
        "others": group["notifications_count"] - 1,
        "is_new": group["most_recent_notification_id"] > read,
        "post": None,
        "short": None,
        "subject": _subject(group),
    }


def _subject(group: Mapping[str, Any]) -> Any:
    """What it is about where that is no post."""
    for name in ("report", "moderation_warning", "event", "collection", "annual_report"):
        if group.get(name):
            return group[name]
    return None


def _name(senders: Sequence[Mapping[str, Any]]) -> Markup:
    if not senders:
        return Markup("")
    return Markup('<a class="who" href="/@{}">{}</a>').format(senders[0]["acct"], senders[0]["shown_name"])


def _in_short(post: dict[str, Any]) -> dict[str, Any]:
    one = post["reblog"] or post
    said = one["spoiler_text"] or " ".join(unescape(Markup(one["content"]).striptags()).split())  # noqa: S704 - only its text is taken
    if len(said) > LONGEST_EXCERPT:
        said = f"{said[:LONGEST_EXCERPT]}…"
    text = Markup(emphasised(said, one["emojis"]))  # noqa: S704 - escaped
    return {"address": page_of(one), "text": text, "language": one["language"] or ""}

"""From what another server wrote of a post to rows of ours: pure functions."""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from kith.base.ids import id_at
from kith.federation.people.tables import RemoteActor
from kith.federation.vocabulary.incoming import IncomingNote
from kith.federation.vocabulary.incoming.attachments import IncomingAttachment
from kith.federation.vocabulary.incoming.policies import approved
from kith.federation.vocabulary.incoming.polls import IncomingPoll
from kith.federation.vocabulary.incoming.tags import IncomingHashtag
from kith.social.ids import AccountId, StatusId
from kith.social.media.tables import Media
from kith.social.statuses.tables import Poll
from kith.social.text.html import kept
from kith.social.text.languages import is_language
from kith.social.text.parts import is_tag, normal_tag

__all__ = [
    "FRESH",
    "content_of",
    "created_at",
    "id_of",
    "language_of",
    "media_row",
    "poll_row",
    "quote_policy",
    "tags_of",
    "warning_of",
]

FRESH = timedelta(hours=6)
WARNING_LENGTH = 10_000
JUST_NOW = timedelta(seconds=10)
_EARLIEST = datetime(1970, 1, 2, tzinfo=UTC)
_MIME_LENGTH = 100


def created_at(published: datetime | None, now: datetime) -> datetime:
    """When it says it was written; never in the future, and on arrival where it does not say."""
    return now if published is None or published > now else published


def id_of(at: datetime, now: datetime) -> StatusId:
    """An id of about that moment, so that posts sort by when they were written.

    What was written just now sorts by when it came, since most servers tell seconds. Of older ones the rest of the
    second is drawn; two that draw the same are told by the database.
    """
    at = now if now - at < JUST_NOW else max(at, _EARLIEST)
    if at.microsecond == 0:
        at += timedelta(milliseconds=random.randrange(1000))  # noqa: S311 - no secret
    return StatusId(id_at(min(at, now), random.randrange(1 << 16)))  # noqa: S311


def content_of(note: IncomingNote) -> str:
    return kept(note.content.html)


def warning_of(note: IncomingNote) -> str:
    return note.content.warning[:WARNING_LENGTH]


def language_of(note: IncomingNote) -> str | None:
    """In the spelling that is used here: `zh-Hant`, and `de` for a `de` of any length."""
    given = note.content.language
    if given is None:
        return None
    base, dash, rest = given.partition("-")
    for one in (f"{base.lower()}{dash}{rest}", base.lower()):
        if is_language(one):
            return one
    return None


def tags_of(hashtags: Iterable[IncomingHashtag]) -> dict[str, str]:
    """By the name they are compared by, how they are written."""
    return {normal_tag(one.name): one.name for one in hashtags if is_tag(one.name)}


def quote_policy(note: IncomingNote, actor: RemoteActor | None) -> str:
    """Who may quote without being asked for; `manual` where everybody, or followers, may ask."""
    approval = None if note.policy is None else note.policy.can_quote
    if approval is None:
        return "nobody"
    followers, following = (actor.followers, actor.following) if actor is not None else (None, None)
    automatic = approved(approval.automatic, author=note.author, followers=followers, following=following)
    for who in ("public", "followers"):
        if who in automatic:
            return who
    manual = approved(approval.manual, author=note.author, followers=followers, following=following)
    return "manual" if manual & {"public", "followers"} else "nobody"


def media_row(
    id: int, author_id: AccountId, status_id: StatusId, file: IncomingAttachment, now: datetime, *, withheld: bool
) -> Media:
    """Fetched when somebody looks at it. `withheld`: the team wants no files of that server, so that it is a link."""
    kind = file.kind
    is_withheld = withheld and kind != "unknown"
    return Media(
        id=id,
        account_id=author_id,
        status_id=status_id,
        scheduled_id=None,
        kind="unknown" if is_withheld else kind,
        state="ready",
        file="",
        preview="",
        source="",
        mime=file.media_type[:_MIME_LENGTH],
        description=file.description or None,
        meta=_meta(file),
        blurhash=file.blurhash if file.blurhash is not None and len(file.blurhash) <= 100 else None,
        remote_url=file.url,
        preview_remote_url=file.thumbnail,
        error="",
        created_at=now,
        withheld_kind=kind if is_withheld else "",
    )


def _meta(file: IncomingAttachment) -> dict[str, Any]:
    meta: dict[str, Any] = {}
    original: dict[str, Any] = {}
    if file.width and file.height:
        original |= {
            "width": file.width,
            "height": file.height,
            "size": f"{file.width}x{file.height}",
            "aspect": file.width / file.height,
        }
    if file.seconds is not None:
        original["duration"] = file.seconds
    if original:
        meta["original"] = original
    if file.focus is not None:
        meta["focus"] = {"x": file.focus[0], "y": file.focus[1]}
    return meta


def poll_row(id: int, status_id: StatusId, author_id: AccountId, poll: IncomingPoll, now: datetime) -> Poll:
    """One that is over when it comes has nobody to be told of its end."""
    ends_at = now if poll.ends_at is None and poll.is_closed else poll.ends_at
    return Poll(
        id=id,
        status_id=status_id,
        account_id=author_id,
        options=[one.name for one in poll.options],
        tallies=[one.votes for one in poll.options],
        voters_count=poll.voters_count,
        multiple=poll.multiple,
        hide_totals=False,
        expires_at=ends_at,
        ended_at=now if ends_at is not None and ends_at <= now else None,
        fetched_at=now,
    )

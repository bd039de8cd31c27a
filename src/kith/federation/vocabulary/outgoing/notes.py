"""Posts: a Note, or a Question where it has a poll."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from html import escape

import msgspec

from kith.base.settings import Settings
from kith.federation.vocabulary.outgoing import identifiers, tags
from kith.federation.vocabulary.outgoing.addressing import Audience, audience_of
from kith.federation.vocabulary.outgoing.attachments import attachment
from kith.federation.vocabulary.outgoing.collections import replies
from kith.federation.vocabulary.outgoing.contexts import PUBLIC, Doc
from kith.federation.vocabulary.outgoing.moments import second
from kith.federation.vocabulary.outgoing.tags import Mentioned
from kith.social.accounts.tables import Account
from kith.social.emojis.tables import Emoji
from kith.social.media.tables import Media
from kith.social.statuses.tables import UNLISTED, Poll, Status

__all__ = ["NoteParts", "Quoted", "audience", "note"]


class Quoted(msgspec.Struct, frozen=True):
    """What a post quotes. `stamp` is where its author says that it may; one's own posts need none."""

    uri: str
    url: str
    stamp: str | None = None


class NoteParts(msgspec.Struct, frozen=True):
    """A post of somebody here, with all that is told of it.

    `answers` are the first of what its author says below it. `quoted` is None, with `quotes` true, where it is gone.
    """

    status: Status
    author: Account
    parent: str | None = None
    mentioned: Sequence[Mentioned] = ()
    media: Sequence[Media] = ()
    emojis: Sequence[Emoji] = ()
    poll: Poll | None = None
    quotes: bool = False
    quoted: Quoted | None = None
    answers: Sequence[str] = ()
    context: str | None = None  # the list of all that is said in its thread
    link: str | None = None  # what the preview below it is of
    has_more_answers: int | None = None  # the last of `answers`, where there are more


def audience(parts: NoteParts) -> Audience:
    meant = [one for one in parts.mentioned if one.is_addressed]
    addressed = [uri for one in meant for uri in (one.uri, one.group) if uri is not None]
    return audience_of(parts.status.visibility, parts.author.uri, addressed)


def note(settings: Settings, parts: NoteParts, now: datetime) -> Doc:
    row = parts.status
    content = _content(parts)
    made: Doc = {
        "id": row.uri,
        "type": "Note" if parts.poll is None else "Question",
        "summary": row.spoiler_text or None,
        "inReplyTo": parts.parent,
        "published": second(row.created_at),
        "url": row.url or row.uri,
        "attributedTo": parts.author.uri,
        **audience(parts).as_document(),
        "sensitive": row.sensitive or (parts.author.sensitized_at is not None and bool(parts.media)),
        "atomUri": row.uri,
        "inReplyToAtomUri": parts.parent,
        "conversation": identifiers.conversation(settings, row.conversation_id),
        "content": content,
    }
    if parts.context is not None:
        made["context"] = parts.context
    if row.language:
        made["contentMap"] = {row.language: content}
    if row.edited_at is not None:
        made["updated"] = second(row.edited_at)
    made |= {
        "attachment": [
            *(attachment(settings, one) for one in parts.media),
            *([{"type": "Link", "href": parts.link}] if parts.link else []),
        ],
        "tag": [
            *(tags.mention(settings, one) for one in parts.mentioned if one.is_named),
            *(tags.hashtag(settings, name) for name in row.tag_names),
            *(tags.emoji(settings, one) for one in parts.emojis),
        ],
        "replies": replies(row.uri, parts.answers, parts.has_more_answers),
        "likes": _counted(row.uri, "likes", row.favourites_count),
        "shares": _counted(row.uri, "shares", row.reblogs_count),
        "interactionPolicy": {"canQuote": {"automaticApproval": [_may_quote(parts)]}},
    }
    if parts.poll is not None:
        made |= _question(parts.poll, now)
    return made | _quote(parts)


def _content(parts: NoteParts) -> str:
    """Servers that know no quotes show a link, as those do that know them in words of their own."""
    if parts.quoted is None:
        return parts.status.content
    url = escape(parts.quoted.url)
    return f'<p class="quote-inline">RE: <a href="{url}">{url}</a></p>{parts.status.content}'


def _counted(status: str, name: str, count: int) -> Doc:
    return {"id": identifiers.collection(status, name), "type": "Collection", "totalItems": max(count, 0)}


def _may_quote(parts: NoteParts) -> str:
    """Nobody is said by naming the author, who always may."""
    policy = parts.status.quote_policy if parts.status.visibility <= UNLISTED else "nobody"
    if policy == "public":
        return PUBLIC
    return identifiers.followers(parts.author.uri) if policy == "followers" else parts.author.uri


def _question(poll: Poll, now: datetime) -> Doc:
    """Counts that the author hides are not told before the end."""
    is_over = poll.expires_at is not None and poll.expires_at <= now
    shown = is_over or not poll.hide_totals
    options = [
        {"type": "Note", "name": name, "replies": {"type": "Collection", **({"totalItems": count} if shown else {})}}
        for name, count in zip(poll.options, poll.tallies, strict=False)
    ]
    made: Doc = {"anyOf" if poll.multiple else "oneOf": options}
    if poll.expires_at is not None:
        made["endTime"] = second(poll.expires_at)
        if is_over:
            made["closed"] = second(poll.expires_at)
    if poll.voters_count is not None:
        made["votersCount"] = poll.voters_count
    return made


def _quote(parts: NoteParts) -> Doc:
    quoted = parts.quoted
    if quoted is None:
        return {"quote": {"type": "Tombstone"}} if parts.quotes else {}
    made: Doc = {"quote": quoted.uri, "_misskey_quote": quoted.uri, "quoteUri": quoted.uri}
    return made if quoted.stamp is None else made | {"quoteAuthorization": quoted.stamp}

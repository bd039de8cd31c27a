"""Posts from elsewhere, whatever their server calls them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from kith.federation.vocabulary.incoming import limits
from kith.federation.vocabulary.incoming.attachments import IncomingAttachments, read_attachments
from kith.federation.vocabulary.incoming.audience import IncomingAudience, IncomingVisibility, read_audience
from kith.federation.vocabulary.incoming.collections import IncomingCollection, find_collection, find_total
from kith.federation.vocabulary.incoming.contents import IncomingContent, read_content
from kith.federation.vocabulary.incoming.fields import (
    each,
    read_actor_id,
    read_bool,
    read_instant,
    read_object_id,
    read_page,
    read_text,
    type_of,
)
from kith.federation.vocabulary.incoming.ids import domain_of, read_id, same_domain
from kith.federation.vocabulary.incoming.parsing import Document, check_context
from kith.federation.vocabulary.incoming.policies import IncomingPolicy, read_policy
from kith.federation.vocabulary.incoming.polls import IncomingPoll, read_poll
from kith.federation.vocabulary.incoming.quotes import IncomingQuote, read_quote
from kith.federation.vocabulary.incoming.refusal import DocumentRefused
from kith.federation.vocabulary.incoming.tags import IncomingTags, read_tags

__all__ = ["CONVERTED_TYPES", "NOTE_TYPES", "IncomingNote", "read_bare_note", "read_note"]

CONVERTED_TYPES = frozenset({"Image", "Audio", "Video", "Article", "Page", "Event"})
NOTE_TYPES = CONVERTED_TYPES | {"Note", "Question"}
_MOST_AUTHORS = 20


class IncomingNote(msgspec.Struct, frozen=True, kw_only=True):
    """`content` is HTML as it was sent, to be cleaned when it is shown.

    The author and the object are of the same host. `conversation` is no address.
    """

    id: str
    domain: str
    type: str
    author: str
    content: IncomingContent
    is_sensitive: bool
    published: datetime | None
    updated: datetime | None
    url: str | None
    in_reply_to: str | None
    conversation: str | None
    context: str | None
    audience: IncomingAudience
    tags: IncomingTags
    attachments: IncomingAttachments
    poll: IncomingPoll | None
    quote: IncomingQuote | None
    policy: IncomingPolicy | None
    replies: IncomingCollection | None
    likes_count: int | None
    shares_count: int | None
    atom_uri: str | None
    approved_by: str | None

    @property
    def is_vote(self) -> bool:
        """A name and nothing to read, in answer to something: somebody's choice, where that is a poll."""
        is_bare = not (self.content.html or self.attachments.files or self.poll or self.quote)
        return self.type == "Note" and is_bare and bool(self.content.title) and self.in_reply_to is not None

    def visibility(self, followers: str | None) -> IncomingVisibility:
        return self.audience.visibility(followers, {mention.href for mention in self.tags.mentions})

    def silent_recipients(self, followers: str | None) -> tuple[str, ...]:
        return self.audience.silent(followers, {mention.href for mention in self.tags.mentions})


def read_note(document: Document) -> IncomingNote:
    check_context(document)
    return read_bare_note(document)


def read_bare_note(document: Document) -> IncomingNote:
    """A post inside a document whose context has been checked."""
    uri, kind = read_id(document.get("id")), type_of(document, NOTE_TYPES)
    if kind is None:
        raise DocumentRefused("unknown_type", "no post")
    if uri is None:
        raise DocumentRefused("no_id")
    tags = read_tags(document.get("tag"))
    url = _page(document.get("url"), uri)
    is_converted = kind in CONVERTED_TYPES
    return IncomingNote(
        id=uri,
        domain=domain_of(uri),
        type=kind,
        author=_author(document.get("attributedTo"), uri),
        content=read_content(document, converted_to=(url or uri) if is_converted else None),
        is_sensitive=read_bool(document.get("sensitive")) or False,
        published=read_instant(document.get("published")),
        updated=read_instant(document.get("updated")),
        url=url,
        in_reply_to=_unless(uri, read_object_id(document.get("inReplyTo"))),
        conversation=read_text(document.get("conversation"), limits.THREAD_LENGTH) or None,
        context=read_object_id(document.get("context")),
        audience=read_audience(document),
        tags=tags,
        attachments=read_attachments(document.get("attachment")),
        poll=read_poll(document) if kind == "Question" else None,
        quote=_quote(document, uri, tags),
        policy=read_policy(document.get("interactionPolicy")),
        replies=find_collection(document.get("replies"), domain_of(uri)),
        likes_count=find_total(document.get("likes")),
        shares_count=find_total(document.get("shares")),
        atom_uri=_own(read_id(document.get("atomUri")), uri),
        approved_by=read_object_id(document.get("approvedBy")),
    )


def _author(value: Any, uri: str) -> str:
    """The first person among those it is attributed to, else the first of all: films belong to a channel, too."""
    given = list(each(value, _MOST_AUTHORS))
    people = [one for one in given if isinstance(one, dict) and one.get("type") == "Person"]
    found = next((author for one in people + given if (author := read_actor_id(one)) is not None), None)
    if found is None:
        raise DocumentRefused("no_author", uri)
    if not same_domain(found, uri):
        raise DocumentRefused("wrong_host", f"{uri} by {found}")
    return found


def _quote(document: Document, uri: str, tags: IncomingTags) -> IncomingQuote | None:
    """Nothing quotes itself."""
    found = read_quote(document, tags.quote)
    return None if found is not None and found.uri == uri else found


def _page(value: Any, uri: str) -> str | None:
    return _own(read_page(value), uri)


def _own(found: str | None, uri: str) -> str | None:
    return found if found is not None and same_domain(found, uri) else None


def _unless(uri: str, found: str | None) -> str | None:
    """Nothing answers itself."""
    return None if found == uri else found

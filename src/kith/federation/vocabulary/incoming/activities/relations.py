"""Follow, Block, Like and requests to quote, the answers to them, and Undo."""

from __future__ import annotations

from collections.abc import Callable

from kith.federation.vocabulary.incoming import limits
from kith.federation.vocabulary.incoming.activities.head import (
    ActivityHead,
    embedded,
    object_id,
    own_object_id,
    read_head,
    read_inner_head,
)
from kith.federation.vocabulary.incoming.activities.publishing import own_note, read_announce
from kith.federation.vocabulary.incoming.activities.shapes import (
    IncomingAccept,
    IncomingAnnounce,
    IncomingBlock,
    IncomingFollow,
    IncomingLike,
    IncomingQuoteRequest,
    IncomingReject,
    IncomingUndo,
)
from kith.federation.vocabulary.incoming.fields import read_object_id, read_text, type_of
from kith.federation.vocabulary.incoming.ids import PUBLIC, is_public, read_id, same_domain, without_fragment
from kith.federation.vocabulary.incoming.parsing import Document
from kith.federation.vocabulary.incoming.refusal import DocumentRefused
from kith.federation.vocabulary.incoming.tags import read_tags

__all__ = [
    "read_accept",
    "read_block",
    "read_follow",
    "read_like",
    "read_quote_request",
    "read_reject",
    "read_undo",
]

_Undone = IncomingAnnounce | IncomingFollow | IncomingLike | IncomingBlock | IncomingAccept
_ANSWERED = frozenset({"Follow", "QuoteRequest"})


def read_follow(head: ActivityHead) -> IncomingFollow:
    return IncomingFollow(id=head.id, actor=head.actor, object_id=_somebody(head))


def read_block(head: ActivityHead) -> IncomingBlock:
    return IncomingBlock(id=head.id, actor=head.actor, object_id=_somebody(head))


def _somebody(head: ActivityHead) -> str:
    """Relays are followed by following everybody."""
    return PUBLIC if is_public(head.document.get("object")) else without_fragment(object_id(head))


def read_like(head: ActivityHead) -> IncomingLike:
    """Also of those who react with an emoji, in the spellings of Pleroma and Misskey."""
    reaction = head.document.get("content") or head.document.get("_misskey_reaction")
    return IncomingLike(
        id=head.id,
        actor=head.actor,
        object_id=object_id(head),
        reaction=read_text(reaction, limits.REACTION_LENGTH),
        emojis=read_tags(head.document.get("tag")).emojis,
    )


def read_quote_request(head: ActivityHead) -> IncomingQuoteRequest:
    document = embedded(head, "instrument")
    quoting = read_object_id(head.document.get("instrument"))
    if quoting is None:
        raise DocumentRefused("no_object", "no instrument")
    if not same_domain(quoting, head.actor):
        raise DocumentRefused("wrong_host", quoting)
    note = own_note(head, document) if document is not None and "type" in document else None
    return IncomingQuoteRequest(id=head.id, actor=head.actor, quoted=object_id(head), quoting=quoting, note=note)


def read_accept(head: ActivityHead) -> IncomingAccept:
    """A stamp is the word of whoever accepts, and on their host."""
    result = read_object_id(head.document.get("result"))
    if result is not None and not same_domain(result, head.actor):
        raise DocumentRefused("wrong_host", result)
    found, answered = _answered(head)
    return IncomingAccept(id=head.id, actor=head.actor, object_id=found, answered=answered, result=result)


def read_reject(head: ActivityHead) -> IncomingReject:
    found, answered = _answered(head)
    return IncomingReject(id=head.id, actor=head.actor, object_id=found, answered=answered)


def _answered(head: ActivityHead) -> tuple[str | None, IncomingFollow | IncomingQuoteRequest | None]:
    document = embedded(head)
    kind = type_of(document, _ANSWERED) if document is not None else None
    if document is None or kind is None or _is_named(document):
        return object_id(head), None
    inner = read_head(document, needs_id=False)
    return inner.id, _follow_of(head, inner) if kind == "Follow" else _request_of(head, inner)


def _is_named(document: Document) -> bool:
    """An activity of which no more than the id and the type is embedded, as apkit does it."""
    return "id" in document and "actor" not in document and "object" not in document


def _follow_of(head: ActivityHead, inner: ActivityHead) -> IncomingFollow:
    """Nobody answers for whom they are not."""
    follow = read_follow(inner)
    if follow.object_id not in (head.actor, PUBLIC):
        raise DocumentRefused("wrong_actor", f"{head.actor} answers for {follow.object_id}")
    return follow


def _request_of(head: ActivityHead, inner: ActivityHead) -> IncomingQuoteRequest:
    quoted = own_object_id(ActivityHead(inner.document, inner.id, head.actor))
    quoting = read_object_id(inner.document.get("instrument"))
    return IncomingQuoteRequest(id=inner.id, actor=inner.actor, quoted=quoted, quoting=quoting, note=None)


_READERS: dict[str, Callable[[ActivityHead], _Undone]] = {
    "Announce": read_announce,
    "Follow": read_follow,
    "Like": read_like,
    "EmojiReact": read_like,
    "Block": read_block,
    "Accept": read_accept,
}
_UNDONE = frozenset(_READERS)


def read_undo(head: ActivityHead) -> IncomingUndo:
    document = embedded(head)
    if document is None or "type" not in document or _is_named(document):
        return IncomingUndo(id=head.id, actor=head.actor, object_id=own_object_id(head), undone=None)
    return IncomingUndo(
        id=head.id, actor=head.actor, object_id=read_id(document.get("id")), undone=_undone(document, head.actor)
    )


def _undone(document: Document, actor: str) -> _Undone:
    kind = type_of(document, _UNDONE)
    if kind is None:
        raise DocumentRefused("unknown_type", "nothing that can be undone")
    return _READERS[kind](read_inner_head(document, actor))

"""Activities from elsewhere: what was done, by whom and to what."""

from __future__ import annotations

from collections.abc import Callable

from kith.federation.vocabulary.incoming.activities import other, publishing, relations
from kith.federation.vocabulary.incoming.activities.head import ActivityHead, read_head
from kith.federation.vocabulary.incoming.activities.shapes import IncomingActivity
from kith.federation.vocabulary.incoming.fields import type_of
from kith.federation.vocabulary.incoming.parsing import Document, check_context
from kith.federation.vocabulary.incoming.refusal import DocumentRefused

__all__ = ["ACTIVITY_TYPES", "read_activity"]

_READERS: dict[str, Callable[[ActivityHead], IncomingActivity]] = {
    "Create": publishing.read_create,
    "Update": publishing.read_update,
    "Delete": publishing.read_delete,
    "Announce": publishing.read_announce,
    "Like": relations.read_like,
    "EmojiReact": relations.read_like,
    "Follow": relations.read_follow,
    "Block": relations.read_block,
    "Undo": relations.read_undo,
    "Accept": relations.read_accept,
    "Reject": relations.read_reject,
    "QuoteRequest": relations.read_quote_request,
    "Flag": other.read_flag,
    "Add": other.read_add,
    "Remove": other.read_remove,
    "Move": other.read_move,
}
ACTIVITY_TYPES = frozenset(_READERS)
_KNOWN_BY_ID = frozenset({"Announce", "Follow", "QuoteRequest"})


def read_activity(document: Document) -> IncomingActivity:
    """What was done, or the reason why it is not believed; `unknown_type` for what nobody here understands.

    Whether the actor has really said so is for whoever knows the signature.
    """
    check_context(document)
    kind = type_of(document, ACTIVITY_TYPES)
    if kind is None:
        raise DocumentRefused("unknown_type", "no activity that is understood")
    return _READERS[kind](read_head(document, needs_id=kind in _KNOWN_BY_ID))

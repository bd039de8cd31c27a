"""What people elsewhere do with posts. Each of these is harmless when it comes twice, and in any order."""

from __future__ import annotations

from kith.federation.posts.boosts import apply_announce, apply_undo_announce
from kith.federation.posts.pins import apply_add, apply_remove
from kith.federation.posts.publishing import apply_create, apply_delete_note, apply_update_note
from kith.federation.posts.quote_requests import apply_accept_quote, apply_quote_request, apply_reject_quote
from kith.federation.posts.votes import apply_votes

__all__ = [
    "apply_accept_quote",
    "apply_add",
    "apply_announce",
    "apply_create",
    "apply_delete_note",
    "apply_quote_request",
    "apply_reject_quote",
    "apply_remove",
    "apply_undo_announce",
    "apply_update_note",
    "apply_votes",
]

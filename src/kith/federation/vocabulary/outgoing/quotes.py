"""Asking to quote, and being let (FEP-044f)."""

from __future__ import annotations

from uuid import UUID

from kith.federation.vocabulary.outgoing import identifiers
from kith.federation.vocabulary.outgoing.contexts import PUBLIC, Doc

__all__ = ["accept", "authorization", "reject", "request", "revoke"]


def request(note: Doc, quoted: str, name: UUID) -> Doc:
    """Asked by whoever quotes; the post that quotes is inside."""
    actor = note["attributedTo"]
    return {
        "id": f"{actor}/quote_requests/{name}",
        "type": "QuoteRequest",
        "actor": actor,
        "object": quoted,
        "instrument": note,
    }


def accept(quoted_author: str, asked: Doc, quoting_id: int) -> Doc:
    return _answer("Accept", "accepts", quoted_author, asked, quoting_id) | {
        "result": identifiers.quote_stamp(quoted_author, quoting_id)
    }


def reject(quoted_author: str, asked: Doc, quoting_id: int) -> Doc:
    return _answer("Reject", "rejects", quoted_author, asked, quoting_id)


def _answer(kind: str, verb: str, actor: str, asked: Doc, id: int) -> Doc:
    return {"id": f"{actor}#{verb}/quote_requests/{id}", "type": kind, "actor": actor, "object": asked}


def authorization(quoted_author: str, quoting: str, quoting_id: int, quoted: str) -> Doc:
    """The stamp that third parties look up."""
    return {
        "id": identifiers.quote_stamp(quoted_author, quoting_id),
        "type": "QuoteAuthorization",
        "attributedTo": quoted_author,
        "interactingObject": quoting,
        "interactionTarget": quoted,
    }


def revoke(quoted_author: str, quoting_id: int) -> Doc:
    """The stamp holds no longer."""
    stamp = identifiers.quote_stamp(quoted_author, quoting_id)
    return {"id": f"{stamp}#delete", "type": "Delete", "actor": quoted_author, "to": [PUBLIC], "object": stamp}

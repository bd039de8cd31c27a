"""What somebody here did, told elsewhere. None has a context yet: that is added once, to what is sent."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from kith.base.settings import Settings
from kith.federation.vocabulary.outgoing import identifiers
from kith.federation.vocabulary.outgoing.addressing import boost_audience
from kith.federation.vocabulary.outgoing.contexts import PUBLIC, Doc
from kith.federation.vocabulary.outgoing.moments import second

__all__ = [
    "accept_follow",
    "add",
    "announce",
    "block",
    "create",
    "delete_actor",
    "delete_status",
    "flag",
    "follow",
    "like",
    "move",
    "reject_follow",
    "remove",
    "undo",
    "undo_announce",
    "undo_block",
    "undo_follow",
    "undo_like",
    "update_actor",
    "update_note",
    "vote",
]


def _activity(kind: str, actor: str, object: object, id: str | None = None) -> Doc:
    made: Doc = {} if id is None else {"id": id}
    return made | {"type": kind, "actor": actor, "object": object}


# Posts


def create(note: Doc) -> Doc:
    return {
        "id": identifiers.activity_of(note["id"]),
        "type": "Create",
        "actor": note["attributedTo"],
        "published": note["published"],
        "to": note["to"],
        "cc": note["cc"],
        "object": note,
    }


def update_note(note: Doc, at: datetime) -> Doc:
    """An edit, new counts of a poll, another policy for quotes."""
    return {
        "id": f"{note['id']}{identifiers.moment_suffix(at)}",
        "type": "Update",
        "actor": note["attributedTo"],
        "published": second(at),
        "to": note["to"],
        "cc": note["cc"],
        "object": note,
    }


def delete_status(actor: str, status: str) -> Doc:
    return {"id": f"{status}#delete", "type": "Delete", "actor": actor, "to": [PUBLIC], "object": tombstone(status)}


def tombstone(status: str) -> Doc:
    return {"id": status, "type": "Tombstone", "atomUri": status}


def announce(booster: str, boost: str, original: str | Doc, author: str, visibility: int, at: datetime) -> Doc:
    """`boost` is the address of the boost; `original` is named, or whole where it is one's own for followers."""
    audience = boost_audience(visibility, booster, author)
    return {
        "id": identifiers.activity_of(boost),
        "type": "Announce",
        "actor": booster,
        "published": second(at),
        **audience.as_document(),
        "object": original,
    }


def undo_announce(announced: Doc, boost_id: int) -> Doc:
    actor = announced["actor"]
    return undo(announced, f"{actor}#announces/{boost_id}/undo") | {"to": announced["to"]}


def like(actor: str, favourite_id: int, status: str) -> Doc:
    return _activity("Like", actor, status, f"{actor}#likes/{favourite_id}")


def undo_like(actor: str, favourite_id: int, status: str) -> Doc:
    liked = like(actor, favourite_id, status)
    return undo(liked, f"{liked['id']}/undo")


def vote(actor: str, vote_id: int, choice: str, question: str, author: str) -> Doc:
    """One for every choice."""
    id = f"{actor}#votes/{vote_id}"
    said = {
        "id": id,
        "type": "Note",
        "name": choice,
        "attributedTo": actor,
        "inReplyTo": question,
        "to": author,
    }
    return _activity("Create", actor, said, f"{id}/activity") | {"to": author}


def add(actor: str, object: str | Doc) -> Doc:
    """A pinned post, by its address, or a featured hashtag."""
    return _activity("Add", actor, object) | {"target": identifiers.featured(actor)}


def remove(actor: str, object: str | Doc) -> Doc:
    return _activity("Remove", actor, object) | {"target": identifiers.featured(actor)}


# People


def follow(actor: str, target: str, id: str) -> Doc:
    return _activity("Follow", actor, target, id)


def undo_follow(followed: Doc, follow_id: int) -> Doc:
    return undo(followed, f"{followed['actor']}#follows/{follow_id}/undo")


def accept_follow(followed: Doc, request_id: int) -> Doc:
    """By whoever is followed; the Follow has the id that it came with."""
    actor = followed["object"]
    return _activity("Accept", actor, followed, f"{actor}#accepts/follows/{request_id}")


def reject_follow(followed: Doc, request_id: int) -> Doc:
    actor = followed["object"]
    return _activity("Reject", actor, followed, f"{actor}#rejects/follows/{request_id}")


def block(actor: str, target: str, id: str) -> Doc:
    return _activity("Block", actor, target, id)


def undo_block(blocked: Doc, block_id: int) -> Doc:
    return undo(blocked, f"{blocked['actor']}#blocks/{block_id}/undo")


def flag(settings: Settings, name: UUID, account: str, statuses: Sequence[str], comment: str) -> Doc:
    """By the server: who reported is nobody's business elsewhere."""
    actor = identifiers.server_actor(settings)
    made = _activity("Flag", actor, [account, *statuses], identifiers.any_id(settings, name))
    return made | {"content": comment}


def move(actor: str, target: str, move_id: int) -> Doc:
    return _activity("Move", actor, actor, f"{actor}#moves/{move_id}") | {"target": target}


def update_actor(actor: Doc, at: datetime) -> Doc:
    made = _activity("Update", actor["id"], actor, f"{actor['id']}{identifiers.moment_suffix(at)}")
    return made | {"to": [PUBLIC]}


def delete_actor(actor: str) -> Doc:
    return _activity("Delete", actor, actor, f"{actor}#delete") | {"to": [PUBLIC]}


def undo(activity: Doc, id: str) -> Doc:
    """Taken back by whoever did it; of a Follow that was let in, by whoever let it in."""
    return _activity("Undo", activity["actor"], activity, id)

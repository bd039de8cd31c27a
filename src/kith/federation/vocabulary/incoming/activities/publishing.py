"""Create, Update, Delete and Announce: posts and what becomes of them."""

from __future__ import annotations

import msgspec

from kith.federation.vocabulary.incoming import limits
from kith.federation.vocabulary.incoming.activities.head import ActivityHead, embedded, object_id, own_object_id
from kith.federation.vocabulary.incoming.activities.shapes import (
    IncomingAnnounce,
    IncomingCreate,
    IncomingDelete,
    IncomingMessages,
    IncomingUpdate,
    IncomingVote,
    IncomingVotes,
)
from kith.federation.vocabulary.incoming.actors import ACTOR_TYPES, IncomingActor, read_bare_actor
from kith.federation.vocabulary.incoming.audience import read_audience
from kith.federation.vocabulary.incoming.fields import each, read_instant, read_object_id, type_of
from kith.federation.vocabulary.incoming.ids import read_id, same_domain, without_fragment
from kith.federation.vocabulary.incoming.messages import read_message
from kith.federation.vocabulary.incoming.notes import NOTE_TYPES, IncomingNote, read_bare_note
from kith.federation.vocabulary.incoming.parsing import Document
from kith.federation.vocabulary.incoming.refusal import DocumentRefused

__all__ = ["own_note", "read_announce", "read_create", "read_delete", "read_update"]

_CARRIERS = frozenset({"Create", "Update"})


def read_create(head: ActivityHead) -> IncomingCreate | IncomingVotes | IncomingMessages:
    objects = [one for one in each(head.document.get("object"), limits.VOTES) if isinstance(one, dict)]
    if not objects:
        return IncomingCreate(id=head.id, actor=head.actor, object_id=own_object_id(head), note=None)
    if objects[0].get("type") == "EncryptedMessage":
        messages = tuple(read_message(one) for one in objects if one.get("type") == "EncryptedMessage")
        return IncomingMessages(id=head.id, actor=head.actor, messages=messages)
    note = own_note(head, objects[0])
    if not note.is_vote:
        return IncomingCreate(id=head.id, actor=head.actor, object_id=note.id, note=note)
    notes = [note, *(own_note(head, one) for one in objects[1:])]
    votes = tuple(IncomingVote(one.id, one.in_reply_to or "", one.content.title) for one in notes if one.is_vote)
    return IncomingVotes(id=head.id, actor=head.actor, votes=votes)


def own_note(head: ActivityHead, document: Document) -> IncomingNote:
    """An embedded post is the actor's own. It is addressed as the activity is, where it does not say itself."""
    note = read_bare_note(document)
    if note.author != head.actor:
        raise DocumentRefused("wrong_actor", f"{note.id} is not by {head.actor}")
    if note.audience.is_empty:
        note = msgspec.structs.replace(note, audience=read_audience(head.document))
    return note


def read_update(head: ActivityHead) -> IncomingUpdate:
    document, uri = embedded(head), own_object_id(head)
    profile, note = None, None
    if document is not None and type_of(document, ACTOR_TYPES):
        profile = _own_profile(head, document)
        uri = profile.id
    elif document is not None and type_of(document, NOTE_TYPES):
        note = own_note(head, document)
    elif document is not None:
        raise DocumentRefused("unknown_type", "neither a post nor an actor")
    return IncomingUpdate(id=head.id, actor=head.actor, object_id=uri, profile=profile, note=note)


def _own_profile(head: ActivityHead, document: Document) -> IncomingActor:
    profile = read_bare_actor(document)
    if profile.id != head.actor:
        raise DocumentRefused("wrong_actor", f"{profile.id} is not {head.actor}")
    return profile


def read_delete(head: ActivityHead) -> IncomingDelete:
    uri = own_object_id(head)
    tombstone = embedded(head) or {}
    atom_uri = read_id(tombstone.get("atomUri"))
    if atom_uri is not None and not same_domain(atom_uri, head.actor):
        atom_uri = None
    is_of_actor = without_fragment(uri) == head.actor
    return IncomingDelete(id=head.id, actor=head.actor, object_id=head.actor if is_of_actor else uri, atom_uri=atom_uri)


def read_announce(head: ActivityHead) -> IncomingAnnounce:
    return IncomingAnnounce(
        id=head.id,
        actor=head.actor,
        object_id=_announced(head),
        note=_own_inline(head),
        published=read_instant(head.document.get("published")),
        audience=read_audience(head.document),
    )


def _announced(head: ActivityHead) -> str:
    """What is announced; groups (Lemmy) announce activities of their members, of which posts are of interest."""
    document = embedded(head)
    if document is None or "actor" not in document:
        return object_id(head)
    if type_of(document, _CARRIERS) is None:
        raise DocumentRefused("unknown_type", "an activity that nobody shares")
    found = read_object_id(document.get("object"))
    if found is None:
        raise DocumentRefused("no_object")
    return found


def _own_inline(head: ActivityHead) -> IncomingNote | None:
    """Posts of others are fetched from where they are at home."""
    document = embedded(head)
    if document is None or type_of(document, NOTE_TYPES) is None:
        return None
    try:
        note = read_bare_note(document)
    except DocumentRefused:
        return None
    return note if note.author == head.actor else None

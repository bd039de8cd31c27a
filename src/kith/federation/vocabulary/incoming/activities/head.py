"""What every activity has: who acts, under which id, and on what."""

from __future__ import annotations

import msgspec

from kith.federation.vocabulary.incoming.fields import read_actor_id, read_object_id
from kith.federation.vocabulary.incoming.ids import read_id, same_domain
from kith.federation.vocabulary.incoming.parsing import Document
from kith.federation.vocabulary.incoming.refusal import DocumentRefused

__all__ = ["ActivityHead", "embedded", "object_id", "own_object_id", "read_head", "read_inner_head"]


class ActivityHead(msgspec.Struct, frozen=True):
    document: Document
    id: str | None
    actor: str


def read_head(document: Document, *, needs_id: bool) -> ActivityHead:
    actor = read_actor_id(document.get("actor"))
    if actor is None:
        raise DocumentRefused("no_actor")
    return _head(document, actor, needs_id=needs_id)


def read_inner_head(document: Document, actor: str) -> ActivityHead:
    """An activity inside another one of `actor`: it is theirs, or the outer one is a forgery."""
    if document.get("actor") is not None and read_actor_id(document["actor"]) != actor:
        raise DocumentRefused("wrong_actor", actor)
    return _head(document, actor, needs_id=False)


def _head(document: Document, actor: str, *, needs_id: bool) -> ActivityHead:
    uri = read_id(document.get("id"))
    if uri is None and (needs_id or document.get("id") is not None):
        raise DocumentRefused("no_id")
    if uri is not None and not same_domain(uri, actor):
        raise DocumentRefused("wrong_host", f"{uri} by {actor}")
    return ActivityHead(document, uri, actor)


def embedded(head: ActivityHead, name: str = "object") -> Document | None:
    """What is embedded there, one level deep."""
    value = head.document.get(name)
    if isinstance(value, list) and value:
        value = value[0]
    return value if isinstance(value, dict) else None


def object_id(head: ActivityHead) -> str:
    found = read_object_id(head.document.get("object"))
    if found is None:
        raise DocumentRefused("no_object")
    return found


def own_object_id(head: ActivityHead) -> str:
    """Of something that is of the actor's own host: nobody changes or ends what is of another."""
    found = object_id(head)
    if not same_domain(found, head.actor):
        raise DocumentRefused("wrong_host", f"{found} by {head.actor}")
    return found

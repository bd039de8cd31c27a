"""Flag, Add, Remove and Move."""

from __future__ import annotations

import re

from kith.federation.vocabulary.incoming import limits
from kith.federation.vocabulary.incoming.activities.head import ActivityHead, embedded, object_id
from kith.federation.vocabulary.incoming.activities.shapes import (
    IncomingAdd,
    IncomingFlag,
    IncomingMove,
    IncomingRemove,
)
from kith.federation.vocabulary.incoming.fields import read_actor_id, read_ids, read_object_id, read_text
from kith.federation.vocabulary.incoming.ids import read_id, same_domain, without_fragment
from kith.federation.vocabulary.incoming.refusal import DocumentRefused
from kith.federation.vocabulary.incoming.tags import IncomingHashtag, read_hashtag

__all__ = ["read_add", "read_flag", "read_move", "read_remove"]

_LINK = re.compile(r"https?://[^\s<>\"']{1,2048}", re.IGNORECASE)


def read_flag(head: ActivityHead) -> IncomingFlag:
    objects = read_ids(head.document.get("object"), limits.REPORT_OBJECTS)
    if not objects:
        raise DocumentRefused("no_object")
    comment = read_text(head.document.get("content"), limits.REPORT_LENGTH)
    links = dict.fromkeys(link for link in _LINK.findall(comment) if read_id(link) is not None)
    return IncomingFlag(
        id=head.id, actor=head.actor, objects=objects, comment=comment, links=tuple(links)[: limits.LINKS]
    )


def read_add(head: ActivityHead) -> IncomingAdd:
    uri, hashtag, target = _listed(head)
    return IncomingAdd(id=head.id, actor=head.actor, object_id=uri, hashtag=hashtag, target=target)


def read_remove(head: ActivityHead) -> IncomingRemove:
    uri, hashtag, target = _listed(head)
    return IncomingRemove(id=head.id, actor=head.actor, object_id=uri, hashtag=hashtag, target=target)


def _listed(head: ActivityHead) -> tuple[str | None, IncomingHashtag | None, str]:
    target = read_object_id(head.document.get("target"))
    if target is None:
        raise DocumentRefused("no_target")
    if not same_domain(target, head.actor):
        raise DocumentRefused("wrong_host", target)
    document = embedded(head)
    if document is not None and document.get("type") == "Hashtag":
        hashtag = read_hashtag(document)
        if hashtag is None:
            raise DocumentRefused("no_object", "a hashtag without a name")
        return None, hashtag, target
    return object_id(head), None, target


def read_move(head: ActivityHead) -> IncomingMove:
    """Everybody moves themselves."""
    if without_fragment(object_id(head)) != head.actor:
        raise DocumentRefused("wrong_actor", "moves somebody else")
    target = read_actor_id(head.document.get("target"))
    if target is None or target == head.actor:
        raise DocumentRefused("no_target")
    return IncomingMove(id=head.id, actor=head.actor, target=target)

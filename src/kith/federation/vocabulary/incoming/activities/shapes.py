"""What people on other servers do, one shape for each kind of activity.

`id` is None where the sender gave none; wherever there is one, it is of the actor's host. What an activity embeds of
others is a reference: only ids are taken from it.
"""

from __future__ import annotations

from datetime import datetime
from typing import TypeAlias

import msgspec

from kith.federation.vocabulary.incoming.actors import IncomingActor
from kith.federation.vocabulary.incoming.audience import IncomingAudience
from kith.federation.vocabulary.incoming.messages import IncomingMessage
from kith.federation.vocabulary.incoming.notes import IncomingNote
from kith.federation.vocabulary.incoming.tags import IncomingEmoji, IncomingHashtag

__all__ = [
    "IncomingAccept",
    "IncomingActivity",
    "IncomingAdd",
    "IncomingAnnounce",
    "IncomingBlock",
    "IncomingCreate",
    "IncomingDelete",
    "IncomingFlag",
    "IncomingFollow",
    "IncomingLike",
    "IncomingMessages",
    "IncomingMove",
    "IncomingQuoteRequest",
    "IncomingReject",
    "IncomingRemove",
    "IncomingUndo",
    "IncomingUpdate",
    "IncomingVote",
    "IncomingVotes",
]


class IncomingCreate(msgspec.Struct, frozen=True, kw_only=True):
    """`note` is None where only its id was given: it has to be fetched."""

    id: str | None
    actor: str
    object_id: str
    note: IncomingNote | None


class IncomingVote(msgspec.Struct, frozen=True):
    id: str | None
    question: str
    name: str


class IncomingVotes(msgspec.Struct, frozen=True, kw_only=True):
    """Choices in polls, where `question` is one; GoToSocial sends all of a voter's choices in one activity."""

    id: str | None
    actor: str
    votes: tuple[IncomingVote, ...]


class IncomingMessages(msgspec.Struct, frozen=True, kw_only=True):
    """Encrypted messages from one device to others."""

    id: str | None
    actor: str
    messages: tuple[IncomingMessage, ...]


class IncomingUpdate(msgspec.Struct, frozen=True, kw_only=True):
    """Of the actor itself or of one of its posts; of neither where only an id was given."""

    id: str | None
    actor: str
    object_id: str
    profile: IncomingActor | None
    note: IncomingNote | None


class IncomingDelete(msgspec.Struct, frozen=True, kw_only=True):
    id: str | None
    actor: str
    object_id: str
    atom_uri: str | None

    @property
    def is_of_actor(self) -> bool:
        return self.object_id == self.actor


class IncomingAnnounce(msgspec.Struct, frozen=True, kw_only=True):
    """`note`: an own post, which is embedded because others may not fetch it."""

    id: str | None
    actor: str
    object_id: str
    note: IncomingNote | None
    published: datetime | None
    audience: IncomingAudience


class IncomingLike(msgspec.Struct, frozen=True, kw_only=True):
    """`reaction`: the emoji, for those who react with one; empty for a plain favourite."""

    id: str | None
    actor: str
    object_id: str
    reaction: str
    emojis: tuple[IncomingEmoji, ...]


class IncomingFollow(msgspec.Struct, frozen=True, kw_only=True):
    id: str | None
    actor: str
    object_id: str


class IncomingBlock(msgspec.Struct, frozen=True, kw_only=True):
    id: str | None
    actor: str
    object_id: str


class IncomingQuoteRequest(msgspec.Struct, frozen=True, kw_only=True):
    id: str | None
    actor: str
    quoted: str
    quoting: str | None
    note: IncomingNote | None


class IncomingAccept(msgspec.Struct, frozen=True, kw_only=True):
    """`answered` is None where only an id was given, or what is accepted is nothing of ours; `result` is a stamp."""

    id: str | None
    actor: str
    object_id: str | None
    answered: IncomingFollow | IncomingQuoteRequest | None
    result: str | None


class IncomingReject(msgspec.Struct, frozen=True, kw_only=True):
    id: str | None
    actor: str
    object_id: str | None
    answered: IncomingFollow | IncomingQuoteRequest | None


class IncomingUndo(msgspec.Struct, frozen=True, kw_only=True):
    """By what it was, or by its id alone."""

    id: str | None
    actor: str
    object_id: str | None
    undone: IncomingAnnounce | IncomingFollow | IncomingLike | IncomingBlock | IncomingAccept | None


class IncomingFlag(msgspec.Struct, frozen=True, kw_only=True):
    """`links` are addresses in the comment: Misskey names posts there."""

    id: str | None
    actor: str
    objects: tuple[str, ...]
    comment: str
    links: tuple[str, ...]


class IncomingAdd(msgspec.Struct, frozen=True, kw_only=True):
    """A post or a hashtag; `target` is a collection of the actor's host."""

    id: str | None
    actor: str
    object_id: str | None
    hashtag: IncomingHashtag | None
    target: str


class IncomingRemove(msgspec.Struct, frozen=True, kw_only=True):
    id: str | None
    actor: str
    object_id: str | None
    hashtag: IncomingHashtag | None
    target: str


class IncomingMove(msgspec.Struct, frozen=True, kw_only=True):
    id: str | None
    actor: str
    target: str


IncomingActivity: TypeAlias = (
    IncomingCreate
    | IncomingVotes
    | IncomingMessages
    | IncomingUpdate
    | IncomingDelete
    | IncomingAnnounce
    | IncomingLike
    | IncomingFollow
    | IncomingBlock
    | IncomingQuoteRequest
    | IncomingAccept
    | IncomingReject
    | IncomingUndo
    | IncomingFlag
    | IncomingAdd
    | IncomingRemove
    | IncomingMove
)

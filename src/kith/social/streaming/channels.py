"""Streams, as clients name them, and channels, which are what events are published on.

A stream is made of one or more channels: `user` hears what concerns its owner, their notifications and what everybody
is told. A channel is a plain name; whoever publishes makes it with one of the functions here.
"""

from __future__ import annotations

import msgspec

from kith.social.ids import AccountId
from kith.social.text.parts import normal_tag

__all__ = [
    "EVERYBODY",
    "PUBLIC",
    "Stream",
    "of_direct",
    "of_list",
    "of_notifications",
    "of_tag",
    "of_token",
    "of_user",
    "public_of",
    "tags_of",
]

EVERYBODY = "everybody"  # heard in every `user` stream
PUBLIC = frozenset(
    f"public{whose}{media}" for whose in ("", ":local", ":remote") for media in ("", ":media")
)  # fmt: skip
TAGGED = ("hashtag", "hashtag:local")
NAMES = frozenset((*PUBLIC, *TAGGED, "user", "user:notification", "list", "direct"))

_encode = msgspec.json.Encoder().encode


class Stream(msgspec.Struct, frozen=True, eq=False):
    """One thing that somebody listens to. `about` is the list or the tag, as the client wrote it.

    However a tag is written, it is the same stream.
    """

    name: str
    about: str = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[str, str]:
        return self.name, normal_tag(self.about) if self.name in TAGGED else self.about

    def label(self) -> bytes:
        """How events of a WebSocket name it."""
        return _encode([self.name, self.about] if self.about else [self.name])


def of_user(account_id: AccountId) -> str:
    """What concerns one person: their home, and whatever their apps must know."""
    return f"user:{account_id}"


def of_notifications(account_id: AccountId) -> str:
    """Heard in `user`, with a token that may read notifications, and in `user:notification`."""
    return f"notifications:{account_id}"


def of_direct(account_id: AccountId) -> str:
    """Conversations of one person."""
    return f"direct:{account_id}"


def of_token(key_hash: str) -> str:
    """The `user` streams that were opened with one access token: for what is meant for one device."""
    return f"token:{key_hash}"


def of_list(list_id: int) -> str:
    return f"list:{list_id}"


def of_tag(tag: str, *, local: bool = False) -> str:
    return f"hashtag:local:{normal_tag(tag)}" if local else f"hashtag:{normal_tag(tag)}"


def public_of(*, local: bool, media: bool) -> list[str]:
    """The channels for everybody that a public post belongs to."""
    names = ["public", "public:local" if local else "public:remote"]
    return [*names, *(f"{name}:media" for name in names)] if media else names


def tags_of(names: list[str], *, local: bool) -> list[str]:
    wide = [of_tag(name) for name in names]
    return [*wide, *(of_tag(name, local=True) for name in names)] if local else wide

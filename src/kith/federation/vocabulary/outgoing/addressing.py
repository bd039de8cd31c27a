"""Whom a document is addressed to, by the visibility of what it tells."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kith.federation.vocabulary.outgoing import identifiers
from kith.federation.vocabulary.outgoing.contexts import PUBLIC as EVERYBODY
from kith.social.statuses.tables import PRIVATE, PUBLIC, UNLISTED

__all__ = ["Audience", "audience_of", "boost_audience"]


class Audience(msgspec.Struct, frozen=True):
    to: list[str]
    cc: list[str]

    def as_document(self) -> dict[str, list[str]]:
        return {"to": self.to, "cc": self.cc}


def audience_of(visibility: int, author: str, mentioned: Sequence[str]) -> Audience:
    """`author` and `mentioned` are addresses of actors. What is limited goes to those it names, as a direct post."""
    near, named = identifiers.followers(author), list(dict.fromkeys(mentioned))
    if visibility == PUBLIC:
        return Audience([EVERYBODY], [near, *named])
    if visibility == UNLISTED:
        return Audience([near], [EVERYBODY, *named])
    if visibility == PRIVATE:
        return Audience([near], named)
    return Audience(named, [])


def boost_audience(visibility: int, booster: str, author: str) -> Audience:
    """As its visibility says, and whoever wrote what is boosted."""
    plain = audience_of(visibility, booster, [])
    return Audience(plain.to, [author, *(one for one in plain.cc if one != author)])

from __future__ import annotations

from kith.base.news import Fact


class AccessEnded(Fact, frozen=True):
    """Keys that open nothing any more, by their hashes: access tokens of a client, or a token somebody made."""

    key_hashes: tuple[str, ...]
    user_id: int | None


class TokenEnded(Fact, frozen=True):
    """A token that somebody made was taken back by its owner or by somebody who may."""

    token_uuid: str

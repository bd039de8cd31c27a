from __future__ import annotations

from kith.base.news import Fact


class AccessEnded(Fact, frozen=True):
    """These keys, given by their hashes, are not valid any more: access tokens, or a token somebody made."""

    key_hashes: tuple[str, ...]
    user_id: int | None


class TokenEnded(Fact, frozen=True):
    """A token that somebody made was deleted."""

    token_uuid: str

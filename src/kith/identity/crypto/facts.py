from __future__ import annotations

from kith.base.news import Fact


class KeyPairDeleted(Fact, frozen=True):
    """A key pair was deleted; `public_key` is in PEM, `key_type` as the pair has it."""

    public_key: str
    key_type: str

"""To whom something is addressed, and what that makes it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

import msgspec

from kith.federation.vocabulary.incoming import limits
from kith.federation.vocabulary.incoming.fields import read_object_id
from kith.federation.vocabulary.incoming.ids import is_public, without_fragment
from kith.federation.vocabulary.incoming.parsing import Document

__all__ = ["IncomingAudience", "IncomingVisibility", "read_audience"]

IncomingVisibility = Literal["public", "unlisted", "private", "direct", "limited"]


class IncomingAudience(msgspec.Struct, frozen=True):
    """Ids without the one that means everybody, which `is_public_to` and `is_public_cc` tell of."""

    to: tuple[str, ...]
    cc: tuple[str, ...]
    is_public_to: bool
    is_public_cc: bool

    def visibility(self, followers: str | None, mentioned: Collection[str]) -> IncomingVisibility:
        """`followers` is the author's collection; `mentioned` are the actors that the text names."""
        if self.is_public_to:
            return "public"
        if self.is_public_cc:
            return "unlisted"
        if followers is not None and followers in self.to:
            return "private"
        return "limited" if self.silent(followers, mentioned) else "direct"

    def silent(self, followers: str | None, mentioned: Collection[str]) -> tuple[str, ...]:
        """Those who are addressed without being mentioned."""
        known = {followers, *mentioned}
        everyone = dict.fromkeys(self.to + self.cc)
        return tuple(uri for uri in everyone if uri not in known and without_fragment(uri) not in known)

    @property
    def is_empty(self) -> bool:
        return not (self.to or self.cc or self.is_public_to or self.is_public_cc)


def read_audience(document: Document) -> IncomingAudience:
    to, is_public_to = _addressed(document.get("to"))
    cc, is_public_cc = _addressed(document.get("cc"))
    return IncomingAudience(to, cc, is_public_to, is_public_cc)


def _addressed(value: Any) -> tuple[tuple[str, ...], bool]:
    """Everybody counts wherever in the list it stands; of the others the first ones are kept."""
    found: dict[str, None] = {}
    to_everybody = False
    for one in value if isinstance(value, list) else (value,):
        if is_public(one) or (isinstance(one, dict) and is_public(one.get("id"))):
            to_everybody = True
        elif len(found) < limits.RECIPIENTS and not isinstance(one, list):
            uri = read_object_id(one)
            if uri is not None:
                found[uri] = None
    return tuple(found), to_everybody

"""Who may do what with an object: quote, like, answer, boost or feature it."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from kith.federation.vocabulary.incoming import limits
from kith.federation.vocabulary.incoming.fields import each, read_object_id
from kith.federation.vocabulary.incoming.ids import PUBLIC, is_public

__all__ = ["Approved", "IncomingApproval", "IncomingPolicy", "approved", "read_approval", "read_policy"]

Approved = Literal["public", "followers", "following", "author"]


class IncomingApproval(msgspec.Struct, frozen=True):
    """Ids of actors and collections, everybody in its full spelling."""

    automatic: tuple[str, ...]
    manual: tuple[str, ...]


class IncomingPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """None where the author says nothing."""

    can_quote: IncomingApproval | None
    can_like: IncomingApproval | None
    can_reply: IncomingApproval | None
    can_announce: IncomingApproval | None


def read_policy(value: Any) -> IncomingPolicy | None:
    if not isinstance(value, dict):
        return None
    return IncomingPolicy(
        can_quote=read_approval(value.get("canQuote")),
        can_like=read_approval(value.get("canLike")),
        can_reply=read_approval(value.get("canReply")),
        can_announce=read_approval(value.get("canAnnounce")),
    )


def read_approval(value: Any) -> IncomingApproval | None:
    """Also as GoToSocial named the two before version 0.19."""
    if not isinstance(value, dict):
        return None
    automatic = value.get("automaticApproval", value.get("always"))
    manual = value.get("manualApproval", value.get("approvalRequired"))
    return IncomingApproval(_who(automatic), _who(manual))


def _who(value: Any) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for one in each(value, limits.APPROVALS):
        uri = PUBLIC if is_public(one) else read_object_id(one) if not isinstance(one, list) else None
        if uri is not None:
            found[uri] = None
    return tuple(found)


def approved(who: tuple[str, ...], *, author: str, followers: str | None, following: str | None) -> frozenset[Approved]:
    """What the ids of a policy mean to the author they belong to; ids of others mean nothing here."""
    meanings: dict[str | None, Approved] = {
        PUBLIC: "public",
        author: "author",
        followers: "followers",
        following: "following",
    }
    return frozenset(meanings[uri] for uri in who if uri in meanings)

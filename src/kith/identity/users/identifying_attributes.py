"""Attributes by which other services take somebody for who they are: they are not for people to choose themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from kith.base.errors import Complaint
from kith.base.work import Work
from kith.identity.users import address_ownership, store

__all__ = ["HEADERS", "IDENTIFYING", "complain_principal", "complain_upn", "identifying_names"]

HEADERS = "additionalHeaders"  # which gateways add for applications
IDENTIFYING = frozenset({"upn", "distinguishedName", HEADERS, "ldap_uniq"})
_PREFIX = "attributes."
_NAMES = ("upn", "distinguishedName")
_UID = re.compile(r"\s*[0-9a-fA-F]{64}\s*")


def identifying_names(names: Iterable[str]) -> set[str]:
    """Those of the names in a form or an invitation, as `attributes.upn`, that set such an attribute."""
    return {
        name
        for name in names
        if name.startswith(_PREFIX) and name.removeprefix(_PREFIX).partition(".")[0] in IDENTIFYING
    }


async def complain_upn(
    work: Work, before: Mapping[str, Any], after: Mapping[str, Any], user_id: int | None
) -> Complaint | None:
    """Nobody gets the principal or distinguished name of somebody else; `user_id` is None for whoever is new.

    Whoever has none is told by their `uid` instead, so nobody may be called like one.
    """
    new = {name: str(after[name]) for name in _NAMES if after.get(name) and after[name] != before.get(name)}
    for name, value in new.items():
        if _UID.fullmatch(value):
            return Complaint(f"This {name} could be somebody's uid.", "invalid")
    complaint = await complain_principal(work, before, after, user_id)
    if complaint is not None:
        return complaint
    name = new.get("distinguishedName", "")
    if name and any(id != user_id for id in await store.all_with_distinguished_name(work.db, name)):
        return Complaint("Somebody else has this distinguishedName.", "unique")
    return None


async def complain_principal(
    work: Work, before: Mapping[str, Any], after: Mapping[str, Any], user_id: int | None
) -> Complaint | None:
    """The part of it about `upn`. Services compare it with the address of whoever has none."""
    new = str(after["upn"]) if after.get("upn") and after["upn"] != before.get("upn") else ""
    if new and any(one.id != user_id for one in await store.all_with_upn(work.db, new)):
        return Complaint("Somebody else has this upn.", "unique")
    return await address_ownership.complain_called(work, new, user_id)

"""Whom an identity that nobody has linked yet belongs to, by the source's `user_matching_mode`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from kith.base.work import Work
from kith.identity.sources.family import LINKS
from kith.identity.sources.reach import reach_of
from kith.identity.users import address_ownership, former_names
from kith.identity.users import store as users
from kith.identity.users.names import complain_chosen, complain_email, complain_name, complain_username
from kith.identity.users.reserved_names import complain_reserved
from kith.identity.users.tables import User

if TYPE_CHECKING:
    from kith.identity.sources.arrival import Arrival

NO_EMAIL = "The account there has no e-mail address, and this server needs it to know you."
NO_USERNAME = "The account there has no user name, and this server needs it to know you."
UNVERIFIED = "The account there has no confirmed e-mail address, and this server needs one to know you."


class UserMatch(msgspec.Struct, frozen=True):
    decision: Literal["known", "link", "enroll", "deny"]
    user_id: int | None = None
    reason: str = ""
    words: str = ""


async def find_match(work: Work, arrival: Arrival) -> UserMatch:
    """An address counts only if both sides have confirmed it: else whoever writes it somewhere could take over."""
    mode = arrival.source.user_matching_mode
    if mode == "identifier" or (arrival.is_anybodys_word and mode.endswith(LINKS)):
        return UserMatch("enroll")
    field, _, action = mode.partition("_")
    given = str(arrival.properties.get(field) or "").strip()
    if not given:
        return UserMatch("deny", None, f"the source gave no {field}", NO_EMAIL if field == "email" else NO_USERNAME)
    if field == "email" and not arrival.email_verified:
        return UserMatch("deny", None, "the source has not confirmed the address", UNVERIFIED)
    user = await _find(work, field, given)
    if user is None:
        return UserMatch("enroll")
    if action == "deny":
        return UserMatch("deny", user.id, f"somebody has this {field} already")
    if not await (await reach_of(work, arrival.source)).holds_person(work, user.id):
        return UserMatch("deny", user.id, "they may do more than whoever set the source up")
    return UserMatch("link", user.id)


async def _find(work: Work, field: str, given: str) -> User | None:
    if field == "username":
        return await users.find(work.db, given)
    owner = await users.owner_of(work.db, given)
    return owner if owner is not None and owner.is_email_verified else None


async def usable(work: Work, arrival: Arrival) -> dict[str, Any]:
    """What the source says of a new person, without what cannot be taken: they are asked for that, or go without it."""
    known = {name: value for name, value in arrival.properties.items() if value not in (None, "")}
    name = str(known.get("username", ""))
    wrong = complain_username(name) or complain_chosen(name) or await complain_reserved(work, name)
    is_taken = await users.find(work.db, name) is not None or await former_names.is_of_another(work.db, name)
    if "username" in known and (wrong is not None or is_taken):
        del known["username"]
    if "name" in known and complain_name(str(known["name"])) is not None:
        known["name"] = str(known["name"])[:200]
    email = str(known.get("email", ""))
    if email and (complain_email(email) is not None or await address_ownership.belongs_to_another(work, email, 0)):
        del known["email"]
    return known

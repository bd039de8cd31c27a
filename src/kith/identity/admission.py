"""A port by which the social half can keep somebody from signing in."""

from __future__ import annotations

from typing import Protocol

from kith.base.work import Work
from kith.identity.groups import store as groups


class Admission(Protocol):
    async def may_sign_in(self, work: Work, user_id: int) -> bool:
        """False for a memorial account, kept after its owner died."""
        ...


class PeopleGate(Protocol):
    """Who is kept out by what the team blocks: addresses people write from and addresses they come from."""

    async def refuses_email(self, work: Work, email: str, *, at_signup: bool = False) -> bool: ...

    async def refuses_signup(self, work: Work, client_ip: str) -> bool: ...

    async def wants_approval(self, work: Work, email: str, client_ip: str) -> bool: ...

    async def vouches(self, work: Work, user_id: int) -> bool:
        """Whether whoever this person invites needs nobody's approval."""
        ...


async def is_turned_away(work: Work, user_id: int, email: str, role: str) -> bool:
    """Whether an account that is there already may not come in any more; whoever runs the server always may."""
    gate = work.find(PeopleGate)  # type: ignore[type-abstract]
    is_refused = bool(email) and role == "user" and await gate.refuses_email(work, email)
    return is_refused and not await groups.is_mighty(work.db, user_id)

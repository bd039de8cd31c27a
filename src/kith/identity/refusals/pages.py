"""A page that is refused by a rule of the house, not by a flow: its no has a code like every other."""

from __future__ import annotations

from kith.base.errors import Problem
from kith.base.exchange import Exchange
from kith.identity.refusals.service import refuse
from kith.identity.sessions.tables import LoginSession
from kith.identity.users import store as users


async def code_for(problem: Problem, exchange: Exchange) -> str:
    """Written down by itself, for whatever the request has done is undone."""
    session: LoginSession | None = exchange.kept.get(
        LoginSession
    )  # who is there is known only where the rule has asked
    async with exchange.server.works.begin(exchange.origin) as work:
        origin = work.origin
        user_id = session.user_id if session is not None else None
        details: dict[str, object] = {"path": origin.path, "method": origin.method}
        if origin.acting is not None:
            details["behind"] = origin.acting.username
        return await refuse(
            work,
            area="page",
            message=problem.message,
            reason=f"{problem.code}: {problem.message}",
            details=details,
            user=await users.find_by_id(work.db, user_id) if user_id is not None else None,
        )

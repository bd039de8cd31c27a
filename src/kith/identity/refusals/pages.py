"""Refusals by a rule rather than by a flow; they get a code like all others."""

from __future__ import annotations

from kith.base.errors import Problem
from kith.base.exchange import Exchange
from kith.identity.refusals.service import refuse
from kith.identity.sessions.tables import LoginSession
from kith.identity.users import store as users


async def code_for(problem: Problem, exchange: Exchange) -> str:
    """Store the refusal in a work of its own, as the request's is rolled back."""
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

"""Audit events about sessions in which somebody impersonates another person."""

from __future__ import annotations

from kith.base.work import Acting, Work
from kith.identity.audit import service as audit
from kith.identity.sessions.tables import LoginSession


def acting_in(session: LoginSession) -> Acting | None:
    if session.by_id is None or session.user_id is None:
        return None
    return Acting(session.by_id, session.by_name or "", session.user_id, session.username or "")


async def record_end(work: Work, session: LoginSession) -> None:
    """Record the end of an impersonation; does nothing for other sessions."""
    acting = acting_in(session)
    if acting is not None:
        await record(work, "impersonation_ended", acting)


async def record(work: Work, action: str, acting: Acting, reason: str = "") -> None:
    """Record an event for the person who is impersonated, who may see it."""
    context: dict[str, object] = {"original_user": {"pk": acting.id, "username": acting.username}}
    if reason:
        context["reason"] = reason
    await audit.record(
        work,
        action,
        "core.impersonation",
        user_id=acting.as_id,
        username=acting.as_username,
        context=context,
        as_told=True,
    )

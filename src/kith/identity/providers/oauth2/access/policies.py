"""The policies that decide about a client: those of the application it leads into."""

from __future__ import annotations

from typing import Any

from kith.base.work import Work
from kith.identity.expressions import subjects
from kith.identity.policies.engine import evaluate_target
from kith.identity.policies.request import PolicyRequest, PolicyVerdict
from kith.identity.providers.oauth2.clients.client import Client


async def ask(
    work: Work, client: Client, user_id: int | None, context: dict[str, Any], *, address: str | None = None
) -> tuple[PolicyVerdict, PolicyRequest]:
    """The verdict. Apps of the social half have no application; a provider without one lets nobody in.

    Without a user the client itself wants to enter. Call it before the work's first write. `address` is where the
    person was last seen, if it is not their request.
    """
    request = PolicyRequest(context=context, client_ip=work.origin.address if address is None else address)
    if client.is_social:
        return PolicyVerdict(passing=True), request
    request.person = await subjects.find(work, user_id) if user_id is not None else None
    if client.application is None:
        return PolicyVerdict(passing=False, messages=["This provider does not belong to an application."]), request
    request.target, mode = client.application.pbm_uuid, client.application.policy_engine_mode
    return await evaluate_target(work, request.target, request, "any" if mode == "any" else "all"), request

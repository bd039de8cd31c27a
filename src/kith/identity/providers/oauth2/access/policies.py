"""Who may enter by a client: the policies of the application it leads into."""

from __future__ import annotations

from typing import Any

from kith.base.work import Work
from kith.identity.expressions import people
from kith.identity.policies.engine import evaluate_target
from kith.identity.policies.request import PolicyRequest, Verdict
from kith.identity.providers.oauth2.clients.client import Client


async def ask(
    work: Work, client: Client, user_id: int | None, context: dict[str, Any], *, address: str | None = None
) -> tuple[Verdict, PolicyRequest]:
    """Apps of the social half enter no application; a provider without one lets nobody in.

    Without a user it is the client itself that wants to enter. Policies may take their time, so ask before this work's
    first write. `address` is where the person was last seen, when it is not they who ask.
    """
    request = PolicyRequest(context=context, client_ip=work.origin.address if address is None else address)
    if client.is_social:
        return Verdict(passing=True), request
    request.person = await people.find(work, user_id) if user_id is not None else None
    if client.application is None:
        return Verdict(passing=False, messages=["This provider does not belong to an application."]), request
    request.target, mode = client.application.pbm_uuid, client.application.policy_engine_mode
    return await evaluate_target(work, request.target, request, "any" if mode == "any" else "all"), request

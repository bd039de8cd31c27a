"""Who may enter by a client: the policies of the application it leads into."""

from __future__ import annotations

from typing import Any

from kith.base.work import Work
from kith.identity.expressions import people
from kith.identity.policies.engine import evaluate_target
from kith.identity.policies.request import PolicyRequest, Verdict
from kith.identity.providers.oauth2.clients import Client


async def ask(work: Work, client: Client, user_id: int, context: dict[str, Any]) -> Verdict:
    """Apps of the social half enter no application; a provider without one lets nobody in.

    Policies may take their time, so ask before this work's first write.
    """
    if client.is_social:
        return Verdict(passing=True)
    if client.application is None:
        return Verdict(passing=False, messages=["This provider belongs to no application."])
    person = await people.find(work, user_id)
    request = PolicyRequest(person=person, context=context, client_ip=work.origin.address)
    mode = client.application.policy_engine_mode
    return await evaluate_target(work, client.application.pbm_uuid, request, "any" if mode == "any" else "all")

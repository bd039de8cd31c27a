"""The policies that decide about a client: those of the application it leads into."""

from __future__ import annotations

from typing import Any

from kith.base.work import Work
from kith.identity.policies.request import PolicyRequest, PolicyVerdict
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.sign_on.access import ask_policies


async def ask(
    work: Work, client: Client, user_id: int | None, context: dict[str, Any], *, address: str | None = None
) -> tuple[PolicyVerdict, PolicyRequest]:
    """The verdict. Apps of the social half have no application; a provider without one lets nobody in.

    Without a user the client itself wants to enter. Call it before the work's first write. `address` is where the
    person was last seen, if it is not their request.
    """
    if client.is_social:
        client_ip = work.origin.address if address is None else address
        return PolicyVerdict(passing=True), PolicyRequest(context=context, client_ip=client_ip)
    return await ask_policies(work, client.application, user_id, context, address=address)

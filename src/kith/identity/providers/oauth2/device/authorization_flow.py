"""Running the application's authorization flow for a device, before the person is asked to confirm.

The flow may ask for a second factor or refuse: what holds for whoever enters with a browser holds for a device too.
"""

from __future__ import annotations

import hmac
import json
from urllib.parse import urlencode

from kith.base.exchange import Exchange
from kith.base.keys import Keys
from kith.identity.flows.plan import slug_of
from kith.identity.flows.plan_context import PlanContext
from kith.identity.providers.oauth2.authorize.authorization_flow import application_facts
from kith.identity.providers.oauth2.clients.scopes import split
from kith.identity.providers.oauth2.consent.scope_texts import permissions
from kith.identity.providers.oauth2.device.verification_page import Waiting
from kith.identity.providers.sign_on.flow import FlowShown, run_authorization
from kith.identity.providers.sign_on.outcomes import ErrorPage, Local
from kith.identity.stages.turn import Denied
from kith.identity.users.tables import User

PAGE = "/device"


async def pass_flow(
    exchange: Exchange, waiting: Waiting, user: User, *, code: str, proof: str
) -> Local | ErrorPage | None:
    """Where the person has to go first; None if they have completed the flow, or it has nothing to show.

    `proof` is the word that the end of the flow leads back to the page with.
    """
    expected = _proof(exchange, waiting, user)
    if hmac.compare_digest(proof.encode("utf-8", "replace"), expected.encode()):
        return None
    slug = await slug_of(exchange.work, waiting.client.authorization_flow)
    if slug is None:
        return _refused(["This application has no authorization flow."])
    context = PlanContext(
        application=application_facts(waiting.client),
        is_sso=True,
        redirect=f"{PAGE}?{urlencode({'code': code, 'proof': expected})}",
        consent_permissions=await permissions(exchange.work, waiting.client, split(waiting.device.scopes)),
        consent_mode="never",  # the page itself asks, every time
        cancel_url=PAGE,
    )
    result = await run_authorization(exchange, slug, {}, context)
    match result:
        case FlowShown(to=to, headers=headers):
            return Local(to, headers)
        case Denied(message=message, code=refusal):
            return _refused([message], refusal)
        case ErrorPage() | None:
            return result


def _proof(exchange: Exchange, waiting: Waiting, user: User) -> str:
    """Signed for one device and one person; it is of use as long as the device waits."""
    told = json.dumps(["oauth2.device", waiting.device.device_hash, waiting.client.identity, user.id]).encode()
    return hmac.new(exchange.find(Keys).session, told, "sha256").hexdigest()


def _refused(messages: list[str], refusal: str = "") -> ErrorPage:
    return ErrorPage(title="Not allowed", messages=messages, status=403, code="access_denied", refusal=refusal)

"""Running the authorization flow of an application."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from kith.base.db import query
from kith.identity.executor.default_flows import leave
from kith.identity.flows.plan import Step, find_flow, slug_of, steps_of
from kith.identity.flows.plan_context import PlanContext
from kith.identity.flows.stages import stages
from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.authorize import stored_requests
from kith.identity.providers.oauth2.authorize.attempt import Attempt, turn_away
from kith.identity.providers.oauth2.authorize.redirect_uris import origin_of
from kith.identity.providers.oauth2.authorize.responses import Outcome
from kith.identity.providers.oauth2.authorize.return_links import link_to_stored
from kith.identity.providers.oauth2.authorize.stored_requests import CANCELLED, PROOF
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.consent.scope_texts import permissions
from kith.identity.providers.oauth2.errors import OAuthError
from kith.identity.providers.oauth2.grants.service import hash_key, new_key
from kith.identity.providers.sign_on.flow import FlowShown, run_authorization
from kith.identity.providers.sign_on.outcomes import ErrorPage, Local
from kith.identity.stages.turn import Denied
from kith.identity.users.tables import User

CONSENT_STAGE = "default-provider-authorization-consent"

_consent_stage = query(
    select(stages.c.stage_uuid)
    .where(stages.c.kind == "consent")
    .order_by(stages.c.name != CONSENT_STAGE, stages.c.name)  # the shipped one first
    .limit(1),
    str,
)


async def run_flow(attempt: Attempt, user: User) -> Outcome | None:
    """Run the application's flow; None if there is nothing in it to show."""
    exchange, client = attempt.exchange, attempt.client
    slug = await slug_of(exchange.work, client.authorization_flow)
    if slug is None:
        return turn_away(attempt, ["This application has no authorization flow."])
    key, proof = attempt.kept.key or stored_requests.new_name(), new_key()
    back = link_to_stored(client, key, {PROOF: proof})
    query = {"lang": attempt.request.language} if attempt.request.language else {}
    context = await _context(attempt, back, link_to_stored(client, key, {CANCELLED: "true"}))
    result = await run_authorization(exchange, slug, query, context, await _more_steps(attempt, slug))
    match result:
        case FlowShown(component=component) if component and attempt.is_silent:
            await leave(exchange, slug)
            error = "consent_required" if component == "consent" else "interaction_required"
            raise OAuthError(error, "They have to be asked.")
        case FlowShown(to=to, headers=headers):
            await _await_proof(attempt, key, proof, user)
            return Local(to, headers)
        case Denied(message=message, code=refusal):
            return turn_away(attempt, [message], refusal)
        case ErrorPage() | None:
            return result


async def _await_proof(attempt: Attempt, key: str, proof: str, user: User) -> None:
    """Store the hash of the proof that only the end of the flow reveals."""
    async with attempt.exchange.work.aside() as work:
        if attempt.kept.key:
            await store.prove_request(work.db, hash_key(key), hash_key(attempt.proof_of_run(proof)), user.id)
        else:
            client_id, values = attempt.client.client_id, attempt.kept.values
            whole = attempt.proof_of_run(proof)
            await stored_requests.keep(work, client_id, values, key=key, proof=whole, user_id=user.id)


async def _context(attempt: Attempt, back: str, cancel: str) -> PlanContext:
    """What the flow knows from the start. `redirect`, with the proof, is only used at its end."""
    client = attempt.client
    context = PlanContext(
        application=application_facts(client),
        is_sso=True,
        redirect=back,
        consent_permissions=await permissions(attempt.exchange.work, client, attempt.consent_scopes),
        consent_ask="consent" in attempt.request.prompts,
        consent_client=client.identity,
        cancel_url=cancel,
    )
    if client.consent != "flow":
        context.consent_mode = {"always": "always_require"}.get(client.consent, client.consent)
    return context


async def _more_steps(attempt: Attempt, slug: str) -> list[Step]:
    """A consent stage, if consent was asked for and the flow has none."""
    client = attempt.client
    if "consent" not in attempt.request.prompts and client.app_id is None:
        return []
    work = attempt.exchange.work
    flow = await find_flow(work, slug)
    if flow is None or any(step.kind == "consent" for step in await steps_of(work, flow.flow_uuid)):
        return []
    stage_uuid = await work.db.one(_consent_stage)
    if stage_uuid is None:
        raise OAuthError("interaction_required", "There is no way to ask for consent here.")
    return [Step("", stage_uuid, "consent", "", "all", again=False, at_plan=False, invalid_response_action="retry")]


def about_client(client: Client) -> dict[str, str]:
    """Pages about a client that registered itself, for the page on which people are asked.

    A picture is loaded by browsers from the client's own server. So it must be on the site of a redirect URI: that site
    has just sent them here, and learns nothing that it does not know; and nobody shows the picture of somebody else.
    """
    said = client.registered
    logo = said.logo_uri if origin_of(said.logo_uri) in map(origin_of, client.redirect_uris) else ""
    return {"logo_uri": logo, "policy_uri": said.policy_uri, "tos_uri": said.tos_uri}


def application_facts(client: Client) -> dict[str, Any]:
    application = client.application
    told: dict[str, Any] = {"name": client.name, "client_id": client.client_id}
    if client.app_id is not None:
        told["app_id"] = str(client.app_id)
        told |= {name: uri for name, uri in about_client(client).items() if uri}
    if application is None:
        return told
    return told | {"pk": application.pbm_uuid, "slug": application.slug, "meta_launch_url": application.meta_launch_url}

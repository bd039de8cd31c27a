"""The flow that a source has run before people are sent away: what they must read or answer first."""

from __future__ import annotations

from urllib.parse import urlencode

from kith.base.exchange import Exchange
from kith.identity.executor.api import open_run
from kith.identity.flows.plan_context import PlanContext
from kith.identity.sessions import cookies
from kith.identity.sources import attempts
from kith.identity.sources.attempts import SourceAttempt
from kith.identity.sources.flow_runs import outcome_of
from kith.identity.sources.outcomes import SourceOutcome
from kith.identity.sources.saml.identity_provider import IdentityProvider

PASSED = "passed"


async def run(exchange: Exchange, idp: IdentityProvider, slug: str, attempt: SourceAttempt) -> SourceOutcome:
    """Run the flow. Only its end reveals the key with which the attempt goes on."""
    flow_run = await open_run(exchange, slug, {})
    key, source = attempts.new_key(), idp.source
    async with exchange.work.aside() as work:
        await attempts.begin(work, source.pbm_uuid, flow_run.held.session.session_uuid, attempt, key)
    context = PlanContext(
        is_sso=True,
        source={"pk": source.pbm_uuid, "name": source.name, "slug": source.slug, "kind": source.kind},
        redirect=f"{idp.path}?{urlencode({PASSED: key})}",
    )
    return outcome_of(exchange, flow_run, await flow_run.begin(context) or await flow_run.go(may_act=False))


async def passed(exchange: Exchange, idp: IdentityProvider, key: str) -> SourceAttempt | None:
    """The attempt whose flow has ended in this browser; it goes on once."""
    session = await cookies.find(exchange)
    if session is None:
        return None
    async with exchange.work.aside() as work:
        return await attempts.claim(work, idp.source.pbm_uuid, session.session_uuid, key)

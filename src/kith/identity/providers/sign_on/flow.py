"""Signing in for an application, and running its authorization flow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

import msgspec

from kith.base.exchange import Exchange, Headers
from kith.identity.executor.api import open_run, session_cookie
from kith.identity.executor.default_flows import find_default
from kith.identity.executor.failures import FlowFailed
from kith.identity.executor.flow_run import FlowEnded
from kith.identity.flows.plan import Step, slug_of
from kith.identity.flows.plan_context import PlanContext
from kith.identity.providers.sign_on.outcomes import ErrorPage, Local
from kith.identity.stages.turn import Challenge, Denied


class FlowShown(msgspec.Struct, frozen=True):
    """The flow goes on at this page. `component` is what it asks there, empty if it has ended elsewhere."""

    to: str
    headers: Headers
    component: str = ""


NO_SIGN_IN = ErrorPage(title="Not allowed", messages=["Sign-in is not available on this server."], status=403)
NOT_THIS_WAY = ErrorPage(title="Not allowed", messages=["You cannot sign in this way."], status=403)


async def sign_in(
    exchange: Exchange, flow_uuid: str | None, asked: dict[str, str], application: dict[str, Any], cancel: str
) -> Local | Denied | ErrorPage:
    """To the application's own sign-in flow, or the default one. `asked` is the query of its page."""
    slug = await slug_of(exchange.work, flow_uuid) or await find_default(exchange, "authentication")
    if slug is None:
        return NO_SIGN_IN
    asked = {name: value for name, value in asked.items() if value}
    run = await open_run(exchange, slug, asked)
    begun = await run.begin(PlanContext(application=application, cancel_url=cancel))
    if isinstance(begun, Denied):
        return begun
    if begun is not None:
        return NOT_THIS_WAY
    return Local(f"/flows/{slug}/?{urlencode(asked)}", session_cookie(exchange, run))


async def run_authorization(
    exchange: Exchange, slug: str, query: dict[str, str], context: PlanContext, more: Sequence[Step] = ()
) -> FlowShown | Denied | ErrorPage | None:
    """Run the application's flow, which ends at `context.redirect`; None if there is nothing in it to show."""
    run = await open_run(exchange, slug, query)
    result = await run.begin(context, more) or await run.go(may_act=False)
    match result:
        case FlowEnded(to=to) if to == context.redirect and run.held.key is None and not run.signed_out:
            return None
        case FlowEnded(to=to):
            return FlowShown(to, session_cookie(exchange, run))
        case Challenge(component=component):
            to = f"/flows/{slug}/" + (f"?{urlencode(query)}" if query else "")
            return FlowShown(to, session_cookie(exchange, run), component)
        case Denied():
            return result
        case FlowFailed(error=error, code=refusal):
            return ErrorPage(
                title="Something went wrong on our side",
                messages=[error],
                status=500,
                code="server_error",
                refusal=refusal,
            )

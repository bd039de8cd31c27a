"""What a browser gets that runs a flow of a source."""

from __future__ import annotations

from kith.base.exchange import Exchange
from kith.identity.executor.api import session_cookie
from kith.identity.executor.flow_run import FlowEnded, FlowFailed, FlowRun, Result
from kith.identity.sources.outcomes import SourceError, SourceOutcome, SourceRedirect
from kith.identity.stages.turn import Challenge, Denied


def outcome_of(exchange: Exchange, run: FlowRun, result: Result) -> SourceOutcome:
    """Leave the browser at what the flow shows, or where it leads."""
    match result:
        case FlowEnded(to=to):
            return SourceRedirect(to, session_cookie(exchange, run))
        case Challenge():
            return SourceRedirect(f"/flows/{run.info()['slug']}/", session_cookie(exchange, run))
        case Denied(message=message, code=code):
            return SourceError(title="Not allowed", messages=[message], status=403, refusal=code)
        case FlowFailed(error=error, code=code):
            return SourceError(title="Something went wrong on our side", messages=[error], status=500, refusal=code)

"""What pages need of flows: beginning a run, going through its steps, and leaving it."""

from kith.identity.executor.api import open_run, session_cookie
from kith.identity.executor.default_flows import find_default, flow_to_pass, leave
from kith.identity.executor.flow_run import FlowEnded, FlowFailed, FlowRun, Result
from kith.identity.stages.turn import Challenge, Denied

__all__ = [
    "Challenge",
    "Denied",
    "FlowEnded",
    "FlowFailed",
    "FlowRun",
    "Result",
    "find_default",
    "flow_to_pass",
    "leave",
    "open_run",
    "session_cookie",
]

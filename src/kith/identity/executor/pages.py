"""What pages need of flows: beginning a run, going through its steps, and leaving it."""

from kith.identity.executor.api import open_walk, session_cookie
from kith.identity.executor.default_flows import find_default, leave
from kith.identity.executor.engine import Ended, Failed, Result, Walk
from kith.identity.stages.turn import Challenge, Denied

__all__ = [
    "Challenge",
    "Denied",
    "Ended",
    "Failed",
    "Result",
    "Walk",
    "find_default",
    "leave",
    "open_walk",
    "session_cookie",
]

"""Jobs: what is done later, kept in the same database and the same transaction as what asked for it."""

from kith.base.jobs.kinds import MAKES_ROOM, Give, JobKind, Periodic

__all__ = ["MAKES_ROOM", "Give", "JobKind", "Periodic"]

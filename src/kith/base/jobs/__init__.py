"""Jobs: what is done later, kept in the same database and the same transaction as what asked for it."""

from kith.base.jobs.kinds import Give, Kind, Periodic

__all__ = ["Give", "Kind", "Periodic"]

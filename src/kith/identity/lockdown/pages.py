"""What the pages about a lockdown need."""

from kith.identity.lockdown.service import OWN_REASON, Lockdown, LockdownCounts, check_reason, count, lock

__all__ = ["OWN_REASON", "Lockdown", "LockdownCounts", "check_reason", "count", "lock"]

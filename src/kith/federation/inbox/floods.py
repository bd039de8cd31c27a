"""How much is taken of whom."""

from __future__ import annotations

from kith.base.limits import LimitRule

__all__ = ["FROM_HOST", "REPORTS_FROM_HOST", "UNBELIEVED"]

# Requests whose signature is not believed, by where they come from: each is paid for before it is checked, and given
# back once it is believed.
UNBELIEVED = LimitRule("inbox_unbelieved", most=600, seconds=300)
# What one host sends, by the name it has signed with.
FROM_HOST = LimitRule("inbox_host", most=60_000, seconds=300)
# Reports that one host passes on: the team gets mail for each.
REPORTS_FROM_HOST = LimitRule("inbox_reports", most=100, seconds=3600)

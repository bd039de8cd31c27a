"""What the team hears of and does, for whoever carries it on."""

from __future__ import annotations

from kith.base.news import Fact
from kith.social.ids import AccountId


class ReportCreated(Fact, frozen=True):
    report_id: int


class ReportChanged(Fact, frozen=True):
    report_id: int


class AccountSuspended(Fact, frozen=True):
    account_id: AccountId

"""What reports mean for those about whom they are, as clauses for other rooms' statements."""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, or_

from kith.base.db import alias_of, any_row
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId
from kith.social.moderation.tables import reports

__all__ = ["is_in_question"]


def is_in_question(viewer: ColumnElement[AccountId], account_id: ColumnElement[AccountId]) -> ColumnElement[bool]:
    """Whether `viewer` has reported this account, or the team still has to decide about a report.

    Reports of other servers count once somebody of the team looks after them: nobody elsewhere hides anybody here.
    """
    report, by = alias_of(reports, "in_question"), alias_of(accounts, "reporter")
    is_from_here = any_row(by, and_(by.c.id == report.c.account_id, by.c.domain == ""))
    is_open = and_(report.c.action_taken_at.is_(None), or_(report.c.assigned_id.is_not(None), is_from_here))
    return any_row(report, and_(report.c.target_id == account_id, or_(report.c.account_id == viewer, is_open)))

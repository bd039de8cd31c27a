"""Reports, warnings and lost relationships on the wire, as members see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.entities import render
from kith.social.ids import AccountId
from kith.social.moderation import store
from kith.social.moderation.tables import Appeal, Report, Severance, Strike
from kith.social.moments import maybe, moment
from kith.social.staff import role_of

_encode = msgspec.json.Encoder().encode


async def _people(work: Work, ids: Sequence[AccountId]) -> dict[AccountId, msgspec.Raw]:
    rows = list((await accounts.find_all(work.db, list(dict.fromkeys(ids)))).values())
    return {row.id: msgspec.Raw(one) for row, one in zip(rows, await render(work, rows), strict=True)}


async def render_reports(work: Work, rows: Sequence[Report]) -> list[bytes]:
    people = await _people(work, [row.target_id for row in rows])
    return [_encode(_report(row) | {"target_account": people[row.target_id]}) for row in rows]


def _report(row: Report) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "action_taken": row.action_taken_at is not None,
        "action_taken_at": maybe(row.action_taken_at),
        "category": row.category,
        "comment": row.comment,
        "forwarded": row.forwarded,
        "created_at": moment(row.created_at),
        "status_ids": row.status_ids,
        "rule_ids": row.rule_ids,
        "collection_ids": row.collection_ids,
    }


async def render_warnings(work: Work, rows: Sequence[Strike]) -> list[bytes]:
    people = await _people(work, [row.target_id for row in rows])
    appealed = await store.appeals_of(work.db, [row.id for row in rows])
    return [_encode(_warning(row, people[row.target_id], appealed.get(row.id))) for row in rows]


def _warning(row: Strike, target: msgspec.Raw, appeal: Appeal | None) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "action": row.action,
        "text": row.text,
        "status_ids": row.status_ids,
        "target_account": target,
        "appeal": None if appeal is None else {"text": appeal.text, "state": appeal.state},
        "created_at": moment(row.created_at),
    }


async def render_severances(work: Work, rows: Sequence[Severance]) -> list[bytes]:
    """`purged` where it is not known any more which follows were lost."""
    known = await store.remembered_among(work.db, [row.id for row in rows]) if rows else set()
    return [_encode(_severance(row, purged=row.id not in known)) for row in rows]


def _severance(row: Severance, *, purged: bool) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "type": row.type,
        "purged": purged,
        "target_name": row.target_name,
        "followers_count": row.followers_count,
        "following_count": row.following_count,
        "created_at": moment(row.created_at),
    }


async def _reads_reports(work: Work, me: AccountId) -> bool:
    """As their role is now: who has left the team keeps the notifications, and reads of no report."""
    account = await accounts.find(work.db, me)
    role = None if account is None else await role_of(work, account)
    return role is not None and role.allows("manage_reports")


class ModerationSubjects:
    """What notifications of the team's business are about."""

    async def render(self, work: Work, type: str, ids: Sequence[int], me: AccountId) -> Mapping[int, bytes]:
        if type == "admin.report":
            if not await _reads_reports(work, me):
                return {}
            reports = await store.reports_by_id(work.db, ids)
            return dict(zip([one.id for one in reports], await render_reports(work, reports), strict=True))
        if type == "moderation_warning":
            strikes = await store.strikes_by_id(work.db, ids)
            return dict(zip([one.id for one in strikes], await render_warnings(work, strikes), strict=True))
        events = await store.severances_by_id(work.db, ids)
        return dict(zip([one.id for one in events], await render_severances(work, events), strict=True))

"""Policies and requests on the wire."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.entities import render
from kith.social.ids import AccountId
from kith.social.moments import moment
from kith.social.notifications.request_store import PendingSummary
from kith.social.notifications.tables import NotificationPolicy, NotificationRequest
from kith.social.statuses.entities import render_by_id

_encode = msgspec.json.Encoder().encode
_OLDER = ("not_following", "not_followers", "new_accounts", "private_mentions", "bots")


def _summary(pending: PendingSummary) -> dict[str, int]:
    return {
        "pending_requests_count": pending.requests,
        "pending_notifications_count": pending.notifications,
    }


def render_policy(policy: NotificationPolicy, pending: PendingSummary) -> dict[str, Any]:
    return {**msgspec.structs.asdict(policy), "summary": _summary(pending)}


def render_policy_v1(policy: NotificationPolicy, pending: PendingSummary) -> dict[str, Any]:
    held_back = {f"filter_{name}": getattr(policy, f"for_{name}") != "accept" for name in _OLDER}
    return {**held_back, "summary": _summary(pending)}


async def render_requests(work: Work, found: Sequence[NotificationRequest], me: AccountId) -> list[bytes]:
    rows = await accounts.find_all(work.db, [one.from_id for one in found])
    people = dict(zip(rows, await render(work, list(rows.values())), strict=True))
    about = [one.last_status_id for one in found if one.last_status_id is not None]
    statuses = await render_by_id(work, about, me)
    return [
        _encode(
            {
                "id": str(one.id),
                "created_at": moment(one.created_at),
                "updated_at": moment(one.updated_at),
                "notifications_count": str(one.count),
                "account": msgspec.Raw(people[one.from_id]),
                "last_status": None
                if one.last_status_id not in statuses
                else msgspec.Raw(statuses[one.last_status_id]),
            }
        )
        for one in found
        if one.from_id in people
    ]

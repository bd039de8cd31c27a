"""Reports as the team sees them, in a fixed number of statements however many there are."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kith.base.work import Work
from kith.social.admin.entities import render_admin_by_id
from kith.social.ids import AccountId
from kith.social.instance import store as instance
from kith.social.instance.entities import rule_shape
from kith.social.moderation.tables import Note, Report
from kith.social.moments import maybe, moment
from kith.social.staff import Staff
from kith.social.statuses.entities import render_for_staff

POSTS_PART = 100  # made at once
POSTS_BYTES = 4 << 20  # in one answer
_encode = msgspec.json.Encoder().encode


async def render_admin_reports(work: Work, rows: Sequence[Report], by: Staff) -> list[bytes]:
    """Addresses of people are for those who manage users. Posts are told as far as there is room for them."""
    named = [id for row in rows for id in (row.account_id, row.target_id, row.assigned_id, row.action_taken_by_id)]
    with_addresses = by.may("manage_users")
    people = await render_admin_by_id(work, [id for id in named if id is not None], with_addresses=with_addresses)
    posts = await _posts_of(work, rows, by)
    rules = {str(rule.id): rule_shape(rule) for rule in await instance.every_rule(work.db)}
    return [_encode(_shape(row, people, posts[row.id], rules)) for row in rows]


async def _posts_of(work: Work, rows: Sequence[Report], by: Staff) -> dict[int, list[msgspec.Raw]]:
    """The posts of each report as JSON, in their order. Others are served between two parts of very many."""
    wanted = list(dict.fromkeys(int(id) for row in rows for id in row.status_ids))
    found: dict[int, bytes] = {}
    for start in range(0, len(wanted), POSTS_PART):
        found |= await render_for_staff(work, wanted[start : start + POSTS_PART], by.account_id)
        if sum(map(len, found.values())) > POSTS_BYTES:
            break
        await asyncio.sleep(0)
    room, told = POSTS_BYTES, dict[int, list[msgspec.Raw]]()
    for row in rows:
        told[row.id] = []
        for id in row.status_ids:
            piece = found.get(int(id), b"")
            room -= len(piece)
            if piece and room >= 0:
                told[row.id].append(msgspec.Raw(piece))
    return told


def _shape(
    row: Report, people: Mapping[AccountId, msgspec.Raw], posts: Sequence[msgspec.Raw], rules: Mapping[str, Any]
) -> dict[str, Any]:
    def person(id: AccountId | None) -> msgspec.Raw | None:
        return None if id is None else people.get(id)

    return {
        "id": str(row.id),
        "action_taken": row.action_taken_at is not None,
        "action_taken_at": maybe(row.action_taken_at),
        "category": row.category,
        "comment": row.comment,
        "forwarded": row.forwarded,
        "created_at": moment(row.created_at),
        "updated_at": moment(row.updated_at),
        "account": person(row.account_id),
        "target_account": person(row.target_id),
        "assigned_account": person(row.assigned_id),
        "action_taken_by_account": person(row.action_taken_by_id),
        "statuses": posts,
        "rules": [rules[id] for id in row.rule_ids if id in rules],
    }


def render_note(note: Note) -> dict[str, Any]:
    return {
        "id": str(note.id),
        "report_id": str(note.report_id),
        "account_id": str(note.account_id),
        "content": note.content,
        "created_at": moment(note.created_at),
    }

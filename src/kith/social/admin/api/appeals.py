"""Appeals and texts for warnings, for the team."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from kith.base.exchange import Answer, Exchange
from kith.base.paging import Cursor, CursorKind
from kith.base.routing import FromPath, FromQuery, FromRequest, delete, get, post, put
from kith.base.work import Work
from kith.social.moderation import appeals, presets, store
from kith.social.moderation.entities import render_warnings
from kith.social.moderation.tables import Appeal, Preset
from kith.social.moments import maybe, moment
from kith.social.pages import answer, list_of
from kith.social.staff import TheStaff, staff

LIMIT, MOST = 100, 200
READ = staff("manage_appeals", scope="admin:read:accounts")
WRITE = staff("manage_appeals", scope="admin:write:accounts")
ONE = "/api/v1/admin/appeals/{id}"
PRESETS = "/api/v1/admin/warning_presets"
SEE_PRESETS = staff("manage_settings", "manage_users", "manage_reports", scope="admin:read")
CHANGE_PRESETS = staff("manage_settings", scope="admin:write")
_encode = msgspec.json.Encoder().encode


class AppealQuery(msgspec.Struct, kw_only=True):
    state: str = ""


class NewPreset(msgspec.Struct, kw_only=True):
    title: str = ""
    text: str


class ChangedPreset(msgspec.Struct, kw_only=True):
    title: str | None = None
    text: str | None = None


async def _render(work: Work, rows: Sequence[Appeal]) -> list[bytes]:
    strikes = await store.strikes_by_id(work.db, [row.strike_id for row in rows])
    shown = dict(zip([one.id for one in strikes], await render_warnings(work, strikes), strict=True))
    return [
        _encode(
            {
                "id": str(row.id),
                "state": row.state,
                "text": row.text,
                "created_at": moment(row.created_at),
                "decided_at": maybe(row.decided_at),
                "decided_by_account_id": None if row.decided_by_id is None else str(row.decided_by_id),
                "strike": msgspec.Raw(shown[row.strike_id]),
            }
        )
        for row in rows
    ]


@get("/api/v1/admin/appeals", guards=[READ])
async def show_appeals(exchange: Exchange, work: Work, asked: FromQuery[AppealQuery]) -> Answer:
    cursor = Cursor.read(exchange.query_string, default=LIMIT, most=MOST, kind=CursorKind.RECORD3)
    rows = await store.page_of_appeals(work.db, asked.state[:10], cursor)
    return list_of(exchange, cursor, await _render(work, rows), [row.id for row in rows], kind=CursorKind.RECORD3)


async def _shown(exchange: Exchange, work: Work, appeal: Appeal) -> Answer:
    [shown] = await _render(work, [appeal])
    return answer(exchange, shown)


@get(ONE, guards=[READ])
async def show_appeal(exchange: Exchange, work: Work, id: FromPath[int]) -> Answer:
    return await _shown(exchange, work, await appeals.find(work, id))


@post(f"{ONE}/approve", guards=[WRITE])
async def approve(exchange: Exchange, work: Work, by: TheStaff, id: FromPath[int]) -> Answer:
    return await _shown(exchange, work, await appeals.approve(work, by, await appeals.find(work, id)))


@post(f"{ONE}/reject", guards=[WRITE])
async def reject(exchange: Exchange, work: Work, by: TheStaff, id: FromPath[int]) -> Answer:
    return await _shown(exchange, work, await appeals.reject(work, by, await appeals.find(work, id)))


def _preset(one: Preset) -> dict[str, Any]:
    return {"id": str(one.id), "title": one.title, "text": one.text, "created_at": moment(one.created_at)}


@get(PRESETS, guards=[SEE_PRESETS])
async def show_presets(work: Work) -> list[dict[str, Any]]:
    return [_preset(one) for one in await store.all_presets(work.db)]


@get(f"{PRESETS}/{{id}}", guards=[SEE_PRESETS])
async def show_preset(work: Work, id: FromPath[int]) -> dict[str, Any]:
    return _preset(await presets.find(work, id))


@post(PRESETS, guards=[CHANGE_PRESETS])
async def create_preset(work: Work, by: TheStaff, new: FromRequest[NewPreset]) -> dict[str, Any]:
    return _preset(await presets.create(work, by, title=new.title, text=new.text))


@put(f"{PRESETS}/{{id}}", guards=[CHANGE_PRESETS])
async def change_preset(
    work: Work, by: TheStaff, changed: FromRequest[ChangedPreset], id: FromPath[int]
) -> dict[str, Any]:
    return _preset(await presets.change(work, by, id, title=changed.title, text=changed.text))


@delete(f"{PRESETS}/{{id}}", guards=[CHANGE_PRESETS])
async def delete_preset(work: Work, by: TheStaff, id: FromPath[int]) -> dict[str, Any]:
    await presets.remove(work, by, id)
    return {}


routes = [
    show_appeals,
    show_appeal,
    approve,
    reject,
    show_presets,
    show_preset,
    create_preset,
    change_preset,
    delete_preset,
]

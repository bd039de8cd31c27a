"""Relays, for the team."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.routing import FromPath, FromRequest, delete, get, post
from kith.base.work import Work
from kith.federation.relays import joining, store
from kith.federation.relays.entities import render_relay
from kith.social.staff import TheStaff, staff

PATH = "/api/v1/admin/relays"
SEE = staff("manage_federation", scope="admin:read")
CHANGE = staff("manage_federation", scope="admin:write")


class NewRelay(msgspec.Struct, kw_only=True):
    inbox_url: str


@get(PATH, guards=[SEE])
async def show_relays(work: Work) -> list[dict[str, Any]]:
    return [render_relay(one) for one in await store.every(work.db)]


@get(f"{PATH}/{{id}}", guards=[SEE])
async def show_relay(work: Work, id: FromPath[int]) -> dict[str, Any]:
    return render_relay(await joining.find(work, id))


@post(PATH, guards=[CHANGE])
async def add_relay(work: Work, by: TheStaff, new: FromRequest[NewRelay]) -> dict[str, Any]:
    return render_relay(await joining.add(work, by, new.inbox_url))


@post(f"{PATH}/{{id}}/enable", guards=[CHANGE])
async def ask_relay_again(work: Work, by: TheStaff, id: FromPath[int]) -> dict[str, Any]:
    return render_relay(await joining.ask_again(work, by, id))


@delete(f"{PATH}/{{id}}", guards=[CHANGE])
async def remove_relay(work: Work, by: TheStaff, id: FromPath[int]) -> dict[str, Any]:
    await joining.remove(work, by, id)
    return {}


routes = [show_relays, show_relay, add_relay, ask_relay_again, remove_relay]

"""/providers/scim/{pk}/sync/: telling everything again by hand, and how that goes."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.identity.caller import ApiCaller
from kith.identity.providers.scim import store
from kith.identity.providers.scim.waiting import begin_sweep
from kith.identity.rest import Action
from kith.identity.rest.answers import show
from kith.identity.rest.fields import InvalidValue, read_identifier


async def sync(exchange: Exchange, _caller: ApiCaller, id: str) -> Answer:
    provider = await _find(exchange, id)
    await begin_sweep(exchange.work, provider, again_whole=True)
    return show(await _told(exchange, provider), 202)


async def status(exchange: Exchange, _caller: ApiCaller, id: str) -> Answer:
    return show(await _told(exchange, await _find(exchange, id)))


async def _told(exchange: Exchange, provider: int) -> dict[str, Any]:
    db = exchange.work.db
    state = await store.state(db, provider)
    waiting = await store.count_waiting(db, provider)
    counts = await store.count_remotes(db, provider)
    failing = await store.failing(db, provider)
    is_sweeping = state is not None and state.sweep is not None
    failed = state is not None and state.error is not None
    return {
        "is_running": is_sweeping or waiting > len(failing),
        "last_successful_sync": _moment(state.finished_at) if state is not None else None,
        "last_sync_status": "error" if failed or failing else "successful" if state and state.finished_at else None,
        "started": _moment(state.started_at) if state is not None else None,
        "waiting": waiting,
        "provisioned": {"users": counts.get("user", 0), "groups": counts.get("group", 0)},
        "error": state.error if state is not None else None,
        "paused_until": _moment(state.paused_until) if state is not None else None,
        "refused": [
            {"kind": one.kind, "pk": one.local_id, "tries": one.attempts, "error": one.error} for one in failing
        ],
    }


def _moment(at: datetime | None) -> str | None:
    return at.isoformat().replace("+00:00", "Z") if at is not None else None


async def _find(exchange: Exchange, id: str) -> int:
    try:
        provider: int = read_identifier(id, integer=True)
    except InvalidValue as error:
        raise NotFound from error
    if provider not in await store.all_providers(exchange.work.db):
        raise NotFound
    return provider


ACTIONS: tuple[Action, ...] = (
    Action(
        method="POST",
        path="/providers/scim/{id}/sync/",
        name="providers_scim_sync",
        handler=sync,
        permission="providers.change_scimprovider",
        status=202,
        summary="Tell the service of all people and groups again.",
    ),
    Action(
        method="GET",
        path="/providers/scim/{id}/sync/status/",
        name="providers_scim_sync_status",
        handler=status,
        permission="providers.view_scimprovider",
        summary="What waits to be told, what the service has refused, and when everything was told.",
    ),
)

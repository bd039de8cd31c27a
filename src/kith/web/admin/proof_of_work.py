"""Whether browsers must do a little work before somebody signs up: a stage in the flow of enrollment."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.exchange import Exchange
from kith.web import own_api

__all__ = ["is_asked", "switch"]

FLOW = "default-enrollment-flow"
STAGE = "default-enrollment-proof-of-work"
WORK = "pow"  # the key of the stage that asks for work in place of a captcha
STAGES, BINDINGS = "/api/v2/stages/captcha/", "/api/v2/flows/bindings/"
ORDER = 0  # the invitation stands there, too: both come before anything is written


async def _flow(exchange: Exchange) -> str | None:
    found = (await own_api.ask(exchange, "/api/v2/flows/instances/", slug=FLOW, limit=1))["results"]
    return found[0]["pk"] if found else None


async def _stages(exchange: Exchange) -> list[str]:
    found = await own_api.ask(exchange, STAGES, public_key=WORK, limit=100)
    return [one["pk"] for one in found["results"]]


async def _bound(exchange: Exchange) -> list[str]:
    """The bindings of such stages to the flow."""
    flow, stages = await _flow(exchange), await _stages(exchange)
    if flow is None or not stages:
        return []
    found: dict[str, Any] = await own_api.ask(exchange, BINDINGS, flow=flow, limit=200)
    return [one["pk"] for one in found["results"] if one["flow"] == flow and one["stage"] in stages]


async def is_asked(exchange: Exchange) -> bool:
    return bool(await _bound(exchange))


async def switch(exchange: Exchange, *, on: bool) -> None:
    """Twice the same changes nothing."""
    bound = await _bound(exchange)
    if not on:
        for one in bound:
            await own_api.call(exchange, "DELETE", f"{BINDINGS}{one}/")
        return
    flow = await _flow(exchange)
    if bound or flow is None:
        return
    [stage, *_] = await _stages(exchange) or [await _made(exchange)]
    await own_api.call(exchange, "POST", BINDINGS, json={"flow": flow, "stage": stage, "order": ORDER})


async def _made(exchange: Exchange) -> str:
    sent = {"name": STAGE, "public_key": WORK, "private_key": "none"}  # no service is asked, so there is no secret
    answer = await own_api.call(exchange, "POST", STAGES, json=sent)
    pk: str = msgspec.json.decode(answer.body)["pk"]
    return pk

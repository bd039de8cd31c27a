"""/staff/: why people were refused, and what flows and policies would say of somebody. It changes nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeVar
from urllib.parse import parse_qs

from kith.base import csrf
from kith.base.errors import Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.keys import Keys
from kith.base.params import read_body
from kith.base.routing import FromPath, get, post
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.web.admin.frame import staff_page
from kith.web.admin.words import of_kinds
from kith.web.pages import page, see_other

Line = TypeVar("Line")
MOST_PAGES = 10_000
_IN_CONSOLE = ("refusals.html", "refusal.html")
# What a refusal's page shows by itself; whatever else was kept is shown as it is.
_KNOWN = {"flow", "stage", "application", "policies", "inputs", "passed", "traceback"}


@get("/staff/")
async def show_index(exchange: Exchange) -> Answer:
    return await _page(exchange, "index.html")


@get("/staff/refusals/")
async def show_refusals(exchange: Exchange, work: Work) -> Answer:
    await identity.staff.get_staff(exchange)
    wanted = _asked(exchange, "code")
    if wanted:
        found = await identity.staff.find_refusal(work, wanted)
        if found is not None:
            return see_other(f"/staff/refusals/{found.code}")
    number = _number(exchange)
    return await _page(
        exchange,
        "refusals.html",
        status=404 if wanted else 200,
        wanted=wanted,
        code_of=identity.staff.shown,
        **_listed(await identity.staff.list_refusals(work, number), number),
    )


@get("/staff/refusals/{code}")
async def show_refusal(exchange: Exchange, work: Work, code: FromPath[str]) -> Answer:
    await identity.staff.get_staff(exchange)
    refusal = await identity.staff.find_refusal(work, code)
    if refusal is None:
        raise NotFound
    rest = {name: value for name, value in refusal.details.items() if name not in _KNOWN}
    return await _page(
        exchange, "refusal.html", refusal=refusal, code=identity.staff.shown(refusal.code), rest=rest, written=_written
    )


@get("/staff/flows/")
async def show_flows(exchange: Exchange, work: Work) -> Answer:
    await identity.staff.get_staff(exchange)
    number = _number(exchange)
    return await _page(exchange, "flows.html", **_listed(await identity.staff.list_flows(work, number), number))


@get("/staff/flows/{slug}/")
async def show_flow(exchange: Exchange, work: Work, slug: FromPath[str]) -> Answer:
    await identity.staff.get_staff(exchange)
    return await _flow_page(exchange, await identity.staff.get_flow(work, slug))


@post("/staff/flows/{slug}/", status=200)
async def try_flow(exchange: Exchange, work: Work, slug: FromPath[str]) -> Answer:
    """A form although nothing is changed: what somebody pretends to know does not belong into an address."""
    sent = await _sent(exchange)
    flow = await identity.staff.get_flow(work, slug)
    try:
        told = await identity.staff.rehearse(exchange, slug, sent["user"], sent["context"])
    except Invalid as problem:
        return await _flow_page(exchange, flow, sent, errors=problem.fields)
    return await _flow_page(exchange, flow, sent, told=told)


@get("/staff/policies/")
async def show_policies(exchange: Exchange, work: Work) -> Answer:
    await identity.staff.get_staff(exchange)
    number = _number(exchange)
    return await _page(exchange, "policies.html", **_listed(await identity.staff.list_policies(work, number), number))


@get("/staff/policies/{id}/")
async def show_policy(exchange: Exchange, work: Work, id: FromPath[str]) -> Answer:
    await identity.staff.get_staff(exchange)
    return await _policy_page(exchange, await identity.staff.get_policy(work, id))


@post("/staff/policies/{id}/", status=200)
async def try_policy(exchange: Exchange, work: Work, id: FromPath[str]) -> Answer:
    sent = await _sent(exchange)
    policy = await identity.staff.get_policy(work, id)
    try:
        verdict = await identity.staff.try_policy(exchange, policy, sent["user"], sent["context"])
    except Invalid as problem:
        return await _policy_page(exchange, policy, sent, errors=problem.fields)
    return await _policy_page(exchange, policy, sent, verdict=verdict)


async def _sent(exchange: Exchange) -> dict[str, str]:
    await identity.staff.get_staff(exchange)
    sent = await read_body(exchange)
    csrf.check(exchange, exchange.find(Keys).session, str(sent.get("csrf", "")))
    await identity.staff.get_staff(exchange)  # again: the form may have come slowly
    return {name: str(sent.get(name, "")).strip() for name in ("user", "context")}


async def _flow_page(
    exchange: Exchange,
    flow: identity.staff.FlowLine,
    sent: dict[str, str] | None = None,
    *,
    told: dict[str, Any] | None = None,
    errors: dict[str, list[str]] | None = None,
) -> Answer:
    return await _tried(exchange, "flow.html", sent, errors, flow=flow, told=told)


async def _policy_page(
    exchange: Exchange,
    policy: identity.staff.PolicyLine,
    sent: dict[str, str] | None = None,
    *,
    verdict: identity.staff.PolicyVerdict | None = None,
    errors: dict[str, list[str]] | None = None,
) -> Answer:
    return await _tried(exchange, "policy.html", sent, errors, policy=policy, verdict=verdict)


async def _tried(
    exchange: Exchange, template: str, sent: dict[str, str] | None, errors: dict[str, list[str]] | None, **values: Any
) -> Answer:
    return await _page(
        exchange,
        template,
        status=400 if errors else 200,
        sent=sent or {"user": "", "context": ""},
        errors=errors or {},
        focus=next(iter(errors or {}), None),
        **values,
    )


async def _page(exchange: Exchange, template: str, *, status: int = 200, **values: Any) -> Answer:
    visitor = await identity.staff.get_staff(exchange)
    values["kind_words"] = of_kinds
    if template in _IN_CONSOLE:
        return await staff_page(exchange, template, visitor, status=status, **values)
    return page(exchange, f"staff/{template}", status=status, visitor=visitor, here="staff", **values)


def _asked(exchange: Exchange, name: str) -> str:
    query: bytes = exchange.query_string
    return parse_qs(query.decode("latin-1")).get(name, [""])[-1].strip()[:100]


def _number(exchange: Exchange) -> int:
    text = _asked(exchange, "page")
    return min(max(int(text), 1), MOST_PAGES) if text.isascii() and text.isdigit() and len(text) < 10 else 1


def _listed(lines: Sequence[Line], number: int) -> dict[str, Any]:
    most = identity.staff.MOST
    return {
        "lines": lines[:most],
        "number": number,
        "newer": number - 1 if number > 1 else None,
        "older": number + 1 if len(lines) > most else None,
    }


def _written(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


routes = [
    show_index,
    show_refusals,
    show_refusal,
    show_flows,
    show_flow,
    try_flow,
    show_policies,
    show_policy,
    try_policy,
]

"""Signing in: what it costs beside the hash that it cannot do without; a step of a flow; expressions, good and bad."""

from __future__ import annotations

import asyncio
import statistics
import time
import uuid
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx

from bench import load
from bench.report import Result, result
from bench.stage import ENGINES, baseline
from kith.identity.users.passwords import Passwords
from tests.identity.hostile_expressions import HOSTILE
from tests.town import Person, Town, build_town

EXECUTOR = "/api/v2/flows/executor"
SIGN_IN = "default-authentication-flow"
STEPS = 20
ALONE, TOGETHER = 3, 8  # sign-ins in a round
EXPRESSION = "return request.user.username == 'nobody' or is_group_member(request.user, name='staff') or True"
HOSTILE_AT_ONCE = 4
Rounds = dict[str, list[float]]


async def measure(folder: Path, *, quick: bool) -> list[Result]:
    found: list[Result] = []
    for engine in ENGINES[:1] if quick else ENGINES:
        async with AsyncExitStack() as stack:
            town = await stack.enter_async_context(build_town(engine, folder / f"signin-{engine}"))
            plain = await stack.enter_async_context(baseline("bench.bare"))
            ada = await town.owner()
            http = await stack.enter_async_context(_visitor(town.base_url))
            bare = await stack.enter_async_context(_visitor(f"http://{load.HOST}:{plain.port}"))
            took = await _rounds(town, http, bare, ada, rounds=3 if quick else 9)
            found += _rows(f"signin.{engine}", took)
            if engine == ENGINES[0]:
                found += await _health(http, town, ada, bodies=12 if quick else len(HOSTILE))
    return found


async def _rounds(town: Town, http: httpx.AsyncClient, bare: httpx.AsyncClient, ada: Person, *, rounds: int) -> Rounds:
    """In milliseconds each; everything once per round, so that what slows a round down slows all of it down."""
    passwords = Passwords()
    people = iter([await town.sign_up() for _ in range((rounds + 1) * (ALONE + TOGETHER))])
    slug = await _flow_of_dummies(ada)
    policies = {
        "dummy": await _make(ada, "/policies/dummy/", result=True, wait_min=0, wait_max=0),
        "expression": await _make(ada, "/policies/expression/", expression=EXPRESSION),
    }
    me = (await ada.get("/api/v2/core/users/me/")).json()["user"]["pk"]
    visitor = _visitor(town.base_url)
    took: Rounds = defaultdict(list)
    for number in range(rounds + 1):
        one: dict[str, float] = {
            "bare": await _each(lambda: _bare(bare), 50),
            "hash": await _each(lambda: passwords.hash(ada.password), ALONE),
            "sign-in": await _each(lambda: _sign_in(visitor, next(people)), ALONE),
            "at once": await _at_once(town, [next(people) for _ in range(TOGETHER)]),
            "again": await _again(visitor, ada),
            "step": await _each(lambda: _walk(visitor, slug), 2) / STEPS,
        }
        for name, pk in policies.items():
            one[name] = await _each(lambda pk=pk: _try(http, ada, pk, me), 20)  # type: ignore[misc]
        if number:  # the first fills the caches
            for name, value in one.items():
                took[name].append(value)
    await visitor.aclose()
    passwords.close()
    return took


def _rows(name: str, took: Rounds) -> list[Result]:
    bare, hash = (f"{name}.bare", took["bare"]), (f"{name}.hash", took["hash"])
    rate = [1000 / one for one in took["at once"]]
    return [
        result(bare[0], took["bare"], "ms/request"),
        result(hash[0], took["hash"], "ms/hash", baseline=bare),
        result(f"{name}.whole", took["sign-in"], "ms/sign-in", baseline=hash),
        result(f"{name}.without-hash", took["again"], "ms/sign-in", baseline=bare),
        result(
            f"{name}.rate", rate, "sign-ins/s", baseline=(f"{name}.hash-rate", [1000 / one for one in took["hash"]])
        ),
        result(f"{name}.step", took["step"], "ms/step", baseline=bare),
        result(f"{name}.dummy-policy", took["dummy"], "ms", baseline=bare),
        result(f"{name}.expression", took["expression"], "ms", baseline=(f"{name}.dummy-policy", took["dummy"])),
        result(f"{name}.expression-rate", [1000 / one for one in took["expression"]], "evaluations/s"),
    ]


async def _each(do: Callable[[], Awaitable[Any]], count: int) -> float:
    started_at = time.perf_counter()
    for _ in range(count):
        await do()
    return (time.perf_counter() - started_at) * 1000 / count


async def _bare(http: httpx.AsyncClient) -> None:
    (await http.get("/")).raise_for_status()


async def _make(ada: Person, path: str, **values: Any) -> str:
    answer = await ada.call("POST", f"/api/v2{path}", json={"name": f"bench-{uuid.uuid4().hex[:8]}", **values})
    answer.raise_for_status()
    return str(answer.json()["pk"])


async def _flow_of_dummies(ada: Person) -> str:
    slug = f"bench-{uuid.uuid4().hex[:8]}"
    flow = await _make(ada, "/flows/instances/", slug=slug, designation="enrollment", title="Steps")
    for order in range(STEPS):
        stage = await _make(ada, "/stages/dummy/")
        body = {"target": flow, "stage": stage, "order": order}
        (await ada.call("POST", "/api/v2/flows/bindings/", json=body)).raise_for_status()
    return slug


# One visitor


def _visitor(base_url: str) -> httpx.AsyncClient:
    """Nothing here is encrypted, and reading the certificates of the world takes longer than signing in."""
    return httpx.AsyncClient(base_url=base_url, timeout=30, verify=False)


async def _sign_in(http: httpx.AsyncClient, person: Person) -> None:
    """As a browser without a session does it: three requests, of which the last asks for the hash."""
    http.cookies.clear()
    (await http.get(f"{EXECUTOR}/{SIGN_IN}/")).raise_for_status()
    await _answer(http, SIGN_IN, uid_field=person.username)
    told = await _answer(http, SIGN_IN, password=person.password)
    if told["component"] != "redirect":
        raise RuntimeError(f"not signed in: {told}")


async def _walk(http: httpx.AsyncClient, slug: str) -> None:
    http.cookies.clear()
    (await http.get(f"{EXECUTOR}/{slug}/")).raise_for_status()
    for number in range(STEPS):
        told = await _answer(http, slug)
        if (told["component"] == "redirect") != (number == STEPS - 1):
            raise RuntimeError(f"not the step that was expected: {told}")


async def _answer(http: httpx.AsyncClient, slug: str, **fields: str) -> dict[str, Any]:
    headers = {"X-CSRF-Token": http.cookies.get("kith_csrf") or ""}
    answer = await http.post(f"{EXECUTOR}/{slug}/", json=fields, headers=headers)
    answer.raise_for_status()
    told: dict[str, Any] = answer.json()
    return told


async def _again(http: httpx.AsyncClient, person: Person) -> float:
    """A password that was right a moment ago is not hashed again: what is left is everything else."""
    await _sign_in(http, person)
    return await _each(lambda: _sign_in(http, person), ALONE)


async def _at_once(town: Town, people: list[Person]) -> float:
    """Milliseconds between the ends of two sign-ins, while several go on at once."""
    async with AsyncExitStack() as stack:
        visitors = [await stack.enter_async_context(_visitor(town.base_url)) for _ in people]
        started_at = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for http, person in zip(visitors, people, strict=True):
                group.create_task(_sign_in(http, person))
        return (time.perf_counter() - started_at) * 1000 / len(people)


# Policies


async def _try(http: httpx.AsyncClient, ada: Person, pk: str, me: int) -> dict[str, Any]:
    body = {"user": me, "context": {"own_name": "bench"}}
    answer = await http.post(f"/api/v2/policies/all/{pk}/test/", json=body, auth=(ada.username, ada.password))
    answer.raise_for_status()
    told: dict[str, Any] = answer.json()
    return told


async def _health(http: httpx.AsyncClient, town: Town, ada: Person, *, bodies: int) -> list[Result]:
    """How long somebody else waits for `/health`, while nothing goes on and while expressions do their worst."""
    pks = await _hostile(ada, bodies)
    me = (await ada.get("/api/v2/core/users/me/")).json()["user"]["pk"]
    turns = asyncio.Semaphore(HOSTILE_AT_ONCE)

    async def run(pk: str) -> None:
        async with turns:
            await _try(http, ada, pk, me)

    async with _visitor(town.base_url) as prober:
        quiet = await _probe(prober, asyncio.sleep(2))
        busy = await _probe(prober, asyncio.gather(*(run(pk) for pk in pks)))
    name, rows = f"signin.{town.engine}.health", []
    for what, part in (("p50", 0.5), ("p99", 0.99)):
        base = (f"{name}.quiet.{what}", [_quantile(quiet, part)])
        rows.append(result(base[0], base[1], "ms"))
        rows.append(result(f"{name}.hostile.{what}", [_quantile(busy, part)], "ms", baseline=base))
    return rows


async def _hostile(ada: Person, count: int) -> list[str]:
    """Those that can be saved at all."""
    found: list[str] = []
    for body in list(HOSTILE.values())[:count]:
        values = {"name": f"bench-{uuid.uuid4().hex[:8]}", "expression": body}
        answer = await ada.call("POST", "/api/v2/policies/expression/", json=values)
        if answer.status_code == 201:
            found.append(answer.json()["pk"])
    return found


async def _probe(http: httpx.AsyncClient, meanwhile: Awaitable[Any]) -> list[float]:
    took: list[float] = []
    going_on = asyncio.ensure_future(meanwhile)
    while not going_on.done():
        started_at = time.perf_counter()
        (await http.get("/health")).raise_for_status()
        took.append((time.perf_counter() - started_at) * 1000)
        await asyncio.sleep(0.01)
    await going_on
    return took


def _quantile(values: list[float], part: float) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[min(int(part * 100), 99) - 1]

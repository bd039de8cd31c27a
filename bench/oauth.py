"""Tokens: what giving, renewing and looking at one costs beside a signature, and what a guard adds to a request."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from bench import load
from bench.report import Result, Target, result
from bench.stage import ENGINES, Candidate, baseline
from tests.identity.flow_browser import Browser
from tests.identity.relying_party import RelyingParty, make_party, signed_in
from tests.social.tokens import new_app
from tests.town import Town, build_town

GUARDED, OPEN = "/api/v1/apps/verify_credentials", "/api/v1/instance"
GUARD_TARGET = Target(most=1.5, of_ratio=True)
TIMES = 20
Rounds = dict[str, list[float]]


async def measure(folder: Path, *, quick: bool) -> list[Result]:
    found: list[Result] = []
    for engine in ENGINES[:1] if quick else ENGINES:
        async with AsyncExitStack() as stack:
            town = await stack.enter_async_context(build_town(engine, folder / f"oauth-{engine}"))
            plain = await stack.enter_async_context(baseline("bench.bare"))
            bare = await stack.enter_async_context(httpx.AsyncClient(base_url=f"http://{load.HOST}:{plain.port}"))
            party = await make_party(town, await town.owner())
            _, browser = await signed_in(town)
            rounds = 3 if quick else 9
            found += _rows(f"oauth.{engine}", await _giving(party, browser, bare, rounds))
            found += _guard_rows(f"oauth.{engine}", await _guarding(town, rounds, 0.3 if quick else 0.6))
    return found


async def _giving(party: RelyingParty, browser: Browser, bare: httpx.AsyncClient, rounds: int) -> Rounds:
    """In milliseconds each; everything once per round, so that what slows a round down slows all of it down."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    took: Rounds = defaultdict(list)
    for number in range(rounds + 1):
        one = {
            "bare": await _each(lambda: _fine(bare.get("/")), TIMES),
            "rs256": await _each(lambda: _sign(key), TIMES),
            "client": await _each(lambda: _fine(party.post("token", grant_type="client_credentials")), TIMES),
        }
        codes = [await party.code(browser) for _ in range(TIMES)]
        tokens: list[dict[str, Any]] = []

        async def trade(codes: list[tuple[str, str]] = codes, tokens: list[dict[str, Any]] = tokens) -> None:
            tokens.append((await _fine(party.trade(*codes.pop()))).json())

        async def renew(tokens: list[dict[str, Any]] = tokens) -> None:
            tokens.insert(0, (await _fine(party.refresh(tokens.pop()["refresh_token"]))).json())

        one["code"] = await _each(trade, TIMES)
        one["refresh"] = await _each(renew, TIMES)
        asked = tokens[0]["access_token"]
        one["introspect"] = await _each(lambda asked=asked: _fine(party.post("introspect", token=asked)), TIMES)  # type: ignore[misc]
        if number:  # the first fills the caches
            for name, value in one.items():
                took[name].append(value)
    return took


async def _guarding(town: Town, rounds: int, seconds: float) -> Rounds:
    """What the server spends on a request behind a guard, and on one of the same weight that is open to all."""
    app = await new_app(town, "read")
    key = await app.token_of(await town.sign_up(), "read")
    port, pid = int(town.base_url.rpartition(":")[2]), town.pid
    both = {
        "guarded": Candidate("guarded", pid, port, GUARDED, bearer=key),
        "open": Candidate("open", pid, port, OPEN),
    }
    took: Rounds = defaultdict(list)
    for _ in range(rounds):
        for name, candidate in both.items():
            took[name].append((await candidate.burst(seconds)).cpu_us)
    return took


def _rows(name: str, took: Rounds) -> list[Result]:
    bare, signature = (f"{name}.bare", took["bare"]), (f"{name}.rs256", took["rs256"])
    rows = [result(bare[0], took["bare"], "ms/request"), result(signature[0], took["rs256"], "ms/signature")]
    for what in ("client", "code", "refresh", "introspect"):
        rows.append(result(f"{name}.{what}", took[what], "ms/request", baseline=bare))
        rows.append(result(f"{name}.{what}.to-signature", took[what], "ms/request", baseline=signature))
    return rows


def _guard_rows(name: str, took: Rounds) -> list[Result]:
    base = (f"{name}.open", took["open"])
    return [
        result(base[0], took["open"], "µs/request"),
        result(f"{name}.guarded", took["guarded"], "µs/request", baseline=base, target=GUARD_TARGET),
    ]


async def _each(do: Callable[[], Awaitable[Any]], count: int) -> float:
    started_at = time.perf_counter()
    for _ in range(count):
        await do()
    return (time.perf_counter() - started_at) * 1000 / count


async def _sign(key: rsa.RSAPrivateKey) -> None:
    key.sign(b"x" * 600, padding.PKCS1v15(), hashes.SHA256())


async def _fine(asking: Awaitable[httpx.Response]) -> httpx.Response:
    answer = await asking
    answer.raise_for_status()
    return answer

"""Two or three servers on this computer, each with people who know each other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from tests.social.members import Member, join, until
from tests.town import Town, build_town
from tests.town.town import Engine

__all__ = ["Pair", "friends", "three_towns", "two_towns"]


@asynccontextmanager
async def two_towns(engine: Engine, folder: Path) -> AsyncIterator[tuple[Town, Town]]:
    async with _towns(engine, folder, ("here", "there")) as (here, there):
        yield here, there


@asynccontextmanager
async def three_towns(
    engine: Engine, folder: Path, **settings: Mapping[str, str]
) -> AsyncIterator[tuple[Town, Town, Town]]:
    """`settings` are of the towns `a`, `b` and `c`."""
    async with _towns(engine, folder, ("a", "b", "c"), settings) as (a, b, c):
        yield a, b, c


@asynccontextmanager
async def _towns(
    engine: Engine, folder: Path, names: Sequence[str], settings: Mapping[str, Mapping[str, str]] | None = None
) -> AsyncIterator[list[Town]]:
    async with AsyncExitStack() as stack:
        made = [await stack.enter_async_context(build_town(engine, folder / name, start=False)) for name in names]
        for name, town in zip(names, made, strict=True):
            town.change(private_hosts=",".join(f"127.0.0.1:{one.port}" for one in made))
            town.change(**(settings or {}).get(name, {}))
            await town.start()
        yield made


class Pair:
    """Ada at one server, Bob at the other. What one of them is called at the other's is found there."""

    def __init__(self, ada: Member, bob: Member, ada_there: str, bob_here: str) -> None:
        self.ada, self.bob, self.ada_there, self.bob_here = ada, bob, ada_there, bob_here

    @property
    def ada_handle(self) -> str:
        return handle(self.ada)

    @property
    def bob_handle(self) -> str:
        return handle(self.bob)

    async def status_here(self, there: dict[str, Any]) -> dict[str, Any]:
        """One of Bob's posts as Ada sees it, once it has come."""
        return await arrived(self.ada, there["uri"])

    async def status_there(self, here: dict[str, Any]) -> dict[str, Any]:
        return await arrived(self.bob, here["uri"])

    async def follows_there(self) -> bool:
        """Whether Bob follows Ada, as his server has it."""
        return bool(await relation(self.bob, self.ada_there, "following"))

    async def follows_here(self) -> bool:
        """Whether Ada follows Bob, as hers has it."""
        return bool(await relation(self.ada, self.bob_here, "following"))


def handle(member: Member) -> str:
    return f"{member.name}@127.0.0.1:{member.town.port}"


async def relation(member: Member, id: str, name: str) -> Any:
    [found] = await member.get("/api/v1/accounts/relationships", params={"id[]": id, "with_suspended": "true"})
    return found[name]


async def find_person(member: Member, other: str) -> str:
    """By search, which asks the other server."""
    found = await member.get("/api/v2/search", params={"q": other, "resolve": "true", "type": "accounts"})
    [one] = found["accounts"]
    return str(one["id"])


async def home(member: Member) -> list[dict[str, Any]]:
    answer = await member.call("GET", "/api/v1/timelines/home")
    return list(answer.json()) if answer.status_code == 200 else []


async def arrived(member: Member, uri: str) -> dict[str, Any]:
    found: dict[str, Any] = {}

    async def is_there() -> bool:
        found.update(next((one for one in await home(member) if one["uri"] == uri), {}))
        return bool(found)

    await until(is_there)
    return found


async def shows(member: Member, path: str, holds: Callable[[Any], bool]) -> None:
    """Wait until what a path shows is as wanted."""

    async def claim() -> bool:
        answer = await member.call("GET", path)
        return answer.status_code == 200 and holds(answer.json())

    await until(claim)


async def is_gone(member: Member, path: str) -> None:
    async def claim() -> bool:
        return (await member.call("GET", path)).status_code in (404, 410)

    await until(claim)


async def follow(member: Member, other: Member) -> str:
    """Across servers, until it counts; the id by which the follower's server knows the other."""
    known_as = await find_person(member, handle(other))
    await member.post(f"/api/v1/accounts/{known_as}/follow", json={})

    async def is_following() -> bool:
        return bool(await relation(member, known_as, "following"))

    await until(is_following)
    return known_as


async def find_post(member: Member, uri: str) -> dict[str, Any]:
    """By search, which asks the server that has it."""
    found = await member.get("/api/v2/search", params={"q": uri, "resolve": "true", "type": "statuses"})
    [one] = found["statuses"]
    return dict(one)


async def friends(towns: tuple[Town, Town]) -> Pair:
    """Who follow each other, as both servers know."""
    ada, bob = await join(towns[0]), await join(towns[1])
    pair = Pair(ada, bob, await find_person(bob, handle(ada)), await find_person(ada, handle(bob)))
    await ada.post(f"/api/v1/accounts/{pair.bob_here}/follow", json={})
    await bob.post(f"/api/v1/accounts/{pair.ada_there}/follow", json={})
    await agree(pair.follows_here, pair.follows_there)
    return pair


async def agree(*claims: Callable[[], Awaitable[bool]]) -> None:
    for claim in claims:
        await until(claim)

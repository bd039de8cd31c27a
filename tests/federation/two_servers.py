"""Two servers on this computer, each with people who know each other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from tests.social.members import Member, join, until
from tests.town import Town, build_town
from tests.town.town import Engine

__all__ = ["Pair", "friends", "two_towns"]


@asynccontextmanager
async def two_towns(engine: Engine, folder: Path) -> AsyncIterator[tuple[Town, Town]]:
    async with AsyncExitStack() as stack:
        here = await stack.enter_async_context(build_town(engine, folder / "here", start=False))
        there = await stack.enter_async_context(build_town(engine, folder / "there", start=False))
        for town in (here, there):
            town.change(private_hosts=f"127.0.0.1:{here.port},127.0.0.1:{there.port}")
            await town.start()
        yield here, there


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
    [found] = await member.get("/api/v1/accounts/relationships", params={"id[]": id})
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

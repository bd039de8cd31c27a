"""People with an account and a token, as their apps speak for them."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from typing import Any
from weakref import WeakKeyDictionary

import httpx

from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.new_rows import new_account
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId
from tests.social.published import deviations
from tests.social.tokens import App, new_app
from tests.town import Town

SCOPES = "read write follow push profile crypto"
_apps: WeakKeyDictionary[Town, App] = WeakKeyDictionary()


class Member:
    """Somebody here, with a token for everything."""

    def __init__(self, town: Town, token: str) -> None:
        self.town = town
        self.token = token
        self.me: dict[str, Any] = {}

    @property
    def id(self) -> str:
        return str(self.me["id"])

    @property
    def name(self) -> str:
        return str(self.me["username"])

    async def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Whatever is answered is what is published of it."""
        headers = {"Authorization": f"Bearer {self.token}"} | options.pop("headers", {})
        answer = await self.town.http.request(method, path, headers=headers, **options)
        wrong = deviations(answer)
        assert wrong == [], wrong
        return answer

    async def does(self, method: str, path: str, **options: Any) -> Any:
        """What was answered to a call that must be taken."""
        answer = await self.call(method, path, **options)
        assert answer.status_code == 200, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()

    async def get(self, path: str, **options: Any) -> Any:
        return await self.does("GET", path, **options)

    async def post(self, path: str, **options: Any) -> Any:
        return await self.does("POST", path, **options)

    async def patch(self, path: str, **options: Any) -> Any:
        return await self.does("PATCH", path, **options)

    async def delete(self, path: str, **options: Any) -> Any:
        return await self.does("DELETE", path, **options)

    async def to(self, other: Member | Account, verb: str, **sent: Any) -> Any:
        """Do something to somebody: what there is between the two then."""
        return await self.post(f"/api/v1/accounts/{other.id}/{verb}", json=sent)

    async def sees(self, other: Member | Account) -> dict[str, Any]:
        [found] = await self.get("/api/v1/accounts/relationships", params={"id[]": str(other.id)})
        return dict(found)

    async def refreshed(self) -> dict[str, Any]:
        self.me = await self.get("/api/v1/accounts/verify_credentials")
        return self.me


async def join(town: Town, name: str | None = None) -> Member:
    person = await town.sign_up(name)
    if town not in _apps:
        _apps[town] = await new_app(town, SCOPES)
    member = Member(town, await _apps[town].token_of(person, SCOPES))
    await member.refreshed()
    return member


def app_of(town: Town) -> App:
    """The app that speaks for those who joined."""
    return _apps[town]


async def join_all(town: Town, count: int) -> list[Member]:
    return [await join(town) for _ in range(count)]


async def stranger(town: Town, domain: str = "elsewhere.example", **differing: Any) -> Account:
    """An account elsewhere, as if it had been met."""
    [account] = await strangers(town, 1, domain, **differing)
    return account


async def strangers(town: Town, count: int, domain: str = "elsewhere.example", **differing: Any) -> list[Account]:
    async with town.house() as house, house.works.begin() as work:
        return [await add_stranger(work, domain, **differing) for _ in range(count)]


async def add_stranger(work: Work, domain: str, **differing: Any) -> Account:
    name = f"stranger_{uuid.uuid4().hex[:8]}"
    values: dict[str, Any] = {
        "username": name,
        "domain": domain,
        "uri": f"https://{domain}/users/{name}",
        "url": f"https://{domain}/@{name}",
        "display_name": name.title(),
        "role": "",
        "fetched_at": work.now,
    }
    made = new_account(AccountId(work.new_id()), now=work.now, **(values | differing))
    await accounts.insert(work.db, made)
    return made


async def set_state(town: Town, id: str | int, make: Callable[[Work], dict[str, Any]]) -> None:
    """What the team, or time, does to an account."""
    async with town.house() as house, house.works.begin() as work:
        await accounts.change(work.db, AccountId(int(id)), make(work), work.now)


async def until(claim: Callable[[], Awaitable[bool]]) -> None:
    """What a worker does soon."""
    async with asyncio.timeout(120):
        while not await claim():
            await asyncio.sleep(0.02)

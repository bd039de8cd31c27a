"""What ends while something is waited for has ended: nothing that was let in before does anything after it."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest

from kith.identity.users import store as users
from kith.identity.users.passwords import Passwords
from tests.identity.flow_browser import SIGN_IN, Browser
from tests.identity.records import API, make, new_name, owner_of, results
from tests.identity.scim_service import make_service
from tests.identity.test_source_ldap import copied, copy_again
from tests.identity.waiting_services import WaitingDirectory, waiting_directory, waiting_service
from tests.social.members import SCOPES
from tests.town import Person, Town, build_town
from tests.town.town import Engine

NEW = "an entirely new one"


@pytest.fixture(scope="module")
async def near(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """A town that may call this very computer."""
    async with build_town(engine, tmp_path_factory.mktemp("near"), private_hosts="127.0.0.1") as built:
        yield built


class Account(msgspec.Struct):
    """Somebody, as the owner of the server sees them."""

    town: Town
    owner: Person
    person: Person
    pk: int

    async def staff(self, method: str, path: str = "", **sent: Any) -> None:
        answer = await self.owner.call(method, f"{API}/core/users/{self.pk}/{path}", json=sent)
        assert answer.is_success, answer.text

    async def is_active(self) -> bool:
        return bool((await self.shown())["is_active"])

    async def shown(self) -> dict[str, Any]:
        answer = await self.owner.get(f"{API}/core/users/{self.pk}/")
        found: dict[str, Any] = answer.json()
        return found


async def account_of(town: Town, person: Person | None = None, name: str = "") -> Account:
    owner = await owner_of(town)
    person = person or Person(town.http, name, "") if name else person or await town.sign_up()
    [found] = await results(owner, "/core/users/", username=person.username)
    return Account(town, owner, person, found["pk"])


async def new_password(account: Account) -> None:
    await account.staff("POST", "set_password/", password=NEW)


async def lockdown(account: Account) -> None:
    await account.staff("POST", "lockdown/", reason="somebody else has it")


async def disabled(account: Account) -> None:
    await account.staff("PATCH", is_active=False)


async def sessions_ended(account: Account) -> None:
    for one in await results(account.owner, "/core/authenticated_sessions/", user__username=account.person.username):
        answer = await account.owner.call("DELETE", f"{API}/core/authenticated_sessions/{one['pk']}/")
        assert answer.status_code == 204, answer.text


Ending = Callable[[Account], Awaitable[None]]
ENDINGS: tuple[Ending, ...] = (new_password, lockdown, disabled, sessions_ended)


def called(one: Any) -> str:
    return str(one.__name__)


@pytest.mark.both_databases
@pytest.mark.parametrize("ends", ENDINGS, ids=called)
async def test_a_link_that_is_under_way_ends_with_the_session_that_began_it(near: Town, ends: Ending) -> None:
    account, name = await account_of(near), new_name("service")
    async with waiting_service() as service:
        source = await make(
            account.owner, "/sources/oauth/", name=name, slug=name, provider_type="github",
            authorization_url=f"{service.address}/auth", access_token_url=f"{service.address}/token",
            profile_url=f"{service.address}/user", consumer_key="k", consumer_secret="s",
        )  # fmt: skip
        thief, path = Browser(near), f"/source/oauth/login/{source['slug']}/"
        await thief.sign_in(account.person)
        await thief.http.get(path)
        sent = await thief.http.post(path, data={"csrf": thief.http.cookies["kith_csrf"]})
        to = sent.text.partition('content="0;url=')[2].partition('"')[0].replace("&amp;", "&")
        back = {"code": "c", "state": parse_qs(urlsplit(to).query)["state"][0]}
        service.hold()
        coming = asyncio.create_task(thief.http.get(path.replace("/login/", "/callback/"), params=back))
        await service.until_asked()
        await ends(account)
        service.answers.set()
        answer = await coming

    assert answer.status_code == 401, answer.text
    linked = await results(account.owner, "/sources/user_connections/oauth/", user=account.pk)
    assert linked == []


async def slowly(town: Town, path: str, body: bytes, headers: dict[str, str], meanwhile: Awaitable[None]) -> int:
    """Send a request of which the last byte comes late; the status of the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", town.port)
    lines = [f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{town.port}", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    writer.write("\r\n".join([*lines, "", ""]).encode() + body[:-1])
    await writer.drain()
    await asyncio.sleep(1.2)  # longer than anybody is believed without a second look
    await meanwhile
    writer.write(body[-1:])
    status = (await reader.readline()).split()[1]
    writer.close()
    return int(status)


async def by_session(account: Account) -> tuple[str, dict[str, str]]:
    browser = Browser(account.town)
    await browser.sign_in(account.person)
    await browser.http.get("/settings/security")
    cookies = "; ".join(f"{name}={value}" for name, value in browser.http.cookies.items())
    return f"{API}/core/tokens/", {"Cookie": cookies, "X-CSRF-Token": browser.http.cookies["kith_csrf"]}


async def by_password(account: Account) -> tuple[str, dict[str, str]]:
    pair = f"{account.person.username}:{account.person.password}"
    return f"{API}/core/tokens/", {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


async def by_app(account: Account) -> tuple[str, dict[str, str]]:
    app = {"client_name": "a", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob", "scopes": SCOPES}
    made = (await account.town.http.post("/api/v1/apps", data=app)).json()
    asked = {name: made[name] for name in ("client_id", "client_secret")} | {
        "grant_type": "password", "username": account.person.username, "password": account.person.password,
        "scope": SCOPES,
    }  # fmt: skip
    given = (await account.town.http.post("/oauth/token", data=asked)).json()
    return "/api/v1/statuses", {"Authorization": f"Bearer {given['access_token']}"}


Way = Callable[[Account], Awaitable[tuple[str, dict[str, str]]]]


@pytest.mark.parametrize(
    ("way", "ends"), [(by_session, new_password), (by_password, new_password), (by_app, lockdown)], ids=called
)
async def test_a_request_that_comes_slowly_ends_with_what_let_it_in(town: Town, way: Way, ends: Ending) -> None:
    account = await account_of(town)
    path, headers = await way(account)
    headers |= {"Content-Type": "application/json"}

    def body(identifier: str) -> bytes:
        """Too long to be taken in before anybody is let in."""
        return b" " * 200_000 + json.dumps({"identifier": identifier, "intent": "api", "status": "Hello"}).encode()

    async def nothing() -> None:
        """Nothing has ended."""

    refused = new_name("token")
    assert await slowly(town, path, body(new_name("token")), headers, nothing()) in (200, 201)
    assert await slowly(town, path, body(refused), headers, ends(account)) == 401
    assert await results(account.owner, "/core/tokens/", identifier=refused) == []


@pytest.mark.both_databases
async def test_a_password_that_is_being_checked_while_another_is_set_gives_no_token(town: Town) -> None:
    """More of them at once than are checked at once, so that some are checked after the new password was set."""
    member = await town.sign_up()
    account = await account_of(town, member)
    dear = await Passwords().hash("the first one of all")
    async with town.house() as house, house.works.begin() as work:
        await users.set_password(work.db, account.pk, dear, work.now)
    app = {"client_name": "a", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob", "scopes": SCOPES}
    made = (await town.http.post("/api/v1/apps", data=app)).json()
    asked = {name: made[name] for name in ("client_id", "client_secret")} | {
        "grant_type": "password", "username": member.username, "password": "the first one of all", "scope": SCOPES,
    }  # fmt: skip
    at_once = [asyncio.create_task(town.http.post("/oauth/token", data=asked)) for _ in range(12)]
    done, _ = await asyncio.wait(at_once, return_when=asyncio.FIRST_COMPLETED)
    assert done.pop().result().status_code == 200
    async with town.house() as house, house.works.begin() as work:
        await users.set_password(work.db, account.pk, "$argon2id$none", work.now)
    answers = [(await one) for one in at_once]
    before = {one.json()["access_token"] for one in answers if one.status_code == 200}

    assert any(one.status_code == 400 for one in answers), [one.status_code for one in answers]
    assert all(one.json()["error"] == "invalid_grant" for one in answers if one.status_code != 200)
    assert before


async def directory_source(account_owner: Person, directory: WaitingDirectory) -> dict[str, Any]:
    names = {"username": "uid", "name": "cn"}
    mappings = [
        await make(
            account_owner, "/propertymappings/ldap/", name=new_name("mapping"), expression=f'return ldap.get("{told}")',
            object_field=field,
        )
        for field, told in names.items()
    ]  # fmt: skip
    name = new_name("directory")
    return await make(
        account_owner, "/sources/ldap/", name=name, slug=name, server_uri=directory.address, bind_cn="cn=admin",
        bind_password="secret", base_dn="dc=example,dc=org", user_object_filter="(objectClass=person)",
        group_object_filter="(objectClass=groupOfNames)", object_uniqueness_field="entryUUID", start_tls=False,
        property_mappings=[one["pk"] for one in mappings], sync_groups=False, enabled=True,
        password_login_update_internal_password=True,
    )  # fmt: skip


async def tried(town: Town, name: str, password: str) -> tuple[Browser, dict[str, Any]]:
    browser = Browser(town)
    await browser.see(SIGN_IN)
    await browser.answer(SIGN_IN, component="identification", uid_field=name)
    return browser, await browser.answer(SIGN_IN, component="password", password=password)


async def kept_password(town: Town, pk: int) -> str | None:
    async with town.house() as house, house.works.begin() as work:
        return (await users.get(work.db, pk)).password


@pytest.mark.parametrize("ends", [new_password, lockdown, disabled], ids=called)
async def test_a_directory_that_answers_late_lets_nobody_in_and_keeps_no_password(near: Town, ends: Ending) -> None:
    name = new_name("vic")
    async with waiting_directory(name) as directory:
        source = await directory_source(await owner_of(near), directory)
        await copied(near, source)
        account = await account_of(near, name=name)
        directory.hold()
        coming = asyncio.create_task(tried(near, name, directory.password))
        await directory.until_asked()
        await ends(account)
        before = await kept_password(near, account.pk)
        directory.answers.set()
        browser, told = await coming

        assert await browser.who() is None, told
        assert await kept_password(near, account.pk) == before
        await tried(near, name, directory.password)  # once more, and nobody waits
        if ends is not new_password:
            assert await kept_password(near, account.pk) == before


async def by_scim(town: Town) -> tuple[Account, Callable[[bool], Awaitable[None]]]:
    service, name = await make_service(town), new_name("vic")
    made = await service.add(name, active=True)

    async def says(active: bool) -> None:
        await service.patch(f"/Users/{made['id']}", {"op": "replace", "path": "active", "value": active})

    return await account_of(town, name=name), says


async def by_scim_later(town: Town) -> tuple[Account, Callable[[bool], Awaitable[None]]]:
    """The service takes over somebody who was here before."""
    account, service = await account_of(town), await make_service(town, user_matching_mode="username_link")
    made: dict[str, str] = {}

    async def says(active: bool) -> None:
        if not made:
            made.update(await service.add(account.person.username, active=active))
        await service.patch(f"/Users/{made['id']}", {"op": "replace", "path": "active", "value": active})

    return account, says


async def ended(account: Account) -> None:
    async with account.town.house() as house, house.works.begin() as work:
        await users.change(work.db, account.pk, "expires", work.now, work.now)


@pytest.mark.parametrize("source", [by_scim, by_scim_later], ids=called)
@pytest.mark.parametrize("ends", [disabled, lockdown, ended], ids=called)
async def test_a_service_enables_only_whom_it_has_disabled(town: Town, source: Any, ends: Ending) -> None:
    account, says = await source(town)
    if source is by_scim:
        await says(False)
        assert not await account.is_active()
        await says(True)
        assert await account.is_active()
    await ends(account)
    for active in (True, False, True):
        await says(active)
        assert not await account.is_active()


async def test_a_directory_enables_only_whom_it_has_disabled(near: Town) -> None:
    name = new_name("vic")
    async with waiting_directory(name) as directory:
        source = await directory_source(await owner_of(near), directory)
        await copied(near, source)
        account = await account_of(near, name=name)
        found = []
        for control in ("514", "512"):
            directory.control = control
            await copy_again(near, source)
            found.append(await account.is_active())
        for ends in (disabled, lockdown):
            await ends(account)
            for control in ("514", "512"):
                directory.control = control
                await copy_again(near, source)
                found.append(await account.is_active())
            await account.staff("PATCH", is_active=True)

    assert found == [False, True, False, False, False, False]


async def test_a_choice_that_waits_for_its_turn_brings_nothing_back(near: Town) -> None:
    """Staff take an attribute away while somebody's choice of a language waits for the pen."""
    if near.engine != "sqlite":
        pytest.skip("only there one waits for a pen of all")
    account, browser = await account_of(near), Browser(near)
    await account.staff("PATCH", attributes={"role": "admin"})
    await browser.sign_in(account.person)
    await browser.http.get("/settings/language")
    form = {"csrf": browser.http.cookies["kith_csrf"], "language": "de"}
    with contextlib.closing(sqlite3.connect(near.folder / "kith.sqlite3", isolation_level=None)) as pen:
        pen.execute("BEGIN IMMEDIATE")
        coming = asyncio.create_task(browser.http.post("/settings/language", data=form))
        await asyncio.sleep(0.3)
        pen.execute("UPDATE identity_users SET attributes = '{}' WHERE id = ?", (account.pk,))
        pen.execute("COMMIT")
    answer = await coming

    assert answer.status_code == 303, answer.text
    assert (await account.shown())["attributes"] == {"settings": {"locale": "de"}}

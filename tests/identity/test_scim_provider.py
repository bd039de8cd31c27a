"""Services that are told of people and groups: a published SCIM server, and a second Kith."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.identity.odd_scim_service import answer, odd_service
from tests.identity.records import API, make, new_name, owner_of, results
from tests.identity.scim_service import Service, make_service
from tests.town import Person, Town, build_town
from tests.town.plain import PLAIN
from tests.town.ports import ReservedPort
from tests.town.town import Engine

TOKEN = "a-token-that-the-service-knows"


class Published:
    """scim2-server, started for one test."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.token = TOKEN

    async def all(self, kind: str) -> list[dict[str, Any]]:
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, verify=PLAIN) as http:
            answer = await http.get(f"{self.url}/{kind}", params={"count": 100})
        listed: list[dict[str, Any]] = answer.json().get("Resources", [])
        return listed

    async def add(self, body: dict[str, Any]) -> None:
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, verify=PLAIN) as http:
            answer = await http.post(f"{self.url}/Users", json=body)
        assert answer.status_code == 201, answer.text

    async def delete(self, kind: str, id: str) -> None:
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, verify=PLAIN) as http:
            answer = await http.delete(f"{self.url}/{kind}/{id}")
        assert answer.status_code == 204, answer.text


@contextlib.asynccontextmanager
async def serving(port: int) -> AsyncIterator[Published]:
    words = ["-m", "scim2_server.testserver.cli", "--port", str(port), "--bearer-token", TOKEN]
    program = Path(sys.executable).with_name("scim2-server")
    process = await asyncio.create_subprocess_exec(
        program, *words[2:], stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        service = Published(port)
        async with asyncio.timeout(30):
            while True:
                with contextlib.suppress(httpx.TransportError):
                    await service.all("Users")
                    break
                await asyncio.sleep(0.05)
        yield service
    finally:
        process.terminate()
        await process.wait()


@pytest.fixture(scope="module")
async def here(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    async with build_town(engine, tmp_path_factory.mktemp("here"), private_hosts="127.0.0.1") as built:
        yield built


@pytest.fixture
async def service() -> AsyncIterator[Published]:
    with ReservedPort() as port:
        async with serving(port.number) as started:
            yield started


class Told:
    """An application for the members of one group, and the provider that tells a service of them."""

    def __init__(self, owner: Person, group: dict[str, Any], provider: dict[str, Any], app: dict[str, Any]) -> None:
        self.owner = owner
        self.group = group
        self.provider = provider
        self.app = app

    async def members(self, *user_ids: int) -> None:
        url = f"{API}/core/groups/{self.group['pk']}/"
        answer = await self.owner.call("PATCH", url, json={"user_set": list(user_ids)})
        assert answer.status_code == 200, answer.text

    async def status(self) -> dict[str, Any]:
        answer = await self.owner.get(f"{API}/providers/scim/{self.provider['pk']}/sync/status/")
        found: dict[str, Any] = answer.json()
        return found

    async def close(self) -> None:
        """Services of later tests are not told by this one."""
        await self.owner.call("DELETE", f"{API}/providers/scim/{self.provider['pk']}/")
        await self.owner.call("DELETE", f"{API}/core/applications/{self.app['pk']}/")


async def tell(town: Town, url: str, token: str, **fields: Any) -> Told:
    owner = await owner_of(town)
    group = await make(owner, "/core/groups/", name=new_name("crew"))
    given = {"name": new_name("scim"), "url": url, "token": token, "filter_group": group["pk"]}
    provider = await make(owner, "/providers/scim/", **given | fields)
    name = new_name("app")
    app = await make(owner, "/core/applications/", name=name, slug=name, backchannel_providers=[provider["pk"]])
    await make(owner, "/policies/bindings/", target=app["pk"], group=group["pk"], order=0)
    return Told(owner, group, provider, app)


async def until(ask: Callable[[], Any], fits: Callable[[Any], bool], seconds: float = 30, more: Any = None) -> Any:
    """What was asked for, once it fits."""
    found = None
    try:
        async with asyncio.timeout(seconds):
            while not fits(found := await ask()):
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise AssertionError(found, await more() if more is not None else None) from None
    return found


async def pk_of(owner: Person, person: Person) -> int:
    [found] = await results(owner, "/core/users/", username=person.username)
    pk: int = found["pk"]
    return pk


async def test_a_published_server_is_told_of_everything_that_changes(here: Town, service: Published) -> None:
    owner = await owner_of(here)
    told = await tell(here, service.url, service.token)
    ada, bob = await here.sign_up(), await here.sign_up()
    ada_pk, bob_pk = await pk_of(owner, ada), await pk_of(owner, bob)

    async def names() -> set[str]:
        return {one["userName"] for one in await service.all("Users")}

    async def members() -> int:
        listed = [one for one in await service.all("Groups") if one["displayName"] == told.group["name"]]
        return len(listed[0].get("members", [])) if listed else -1

    await told.members(ada_pk, bob_pk)
    await until(names, lambda found: found == {ada.username, bob.username})
    await until(members, lambda found: found == 2)
    [first] = [one for one in await service.all("Users") if one["userName"] == ada.username]
    [known] = await results(owner, "/core/users/", username=ada.username)
    assert first["externalId"] == known["uid"], "as it is told when she signs in there"
    assert first["emails"][0]["value"] == f"{ada.username}@example.org"

    await owner.call("PATCH", f"{API}/core/users/{ada_pk}/", json={"name": "Another Name"})
    await until(
        lambda: service.all("Users"),
        lambda found: {one["displayName"] for one in found if one["id"] == first["id"]} == {"Another Name"},
    )

    await told.members(ada_pk)  # one loses access
    await until(names, lambda found: found == {ada.username})
    await until(members, lambda found: found == 1)

    await owner.call("PATCH", f"{API}/core/users/{ada_pk}/", json={"is_active": False})
    await until(names, lambda found: found == set())
    await owner.call("PATCH", f"{API}/core/users/{ada_pk}/", json={"is_active": True})
    await until(names, lambda found: found == {ada.username})

    await owner.call("DELETE", f"{API}/core/users/{ada_pk}/")
    await until(names, lambda found: found == set())
    events = await results(owner, "/audit/events/", app="providers.scim")
    assert {one["action"] for one in events} >= {"scim_provisioned", "scim_deprovisioned"}
    await told.close()


async def test_whoever_is_there_already_is_adopted_and_whoever_is_gone_is_made_again(
    here: Town, service: Published
) -> None:
    owner = await owner_of(here)
    ada = await here.sign_up()
    ada_pk = await pk_of(owner, ada)
    await service.add({"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": ada.username})
    [before] = await service.all("Users")
    told = await tell(here, service.url, service.token)

    await told.members(ada_pk)
    await until(
        lambda: service.all("Users"), lambda found: [one.get("externalId") for one in found] != [None], more=told.status
    )
    [adopted] = await service.all("Users")
    assert adopted["id"] == before["id"]

    await service.delete("Users", adopted["id"])
    await owner.call("PATCH", f"{API}/core/users/{ada_pk}/", json={"name": "Made Again"})
    [made] = await until(lambda: service.all("Users"), lambda found: len(found) == 1)
    assert (made["displayName"], made["id"] != before["id"]) == ("Made Again", True)
    await told.close()


async def test_deactivated_instead_of_deleted_and_a_policy_decides(here: Town, service: Published) -> None:
    owner = await owner_of(here)
    ada = await here.sign_up()
    told = await tell(here, service.url, service.token, deprovision="deactivate")
    await told.members(await pk_of(owner, ada))
    await until(
        lambda: service.all("Users"), lambda found: [one["active"] for one in found] == [True], more=told.status
    )

    no = await make(owner, "/policies/expression/", name=new_name("no"), expression="return False")
    binding = await make(owner, "/policies/bindings/", target=told.app["pk"], policy=no["pk"], order=1)
    await until(
        lambda: service.all("Users"), lambda found: [one["active"] for one in found] == [False], more=told.status
    )
    await owner.call("DELETE", f"{API}/policies/bindings/{binding['pk']}/")
    await until(
        lambda: service.all("Users"), lambda found: [one["active"] for one in found] == [True], more=told.status
    )

    await owner.call("PATCH", f"{API}/core/applications/{told.app['pk']}/", json={"backchannel_providers": []})
    await until(
        lambda: service.all("Users"), lambda found: [one["active"] for one in found] == [False], more=told.status
    )
    await told.close()


async def test_mappings_say_what_is_told(here: Town, service: Published) -> None:
    owner = await owner_of(here)
    ada = await here.sign_up()
    person = await make(
        owner, "/propertymappings/scim/", name=new_name("m"),
        expression='return {"userName": user.username, "title": "of " + provider["name"], "externalId": user.uid}',
    )  # fmt: skip
    group = await make(
        owner, "/propertymappings/scim/", name=new_name("m"), expression='return {"displayName": "x-" + group.name}'
    )
    told = await tell(
        here, service.url, service.token, property_mappings=[person["pk"]], property_mappings_group=[group["pk"]]
    )
    await told.members(await pk_of(owner, ada))

    [shown] = await until(lambda: service.all("Users"), lambda found: len(found) == 1)
    listed = await until(lambda: service.all("Groups"), lambda found: len(found) == 1)

    assert shown["title"] == f"of {told.provider['name']}"
    assert listed[0]["displayName"] == f"x-{told.group['name']}"
    url = f"{API}/propertymappings/scim/{person['pk']}/"
    await owner.call("PATCH", url, json={"expression": 'return {"userName": user.username, "title": "another"}'})
    await until(lambda: service.all("Users"), lambda found: [one.get("title") for one in found] == ["another"])
    await told.close()


async def test_members_that_join_until_a_moment_are_told_of(here: Town, service: Published) -> None:
    owner, ada = await owner_of(here), await here.sign_up()
    told = await tell(here, service.url, service.token)
    place = f"{API}/core/groups/{told.group['pk']}"
    pk, soon = await pk_of(owner, ada), (datetime.now(UTC) + timedelta(seconds=4)).isoformat()
    added = await owner.call("POST", f"{place}/add_user/", json={"pk": pk, "expires": soon})
    assert added.status_code == 204, added.text
    await until(lambda: service.all("Users"), lambda found: len(found) == 1)
    await until(lambda: service.all("Users"), lambda found: found == [])
    await told.close()


async def test_a_service_that_was_away_is_told_when_it_is_back_even_after_a_crash(here: Town) -> None:
    owner, reserved = await owner_of(here), ReservedPort()
    port = reserved.number
    ada = await here.sign_up()
    told = await tell(here, f"http://127.0.0.1:{port}", TOKEN)
    await told.members(await pk_of(owner, ada))

    away = await until(told.status, lambda found: found["error"] is not None)
    await here.kill()
    async with serving(port) as service:
        await here.start()
        await owner.call("POST", f"{API}/providers/scim/{told.provider['pk']}/sync/")
        await until(lambda: service.all("Users"), lambda found: len(found) == 1, seconds=90)
        done = await until(
            told.status, lambda found: found["last_sync_status"] == "successful" and not found["waiting"]
        )
        await told.close()
    reserved.release()

    assert "cannot be reached" in away["error"]
    assert away["last_sync_status"] == "error"
    assert (done["waiting"], done["provisioned"]["users"]) == (0, 1)


async def test_a_second_kith_is_told(here: Town) -> None:
    """Both ends are ours, and the same server: what the provider tells, the source takes."""
    owner = await owner_of(here)
    there: Service = await make_service(here)
    mapping = await make(
        owner, "/propertymappings/scim/", name=new_name("m"),
        expression='return {"userName": "copy-" + user.username, "externalId": user.uuid, "displayName": user.name}',
    )  # fmt: skip
    groups = await make(
        owner, "/propertymappings/scim/", name=new_name("m"), expression='return {"displayName": "copy-" + group.name}'
    )
    told = await tell(
        here, there.source["root_url"], there.token,
        property_mappings=[mapping["pk"]], property_mappings_group=[groups["pk"]],
    )  # fmt: skip
    ada = await here.sign_up()
    await told.members(await pk_of(owner, ada))

    async def members() -> int:
        listed = (await there.call("GET", "/Groups"))["Resources"]
        return len(listed[0].get("members", [])) if listed else -1

    await until(members, lambda found: found == 1)
    await told.members()
    await until(lambda: results(owner, "/core/users/", username=f"copy-{ada.username}"), lambda found: not found)
    await until(members, lambda found: found == 0)
    await told.close()


async def test_records_are_checked(here: Town) -> None:
    owner = await owner_of(here)
    provider = await make(owner, "/providers/scim/", name=new_name("s"), url="https://a.example/v2/", token="x")
    url = f"{API}/providers/scim/{provider['pk']}/"
    name = new_name("app")
    app = await make(owner, "/core/applications/", name=name, slug=name, backchannel_providers=[provider["pk"]])
    oauth = await make(
        owner,
        "/providers/oauth/",
        name=new_name("o"),
        client_type="confidential",
        authorization_grant_type="client-credentials",
    )

    async def refused(method: str, path: str, **body: Any) -> set[str]:
        answer = await owner.call(method, API + path, json=body)
        assert answer.status_code == 400, answer.text
        return set(answer.json())

    read = (await owner.get(url)).json()
    assert provider["url"] == "https://a.example/v2"
    assert "token" not in read
    assert read["assigned_backchannel_application_slug"] == name
    other = new_name("other")
    assert await refused(
        "POST", "/core/applications/", name=other, slug=other, backchannel_providers=[provider["pk"]]
    ) == {"backchannel_providers"}
    assert await refused("POST", "/core/applications/", name=other, slug=other, provider=provider["pk"]) == {"provider"}
    assert await refused(
        "PATCH", f"/core/applications/{app['pk']}/", backchannel_providers=[provider["pk"], oauth["pk"]]
    ) == {"backchannel_providers"}
    assert await refused("PATCH", f"/providers/scim/{provider['pk']}/", url="https://b.example/") == {"token"}
    assert await refused("PATCH", f"/providers/scim/{provider['pk']}/", token="two words") == {"token"}
    member = await here.sign_up()
    assert (await member.call("POST", f"{url}sync/")).status_code == 403
    assert (await owner.get(f"{API}/providers/scim/{oauth['pk']}/sync/status/")).status_code == 404


async def test_a_service_that_asks_for_time_is_given_it(here: Town) -> None:
    owner, ada = await owner_of(here), await here.sign_up()
    async with odd_service() as service:
        service.answers = [answer(429, {"detail": "slowly"}, Retry_After="1"), answer(401)]
        told = await tell(here, service.url, TOKEN)
        await told.members(await pk_of(owner, ada))

        waits = await until(told.status, lambda found: "401" in (found["error"] or ""))
        await owner.call("POST", f"{API}/providers/scim/{told.provider['pk']}/sync/")
        await until(_at_once(service.names), lambda found: found == {ada.username})
        await until(told.status, lambda found: found["error"] is None and not found["waiting"])
        await told.close()

    assert waits["paused_until"] is not None
    assert len([one for one in service.sent if one.method == "POST" and one.path == "/Users"]) >= 2


async def test_what_a_service_refuses_holds_up_nobody_else(here: Town) -> None:
    owner, ada, bob = await owner_of(here), await here.sign_up(), await here.sign_up()
    async with odd_service() as service:
        told = await tell(here, service.url, TOKEN)
        await until(told.status, lambda found: found["provisioned"]["groups"] == 1 and not found["waiting"])
        service.answers = [
            answer(400, {"detail": "I do not like this name"}),
            answer(201, {"no": "id"}),
        ]
        await told.members(await pk_of(owner, ada), await pk_of(owner, bob))
        refused = await until(told.status, lambda found: len(found["refused"]) == 2)
        eve = await here.sign_up()
        user_ids = [await pk_of(owner, one) for one in (ada, bob, eve)]
        await told.members(*user_ids)
        await until(_at_once(service.names), lambda found: eve.username in found)
        await until(_at_once(service.names), lambda found: found == {ada.username, bob.username, eve.username})
        await told.close()

    errors = " ".join(one["error"] for one in refused["refused"])
    assert "I do not like this name" in errors
    assert "without an id" in errors
    events = await results(owner, "/audit/events/", app="providers.scim", action="configuration_error")
    assert any("I do not like this name" in one["context"]["error"] for one in events)


@pytest.mark.parametrize(
    ("odd", "words"),
    [
        (answer(201, b"<html>"), "not JSON"),
        (answer(201, [1]), "no JSON object"),
        (answer(302, Location="http://127.0.0.1:1/"), "302"),
        (answer(201, b"x" * (2 << 20)), "too_large"),
        (b"nonsense\r\n\r\n", "cannot be reached"),
    ],
    ids=["html", "list", "redirect", "large", "nonsense"],
)
async def test_answers_that_are_none_stop_the_telling_for_a_while(here: Town, odd: bytes, words: str) -> None:
    owner, ada = await owner_of(here), await here.sign_up()
    async with odd_service() as service:
        service.answers = [odd]
        told = await tell(here, service.url, TOKEN)
        await told.members(await pk_of(owner, ada))

        stopped = await until(told.status, lambda found: found["error"] is not None)
        await until(_at_once(service.names), lambda found: found == {ada.username})
        await told.close()

    assert words in stopped["error"]


async def test_a_service_without_patch_is_sent_whole_groups(here: Town) -> None:
    owner, ada, bob = await owner_of(here), await here.sign_up(), await here.sign_up()
    async with odd_service(patch=False) as service:
        told = await tell(here, service.url, TOKEN, deprovision="deactivate")
        await told.members(await pk_of(owner, ada), await pk_of(owner, bob))

        async def members() -> list[int]:
            return [len(one["members"]) for one in service.held.values() if "members" in one]

        await until(members, lambda found: found == [2])
        await told.members(await pk_of(owner, ada))
        await until(members, lambda found: found == [1])
        await told.close()

    assert not [one for one in service.sent if one.method == "PATCH"]
    [gone] = [one for one in service.held.values() if one.get("userName") == bob.username]
    assert gone["active"] is False


async def test_a_service_on_our_own_network_is_not_called(town: Town) -> None:
    owner = await owner_of(town)
    async with odd_service() as service:
        told = await tell(town, service.url, TOKEN)
        await told.members(await pk_of(owner, await town.sign_up()))

        stopped = await until(told.status, lambda found: found["error"] is not None)
        await told.close()

    assert "refused_address" in stopped["error"]
    assert not service.sent


def _at_once(ask: Callable[[], Any]) -> Callable[[], Any]:
    async def found() -> Any:
        return ask()

    return found

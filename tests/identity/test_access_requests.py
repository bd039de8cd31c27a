"""Access on request: somebody asks, somebody named decides, and it ends by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any

import httpx
import jwt
import pytest
from sqlalchemy import bindparam, update

from kith.base.db import Command, Instant, command
from kith.identity.access_requests.tables import requests
from kith.identity.groups.tables import members
from tests.identity.flow_browser import Browser
from tests.identity.logout_receiver import Listener, listening
from tests.identity.records import API, make, new_name, owner_of, results
from tests.identity.relying_party import RelyingParty, make_party, signed_in
from tests.town import Person, Town, build_town
from tests.town.town import Engine

REQUESTS = f"{API}/core/access_requests/"


@pytest.fixture(scope="module")
async def near(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """A town that may call this very computer."""
    async with build_town(engine, tmp_path_factory.mktemp("near"), private_hosts="127.0.0.1") as built:
        yield built


@pytest.fixture
async def listener() -> AsyncIterator[Listener]:
    async with listening() as made:
        yield made


@pytest.fixture
async def ada(near: Town) -> Person:
    return await owner_of(near)


@pytest.fixture(scope="module")
async def bob(near: Town) -> Person:
    return await near.sign_up()


@pytest.fixture(scope="module")
async def eve(near: Town) -> Person:
    return await near.sign_up()


async def id_of(ada: Person, person: Person) -> int:
    [found] = await results(ada, "/core/users/", username=person.username)
    return int(found["pk"])


async def offer_group(ada: Person, *approvers: Person, **fields: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A new group that can be asked for, and the offer."""
    group = await make(ada, "/core/groups/", name=new_name("crew"))
    people = [await id_of(ada, one) for one in approvers]
    return group, await make(ada, "/core/access_offers/", group=group["pk"], approvers=people, **fields)


async def ask(person: Person, offer: dict[str, Any], **fields: Any) -> httpx.Response:
    given = {"offer": offer["pk"], "reason": "I am on call.", "duration": "hours=8"}
    return await person.call("POST", REQUESTS, json=given | fields)


async def asked(person: Person, offer: dict[str, Any], **fields: Any) -> dict[str, Any]:
    answer = await ask(person, offer, **fields)
    assert answer.status_code == 201, answer.text
    record: dict[str, Any] = answer.json()
    return record


async def act(person: Person, request: dict[str, Any], word: str, **sent: Any) -> httpx.Response:
    return await person.call("POST", f"{REQUESTS}{request['pk']}/{word}/", json=sent)


async def members_of(ada: Person, group: dict[str, Any]) -> list[int]:
    found: list[int] = (await ada.get(f"{API}/core/groups/{group['pk']}/")).json()["user_set"]
    return found


async def claims_at(party: RelyingParty, browser: Browser) -> tuple[dict[str, Any], dict[str, Any]]:
    tokens = await party.tokens(browser, scope="openid profile offline_access")
    return tokens, await party.read(tokens["id_token"])


_group_ages = command(
    update(members)
    .where(members.c.group_uuid == bindparam("wanted", type_=members.c.group_uuid.type))
    .values(expires=bindparam("past", type_=Instant()))
)
_request_closes = command(
    update(requests)
    .where(requests.c.request_uuid == bindparam("wanted", type_=requests.c.request_uuid.type))
    .values(closes=bindparam("past", type_=Instant()))
)


async def let_pass(town: Town, statement: Command, wanted: str) -> None:
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(statement, wanted=wanted, past=work.now - timedelta(seconds=1))


async def mail_to(town: Town, ada: Person, person: Person, words: str) -> str:
    [found] = await results(ada, "/core/users/", username=person.username)
    async with asyncio.timeout(60):
        while True:
            for mail in town.mails():
                body = mail.get_body(("plain",))
                text = " ".join(body.get_content().split()) if body is not None else ""
                if mail["To"] == found["email"] and words in text:
                    return text
            await asyncio.sleep(0.05)


async def actions_about(ada: Person, request: dict[str, Any]) -> list[str]:
    found = await results(ada, "/audit/events/", ordering="created")
    return [one["action"] for one in found if one["context"].get("model", {}).get("pk") == request["pk"]]


async def test_asked_for_approved_seen_in_the_token_over_and_told(
    near: Town, ada: Person, bob: Person, listener: Listener
) -> None:
    """The whole way through OpenID Connect, for a group that opens one application and is told to another."""
    open_one, closed = [await make_party(near, ada, logout_uri=listener.url) for _ in range(2)]
    group, offer = await offer_group(ada, bob, longest="days=2")
    await make(ada, "/policies/bindings/", group=group["pk"], target=closed.application["pk"], order=0)
    person, browser = await signed_in(near)
    refused = await closed.authorize(browser)
    assert refused.status_code == 403

    request = await asked(person, offer, duration="seconds=60")
    assert (request["state"], request["username"], request["offer_name"]) == ("open", person.username, group["name"])
    assert "I am on call." in await mail_to(near, ada, bob, f"{person.username} asks for access to {group['name']}")
    _, before = await claims_at(open_one, browser)
    assert group["name"] not in before["groups"]
    [waiting] = (await bob.get(f"{REQUESTS}to_decide/")).json()
    assert waiting["pk"] == request["pk"]

    approved = await act(bob, request, "approve", answer="Until Monday.")
    assert approved.status_code == 200, approved.text
    assert (approved.json()["state"], approved.json()["answer"]) == ("approved", "Until Monday.")
    assert datetime.fromisoformat(approved.json()["expires"]) - datetime.fromisoformat(
        approved.json()["decided"]
    ) == timedelta(seconds=60)
    assert "Until Monday." in await mail_to(near, ada, person, f"You have access to {group['name']} until")
    assert (await bob.get(f"{REQUESTS}to_decide/")).json() == []

    tokens, there = await claims_at(open_one, browser)
    others, elsewhere = await claims_at(closed, browser)
    assert group["name"] in there["groups"]
    assert group["name"] in elsewhere["groups"]

    [listed] = (await ada.get(f"{API}/core/groups/{group['pk']}/members/")).json()["results"]
    assert listed["expires"] == approved.json()["expires"]
    await make_end_soon(ada, group, listed["user"])
    heard = {await audience(listener), await audience(listener)}
    assert heard == {open_one.id, closed.id}

    assert (await open_one.userinfo(tokens["access_token"])).status_code == 401
    assert (await closed.refresh(others["refresh_token"])).status_code == 403
    assert (await closed.authorize(browser)).status_code == 403
    _, after = await claims_at(open_one, browser)
    assert group["name"] not in after["groups"]
    assert await members_of(ada, group) == []


async def make_end_soon(ada: Person, group: dict[str, Any], user: int) -> None:
    soon = (datetime.now().astimezone() + timedelta(seconds=1)).isoformat()
    answer = await ada.call("POST", f"{API}/core/groups/{group['pk']}/add_user/", json={"pk": user, "expires": soon})
    assert answer.status_code == 204, answer.text


async def audience(listener: Listener) -> str:

    told: dict[str, Any] = jwt.decode(await listener.next(), options={"verify_signature": False})
    return str(told["aud"])

"""A request that is refused changes nothing; an invitation for one lets in one."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from sqlalchemy import select

from kith import schema
from kith.base.db import query
from tests.conftest import TownBuilder
from tests.identity.flow_browser import SIGN_IN, Browser
from tests.identity.records import API, make, make_stage, new_name, owner_of, results
from tests.identity.test_flows_run import flow_of, questions, set_up_codes, signed_in
from tests.identity.test_signups import SIGN_UP, answers, sign_up
from tests.social.tokens import new_app
from tests.town import Person, Town

# What is written down about a request, and what a walk keeps of itself.
ABOUT_REQUESTS = {
    "base_id_slots",
    "base_job_schedules",
    "base_job_workers",
    "base_jobs",
    "base_rate_counts",
    "identity_events",
    "identity_flow_runs",
    "identity_refusals",
    "identity_reputation",
    "identity_sessions",
    "identity_known_addresses",
    "identity_hints",
    "social_presence",
}
_everything = {
    table.name: query(select(table), tuple)
    for table in schema.METADATA.sorted_tables
    if table.name not in ABOUT_REQUESTS
}


async def snapshot(town: Town) -> dict[str, list[str]]:
    async with town.house() as house, house.works.begin() as work:
        return {name: sorted(map(str, await work.db.all(rows))) for name, rows in _everything.items()}


async def refused(town: Town, what: str, ask: Callable[[], Awaitable[Any]]) -> None:
    before = await snapshot(town)
    answer = await ask()
    if isinstance(answer, httpx.Response):
        assert 400 <= answer.status_code < 500, (what, answer.status_code, answer.text)
    else:
        assert answer["component"] == "access-denied" or answer.get("response_errors"), (what, answer)
    after = await snapshot(town)
    assert {name for name in after if after[name] != before[name]} == set(), what


async def test_a_refused_request_changes_nothing(new_town: TownBuilder) -> None:
    town = await new_town(worker="off")
    owner, ada, eve, app = (
        await owner_of(town),
        await town.sign_up(),
        await town.sign_up(),
        await new_app(town, "read write"),
    )
    [record] = await results(owner, "/core/users/", username=eve.username)
    taken, path = f"{ada.username}@example.org", f"{API}/core/users/{record['pk']}/"
    key = await app.token("write:accounts")
    bearer = {"Authorization": f"Bearer {key}"}
    await town.http.post(
        "/api/v1/accounts", json={}, headers=bearer
    )  # when a token was last used is noted now and then
    body = {"username": "somebody", "email": taken, "password": "a long enough one", "agreement": True, "locale": "en"}
    form = {"client_id": app.client_id, "client_secret": app.secret, "grant_type": "password", "scope": "read"}

    table: dict[str, Callable[[], Awaitable[Any]]] = {
        "another's address": lambda: owner.call(
            "PATCH", path, json={"email": taken, "name": "New", "password": "new one 1"}
        ),
        "a new person": lambda: owner.call(
            "POST", f"{API}/core/users/", json={"username": "n", "name": "N", "email": taken}
        ),
        "not their right": lambda: eve.call("PATCH", path, json={"email": taken, "name": "New"}),
        "a wrong password": lambda: town.http.get(path, auth=(ada.username, "wrong")),
        "sign-up by app": lambda: town.http.post("/api/v1/accounts", json=body, headers=bearer),
        "sign-up, twice wrong": lambda: town.http.post(
            "/api/v1/accounts", json=body | {"password": "x"}, headers=bearer
        ),
        "wrong grant": lambda: town.http.post("/oauth/token", data=form | {"username": ada.username, "password": "no"}),
        "sign-up with a taken name": lambda: sign_up(town, ada.username),
        "sign-up with an address as name": lambda: sign_up(town, taken),
        "sign-up, passwords differ": lambda: sign_up(town, "somebody", password_repeat="another"),
        "a link of nobody": lambda: Browser(town).see(SIGN_UP, flow_token="nothing"),
        "an address nobody confirms": lambda: town.http.post("/confirm/nothing"),
        "a recovery link of nobody": lambda: town.http.get("/recovery/use-token/nothing/"),
        "a wrong set-up": lambda: town.http.post("/setup/nothing", json={"username": "x"}),
    }
    for what, ask in table.items():
        await refused(town, what, ask)


async def test_a_form_that_is_refused_in_part_is_refused_whole(town: Town) -> None:
    owner, ada = await owner_of(town), await town.sign_up()
    domain = f"{new_name('blocked')}.example"
    await make(owner, "/core/email_blocks/", kind="domain", value=domain)
    write = await make_stage(owner, "user_write", user_creation_mode="never_create")
    slug = (await flow_of(owner, "stage_setup", await questions(owner), write))["slug"]
    browser = await signed_in(town, ada)
    await browser.see(slug)

    told = await browser.answer(
        slug, component="prompt", username=new_name("renamed"), email=f"me@{domain}", password="an entirely new one"
    )

    assert told["component"] == "access-denied"
    assert (await ada.get(f"{API}/core/users/me/")).json()["username"] == ada.username


async def test_a_wrong_code_leaves_all_codes_as_they_are(new_town: TownBuilder) -> None:
    town = await new_town(worker="off")
    ada, browser = await town.sign_up(), Browser(town)
    await set_up_codes(await signed_in(town, ada))
    await browser.sign_in(ada)

    before = await snapshot(town)
    told = await browser.answer(SIGN_IN, component="otpvalidate", code="nothing")
    after = await snapshot(town)

    assert told["response_errors"]
    assert {name for name in after if after[name] != before[name]} == {"identity_factors"}  # where guesses are counted


# Invitations


async def _invitation(owner: Person, **fields: Any) -> str:
    return str((await make(owner, "/stages/invitation/invitations/", name=new_name("i"), **fields))["pk"])


async def test_an_invitation_for_one_lets_in_one_however_many_come(new_town: TownBuilder) -> None:
    town = await new_town(registrations="closed", confirm_email="off")
    owner = await town.owner()
    for several, code in (
        (1, await _invitation(owner, single_use=True)),
        (6, await _invitation(owner, single_use=False)),
    ):
        browsers = [Browser(town) for _ in range(6)]
        for browser in browsers:
            shown = await browser.see(SIGN_UP, itoken=code)
            assert shown["component"] == "prompt"
        names = [f"n{uuid.uuid4().hex[:8]}" for _ in browsers]

        told = await asyncio.gather(
            *(
                browser.post(SIGN_UP, {"itoken": code}, **answers(name))
                for browser, name in zip(browsers, names, strict=True)
            )
        )

        made = [name for name in names if await results(owner, "/core/users/", username=name)]
        let_in = [answer for answer in told if answer.status_code == 200 and answer.json()["component"] == "redirect"]
        assert len(made) == len(let_in) == several


async def test_an_invitation_that_is_over_or_gone_lets_in_nobody(new_town: TownBuilder) -> None:
    town = await new_town(registrations="closed", confirm_email="off")
    owner = await town.owner()
    over = await _invitation(owner, expires=(datetime.now(UTC) - timedelta(days=1)).isoformat())
    gone, begun = await _invitation(owner, single_use=True), Browser(town)
    assert (await begun.see(SIGN_UP, itoken=gone))["component"] == "prompt"
    await owner.call("DELETE", f"{API}/stages/invitation/invitations/{gone}/")

    late = await begun.answer(SIGN_UP, {"itoken": gone}, **answers("late"))

    assert late["component"] == "access-denied"
    for code in (over, gone):
        assert (await Browser(town).see(SIGN_UP, itoken=code))["component"] == "access-denied"
    assert await results(owner, "/core/users/", username="late") == []

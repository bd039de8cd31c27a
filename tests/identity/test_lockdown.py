"""The lockdown: everything of one person ends at once, by whatever way it is asked for."""

from __future__ import annotations

import re
import uuid
from datetime import timedelta
from typing import Any

import pytest

from kith.identity.factors import store as factors
from kith.identity.factors.tables import Factor
from kith.identity.lockdown.service import END_AGAIN, EndAgain
from kith.identity.sessions import service as sessions
from kith.identity.sessions import store as session_store
from tests.conftest import TownBuilder
from tests.identity.flow_browser import Browser, link_in_mail
from tests.identity.logout_receiver import listening
from tests.identity.records import API, make, owner_of, person_who_may, results
from tests.identity.relying_party import make_party, signed_in
from tests.identity.test_flows_run import RECOVERY, ask_for_recovery
from tests.town import Person, Town

WHY = {"reason": "a stolen laptop"}


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


async def record_of(owner: Person, person: Person) -> dict[str, Any]:
    [found] = await results(owner, "/core/users/", username=person.username)
    return found


async def lock(by: Person, pk: int, **sent: Any) -> Any:
    return await by.call("POST", f"{API}/core/users/{pk}/lockdown/", json=WHY | sent)


async def add_factor(town: Town, user_id: int) -> None:
    async with town.house() as house, house.works.begin() as work:
        one = Factor(
            device_uuid=str(uuid.uuid4()), user_id=user_id, kind="totp", name="phone", confirmed=True,
            created_at=work.now, last_used_at=None, failures=0, failed_at=None,
        )  # fmt: skip
        await factors.insert(work.db, one)


async def test_everything_of_a_person_ends_and_services_are_told(new_town: TownBuilder) -> None:
    town = await new_town(private_hosts="127.0.0.1")
    owner = await town.owner()
    person = await town.sign_up()
    pk = (await record_of(owner, person))["pk"]
    async with listening() as listener:
        party = await make_party(town, owner, logout_uri=listener.url)
        _, browser = await signed_in(town, person)
        _, other = await signed_in(town, person)
        got = await party.tokens(browser)
        claims = await party.read(got["id_token"])
        token = await make(owner, "/core/tokens/", identifier="t", user=pk, intent="api")
        app = await make(owner, "/core/tokens/", identifier="a", user=pk, intent="app_password")
        await ask_for_recovery(town, person.username)
        key = await link_in_mail(town, f"{person.username}@example.org")
        thief = Browser(town)
        assert (await thief.follow(RECOVERY, key))["component"] == "prompt"
        await add_factor(town, pk)

        answer = await lock(owner, pk)
        assert answer.status_code == 200, answer.text
        ended = answer.json()
        assert (ended["sessions"], ended["tokens"], ended["grants"], ended["factors"]) == (2, 2, 1, 0)

        assert await browser.who() is None
        assert await other.who() is None
        assert (await party.userinfo(got["access_token"])).status_code == 401
        assert (await party.refresh(got["refresh_token"])).status_code == 400
        await listener.hears(party, claims)
    bearer = {"Authorization": f"Bearer {token['key']}"}
    assert (await town.http.get(f"{API}/core/users/me/", headers=bearer)).status_code == 401
    assert (await Person(town.http, person.username, app["key"]).get(f"{API}/core/users/me/")).status_code == 401
    assert (await person.get(f"{API}/core/users/me/")).status_code == 401
    assert (await record_of(owner, person))["is_active"] is False
    assert [one["context"]["reason"] for one in await results(owner, "/audit/events/", action="user_lockdown")] == [
        WHY["reason"]
    ]
    told = [mail for mail in town.mails() if "was locked" in str(mail["Subject"])]
    assert [mail["To"] for mail in told] == [f"{person.username}@example.org"]

    # Let in again, nothing from before works: neither the password, nor what was under way.
    enabled = await owner.call("PATCH", f"{API}/core/users/{pk}/", json={"is_active": True})
    assert enabled.status_code == 200
    new = {"password": "the thief's own one", "password_repeat": "the thief's own one"}
    await thief.post(RECOVERY, {"flow_token": key}, component="prompt", **new)
    for password in (person.password, app["key"], new["password"]):
        assert (await Person(town.http, person.username, password).get(f"{API}/core/users/me/")).status_code == 401
    assert await thief.who() is None
    assert (await town.http.get(f"{API}/core/users/me/", headers=bearer)).status_code == 401
    async with town.house() as house, house.works.begin() as work:
        assert [one.name for one in await factors.of_user(work.db, pk)] == ["phone"]


async def test_invitations_end_with_whoever_made_them(town: Town, ada: Person) -> None:
    """Let in again, the person does not vouch for whom a thief has invited."""
    host = await person_who_may(town, ada, "core.add_user", "stages.add_invitation")
    made = await make(host, "/stages/invitation/invitations/", name="thief", single_use=False)
    pk = (await record_of(ada, host))["pk"]

    ended = (await lock(ada, pk, notify=False)).json()
    await ada.call("PATCH", f"{API}/core/users/{pk}/", json={"is_active": True})

    assert ended["invitations"] == 1
    assert (await ada.get(f"{API}/stages/invitation/invitations/{made['pk']}/")).status_code == 404


async def test_what_was_under_way_meanwhile_ends_a_minute_later(town: Town, ada: Person) -> None:
    person = await town.sign_up()
    pk = (await record_of(ada, person))["pk"]
    assert (await lock(ada, pk, notify=False, remove_factors=True)).status_code == 200
    async with town.house() as house, house.works.begin() as work:
        held = await sessions.begin(work, address="192.0.2.1")
        late = await sessions.sign_in(work, held.session, pk, method="password", life=timedelta(days=1), address="")
    async with town.house() as house, house.works.begin() as work:
        assert END_AGAIN.handler is not None
        await END_AGAIN.handler(work, EndAgain(pk))
    async with town.house() as house, house.works.begin() as work:
        assert not await session_store.is_there(work.db, late.session.session_uuid)


async def test_who_may_lock_whom(town: Town, ada: Person) -> None:
    person, eve = await town.sign_up(), await town.sign_up()
    helper = await person_who_may(town, ada, "core.lockdown_user", "core.view_user")
    admin = await town.sign_up(role="administrator")
    pk = (await record_of(ada, person))["pk"]
    assert (await lock(eve, pk)).status_code == 403
    assert (await lock(helper, (await record_of(ada, admin))["pk"])).status_code == 403
    assert (await lock(admin, (await record_of(ada, ada))["pk"])).status_code == 403
    for sent, field in (
        ({"reason": " "}, "reason"),
        ({"reason": "x" * 501}, "reason"),
        ({"notify": "perhaps"}, "notify"),
    ):
        answer = await lock(helper, pk, **sent)
        assert (answer.status_code, list(answer.json())) == (400, [field])
    assert (await helper.call("POST", f"{API}/core/users/{pk}/lockdown/", json={})).json() == {
        "reason": ["This field is required."]
    }
    assert (await lock(helper, 999_999_999)).status_code == 404
    assert (await record_of(ada, person))["is_active"] is True
    assert (await lock(helper, pk)).status_code == 200
    assert (await lock(helper, pk)).status_code == 200  # twice is once
    own = (await record_of(ada, eve))["pk"]
    assert (await lock(eve, own)).status_code == 200
    assert (await eve.get(f"{API}/core/users/me/")).status_code == 401


async def test_the_last_administrator_stays(new_town: TownBuilder) -> None:
    town = await new_town()
    owner = await town.owner()
    pk = (await record_of(owner, owner))["pk"]
    answer = await lock(owner, pk)
    assert answer.status_code == 409
    assert (await owner.get(f"{API}/core/users/me/")).status_code == 200
    said = await town.kith("lockdown", owner.username, "--reason", "x", "--yes", expect=1)
    assert "nobody who can administer" in said


async def test_by_command_and_on_the_pages(town: Town, ada: Person) -> None:
    person, other, own = await town.sign_up(), await town.sign_up(), await town.sign_up()
    said = await town.kith("lockdown", person.username, "--reason", "lost phone", "--no-mail", "--yes")
    assert said.startswith(f"Locked {person.username}.")
    assert (await person.get(f"{API}/core/users/me/")).status_code == 401
    refused = await town.kith("lockdown", other.username, "--reason", "x", expect=1)
    assert "--yes" in refused

    _, staff = await signed_in(town, ada)
    page = await staff.http.get("/staff/lockdown/")
    token = {"csrf": _token(page.text)}
    form = token | {"username": other.username, "reason": "lost keys", "notify": "true"}
    assert "There is no user" in (await staff.http.post("/staff/lockdown/", data=form | {"username": "x-nobody"})).text
    asked = await staff.http.post("/staff/lockdown/", data=form)
    assert (asked.status_code, f"Lock {other.username} now" in asked.text) == (200, True)
    assert (await other.get(f"{API}/core/users/me/")).status_code == 200
    assert (
        await staff.http.post("/staff/lockdown/", data=form | {"csrf": "x", "confirm": other.username})
    ).status_code == 403
    done = await staff.http.post("/staff/lockdown/", data=form | {"confirm": other.username})
    assert done.headers["location"] == f"/staff/lockdown/?locked={other.username}"
    assert (await other.get(f"{API}/core/users/me/")).status_code == 401

    _, browser = await signed_in(town, own)
    assert "/settings/lockdown" in (await browser.http.get("/settings/security")).text
    page = await browser.http.get("/settings/lockdown")
    assert (await browser.http.post("/staff/lockdown/", data=form)).status_code == 404
    over = await browser.http.post("/settings/lockdown", data={"csrf": _token(page.text)})
    assert "Your account is locked" in over.text
    assert await browser.who() is None
    assert (await own.get(f"{API}/core/users/me/")).status_code == 401


def _token(text: str) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', text)
    assert found is not None
    return found[1]

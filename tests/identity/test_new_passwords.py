"""Every way to set a password asks the same of it: what the form asks in which people change theirs."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Text, bindparam, update

from kith.base.db import command
from kith.identity.policies.kinds import password
from tests.conftest import TownBuilder
from tests.identity.flow_browser import Browser, errors
from tests.identity.records import API, grant, make, make_binding, make_flow, make_stage, new_name, results
from tests.town import Person, Town

WORDS = "Please take at least sixteen characters."
SHORT, LONG = "twelve chars", "more than sixteen characters"
USERS = f"{API}/core/users/"
assert password.RESOURCE.table is not None
_lengthen = command(
    update(password.RESOURCE.table).values(length_min=16, error_message=bindparam("words", type_=Text()))
)


async def strict(town: Town, owner: Person) -> str:
    """A policy that an administrator has added to the form for new passwords."""
    policy = await make(owner, "/policies/password/", name=new_name("long"), length_min=16, error_message=WORDS)
    [form] = await results(owner, "/stages/prompt/stages/", name="default-password-change-prompt")
    policies = [*form["validation_policies"], policy["pk"]]
    changed = await owner.call(
        "PATCH", f"{API}/stages/prompt/stages/{form['pk']}/", json={"validation_policies": policies}
    )
    assert changed.status_code == 200, changed.text
    return str(policy["pk"])


async def id_of(person: Person) -> int:
    return int((await person.get(f"{USERS}me/")).json()["pk"])


async def test_the_api_the_command_line_and_the_first_link_ask(new_town: TownBuilder) -> None:
    town = await new_town()
    await the_first_owner(town)
    owner, bob = await town.owner(), await town.sign_up()
    await strict(town, owner)
    await the_api(town, owner, bob)
    await the_command_line(town, bob)


async def the_api(town: Town, owner: Person, bob: Person) -> None:
    helper = await town.sign_up()
    await grant(owner, helper, "core.reset_user_password", "core.change_user", "core.add_user")
    his, mine = await id_of(bob), await id_of(owner)
    new = {"username": "somebody_new", "name": "N"}

    for person, method, path, body in (
        (bob, "POST", f"{his}/set_password/", {}),
        (helper, "POST", f"{his}/set_password/", {}),
        (owner, "POST", f"{his}/set_password/", {}),
        (owner, "POST", f"{mine}/set_password/", {}),
        (owner, "PATCH", f"{his}/", {}),
        (owner, "PATCH", f"{mine}/", {}),
        (owner, "PUT", f"{his}/", {"username": bob.username, "name": "Bob"}),
        (helper, "PATCH", f"{his}/", {}),
        (helper, "POST", "", new),
        (owner, "POST", "", new),
    ):
        answer = await person.call(method, USERS + path, json={**body, "password": SHORT})
        assert (answer.status_code, answer.json()) == (400, {"password": [WORDS]}), (method, path)
    assert await results(owner, "/core/users/", username="somebody_new") == []
    for person in (bob, owner):
        assert (await person.get(f"{USERS}me/")).status_code == 200
    assert (await bob.call("POST", f"{USERS}{his}/set_password/", json={"password": LONG})).status_code == 204
    bob.password = LONG
    assert (await owner.call("POST", USERS, json={**new, "password": LONG})).status_code == 201


async def the_command_line(town: Town, bob: Person) -> None:
    """It can be forced."""
    words = ("--email", "c@example.org", "--password", SHORT)

    for line in (("users", "create", "carl", *words), ("users", "set-password", bob.username, *words[2:])):
        assert WORDS in await town.kith(*line, expect=1)
    assert (await bob.get(f"{USERS}me/")).status_code == 200
    await town.kith("users", "create", "carl", *words, "--force")
    await town.kith("users", "set-password", bob.username, *words[2:], "--force")
    bob.password = SHORT
    assert (await bob.get(f"{USERS}me/")).status_code == 200


async def test_every_form_and_every_sign_up_asks(new_town: TownBuilder) -> None:
    town = await new_town(registrations="open", confirm_email="false")
    owner = await town.owner()
    await strict(town, owner)
    await a_form_without_policies(town, owner)
    await a_new_account(town)
    await an_invitation(town, owner)
    await an_app(town)


async def a_form_without_policies(town: Town, owner: Person) -> None:
    bob = await town.sign_up()
    [asked] = await results(owner, "/stages/prompt/prompts/", name="default-password")
    flow = await make_flow(owner, "stage_setup", authentication="require_authenticated")
    form = await make_stage(owner, "prompt/stages", fields=[asked["pk"]])
    await make_binding(owner, flow, form, order=0)
    await make_binding(owner, flow, await make_stage(owner, "user_write"), order=1)
    browser = Browser(town)
    await browser.sign_in(bob)

    await browser.see(flow["slug"])
    told = await browser.answer(flow["slug"], component="prompt", password=SHORT)
    assert (told["component"], errors(told)) == ("prompt", [WORDS])
    told = await browser.answer(flow["slug"], component="prompt", password=LONG)
    assert told["component"] == "redirect", told
    bob.password = LONG
    assert (await bob.get(f"{USERS}me/")).status_code == 200


async def a_new_account(town: Town) -> None:
    stranger, slug = Browser(town), "default-enrollment-flow"
    await stranger.see(slug)
    answers: dict[str, Any] = {"username": "dora", "name": "D", "email": "d@example.org"}
    told = await stranger.answer(slug, component="prompt", **answers, password=SHORT, password_repeat=SHORT)
    assert errors(told) == [WORDS]
    told = await stranger.answer(slug, component="prompt", **answers, password=LONG, password_repeat=LONG)
    assert told["component"] == "redirect", told


async def an_invitation(town: Town, owner: Person) -> None:
    """What it says is no way around."""
    invited = await make(owner, "/stages/invitation/invitations/", name=new_name("i"), fixed_data={"password": SHORT})
    browser, slug, query = Browser(town), "default-enrollment-flow", {"itoken": str(invited["pk"])}
    await browser.see(slug, **query)
    answers: dict[str, Any] = {"username": "erna", "name": "E", "email": "e@example.org"}

    told = await browser.answer(slug, query, component="prompt", **answers, password=LONG, password_repeat=LONG)

    assert told["component"] == "access-denied", told
    assert WORDS in told["error_message"]
    assert await results(owner, "/core/users/", username="erna") == []


async def an_app(town: Town) -> None:
    app = await town.http.post(
        "/api/v1/apps", json={"client_name": "x", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob", "scopes": "read write"}
    )
    granted = await town.http.post(
        "/oauth/token",
        json={
            "grant_type": "client_credentials",
            "client_id": app.json()["client_id"],
            "client_secret": app.json()["client_secret"],
            "scope": "read write",
        },
    )
    headers = {"authorization": f"Bearer {granted.json()['access_token']}"}
    wish = {"username": "fritz", "email": "f@example.org", "agreement": True, "locale": "en"}

    refused = await town.http.post("/api/v1/accounts", json=wish | {"password": SHORT}, headers=headers)
    assert refused.status_code == 422, refused.text
    assert WORDS in refused.text
    made = await town.http.post("/api/v1/accounts", json=wish | {"password": LONG}, headers=headers)
    assert made.status_code == 200, made.text


async def the_first_owner(town: Town) -> None:
    async with town.house() as house, house.works.begin() as work:
        assert await work.db.run(_lengthen, words=WORDS) > 0
    form = {"username": "root", "email": "r@example.org", "password": SHORT}

    refused = await town.http.post(town.setup_link(), json=form)
    assert refused.status_code == 400, refused.text
    assert WORDS in refused.text
    made = await town.http.post(town.setup_link(), json=form | {"password": LONG})
    assert made.is_success, made.text

"""What guards an account is changed by its owner only, and a token never makes more than itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import bindparam, update

from kith.base.db import Instant, command
from kith.identity.reauthentication import BY_APP_PASSWORD, FRESH, is_fresh
from kith.identity.sessions.service import hash_key
from kith.identity.sessions.tables import LoginSession, sessions
from kith.identity.users import store as users
from tests.conftest import TownBuilder
from tests.identity.flow_browser import Browser, errors
from tests.identity.records import API, grant, make, make_binding, make_flow, make_stage, new_name, owner_of, results
from tests.town import Person, Town

USERS, TOKENS = "/core/users/", "/core/tokens/"
LONG_AGO = timedelta(minutes=16)
NEEDED = (403, "confirmation_needed")
_age = command(
    update(sessions).where(sessions.c.key_hash == bindparam("hash")).values(created_at=bindparam("at", type_=Instant()))
)


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


async def id_of(person: Person) -> int:
    return int((await person.get(f"{API}/core/users/me/")).json()["pk"])


class Key:
    """Somebody who comes with a key: a token, or an app password."""

    def __init__(self, town: Town, key: str, username: str = "") -> None:
        self._town = town
        self.key = key
        self._username = username

    async def call(self, method: str, path: str, **body: Any) -> httpx.Response:
        options: dict[str, Any] = {"json": body} if method not in ("GET", "DELETE") else {}
        if self._username:
            options["auth"] = (self._username, self.key)
        else:
            options["headers"] = {"authorization": f"Bearer {self.key}"}
        return await self._town.http.request(method, API + path, **options)


async def token(town: Town, person: Person, **fields: Any) -> tuple[Key, dict[str, Any]]:
    made = await make(person, TOKENS, **{"identifier": new_name("t"), **fields})
    by_name = person.username if made["intent"] == "app_password" else ""
    return Key(town, made["key"], by_name), made


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json().get("code", "")


async def aged(town: Town, browser: Browser, by: timedelta = LONG_AGO) -> None:
    key = browser.http.cookies.get("kith_session") or ""
    async with town.house() as house, house.works.begin() as work:
        assert await work.db.run(_age, hash=hash_key(key), at=work.now - by) == 1


async def signed_in(town: Town, person: Person) -> Browser:
    browser = Browser(town)
    assert (await browser.sign_in(person))["component"] == "redirect"
    return browser


async def by_session(browser: Browser, method: str, path: str, **body: Any) -> httpx.Response:
    await browser.http.get("/settings/security")  # where the page's token comes from
    headers = {"x-csrf-token": browser.http.cookies.get("kith_csrf") or ""}
    return await browser.http.request(method, API + path, json=body, headers=headers)


# A token is never more than itself


async def test_a_token_neither_widens_nor_outlives_itself(town: Town) -> None:
    bob = await town.sign_up()
    soon = datetime.now(UTC) + timedelta(hours=1)
    key, itself = await token(town, bob, scopes="api read:statuses", expires=soon.isoformat())
    item, proof = f"{TOKENS}{itself['pk']}/", {"current_password": bob.password}

    for fields, wrong in (
        ({"scopes": "api read:statuses write"}, "scopes"),
        ({"scopes": "api read"}, "scopes"),
        ({"expiring": False}, "expires"),
        ({"expires": (soon + timedelta(days=9)).isoformat()}, "expires"),
        ({"expires": None}, "expires"),
        ({"intent": "app_password"}, "intent"),
    ):
        for method in ("PATCH", "PUT"):
            refused = await key.call(method, item, **fields, **proof)
            assert (refused.status_code, set(refused.json())) == (400, {wrong}), (method, fields, refused.text)
        refused = await key.call("POST", TOKENS, **fields, **proof)
        expected = set() if fields == {"expires": None} else {wrong}
        assert set(refused.json() if expected else ()) == expected, (fields, refused.text)

    made = await key.call("POST", TOKENS, scopes="api", **proof)
    assert made.status_code == 201, made.text
    assert datetime.fromisoformat(made.json()["expires"]) <= soon + timedelta(seconds=1)
    now = (await bob.get(f"{API}{item}")).json()
    assert (now["scopes"], now["expires"], now["intent"]) == (itself["scopes"], itself["expires"], "api")
    assert (await key.call("PATCH", item, description="mine")).status_code == 200
    assert (await key.call("PATCH", item, scopes="api", expires=datetime.now(UTC).isoformat())).status_code == 200
    assert (await key.call("GET", item)).status_code == 401


async def test_a_superusers_token_makes_no_more_for_others_either(town: Town, ada: Person) -> None:
    bob = await town.sign_up()
    key, _ = await token(town, ada, scopes="api", expiring=False)
    his = await id_of(bob)

    wider = await key.call("POST", TOKENS, user=his, scopes="api write")
    assert (wider.status_code, set(wider.json())) == (400, {"scopes"})
    app = await key.call("POST", TOKENS, user=his, intent="app_password")
    assert (app.status_code, set(app.json())) == (400, {"intent"})
    assert (await key.call("POST", TOKENS, user=his, scopes="api")).status_code == 201
    assert code(await key.call("POST", TOKENS, scopes="api")) == NEEDED
    _, broad = await token(town, bob, scopes="api write")
    assert set((await key.call("PATCH", f"{TOKENS}{broad['pk']}/", scopes="write")).json()) == {"scopes"}


async def test_tokens_of_somebody_above_are_out_of_reach(town: Town, ada: Person) -> None:
    clerk = await town.sign_up()
    await grant(ada, clerk, *(f"core.{verb}_token" for verb in ("view", "add", "change", "delete")))
    made = await make(ada, TOKENS, identifier=new_name("t"), scopes="api")
    item = f"{API}{TOKENS}{made['pk']}/"

    assert (await clerk.call("PATCH", item, json={"scopes": "api write"})).status_code == 403
    assert (await clerk.call("PATCH", item, json={"description": "x"})).status_code == 403
    assert (await clerk.call("DELETE", item)).status_code == 403
    assert (await ada.get(item)).json()["scopes"] == "api"


async def test_neither_an_app_nor_a_token_without_the_scope_opens_the_identity_api(town: Town) -> None:
    bob = await town.sign_up()
    for scopes in ("read write follow push", "openid profile email", "dcr"):
        key, _ = await token(town, bob, scopes=scopes)
        for method, path in (("GET", "/core/users/me/"), ("POST", TOKENS), ("GET", USERS)):
            assert (await key.call(method, path)).status_code == 403, (scopes, path)


# An app password changes nothing that guards an account


@pytest.mark.parametrize("who", ["member", "owner"])
async def test_an_app_password_changes_nothing_that_guards_an_account(town: Town, ada: Person, who: str) -> None:
    person = await town.sign_up() if who == "member" else await town.owner()
    app, itself = await token(town, person, intent="app_password", expiring=False)
    mine, proof = await id_of(person), {"current_password": person.password}
    new = "a brand new password"
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", f"{USERS}{mine}/set_password/", {"password": new}),
        ("POST", TOKENS, {"scopes": "api"}),
        ("POST", TOKENS, {"intent": "app_password"}),
        ("PATCH", f"{TOKENS}{itself['pk']}/", {"scopes": "api write"}),
    ]
    if who == "owner":
        his = await id_of(await town.sign_up())
        calls += [
            ("PATCH", f"{USERS}{mine}/", {"password": new}),
            ("PATCH", f"{USERS}{mine}/", {"email": "other@example.org"}),
            ("PATCH", f"{USERS}{mine}/", {"username": new_name("other")}),
            ("PATCH", f"{USERS}{his}/", {"password": new}),
            ("PATCH", f"{USERS}{his}/", {"email": "other@example.org"}),
            ("POST", f"{USERS}{his}/set_password/", {"password": new}),
            ("POST", USERS, {"username": new_name("x"), "name": "X", "password": new}),
            ("POST", TOKENS, {"user": his, "scopes": "api"}),
        ]
    for method, path, body in calls:
        for more in ({}, proof):
            answer = await app.call(method, path, **body, **more)
            # 400 of bodies that are wrong for everybody; every other is refused for this reason:
            assert answer.status_code in (400, 403), (method, path, body, answer.text)
            assert answer.status_code == 400 or code(answer) == (403, "app_password"), answer.text
    assert await id_of(person) == mine
    assert [one["pk"] for one in await results(person, TOKENS, user=mine)] == [itself["pk"]]


# The current password, or a fresh sign-in


async def test_a_token_sets_ones_own_password_only_with_the_old_one(town: Town) -> None:
    bob = await town.sign_up()
    key, _ = await token(town, bob, scopes="api", expiring=False)
    url, new = f"{USERS}{await id_of(bob)}/set_password/", "a brand new password"

    refused = await key.call("POST", url, password=new)
    assert code(refused) == NEEDED
    assert "current_password" in refused.json()["detail"]
    for wrong in ("not this one", "", 5, None, [bob.password]):
        answer = await key.call("POST", url, password=new, current_password=wrong)
        # 403 of a wrong password, 400 of what is none.
        assert answer.status_code in (400, 403), answer.text
        assert set(answer.json()) in ({"current_password"}, {"detail", "code"})
    assert (await bob.get(f"{API}/core/users/me/")).status_code == 200
    assert (await key.call("POST", url, password=new, current_password=bob.password)).status_code == 204
    bob.password = new
    assert (await bob.call("POST", API + url, json={"password": "once more, by name"})).status_code == 204


async def test_an_owners_token_sets_the_passwords_of_others_and_not_its_own(town: Town) -> None:
    owner, bob = await town.owner(), await town.sign_up()
    key, _ = await token(town, owner, scopes="api", expiring=False)
    mine, his = await id_of(owner), await id_of(bob)
    new = "a brand new password"

    assert (await key.call("POST", f"{USERS}{his}/set_password/", password=new)).status_code == 204
    assert (await key.call("PATCH", f"{USERS}{his}/", email="b@example.org", password=new + "!")).status_code == 200
    for body in ({"password": new}, {"email": "o@example.org"}, {"username": new_name("o")}):
        assert code(await key.call("PATCH", f"{USERS}{mine}/", **body)) == NEEDED, body
        proof = {"current_password": owner.password}
        assert (await key.call("PATCH", f"{USERS}{mine}/", **{"name": "O"} | body | proof)).status_code == 200, body
        owner.username, owner.password = body.get("username", owner.username), body.get("password", owner.password)
    assert (await key.call("PATCH", f"{USERS}{mine}/", name="Another name")).status_code == 200
    assert code(await key.call("POST", f"{USERS}{mine}/set_password/", password=new)) == NEEDED


async def test_a_session_counts_for_a_while(town: Town) -> None:
    bob = await town.sign_up()
    browser, his = await signed_in(town, bob), await id_of(bob)
    url = f"{USERS}{his}/set_password/"

    made = await by_session(browser, "POST", TOKENS, scopes="api", expiring=False)
    assert made.status_code == 201, made.text
    item = f"{TOKENS}{made.json()['pk']}/"
    await aged(town, browser)

    for method, path, body in (
        ("POST", url, {"password": "a brand new password"}),
        ("POST", TOKENS, {"scopes": "api"}),
        ("POST", TOKENS, {"intent": "app_password"}),
        ("PATCH", item, {"scopes": "api write"}),
        ("PUT", item, {"scopes": "api write"}),
    ):
        assert code(await by_session(browser, method, path, **body)) == NEEDED, (method, path)
    assert (
        await by_session(browser, "PATCH", item, description="x", expires=datetime.now(UTC).isoformat())
    ).status_code == 200
    done = await by_session(browser, "POST", url, password="a brand new password", current_password=bob.password)
    assert done.status_code == 204, done.text


async def test_who_guesses_the_current_password_must_wait(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on")
    bob = await town.sign_up()
    key, _ = await token(town, bob, scopes="api", expiring=False)
    url = f"{USERS}{await id_of(bob)}/set_password/"

    codes = [
        (await key.call("POST", url, password="a new password", current_password="wrong")).status_code
        for _ in range(11)
    ]
    late = await key.call("POST", url, password="a new password", current_password=bob.password)

    assert codes == [400] * 10 + [429]
    assert late.status_code == 429


# Flows


async def _setup_flow(ada: Person, kind: str, **fields: Any) -> str:
    """A flow that an administrator has made without asking for the password in it."""
    flow = await make_flow(ada, "stage_setup", authentication="require_authenticated")
    if kind == "user_write":
        prompts = [
            (await make(ada, "/stages/prompt/prompts/", field_key=key, label=key, type=type_, placeholder="x"))["pk"]
            for key, type_ in fields.pop("asks").items()
        ]
        await make_binding(ada, flow, await make_stage(ada, "prompt/stages", fields=prompts), order=0)
    await make_binding(ada, flow, await make_stage(ada, kind, **fields), order=1)
    return str(flow["slug"])


@pytest.mark.parametrize(
    ("kind", "fields", "component"),
    [
        ("otp_time", {"digits": 6}, "otptime"),
        ("otp_static", {}, "otpstatic"),
        ("otp", {}, "otp"),
        ("webauthn", {}, "webauthn"),
        ("user_delete", {}, "userdelete"),
    ],
)
async def test_a_flow_asks_who_it_is_before_it_changes_what_guards_an_account(
    town: Town, ada: Person, kind: str, fields: dict[str, Any], component: str
) -> None:
    bob = await town.sign_up()
    browser, slug = await signed_in(town, bob), await _setup_flow(ada, kind, **fields)
    assert (await browser.see(slug))["component"] == component
    await aged(town, browser)
    await browser.http.get(f"/flows/-/cancel/?flow={slug}")

    asked = await browser.see(slug)
    assert (asked["component"], asked["pending_user"]) == ("password", bob.username)
    guesses: list[dict[str, Any]] = [{"component": component, "code": "123456"}, {"component": component}]
    for answer in guesses:
        assert (await browser.answer(slug, **answer))["component"] == "password"
    wrong = await browser.answer(slug, component="password", password="not this one")
    assert errors(wrong) == ["Invalid password"]
    assert (await browser.answer(slug, component="password", password=bob.password))["component"] == component


@pytest.mark.parametrize(
    ("asks", "given", "guarded"),
    [
        ({"password": "password"}, {"password": "a brand new password"}, True),
        ({"email": "email"}, {"email": "elsewhere@example.org"}, True),
        ({"username": "username"}, {"username": "{name}"}, True),
        ({"name": "text"}, {"name": "Robert"}, False),
    ],
)
async def test_a_form_that_changes_how_one_comes_in_asks_who_it_is(
    town: Town, ada: Person, asks: dict[str, str], given: dict[str, str], guarded: bool
) -> None:
    bob = await town.sign_up()
    browser = await signed_in(town, bob)
    slug = await _setup_flow(ada, "user_write", asks=asks, user_creation_mode="never_create")
    await aged(town, browser)
    answers: dict[str, Any] = {
        name: value.replace("{name}", new_name("n").replace("-", "_")) for name, value in given.items()
    }

    await browser.see(slug)
    told = await browser.answer(slug, component="prompt", **answers)

    assert (told["component"] == "password") is guarded, told
    if guarded:
        assert (await bob.get(f"{API}/core/users/me/")).json()["name"] == bob.username
        done = await browser.answer(slug, component="password", password=bob.password)
        assert done["component"] == "redirect", done


async def test_who_has_no_password_signs_in_again(town: Town, ada: Person) -> None:
    bob = await town.sign_up()
    browser, slug = await signed_in(town, bob), await _setup_flow(ada, "otp_static")
    async with town.house() as house, house.works.begin() as work:
        user = await users.find(work.db, bob.username)
        assert user is not None
        assert user.password is not None
        await users.retire_password(work.db, user.id, user.password, work.now)
    await aged(town, browser)

    told = await browser.see(slug)

    assert told["component"] == "redirect"
    assert told["to"].startswith("/flows/-/default/authentication/?again=true")
    assert slug in told["to"]
    assert code(await by_session(browser, "POST", TOKENS, scopes="api")) == NEEDED


async def test_a_session_by_app_password_is_never_fresh(town: Town, ada: Person) -> None:
    bob = await town.sign_up()
    app, _ = await token(town, bob, intent="app_password", expiring=False)
    flow = await make_flow(ada, "authentication")
    stage = await make_stage(ada, "identification", user_fields=["username"], template="login")
    await make_binding(ada, flow, stage, order=0)
    await make_binding(ada, flow, await make_stage(ada, "password", backends=["app_password"]), order=1)
    await make_binding(ada, flow, await make_stage(ada, "user_login"), order=2)
    browser = Browser(town)
    await browser.see(flow["slug"])
    await browser.answer(flow["slug"], component="identification", uid_field=bob.username)
    narrow = (await make(bob, TOKENS, identifier=new_name("app"), intent="app_password", scopes="read"))["key"]
    assert (await browser.answer(flow["slug"], component="password", password=narrow))["component"] == "password"
    assert (await browser.answer(flow["slug"], component="password", password=app.key))["component"] == "redirect"

    assert (await browser.http.get(f"{API}/core/users/me/")).json()["username"] == bob.username
    assert code(await by_session(browser, "POST", TOKENS, scopes="api")) == NEEDED
    url = f"{USERS}{await id_of(bob)}/set_password/"
    assert code(await by_session(browser, "POST", url, password="a brand new password")) == NEEDED
    assert (await browser.see(await _setup_flow(ada, "otp_static")))["component"] == "password"


async def test_confirming_does_not_wait_for_itself_where_tries_are_counted(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on")
    bob = await town.sign_up()
    await grant(await town.owner(), bob, "core.change_user")
    mine, (key, _) = await id_of(bob), await token(town, bob, expiring=False)
    _, other = await token(town, bob)
    later = (datetime.now(UTC) + timedelta(days=900)).isoformat()
    item, me = f"{TOKENS}{other['pk']}/", f"{USERS}{mine}/"

    for path, changes in (
        (me, {"email": "new@example.org"}),
        (item, {"expires": later}),
        (me, {"password": "another one"}),
    ):
        wrong = await key.call("PATCH", path, **changes, current_password="wrong")
        assert (wrong.status_code, set(wrong.json())) == (400, {"current_password"}), wrong.text
        right = await key.call("PATCH", path, **changes, current_password=bob.password)
        assert right.status_code == 200, right.text
    assert (await Person(town.http, bob.username, "another one").get(f"{API}/core/users/me/")).status_code == 200


@pytest.mark.parametrize(
    ("ago", "differing", "fresh"),
    [
        (timedelta(0), {}, True),
        (LONG_AGO - timedelta(minutes=2), {}, True),
        (LONG_AGO, {}, False),
        (-timedelta(hours=1), {}, False),  # a clock that was ahead
        (timedelta(0), {"by_id": 2}, False),  # somebody else looks through their eyes
        (timedelta(0), {"auth_method": BY_APP_PASSWORD}, False),
    ],
)
def test_which_sessions_prove_who_is_there(ago: timedelta, differing: dict[str, Any], fresh: bool) -> None:
    now = datetime.now(UTC)
    values: dict[str, Any] = {
        "session_uuid": "s", "key_hash": "h", "user_id": 1, "auth_method": "password", "keeps": False, "last_ip": "",
        "last_user_agent": "", "created_at": now - ago, "last_used_at": now, "expires_at": now + FRESH,
    }  # fmt: skip

    assert is_fresh(LoginSession(**(values | differing)), now) is fresh

"""Signing up through an app: who may, with what, and when the token starts to work."""

from __future__ import annotations

import asyncio
import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import bindparam, update

from kith.base.db import Instant, command
from kith.identity.signups.tables import signups
from kith.identity.tasks import IdentitySweep, sweep
from kith.identity.users import store
from tests.conftest import TownBuilder
from tests.identity.flow_browser import Browser, errors
from tests.identity.records import make, new_name, owner_of, person_who_may, results
from tests.identity.test_signups import sign_up
from tests.social.tokens import App, new_app
from tests.town import Person, Town
from tests.town.plain import PLAIN

ACCOUNTS = "/api/v1/accounts"
CHECK = "/api/v1/emails/check_confirmation"
AGAIN = "/api/v1/emails/confirmations"
USERINFO = "/oauth/userinfo"
UNCONFIRMED = {"error": "Your login is missing a confirmed e-mail address"}

_age = command(update(signups).values(created_at=bindparam("at", type_=Instant())))


def fresh(**more: Any) -> dict[str, Any]:
    name = f"n{uuid.uuid4().hex[:10]}"
    return {
        "username": name,
        "email": f"{name}@example.org",
        "password": "a long enough one",
        "agreement": True,
        "locale": "en",
    } | more


class SignUp:
    """An app that lets people sign up."""

    def __init__(self, town: Town, app: App, key: str) -> None:
        self.town, self.app, self.key = town, app, key

    async def ask(self, body: dict[str, Any]) -> httpx.Response:
        return await self.town.http.post(ACCOUNTS, json=body, headers={"Authorization": f"Bearer {self.key}"})

    async def made(self, body: dict[str, Any]) -> dict[str, str]:
        """Headers of whoever was made."""
        answer = await self.ask(body)
        assert answer.status_code == 200, answer.text
        assert answer.json()["scope"] == "read write profile"
        return {"Authorization": f"Bearer {answer.json()['access_token']}"}

    async def codes(self, **wrong: Any) -> dict[str, str]:
        """What is complained about, and by which code."""
        answer = await self.ask(fresh() | wrong)
        assert answer.status_code == 422, answer.text
        body = answer.json()
        assert body["error"].startswith("Validation failed: ")
        for complaints in body["details"].values():
            assert all(set(one) == {"error", "description"} for one in complaints)
        return {name: complaints[0]["error"] for name, complaints in body["details"].items()}


async def arrive(town: Town) -> SignUp:
    app = await new_app(town, "read write profile")
    return SignUp(town, app, await app.token("write:accounts"))


async def link_in_mail(town: Town, to: str, *, count: int = 1) -> str:
    """The key of the newest mail to somebody, once there are so many."""
    async with asyncio.timeout(60):
        while True:
            found = [mail for mail in town.mails() if mail["to"] == to and "Confirm" in mail["subject"]]
            if len(found) >= count:
                text = found[-1].get_body(("plain",))
                assert text is not None
                [key] = re.findall(r"confirm\S*[/=]([\w-]{43})", text.get_content())
                return str(key)
            await asyncio.sleep(0.05)


async def follow(town: Town, key: str) -> httpx.Response:
    """Open the page that the mail leads to, and press its button."""
    async with httpx.AsyncClient(base_url=town.base_url, timeout=120, verify=PLAIN, follow_redirects=True) as browser:
        shown = await browser.get("/auth/confirmation", params={"confirmation_token": key})
        if shown.status_code != 200:
            return shown
        token = re.findall(r'name="csrf" value="([^"]+)"', shown.text)[0]  # every form of the page has the same
        assert shown.url.path == f"/confirm/{key}"
        return await browser.post(str(shown.url), data={"csrf": token})


async def test_the_token_works_once_the_mail_was_answered(town: Town) -> None:
    door = await arrive(town)
    body = fresh(username=f"Mixed{uuid.uuid4().hex[:8]}")
    me = await door.made(body)

    assert (await town.http.get(USERINFO, headers=me)).json() == UNCONFIRMED
    assert (await town.http.get(CHECK, headers=me)).json() is False
    assert (await town.http.get("/api/v1/apps/verify_credentials", headers=me)).status_code == 200
    key = await link_in_mail(town, body["email"])
    assert (await town.http.get(USERINFO, headers=me)).json() == UNCONFIRMED
    assert (await follow(town, key)).status_code == 200

    told = (await town.http.get(USERINFO, headers=me)).json()
    assert told["preferred_username"] == body["username"].lower()
    assert (await town.http.get(CHECK, headers=me)).json() is True
    assert (await follow(town, key)).status_code == 404  # a link works once
    again = await town.http.post(AGAIN, headers=me)
    words = "This method is only available while the e-mail is awaiting confirmation"
    assert (again.status_code, again.json()) == (403, {"error": words})


async def test_the_mail_can_be_had_again_and_at_another_address(town: Town) -> None:
    door, other = await arrive(town), await arrive(town)
    body = fresh()
    me = await door.made(body)
    first = await link_in_mail(town, body["email"])
    right = f"right-{body['email']}"

    assert (await town.http.post(AGAIN, headers=me, json={"email": "nonsense"})).json()["details"]["email"]
    assert (await town.http.post(AGAIN, headers=me)).json() == {}
    second = await link_in_mail(town, body["email"], count=2)
    assert (await town.http.post(AGAIN, headers=me, data={"email": right})).json() == {}
    third = await link_in_mail(town, right)

    assert [(await follow(town, key)).status_code for key in (first, second, third)] == [404, 404, 200]
    assert (await town.http.get(CHECK, headers=me)).json() is True

    lost = await door.made(fresh())
    personal = await other.app.token("read")
    assert (await town.http.post(AGAIN, headers={"Authorization": f"Bearer {personal}"})).status_code == 403
    async with town.house() as house, house.works.begin() as work:
        user = await store.find(work.db, body["username"])
    assert user is not None
    assert user.email == right
    assert lost


async def test_every_field_is_looked_at_and_named(town: Town) -> None:
    door, ada, staff = await arrive(town), await town.sign_up(), await town.sign_up("grace_hopper", role="moderator")
    await town.kith(
        "users", "create", "somebody", "--email", "taken@example.org", "--password", "something 1", "--confirmed"
    )
    nothing = await door.codes(username="", email=None, password="", agreement=None, locale="")
    assert nothing == {
        "username": "ERR_BLANK",
        "email": "ERR_BLANK",
        "password": "ERR_BLANK",
        "agreement": "ERR_ACCEPTED",
        "locale": "ERR_BLANK",
    }
    table: list[tuple[str, Any, str]] = [
        ("username", ada.username.upper(), "ERR_TAKEN"),
        ("username", "a b", "ERR_INVALID"),
        ("username", "jürgen", "ERR_INVALID"),
        ("username", "x" * 31, "ERR_TOO_LONG"),
        ("username", "Admin", "ERR_RESERVED"),
        ("username", "r00t", "ERR_RESERVED"),
        ("username", "supp0rt_", "ERR_RESERVED"),
        ("username", staff.username.replace("r", "_r").replace("o", "0"), "ERR_RESERVED"),
        ("email", "nobody", "ERR_INVALID"),
        ("email", "taken@EXAMPLE.org", "ERR_TAKEN"),
        ("email", "x" * 320 + "@example.org", "ERR_TOO_LONG"),
        ("password", "short", "ERR_TOO_SHORT"),
        ("password", "x" * 73, "ERR_TOO_LONG"),
        ("agreement", "0", "ERR_ACCEPTED"),
        ("locale", "../..", "ERR_INCLUSION"),
        ("reason", "x" * 421, "ERR_TOO_LONG"),
    ]
    for field, value, code in table:
        assert await door.codes(**{field: value}) == {field: code}, (field, value)

    words = (await door.ask(fresh(username="", password="x"))).json()["error"]
    assert words == "Validation failed: Username can't be blank, Password is too short (minimum is 8 characters)"
    form = await town.http.post(
        ACCOUNTS, data=fresh(agreement="1") | {"access_token": door.key}, headers={"Origin": "https://web.example"}
    )
    assert (form.status_code, form.headers["access-control-allow-origin"]) == (200, "*")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("agreement", True),
        ("agreement", "true"),
        ("agreement", "1"),
        ("username", "x" * 30),
        ("password", "k1th-9zq"),
        ("password", "correct horse " * 5 + "b!"),
        ("reason", "x" * 420),
    ],
)
async def test_what_is_just_within_the_limits_is_taken(town: Town, field: str, value: Any) -> None:
    door = await arrive(town)
    sent = fresh() | {field: value if field != "username" else f"{value[:24]}{uuid.uuid4().hex[:6]}"}
    assert await door.made(sent)


async def test_addresses_and_domains_can_be_blocked_for_apps_and_pages(town: Town) -> None:
    owner, door = await town.owner(), await arrive(town)
    spam = f"spam-{uuid.uuid4().hex[:8]}.example"
    for kind, value in (("domain", f"@{spam.upper()}."), ("address", f"Bad@{spam}.ok.example")):
        made = await owner.call("POST", "/api/v2/core/email_blocks/", json={"kind": kind, "value": value})
        assert (made.status_code, made.json().get("kind")) == (201, kind), made.text
    wrong = await owner.call("POST", "/api/v2/core/email_blocks/", json={"kind": "address", "value": spam})
    assert wrong.json() == {"value": ["This is not an address."]}

    for address in (f"a@{spam}", f"a@mail.{spam.upper()}", f"bad@{spam}.ok.example", f"bad+1@{spam}.ok.example"):
        assert await door.codes(email=address) == {"email": "ERR_BLOCKED"}
    assert (await door.ask(fresh(email=f"good@{spam}.ok.example"))).status_code == 200

    browser = Browser(town)
    slug = "default-enrollment-flow"
    await browser.see(slug)
    told = await browser.answer(
        slug,
        component="prompt",
        username="adm1n",
        name="",
        email=f"a@{spam}",
        password="long enough 1",
        password_repeat="long enough 1",
    )
    assert errors(told) == ["This name is reserved.", "Addresses of this provider are not accepted here."]


async def test_the_enrollment_flows_policies_decide_here_too(new_town: TownBuilder) -> None:
    town = await new_town()
    owner, door = await town.owner(), await arrive(town)

    async def find(path: str, **query: str) -> dict[str, Any]:
        found: dict[str, Any] = (await owner.get(f"/api/v2{path}", params=query)).json()["results"][0]
        return found

    async def make(path: str, **body: Any) -> Any:
        answer = await owner.call("POST", f"/api/v2{path}", json=body)
        assert answer.status_code == 201, answer.text
        return answer.json()["pk"]

    group = await make("/core/groups/", name="newcomers", parent=None, user_set=[])
    write = await find("/stages/user_write/", name="default-enrollment-write")
    await owner.call("PATCH", f"/api/v2/stages/user_write/{write['pk']}/", json={"create_users_group": group})
    strict = await make("/policies/password/", name="strict", error_message="Use a digit.", amount_digits=1)
    prompt = await find("/stages/prompt/stages/", name="default-enrollment-prompt")
    await owner.call("PATCH", f"/api/v2/stages/prompt/stages/{prompt['pk']}/", json={"validation_policies": [strict]})

    refused = (await door.ask(fresh())).json()
    assert refused["error"] == "Validation failed: Password Use a digit."
    assert refused["details"] == {"password": [{"error": "ERR_INVALID", "description": "Use a digit."}]}
    body = fresh(password="with a digit 1")
    await door.made(body)
    members = (await owner.get(f"/api/v2/core/groups/{group}/")).json()
    user = await find("/core/users/", username=body["username"])
    assert members["user_set"] == [user["pk"]]

    flow = await find("/flows/instances/", slug="default-enrollment-flow")
    closed = await make(
        "/policies/expression/", name="closed", expression='ak_message("Not on Sundays.")\nreturn False'
    )
    await make("/policies/bindings/", policy=closed, target=flow["pbm_uuid"], order=0)
    said = (await door.ask(fresh(password="with a digit 1"))).json()
    assert [one["description"] for one in said["details"]["base"]] == ["Not on Sundays."]

    invitation = await make("/stages/invitation/invitations/", single_use=False, fixed_data={})
    for level in ("authenticated", "superuser", "token", "redirect", "outpost"):
        changed = {"authentication": f"require_{level}"}
        await owner.call("PATCH", f"/api/v2/flows/instances/{flow['pk']}/", json=changed)
        for code in ("", invitation):
            answer = await door.ask(fresh(password="with a digit 1", invite_code=code))
            assert (level, answer.status_code, answer.json()) == (level, 403, {"error": "Forbidden"})


async def test_an_address_is_proven_by_the_word_of_whoever_may_add_people(town: Town) -> None:
    """By an invitation to an app as by one to our pages."""
    owner, door = await owner_of(town), await arrive(town)
    maker = await person_who_may(town, owner, "stages.add_invitation")
    found = []
    for inviter in (owner, maker):
        for is_app in (True, False):
            body = fresh()
            address = f"{new_name('ceo')}@corp.example"
            more = {"name": new_name("i"), "fixed_data": {"email": address}}
            code = (await make(inviter, "/stages/invitation/invitations/", **more))["pk"]
            if is_app:
                await door.made(body | {"invite_code": code, "reason": ""})
            else:
                await sign_up(town, body["username"], {"itoken": code}, email=address)
            [record] = await results(owner, "/core/users/", username=body["username"])
            found.append((record["email"] == address, record["email_verified"]))

    assert found == [(True, True)] * 2 + [(True, False)] * 2


async def test_a_closed_town_lets_in_whom_somebody_invited(new_town: TownBuilder) -> None:
    town = await new_town(registrations="closed")
    owner, door = await town.owner(), await arrive(town)
    fixed = {"email": "guest@example.org", "name": "Guest", "attributes.desk.floor": 3}
    made = await owner.call(
        "POST", "/api/v2/stages/invitation/invitations/", json={"single_use": True, "fixed_data": fixed}
    )
    code = made.json()["pk"]

    for body in (fresh(), fresh(invite_code="nonsense"), fresh(invite_code=str(uuid.uuid4()))):
        answer = await door.ask(body)
        assert (answer.status_code, answer.json()) == (403, {"error": "Forbidden"})
    assert (await door.ask(fresh(invite_code=code, password="x"))).status_code == 422
    body = fresh(invite_code=code)
    me = await door.made(body)
    assert (await door.ask(fresh(invite_code=code))).status_code == 403
    # Whoever invited them vouches for the address.
    assert (await town.http.get(USERINFO, headers=me)).json()["preferred_username"] == body["username"]
    async with town.house() as house, house.works.begin() as work:
        user = await store.find(work.db, body["username"])
    assert user is not None
    assert (user.email, user.name, user.attributes) == ("guest@example.org", "Guest", {"desk": {"floor": 3}})


async def test_staff_are_asked_where_they_want_to_be(new_town: TownBuilder) -> None:
    town = await new_town(registrations="approval")
    owner, door = await town.owner(), await arrive(town)
    assert await door.codes() == {"reason": "ERR_BLANK"}
    body = fresh(reason="I like it here.")
    me = await door.made(body)
    await follow(town, await link_in_mail(town, body["email"]))

    pending = await town.http.get(USERINFO, headers=me)
    assert (pending.status_code, pending.json()) == (403, {"error": "Your login is currently pending approval"})
    async with town.house() as house, house.works.begin() as work:
        user = await store.find(work.db, body["username"])
        assert user is not None
        await store.change(work.db, user.id, "approved_at", work.now, work.now)
    assert (await town.http.get(USERINFO, headers=me)).status_code == 200
    assert owner.username


async def test_limits_of_age_and_number_hold(new_town: TownBuilder) -> None:
    town = await new_town(minimum_age="16", rate_limits="on", reserved_names="mayor", confirm_email="off")
    door = await arrive(town)
    today = datetime.now(UTC).date()
    young = today.replace(year=today.year - 15, day=1).isoformat()

    assert await door.codes() == {"date_of_birth": "ERR_BLANK"}
    assert await door.codes(date_of_birth=young, username="may0r") == {
        "date_of_birth": "ERR_BELOW_LIMIT",
        "username": "ERR_RESERVED",
    }
    me = await door.made(fresh(date_of_birth="1980-02-29"))
    assert (await town.http.get(USERINFO, headers=me)).status_code == 200
    statuses = [(await door.ask(fresh(date_of_birth="1980-02-29"))).status_code for _ in range(9)]
    assert statuses.count(429) >= 2  # a window may end in between
    assert statuses[-1] == 429


async def test_whoever_never_confirms_is_forgotten(new_town: TownBuilder) -> None:
    town = await new_town()
    door = await arrive(town)
    body, other = fresh(), fresh()
    me, them = await door.made(body), await door.made(other)
    await follow(town, await link_in_mail(town, other["email"]))

    async with town.house() as house, house.works.begin() as work:
        await work.db.run(_age, at=work.now - timedelta(days=7, minutes=1))
        await sweep(work, IdentitySweep())

    gone = await town.http.get(USERINFO, headers=me)
    assert (gone.status_code, gone.json()) == (401, {"error": "The access token is invalid"})
    assert (await town.http.get(USERINFO, headers=them)).status_code == 200
    assert (await door.ask(body)).status_code == 200  # the name is free again


async def test_only_the_apps_own_token_makes_accounts(town: Town) -> None:
    door = await arrive(town)
    ada: Person = await town.sign_up()
    key = await door.app.token_of(ada, "write")

    answer = await town.http.post(ACCOUNTS, json=fresh(), headers={"Authorization": f"Bearer {key}"})

    words = "This method requires an client credentials authentication"
    assert (answer.status_code, answer.json()) == (403, {"error": words})

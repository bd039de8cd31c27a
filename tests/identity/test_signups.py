"""How an account begins: by oneself, by staff who agree, by an address that answers."""

from __future__ import annotations

import asyncio
from typing import Any

from kith.identity.users import store as users
from tests.conftest import TownBuilder
from tests.identity.flow_browser import SIGN_IN, Browser, link_in_mail
from tests.identity.records import API, make, new_name, owner_of, person_who_may, results
from tests.social.staff import employ, verdict
from tests.town import Person, Town

SIGN_UP = "default-enrollment-flow"
PASSWORD = "a good long one"


def answers(name: str, **more: Any) -> dict[str, Any]:
    told = {"username": name, "email": f"{name}@example.org", "password": PASSWORD, "password_repeat": PASSWORD}
    return {"component": "prompt", **told, **more}


async def sign_up(town: Town, name: str, query: dict[str, str] | None = None, **more: Any) -> dict[str, Any]:
    browser = Browser(town)
    await browser.see(SIGN_UP, **(query or {}))
    return await browser.answer(SIGN_UP, query, **answers(name, **more))


def person(town: Town, name: str) -> Person:
    return Person(town.http, name, PASSWORD)


async def words_to(town: Town, address: str, part: str) -> None:
    """Wait until a mail to `address` says so."""
    async with asyncio.timeout(120):
        while True:
            bodies = [mail.get_body(("plain",)) for mail in town.mails() if mail["To"] == address]
            if any(body is not None and part in body.get_content() for body in bodies):
                return
            await asyncio.sleep(0.05)


async def test_whoever_waits_for_approval_comes_in_nowhere_until_staff_agrees(new_town: TownBuilder) -> None:
    town = await new_town(registrations="approval", confirm_email="off")
    owner, moderator, member = await town.owner(), await town.sign_up(role="moderator"), await town.sign_up()
    yes, no = new_name("yes"), new_name("no")
    missing = await sign_up(town, yes)
    told = [await sign_up(town, name, signup_reason=f"I am {name}") for name in (yes, no)]

    right, wrong = await Browser(town).sign_in(person(town, yes)), Browser(town)
    await wrong.name(person(town, yes))
    hidden = await wrong.answer(SIGN_IN, component="password", password="not this one")
    basic = await person(town, yes).get(f"{API}/core/users/me/")
    key = (await town.kith("tokens", "create", yes, "--scopes", "api")).strip()
    bearer = await town.http.get(f"{API}/core/users/me/", headers={"Authorization": f"Bearer {key}"})
    waiting = await results(owner, "/core/users/", is_approved="false")
    ids = {one["username"]: one["pk"] for one in waiting}
    listed = await town.kith("users", "pending")

    assert missing["response_errors"]["signup_reason"][0]["code"] == "required"
    assert [one["component"] for one in told] == ["access-denied"] * 2
    assert right["error_message"] == "Your account is waiting for approval."
    assert hidden["response_errors"]["password"][0]["string"] == "Invalid password"
    assert basic.status_code == bearer.status_code == 401
    assert "waits for approval" in await town.kith("recovery", yes, expect=1)
    assert set(ids) == {yes, no}
    assert f"I am {yes}" in listed
    await words_to(town, f"{moderator.username}@example.org", f"I am {yes}")

    refused = await member.call("POST", f"{API}/core/users/{ids[yes]}/approve/")
    approved = await moderator.call("POST", f"{API}/core/users/{ids[yes]}/approve/")
    twice = await owner.call("POST", f"{API}/core/users/{ids[yes]}/approve/")
    too_late = await owner.call("POST", f"{API}/core/users/{ids[yes]}/reject/")
    await town.kith("users", "reject", no)
    events = await results(owner, "/audit/events/")

    assert (refused.status_code, approved.status_code) == (403, 204)
    assert twice.status_code == too_late.status_code == 409
    assert (await person(town, yes).get(f"{API}/core/users/me/")).status_code == 200
    assert await results(owner, "/core/users/", username=no) == []
    assert {"approved", "rejected"} <= {event["context"].get("signup") for event in events}
    await words_to(town, f"{yes}@example.org", "has been approved")
    await words_to(town, f"{no}@example.org", "was not accepted")


async def test_an_invitation_opens_what_is_closed_and_nothing_else_does(new_town: TownBuilder) -> None:
    town = await new_town(registrations="closed")
    owner = await town.owner()
    address = f"{new_name('guest')}@example.org"
    invitation = await make(
        owner, "/stages/invitation/invitations/", name=new_name("i"), single_use=True, fixed_data={"email": address}
    )
    invited, forged = new_name("invited"), {"itoken": "00000000-0000-4000-8000-000000000000"}

    closed = await Browser(town).see(SIGN_UP)
    made_up = await Browser(town).see(SIGN_UP, **forged)
    done = await sign_up(town, invited, {"itoken": invitation["pk"]})
    used = await Browser(town).see(SIGN_UP, itoken=invitation["pk"])

    assert closed["component"] == made_up["component"] == used["component"] == "access-denied"
    assert done["component"] == "redirect"
    assert [one["email"] for one in await results(owner, "/core/users/", username=invited)] == [address]


async def test_an_invited_person_needs_no_approval(new_town: TownBuilder) -> None:
    town = await new_town(registrations="approval", confirm_email="off")
    invitation = await make(await town.owner(), "/stages/invitation/invitations/", name=new_name("i"))

    asked = await Browser(town).see(SIGN_UP, itoken=invitation["pk"])
    done = await sign_up(town, new_name("invited"), {"itoken": invitation["pk"]})

    assert "signup_reason" not in {one["field_key"] for one in asked["fields"]}
    assert done["component"] == "redirect"


async def test_mails_that_confirm_an_address_are_not_sent_without_end(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on")
    name = new_name("new")
    await sign_up(town, name)
    browser = Browser(town)

    told = [(await browser.sign_in(person(town, name)))["error_message"] for _ in range(6)]

    assert told[:5] == ["Please confirm your e-mail address first. We have sent you the e-mail again."] * 5
    assert told[5] == "Please confirm your e-mail address first, using the link in the e-mail we have sent you."


async def test_a_new_address_counts_once_its_link_was_followed(town: Town) -> None:
    owner, ada, eve = await town.owner(), await town.sign_up(), await town.sign_up()
    field = await make(
        owner,
        "/stages/prompt/prompts/",
        name=new_name("q"),
        field_key="email",
        label="E-mail",
        type="email",
        placeholder="E-mail",
    )
    form = await make(owner, "/stages/prompt/stages/", name=new_name("form"), fields=[field["pk"]])
    write = await make(owner, "/stages/user_write/", name=new_name("w"), user_creation_mode="never_create")
    slug = new_name("mine")
    flow = await make(owner, "/flows/instances/", name=slug, slug=slug, designation="stage_setup")
    for order, stage in enumerate((form, write)):
        await make(owner, "/flows/bindings/", flow=flow["pk"], stage=stage["stage_uuid"], order=order)
    browser, old, new = Browser(town), f"{ada.username}@example.org", f"{new_name('new')}@example.org"
    await browser.sign_in(ada)

    await browser.see(slug)
    await browser.answer(slug, component="prompt", email=new)
    key = await link_in_mail(town, new, after="/confirm/")
    [before] = await results(owner, "/core/users/", username=ada.username)
    page = await browser.http.get(f"/confirm/{key}")
    unsigned = await browser.http.post(f"/confirm/{key}")
    token = browser.http.cookies["kith_csrf"]
    done = await browser.http.post(f"/confirm/{key}", data={"csrf": token})
    again = await browser.http.post(f"/confirm/{key}", data={"csrf": token})
    [after] = await results(owner, "/core/users/", username=ada.username)

    assert (before["email"], after["email"]) == (old, new)
    assert (page.status_code, unsigned.status_code, done.status_code, again.status_code) == (200, 403, 200, 404)
    assert (await Browser(town).sign_in(ada))["component"] == "redirect"
    assert (await eve.get(f"{API}/core/users/me/")).json()["email"] == f"{eve.username}@example.org"
    await words_to(town, old, "The e-mail address of your account was changed.")


async def test_nobody_decides_about_somebody_who_stands_higher(town: Town) -> None:
    owner = await owner_of(town)
    deputy = await person_who_may(town, owner, "core.change_user", "core.delete_user")
    member, moderator = await employ(town, "moderator"), await town.sign_up(role="moderator")
    mighty = await make(owner, "/core/groups/", name=new_name("mighty"), is_superuser=True)
    boss, newcomer = await town.sign_up(), await town.sign_up()
    found = {one.username: await results(owner, "/core/users/", username=one.username) for one in (boss, newcomer)}
    ids = {name: one[0]["pk"] for name, one in found.items()}
    accounts = {one: (await member.get(f"/api/v1/accounts/lookup?acct={one}"))["id"] for one in ids}
    await owner.call("POST", f"{API}/core/groups/{mighty['pk']}/add_user/", json={"pk": ids[boss.username]})
    async with town.house() as house, house.works.begin() as work:
        for id in ids.values():
            await users.change(work.db, id, "approved_at", None, work.now)
    browser = Browser(town)
    await browser.sign_in(moderator)

    async def decide(way: str, name: str, verb: str) -> int:
        path = f"{API}/core/users/{ids[name]}/{verb}/"
        if way == "page":
            form = {"csrf": browser.http.cookies.get("kith_csrf") or ""}
            return (await browser.http.post(f"/staff/signups/{ids[name]}/{verb}", data=form)).status_code
        if way == "team":
            return await verdict(member, "POST", f"/api/v1/admin/accounts/{accounts[name]}/{verb}")
        return (await (deputy if way == "deputy" else moderator).call("POST", path)).status_code

    ways = ("deputy", "moderator", "page", "team")
    refused = [await decide(way, boss.username, verb) for way in ways for verb in ("approve", "reject")]
    taken = []
    for way in ways:
        taken.append(await decide(way, newcomer.username, "approve"))
        async with town.house() as house, house.works.begin() as work:
            await users.change(work.db, ids[newcomer.username], "approved_at", None, work.now)

    assert refused == [403] * 8
    assert taken == [204, 204, 303, 200]
    assert len(await results(owner, "/core/users/", username=boss.username)) == 1

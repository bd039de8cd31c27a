"""Somebody is called like an address: it is nobody else's, and what is somebody's address is nobody else's name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kith.identity.users.names import email_key, spellings, username_key
from tests.conftest import TownBuilder
from tests.identity.flow_browser import Browser, link_in_mail
from tests.identity.records import API, make, new_name, owner_of, person_who_may, results
from tests.identity.scim_service import USER, Service, make_service
from tests.identity.test_addresses import come_in
from tests.identity.test_signups import PASSWORD as SIGN_UP_PASSWORD
from tests.identity.test_signups import SIGN_UP, answers, sign_up
from tests.social.test_signup_api import arrive, fresh
from tests.town import Person, Town

PASSWORD = "correct horse, of the namesake"


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("Root@Corp.example", "root@corp.example"),
        ("root@xn--mnchen-3ya.example", "root@münchen.example"),
        ("root@MÜNCHEN.example.", "root@münchen.example"),
        ("root@münchen.example", "root@xn--mnchen-3ya.example"),
        ("Root@corp.example", "root@corp.example."),
    ],
)
def test_what_somebody_types_for_an_address_is_one_of_its_spellings(address: str, name: str) -> None:
    assert email_key(address) == email_key(name)
    assert username_key(name) in spellings(address)


async def namesake(town: Town, **more: Any) -> str:
    """Somebody who is called like an address, and has another one."""
    name = f"{new_name('root')}@corp.example"
    home = f"{new_name('home')}@example.org"
    await make(await owner_of(town), "/core/users/", username=name, name="N", email=home, password=PASSWORD, **more)
    return name


async def own_record(owner: Person, person: Person) -> str:
    [found] = await results(owner, "/core/users/", username=person.username)
    return f"{API}/core/users/{found['pk']}/"


async def by_their_own_record(town: Town, address: str) -> int:
    owner = await owner_of(town)
    eve = await person_who_may(town, owner, "core.change_user")
    answer = await eve.call("PATCH", await own_record(owner, eve), json={"email": address})
    return answer.status_code


async def by_somebody_new(town: Town, address: str) -> int:
    eve = await person_who_may(town, await owner_of(town), "core.add_user")
    sent = {"username": new_name("new"), "name": "N", "email": address}
    return (await eve.call("POST", f"{API}/core/users/", json=sent)).status_code


async def by_a_service(town: Town, address: str) -> int:
    """It makes them, without the address; also where it says so later."""
    service = await make_service(town)
    emails = {"emails": [{"value": address, "primary": True}]}
    made = await service.add(new_name("hr"), **emails)
    await service.call("PUT", f"/Users/{made['id']}", {"schemas": [USER], "userName": made["userName"]} | emails)
    return 400


async def by_an_app(town: Town, address: str) -> int:
    return 400 if (await (await arrive(town)).ask(fresh(email=address))).status_code == 422 else 200


async def by_signing_up(town: Town, address: str) -> int:
    browser, name = Browser(town), new_name("eve")
    await browser.see(SIGN_UP)
    await browser.answer(SIGN_UP, **answers(name, email=address))
    told = await browser.follow(SIGN_UP, await link_in_mail(town, address))
    assert told["component"] != "redirect"
    return 400


async def by_an_invitation(town: Town, address: str) -> int:
    fixed = {"email": address}
    invitation = await make(
        await owner_of(town), "/stages/invitation/invitations/", name=new_name("i"), fixed_data=fixed
    )
    await sign_up(town, new_name("eve"), {"itoken": invitation["pk"]}, email=address)
    await (await arrive(town)).ask(fresh(invite_code=invitation["pk"]))
    return 400


Way = Callable[[Town, str], Awaitable[int]]
GIVEN: tuple[Way, ...] = (
    by_their_own_record, by_somebody_new, by_a_service, by_an_app, by_signing_up, by_an_invitation,
)  # fmt: skip


@pytest.mark.parametrize("way", GIVEN)
async def test_nobody_gets_the_address_that_somebody_else_is_called(town: Town, way: Way) -> None:
    name = await namesake(town)

    code = await way(town, name.upper())

    proven = [one for one in await results(await owner_of(town), "/core/users/", search=name) if one["email_verified"]]
    assert code == 400
    assert [one["username"] for one in proven] == [name]
    assert await come_in(town, name, PASSWORD) == name


@pytest.mark.parametrize("way", GIVEN)
async def test_nobody_gets_the_address_by_which_services_know_somebody_else(town: Town, way: Way) -> None:
    upn = f"{new_name('chief')}@Corp.example"
    name = await namesake(town, attributes={"upn": upn})

    code = await way(town, upn.lower())

    found = await results(await owner_of(town), "/core/users/", search=upn.lower())
    assert code == 400
    assert not any(one["email_verified"] for one in found), name


async def test_nobody_is_called_what_is_somebody_elses_address(town: Town) -> None:
    owner, ada, bob = await owner_of(town), await town.sign_up(), await town.sign_up()
    address, record = f"{ada.username}@example.org", await own_record(owner, bob)
    service = await make_service(town)
    theirs = (await service.add(new_name("hr")))["id"]

    made = await owner.call("POST", f"{API}/core/users/", json={"username": address.upper(), "name": "N"})
    renamed = await owner.call("PATCH", record, json={"username": address})
    principal = await owner.call("PATCH", record, json={"attributes": {"upn": address.upper()}})
    await town.kith("users", "create", address, "--email", "x@example.org", "--password", PASSWORD, expect=1)
    await service.call("POST", "/Users", {"schemas": [USER], "userName": address}, 409)
    await service.call("PUT", f"/Users/{theirs}", {"schemas": [USER], "userName": address}, 409)

    for refused, field in ((made, "username"), (renamed, "username"), (principal, "attributes")):
        assert (refused.status_code, refused.json()) == (
            400,
            {field: ["This is the e-mail address of another account."]},
        )
    assert await results(owner, "/core/users/", username=address) == []


async def test_ones_own_address_can_be_ones_name(town: Town) -> None:
    owner, ada = await owner_of(town), await town.sign_up()
    address = f"{ada.username}@example.org"
    more = {"username": address, "attributes": {"upn": address}}

    renamed = await owner.call("PATCH", await own_record(owner, ada), json=more)
    both = f"{new_name('both')}@example.org"
    made = await make(owner, "/core/users/", username=both, name="N", email=both, password=PASSWORD)

    assert renamed.status_code == 200, renamed.text
    assert await come_in(town, address, ada.password) == address
    assert (await come_in(town, both, PASSWORD), made["email_verified"]) == (both, True)


async def test_where_nothing_is_confirmed_names_are_not_claimed_as_addresses(new_town: TownBuilder) -> None:
    town = await new_town(confirm_email="off")
    owner = await owner_of(town)
    upn = f"{new_name('chief')}@corp.example"
    name = await namesake(town, attributes={"upn": upn})
    eve, eve_herself = Browser(town), await town.sign_up()
    await eve.sign_in(eve_herself)

    for address in (name, upn):
        form = {"email": address, "csrf": eve.http.cookies["kith_csrf"]}
        sent = await eve.http.post("/settings/security/email", data=form)
        await sign_up(town, new_name("eve"), email=address)

        claims = await results(owner, "/core/users/", email=address)
        assert (sent.status_code, len(claims)) == (303, 2)
        by_guess = [await come_in(town, address, password) for password in (eve_herself.password, SIGN_UP_PASSWORD)]
        assert by_guess == [None, None]
    assert await come_in(town, name, PASSWORD) == name


async def test_nobody_takes_an_unproven_address_from_somebody_mightier(new_town: TownBuilder) -> None:
    town = await new_town(confirm_email="off")
    owner, more = await owner_of(town), await town.sign_up()
    boss, address = new_name("boss"), f"{new_name('boss')}@corp.example"
    await town.kith("users", "create", boss, "--email", address, "--password", PASSWORD, "--role", "owner")
    admin = await town.sign_up(role="administrator")
    eve = await person_who_may(town, owner, "core.change_user", "core.add_user", "stages.add_invitation")
    slug = new_name("hr")
    made = await admin.call("POST", f"{API}/sources/scim/", json={"name": slug, "slug": slug})
    assert made.status_code == 201, made.text

    by_record = await eve.call("PATCH", await own_record(owner, eve), json={"email": address})
    by_new = await eve.call("POST", f"{API}/core/users/", json={"username": "n", "name": "N", "email": address})
    invitation = await make(eve, "/stages/invitation/invitations/", name=new_name("i"), fixed_data={"email": address})
    await sign_up(town, new_name("eve"), {"itoken": invitation["pk"]}, email=address)
    await (await arrive(town)).ask(fresh(invite_code=invitation["pk"]))
    service = Service(made.json())
    told = {"emails": [{"value": address, "primary": True}]}
    theirs = await service.add(new_name("hr"), **told)
    await service.call("PUT", f"/Users/{theirs['id']}", {"schemas": [USER], "userName": theirs["userName"]} | told)

    assert (by_record.status_code, by_new.status_code) == (400, 400)
    assert await come_in(town, address, PASSWORD) == boss
    found = await results(owner, "/core/users/", email=address)
    assert not any(one["email_verified"] for one in found)
    taken = await owner.call("PATCH", await own_record(owner, more), json={"email": address})
    assert (taken.status_code, taken.json()["email_verified"]) == (200, True)

"""What somebody was called stays theirs: nobody takes the name of whoever is deleted or called otherwise now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from tests.identity.flow_browser import Browser, errors
from tests.identity.records import API, make, new_name, owner_of, person_who_may, results
from tests.identity.scim_service import USER, Service, make_service
from tests.identity.test_signups import sign_up
from tests.social.test_signup_api import arrive, fresh
from tests.town import Person, Town


async def record_of(town: Town, name: str) -> str:
    [found] = await results(await owner_of(town), "/core/users/", username=name)
    return f"{API}/core/users/{found['pk']}/"


async def delete(town: Town, name: str) -> None:
    answer = await (await owner_of(town)).call("DELETE", await record_of(town, name))
    assert answer.status_code == 204, answer.text


async def delete_themselves(town: Town, name: str) -> None:
    browser = Browser(town)
    await browser.sign_in(Person(town.http, name, f"correct horse {name}"))
    owner = await owner_of(town)
    flow = next(one for one in await results(owner, "/flows/instances/") if one["designation"] == "unenrollment")
    await browser.see(flow["slug"])
    await browser.answer(flow["slug"], component="password", password=f"correct horse {name}")
    told = await browser.answer(flow["slug"], component="userdelete")
    assert told["component"] == "redirect", told


async def rename(town: Town, name: str) -> None:
    answer = await (await owner_of(town)).call("PATCH", await record_of(town, name), json={"username": new_name("now")})
    assert answer.status_code == 200, answer.text


Way = Callable[[Town, str], Awaitable[None]]


@pytest.mark.parametrize("way", [delete, delete_themselves, rename])
async def test_a_stranger_does_not_get_the_name_that_somebody_had(town: Town, way: Way) -> None:
    owner, ada = await owner_of(town), await town.sign_up()
    await way(town, ada.username)
    maker = await person_who_may(town, owner, "stages.add_invitation")
    fixed = {"username": ada.username}
    invitation = await make(maker, "/stages/invitation/invitations/", name=new_name("i"), fixed_data=fixed)

    by_page = await sign_up(town, ada.username.upper())
    by_app = await (await arrive(town)).ask(fresh(username=ada.username))
    await sign_up(town, new_name("eve"), {"itoken": invitation["pk"]})

    assert errors(by_page) == ["Username is already taken."]
    assert (by_app.status_code, list(by_app.json()["details"])) == (422, ["username"])
    assert await results(owner, "/core/users/", username=ada.username) == []


async def test_staff_and_services_give_a_name_again(town: Town) -> None:
    owner, service = await owner_of(town), await make_service(town)
    names = [(await town.sign_up()).username for _ in range(4)]
    for name in names:
        await delete(town, name)
    by_record, by_command, by_service, by_invitation = names
    invitation = await make(
        owner, "/stages/invitation/invitations/", name=new_name("i"), fixed_data={"username": by_invitation}
    )

    await make(owner, "/core/users/", username=by_record, name="N")
    await town.kith("users", "create", by_command, "--email", "again@example.org", "--password", "correct horse")
    await comes_and_goes(service, by_service)
    await sign_up(town, new_name("new"), {"itoken": invitation["pk"]})

    for name in names:
        assert len(await results(owner, "/core/users/", username=name)) == 1, name


async def comes_and_goes(service: Service, name: str) -> None:
    made = await service.add(name)
    await service.call("PUT", f"/Users/{made['id']}", {"schemas": [USER], "userName": new_name("other")})
    await service.call("PUT", f"/Users/{made['id']}", {"schemas": [USER], "userName": name})
    await service.call("DELETE", f"/Users/{made['id']}", expect=204)
    await service.add(name)


async def test_whoever_never_came_in_leaves_no_name_behind(town: Town) -> None:
    name = new_name("never")
    await sign_up(town, name)
    await delete(town, name)

    again = await sign_up(town, name, email=f"{new_name('again')}@example.org")

    assert errors(again) == []
    assert len(await results(await owner_of(town), "/core/users/", username=name)) == 1

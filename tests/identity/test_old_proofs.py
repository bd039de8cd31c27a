"""Whatever somebody has proved or was mailed counts no more once what guards the account has changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from tests.identity.flow_browser import SIGN_IN, Browser, link_in_mail
from tests.identity.records import API, make_stage, new_name, owner_of, results
from tests.identity.test_flows_run import (
    RECOVERY,
    ask_for_recovery,
    enrollment_by_mail,
    flow_of,
    identification,
    person_called,
    set_up_codes,
    signed_in,
)
from tests.identity.test_reauthentication import by_session
from tests.identity.test_signups import words_to
from tests.search_size import is_whole_search
from tests.town import Person, Town

NEW = "an entirely new one"
Later = Callable[[], Awaitable[bool]]


class Account(msgspec.Struct):
    """Somebody with the browser they are signed in with, and the owner of the server, who may change their account."""

    town: Town
    owner: Person
    person: Person
    browser: Browser
    pk: int

    @property
    def path(self) -> str:
        return f"{API}/core/users/{self.pk}/"

    async def staff(self, method: str, path: str = "", **sent: Any) -> None:
        answer = await self.owner.call(method, self.path + path, json=sent)
        assert answer.is_success, answer.text


@pytest.fixture
async def account(town: Town) -> Account:
    owner, person = await owner_of(town), await town.sign_up()
    [found] = await results(owner, "/core/users/", username=person.username)
    return Account(town, owner, person, await signed_in(town, person), found["pk"])


# What waits. Each returns what is done with it later, which tells whether it still worked.


async def sets_a_password(browser: Browser, query: dict[str, str]) -> bool:
    fresh = {"password": NEW, "password_repeat": NEW}
    told = await browser.answer(RECOVERY, query, component="prompt", **fresh)
    return told["component"] == "redirect" and await browser.who() is not None


async def an_unopened_recovery_link(account: Account) -> Later:
    await ask_for_recovery(account.town, account.person.username)
    key = await link_in_mail(account.town, f"{account.person.username}@example.org")

    async def later() -> bool:
        browser = Browser(account.town)
        await browser.follow(RECOVERY, key)
        return await sets_a_password(browser, {"flow_token": key})

    return later


async def an_opened_recovery_link(account: Account) -> Later:
    await ask_for_recovery(account.town, account.person.username)
    key, browser = await link_in_mail(account.town, f"{account.person.username}@example.org"), Browser(account.town)
    assert (await browser.follow(RECOVERY, key))["component"] == "prompt"
    return lambda: sets_a_password(browser, {"flow_token": key})


async def a_sign_in_at_the_second_factor(account: Account) -> Later:
    codes, browser = await set_up_codes(account.browser), Browser(account.town)
    assert (await browser.sign_in(account.person))["component"] == "otpvalidate"

    async def later() -> bool:
        await browser.answer(SIGN_IN, component="otpvalidate", code=codes[0])
        return await browser.who() is not None

    return later


async def a_sign_in_that_asks_whether_to_stay(account: Account) -> Later:
    password = await make_stage(account.owner, "password", backends=["internal"])
    login = await make_stage(account.owner, "user_login", remember_me_offset="days=1")
    flow = await flow_of(account.owner, "authentication", await identification(account.owner), password, login)
    slug, browser = flow["slug"], Browser(account.town)
    await browser.see(slug)
    await browser.answer(slug, component="identification", uid_field=account.person.username)
    asked = await browser.answer(slug, component="password", password=account.person.password)
    assert asked["component"] == "userlogin"

    async def later() -> bool:
        await browser.answer(slug, component="userlogin", remember_me=True)
        return await browser.who() is not None

    return later


async def an_operators_link(account: Account) -> Later:
    answer = await account.owner.call("POST", f"{account.path}recovery/", json={})
    link, browser = answer.json()["link"], Browser(account.town)

    async def later() -> bool:
        await browser.http.get(link)
        await browser.http.post(link, data={"csrf": browser.http.cookies.get("kith_csrf") or ""})
        return await browser.who() is not None

    return later


async def a_link_for_another_address(account: Account) -> Later:
    new, browser = f"{new_name('new')}@example.org", account.browser
    await browser.http.get("/settings/security")
    sent = {"csrf": browser.http.cookies["kith_csrf"], "email": new, "password": account.person.password}
    assert (await browser.http.post("/settings/security/email", data=sent)).status_code == 303
    await words_to(account.town, f"{account.person.username}@example.org", new)
    key = await link_in_mail(account.town, new, after="/confirm/")

    async def later() -> bool:
        stranger = Browser(account.town)
        await stranger.http.get(f"/confirm/{key}")
        await stranger.http.post(f"/confirm/{key}", data={"csrf": stranger.http.cookies.get("kith_csrf") or ""})
        [found] = await results(account.owner, "/core/users/", username=account.person.username)
        return bool(found["email"] == new)

    return later


# What changes meanwhile


async def nothing(_account: Account) -> None:
    """Nothing happens: then it works, whatever it is."""


async def a_new_password(account: Account) -> None:
    sent = {"password": "of their own choice", "current_password": account.person.password}
    answer = await by_session(account.browser, "POST", account.path.removeprefix(API) + "set_password/", **sent)
    assert answer.status_code == 204, answer.text


async def a_new_password_by_staff(account: Account) -> None:
    await account.staff("POST", "set_password/", password="chosen by staff")


async def another_address(account: Account) -> None:
    await account.staff("PATCH", email=f"{new_name('moved')}@example.org")


async def another_sign_in_method(account: Account) -> None:
    await set_up_codes(account.browser)


async def disabled_and_enabled(account: Account) -> None:
    await account.staff("PATCH", is_active=False)
    await account.staff("PATCH", is_active=True)


async def locked_and_let_in_again(account: Account) -> None:
    await account.staff("POST", "lockdown/", reason="stolen", remove_factors=True)
    await account.staff("PATCH", is_active=True)


WAITING = (
    an_unopened_recovery_link,
    an_opened_recovery_link,
    a_sign_in_at_the_second_factor,
    a_sign_in_that_asks_whether_to_stay,
    an_operators_link,
    a_link_for_another_address,
)
CHANGES = (
    a_new_password,
    a_new_password_by_staff,
    another_address,
    another_sign_in_method,
    disabled_and_enabled,
    locked_and_let_in_again,
)


def cases() -> list[tuple[Any, Any]]:
    """Each that waits with nothing and with a new password, and each change with one that waits; or all with all."""
    few = {(waits, change) for waits in WAITING for change in (nothing, a_new_password)}
    few |= {(a_sign_in_that_asks_whether_to_stay, change) for change in CHANGES}
    every = [(waits, change) for waits in WAITING for change in (nothing, *CHANGES)]
    return [case for case in every if is_whole_search() or case in few]


@pytest.mark.parametrize(
    ("waits", "change"), [pytest.param(*case, id=" and ".join(one.__name__ for one in case)) for case in cases()]
)
async def test_what_was_proved_before_counts_no_more(
    account: Account,
    waits: Callable[[Account], Awaitable[Later]],
    change: Callable[[Account], Awaitable[None]],
) -> None:
    later = await waits(account)
    await change(account)

    assert await later() == (change is nothing)


async def test_nobody_enables_themselves_by_mail_once_staff_has_disabled_them(town: Town) -> None:
    """The link of an enrolment enables whoever waits for it; not whom staff has said no to since, nor any member."""
    owner = await owner_of(town)
    flow, name = await enrollment_by_mail(owner), new_name("new").replace("-", "_")
    browser = Browser(town)
    await browser.see(flow["slug"])
    await browser.answer(flow["slug"], component="prompt", **person_called(name))
    key = await link_in_mail(town, f"{name}@example.org")
    [waits] = await results(owner, "/core/users/", username=name)

    said_no = await owner.call("PATCH", f"{API}/core/users/{waits['pk']}/", json={"is_active": False})
    opened = Browser(town)
    by_old_link = await opened.follow(flow["slug"], key)
    await browser.answer(flow["slug"], component="email")
    by_new_link = await opened.follow(flow["slug"], await link_in_mail(town, f"{name}@example.org", more_than=1))
    [after] = await results(owner, "/core/users/", username=name)

    assert said_no.status_code == 200
    assert by_old_link["component"] == by_new_link["component"] == "access-denied"
    assert await opened.who() is None
    assert after["is_active"] is False


async def test_recovery_enables_nobody(town: Town) -> None:
    owner, ada = await owner_of(town), await town.sign_up()
    email = await make_stage(owner, "email", activate_user_on_success=True)
    flow = await flow_of(owner, "recovery", await identification(owner), email, await make_stage(owner, "user_login"))
    [found] = await results(owner, "/core/users/", username=ada.username)
    await owner.call("PATCH", f"{API}/core/users/{found['pk']}/", json={"is_active": False})
    browser = Browser(town)
    await browser.see(flow["slug"])
    await browser.answer(flow["slug"], component="identification", uid_field=ada.username)
    told = await Browser(town).follow(flow["slug"], await link_in_mail(town, f"{ada.username}@example.org"))
    [after] = await results(owner, "/core/users/", username=ada.username)

    assert told["component"] == "access-denied"
    assert after["is_active"] is False

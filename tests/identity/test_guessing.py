"""Guessing secrets: every try is paid for before it is made, and whoever owns the account is not kept out by others."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from kith.identity.providers.oauth2.device.codes import LETTERS
from tests.conftest import TownBuilder
from tests.identity.flow_browser import SIGN_IN, Browser, errors
from tests.identity.records import API
from tests.identity.relying_party import make_party
from tests.identity.test_flows_run import set_up_codes, signed_in
from tests.identity.test_oauth_device import answer_page
from tests.identity.test_signups import words_to
from tests.social.tokens import App, new_app
from tests.town import Person, Town
from tests.town.plain import PLAIN
from tests.town.ports import ReservedPort

ME = f"{API}/core/users/me/"
WRONG = {"detail": "Invalid username/password."}
PROXY = "127.0.0.1"


def somebody_at(town: Town, address: str) -> httpx.AsyncClient:
    """A client at another address, as a proxy tells it."""
    return httpx.AsyncClient(
        base_url=town.base_url, timeout=60, transport=town.transport, headers={"X-Forwarded-For": address}
    )


class Traveller(Browser):
    """A browser at another address."""

    def __init__(self, town: Town, address: str) -> None:
        super().__init__(town)
        self.http.headers["X-Forwarded-For"] = address


async def basic(town: Town, name: str, password: str, address: str = "192.0.2.1") -> httpx.Response:
    async with somebody_at(town, address) as client:
        return await client.get(ME, auth=(name, password))


async def by_flow(town: Town, name: str, password: str, address: str = "192.0.2.1") -> int:
    """What the flow makes of it: 200 for whoever is in, 401 for a no, 429 for too many."""
    browser = Traveller(town, address)
    await browser.see(SIGN_IN)
    await browser.answer(SIGN_IN, component="identification", uid_field=name)
    answer = await browser.post(SIGN_IN, component="password", password=password)
    if answer.status_code != 200:
        return answer.status_code
    return 200 if answer.json()["component"] == "redirect" else 401


async def by_grant(app: App, name: str, password: str, address: str = "192.0.2.1") -> httpx.Response:
    async with somebody_at(app.town, address) as client:
        form = {
            "grant_type": "password",
            "username": name,
            "password": password,
            "scope": "read",
            "client_id": app.client_id,
            "client_secret": app.secret,
        }
        return await client.post("/oauth/token", data=form)


# Many at once


@pytest.mark.parametrize("door", ["basic", "grant", "flow"])
async def test_of_many_guesses_at_once_only_so_many_are_tried(new_town: TownBuilder, door: str) -> None:
    town = await new_town(rate_limits="on", trusted_proxies=PROXY)
    ada, app = await town.sign_up(), await new_app(town, "read")

    async def guess(n: int) -> int:
        if door == "basic":
            return (await basic(town, ada.username, f"guess {n}")).status_code
        if door == "grant":
            return (await by_grant(app, ada.username, f"guess {n}")).status_code
        return await by_flow(town, ada.username, f"guess {n}")

    found = Counter(await asyncio.gather(*(guess(n) for n in range(40))))

    assert found == {400 if door == "grant" else 401: 10, 429: 30}
    assert (await basic(town, ada.username, ada.password)).status_code == 429
    assert (await basic(town, ada.username, ada.password, "192.0.2.77")).status_code == 200


async def test_many_right_ones_at_once_are_all_let_in(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on")
    ada = await town.sign_up()

    answers = await asyncio.gather(*(ada.get(ME) for _ in range(40)))

    assert {answer.status_code for answer in answers} == {200}


async def test_device_codes_and_the_passwords_of_the_signed_in_are_paid_for_first(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on")
    party = await make_party(town, await town.owner())
    ada = await town.sign_up()
    browser = await signed_in(town, ada)
    codes = ["".join(LETTERS[(n + place) % len(LETTERS)] for place in range(8)) for n in range(20)]

    answers = await asyncio.gather(*(answer_page(browser, code, "allow") for code in codes))

    assert Counter(answer.status_code for answer in answers) == {400: 10, 429: 10}
    assert party.id


# One account


async def test_a_name_is_one_however_it_is_written(new_town: TownBuilder) -> None:
    """That guesses at a name are used up does not tell which address is the same person's."""
    town = await new_town(rate_limits="on", trusted_proxies=PROXY)
    ada = await town.sign_up("ada")
    names = ["ada", "ADA", "ａｄａ", " ada "]
    addresses = ["ada@example.org", "Ada@EXAMPLE.org", "ada@example.org."]

    tried = [(await basic(town, names[n % len(names)], f"guess {n}")).status_code for n in range(10)]
    late = [(await basic(town, name, ada.password)).status_code for name in names]
    by_address = [(await basic(town, addresses[n % 3], f"guess {n}")).status_code for n in range(10)]
    too_late = [(await basic(town, address, ada.password)).status_code for address in addresses]

    assert tried == by_address == [401] * 10
    assert late == [429] * len(names)
    assert too_late == [429] * len(addresses)


async def test_a_name_that_nobody_has_is_counted_alike(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on", trusted_proxies=PROXY)
    await town.sign_up("ada")
    for n, names in enumerate(
        (["ada", "ADA", "ａｄａ"], ["bob", "BOB", "ｂｏｂ"], ["x@bücher.example", "x@xn--bcher-kva.example"])
    ):
        address = f"192.0.2.{n}"
        codes = [
            (await basic(town, names[guess % len(names)], f"guess {guess}", address)).status_code for guess in range(12)
        ]
        assert codes == [401] * 10 + [429] * 2, names


async def test_guesses_from_everywhere_slow_down_all_but_where_the_owner_is_known(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on", trusted_proxies=PROXY)
    ada = await town.sign_up()
    home = Traveller(town, "198.51.100.1")
    await home.sign_in(ada)
    assert await home.who() == ada.username
    await home.answer("default-invalidation-flow", component="sign-out")
    home.http.headers["X-Forwarded-For"] = "198.51.100.250"  # the browser has moved on
    assert (await basic(town, ada.username, ada.password, "198.51.100.2")).status_code == 200

    codes = [(await basic(town, ada.username, f"guess {n}", f"203.0.113.{n}")).status_code for n in range(22)]
    stranger = [
        (await basic(town, ada.username, ada.password, "203.0.113.99")).status_code,
        await by_flow(town, ada.username, ada.password, "203.0.113.98"),
    ]
    program = (await basic(town, ada.username, "guess", "198.51.100.2")).status_code
    await home.sign_in(ada)

    assert codes == [401] * 20 + [429] * 2
    assert stranger == [429, 429]
    assert program == 401  # tried, and wrong
    assert await home.who() == ada.username
    assert await by_flow(town, ada.username, ada.password, "198.51.100.2") == 200


async def test_a_known_browser_has_an_allowance_and_no_more(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on", trusted_proxies=PROXY)
    ada, eve = await town.sign_up(), await town.sign_up()
    browser = Traveller(town, "198.51.100.1")
    await browser.sign_in(ada)
    await browser.answer("default-invalidation-flow", component="sign-out")

    async def guess(person: Person, n: int) -> int:
        browser.http.headers["X-Forwarded-For"] = f"198.51.100.{10 + n}"
        await browser.see(SIGN_IN)
        await browser.answer(SIGN_IN, component="identification", uid_field=person.username)
        answer = await browser.post(SIGN_IN, component="password", password=f"guess {n}")
        await browser.http.get("/flows/-/cancel/", params={"flow": SIGN_IN})
        return answer.status_code

    assert [await guess(ada, n) for n in range(12)] == [200] * 10 + [429] * 2
    assert [await guess(eve, n) for n in range(22)] == [200] * 20 + [429] * 2  # the cookie is ada's


async def test_codes_guessed_elsewhere_do_not_make_a_known_browser_wait(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on", trusted_proxies=PROXY)
    ada = await town.sign_up()
    home, thief = Traveller(town, "198.51.100.1"), Traveller(town, "203.0.113.1")
    await home.sign_in(ada)
    codes = await set_up_codes(home)
    await home.answer("default-invalidation-flow", component="sign-out")

    await thief.sign_in(ada)
    wrong = [await thief.answer(SIGN_IN, component="otpvalidate", code=f"guess{n}") for n in range(4)]
    await home.sign_in(ada)
    missed = await home.answer(SIGN_IN, component="otpvalidate", code="missed")
    done = await home.answer(SIGN_IN, component="otpvalidate", code=codes[0])

    assert "Too many wrong codes" in errors(wrong[-1])[0]
    assert "Invalid Token" in errors(missed)[0]
    assert done["component"] == "redirect"
    for n in range(7):
        await home.answer("default-invalidation-flow", component="sign-out")
        await home.sign_in(ada)
        last = await home.post(SIGN_IN, component="otpvalidate", code=f"guess{n}")
    assert last.status_code == 429


async def test_switched_off_nothing_is_limited(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="off")
    ada = await town.sign_up()

    codes = [(await town.http.get(ME, auth=(ada.username, f"guess {n}"))).status_code for n in range(12)]

    assert codes == [401] * 12
    assert (await ada.get(ME)).status_code == 200


# The same answer for all who do not come in


async def test_programs_learn_nothing_but_that_they_are_not_let_in(
    new_town: TownBuilder, metrics_port: ReservedPort
) -> None:
    metrics = f"127.0.0.1:{metrics_port.number}"
    town = await new_town(metrics_bind=metrics)
    ada, app = await town.sign_up(), await new_app(town, "read")
    people = await _people_who_do_not_come_in(town)
    wrong, nobody = Person(town.http, ada.username, "not this one"), Person(town.http, "nobody", "nothing")
    doors: list[Callable[[Person], Awaitable[httpx.Response]]] = [
        lambda one: one.get(ME),
        lambda one: by_grant(app, one.username, one.password),
    ]

    for door in doors:
        told = []
        for one in (wrong, nobody, *people.values()):
            for _ in range(2):  # nothing is remembered of a right one either
                before = await _checks(metrics)
                answer = await door(one)
                told.append((answer.status_code, _shape(answer), await _checks(metrics) - before))
        assert all(one == told[0] for one in told), told
        assert told[0][0] in (400, 401)
        assert told[0][2] == 1


async def _people_who_do_not_come_in(town: Town) -> dict[str, Person]:
    """Everybody here gives their right password."""
    careful, disabled, waiting = await town.sign_up(), await town.sign_up(), await town.sign_up()
    await set_up_codes(await signed_in(town, careful))
    await town.kith("users", "disable", disabled.username)
    await _change(town, waiting, "approved_at")
    await town.kith("users", "create", "unconfirmed", "--email", "u@example.org", "--password", "the right one")
    return {
        "factor": careful,
        "disabled": disabled,
        "waiting": waiting,
        "unconfirmed": Person(town.http, "unconfirmed", "the right one"),
    }


async def _change(town: Town, person: Person, field: str) -> None:
    from kith.identity.users import store  # noqa: PLC0415

    async with town.house() as house, house.works.begin() as work:
        user = await store.find(work.db, person.username)
        assert user is not None
        await store.change(work.db, user.id, field, None, work.now)


async def _checks(metrics: str) -> float:
    async with httpx.AsyncClient(verify=PLAIN, timeout=120) as client:
        text = (await client.get(f"http://{metrics}/metrics")).text
    [count] = re.findall(r"^kith_password_checks_total (\S+)$", text, re.MULTILINE)
    return float(count)


def _shape(answer: httpx.Response) -> tuple[Any, ...]:
    changing = {"date", "x-request-id", "x-kith-request-id", "content-length", "server-timing"}
    headers = {name: value for name, value in answer.headers.items() if name not in changing}
    return headers, answer.json()


async def test_the_owner_hears_once_a_day_that_a_program_needs_an_app_password(town: Town) -> None:
    ada, app = await town.sign_up(), await new_app(town, "read")
    browser = await signed_in(town, ada)
    await set_up_codes(browser)

    told = [(await ada.get(ME)).json() for _ in range(3)]
    granted = await by_grant(app, ada.username, ada.password)
    wrong = await town.http.get(ME, auth=(ada.username, "not this one"))

    assert [*told, wrong.json()] == [WRONG] * 4
    assert granted.json()["error"] == "invalid_grant"
    address = f"{ada.username}@example.org"
    await words_to(town, address, "create an app password")
    other = await town.sign_up()
    await set_up_codes(await signed_in(town, other))
    await other.get(ME)
    await words_to(town, f"{other.username}@example.org", "create an app password")  # later than any of the first
    hints = [mail for mail in town.mails() if mail["To"] == address and "app password" in mail["Subject"]]
    assert len(hints) == 1

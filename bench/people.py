"""The console's list of people, among 100,000: how long each kind of question takes, slowest first."""

from __future__ import annotations

import time
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import msgspec

from bench.report import Result, Target, result
from kith.base.db import command, insert_into
from kith.base.work import Work
from kith.identity.users.tables import users
from kith.social.accounts.new_rows import new_account
from kith.social.accounts.tables import accounts
from kith.social.ids import AccountId, UserId
from tests.town import Person, Town, build_town
from tests.web.browsing import Browser

PEOPLE = 100_000
AT_ONCE = 1_000
FIRST = 10  # the number of the first, so that the town's own people come before
ONE_ELSEWHERE = 5  # of so many here
SERVERS = 500
TARGET = Target(most=200)
ASKED = {
    "everybody": "",
    "by name, backwards": "order=-username",
    "by address": "order=email",
    "newest": "order=-joined",
    "last seen": "order=-seen",
    "longest not seen": "order=seen",
    "a rare word": "search=person0123",
    "a word that all have": "search=example.org&order=-joined",
    "a word that many have": "search=person01&order=-seen",
    "two words": "search=person01+number",
    "two words, last in their order": "search=person09+number",
    "two letters": "search=zz",
    "nobody": "search=nobodyatall",
    "waiting": "state=pending&order=-joined",
    "unconfirmed": "state=unconfirmed",
    "disabled": "state=disabled&order=-seen",
    "limited": "state=silenced",
    "suspended": "state=suspended&order=-joined",
    "active": "state=active&order=-seen",
    "moderators": "role=2",
    "seen this week": "seen=7&order=email",
    "not for a year": "seen=-365&order=username",
    "all at once": "search=example.org&state=disabled&seen=-30&order=-joined",
    "the last page": "offset=9950&order=-seen",
    "elsewhere": "origin=remote",
    "elsewhere, a name": "origin=remote&search=person0999",
    "elsewhere, a server": "origin=remote&search=far77.example",
    "elsewhere, suspended": "origin=remote&state=suspended",
}
_user = command(insert_into(users))
_account = command(insert_into(accounts))


async def measure(folder: Path, *, quick: bool) -> list[Result]:
    async with build_town("sqlite", folder / "people") as town:
        owner = await town.owner()
        await fill(town, PEOPLE // (10 if quick else 1))
        times = await ask_all(town, owner, rounds=3 if quick else 7)
    found = [result(f"people.{name}", taken, "ms", target=TARGET) for name, taken in times.items()]
    return sorted(found, key=lambda one: -one.value)


async def ask_all(town: Town, owner: Person, *, rounds: int) -> dict[str, list[float]]:
    browser = Browser(town)
    await browser.sign_in(owner.username, owner.password)
    times: dict[str, list[float]] = {name: [] for name in ASKED}
    async with httpx.AsyncClient(base_url=town.base_url, cookies=browser.http.cookies, timeout=60) as client:
        for number in range(rounds + 1):
            for name, query in ASKED.items():
                started_at = time.perf_counter()
                (await client.get(f"/admin/people?{query}&fresh={number}")).raise_for_status()
                if number:  # the first round opens files and fills caches
                    times[name].append((time.perf_counter() - started_at) * 1000)
    await browser.close()
    return times


async def fill(town: Town, count: int) -> None:
    """People with accounts: most are active, some of every state, seen on many days; and some who live elsewhere."""
    async with town.house() as house:
        for start in range(FIRST, count + FIRST, AT_ONCE):
            numbers = range(start, start + AT_ONCE)
            async with house.works.begin() as work:
                await work.db.many(_user, [_person(work, number) for number in numbers])
            async with house.works.begin() as work:
                rows = [_account_of(work, number) for number in numbers]
                rows += [_elsewhere(work, number) for number in numbers if number % ONE_ELSEWHERE == 0]
                await work.db.many(_account, rows)


def _elsewhere(work: Work, number: int) -> dict[str, Any]:
    name, domain = f"person{number * 7919 % 1_000_003:07}", f"far{number // ONE_ELSEWHERE % SERVERS}.example"
    address = f"https://{domain}/users/{name}"
    row = new_account(
        AccountId(2_000_000 + number),
        username=name,
        domain=domain,
        uri=address,
        url=address,
        now=work.now,
        display_name=f"Number {number}",
        note_html="<p>A few words about me.</p>" * 5,
        suspended_at=work.now if number % 2_000 == 0 else None,
    )
    return msgspec.structs.asdict(row)


def _person(work: Work, number: int) -> dict[str, Any]:
    name = f"person{number * 7919 % 1_000_003:07}"
    at = work.now - timedelta(minutes=number)
    seen = None if number % 5 == 0 else work.now - timedelta(hours=number * 13 % 20_000)
    return {
        "id": number, "uuid": str(uuid.uuid4()), "username": name, "name": f"Number {number}",
        "email": f"{name}@example.org", "password": "$argon2id$v=19$m=65536,t=3,p=4$" + "x" * 66,
        "is_active": number % 211 != 0, "role": "moderator" if number % 5_000 == 1 else "user", "type": "internal",
        "path": "users", "attributes": {"settings": {"locale": "de"}}, "created_at": at, "updated_at": at,
        "last_login_at": seen, "last_seen_at": seen, "password_changed_at": at,
        "username_key": name, "email_key": f"{name}@example.org", "owned_email_key": None, "email_verified_at": None,
        "expires": None, "confirmed_at": None if number % 97 == 0 else at,
        "approved_at": None if number % 89 == 0 else at,
    }  # fmt: skip


def _account_of(work: Work, number: int) -> dict[str, Any]:
    name = f"person{number * 7919 % 1_000_003:07}"
    address = f"{work.settings.base_url}/users/{name}"
    row = new_account(
        AccountId(1_000_000 + number),
        username=name,
        domain="",
        uri=address,
        url=address,
        now=work.now,
        user_id=UserId(number),
        display_name=f"Number {number}",
        note="A few words about me. " * 5,
        note_html="<p>A few words about me.</p>" * 5,
        silenced_at=work.now if number % 401 == 0 else None,
        suspended_at=work.now if number % 503 == 0 else None,
    )
    return msgspec.structs.asdict(row)

"""Who gets past a guard of the social API, and in what words the others are told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import bindparam, update

from kith.base.db import Instant, command
from kith.identity.providers.oauth2.grants.service import hash_key
from kith.identity.providers.oauth2.store import find_bearer
from kith.identity.scopes import SOCIAL, covers
from kith.identity.tokens.tables import tokens
from kith.identity.users import store
from tests.cli.running import database
from tests.conftest import TownBuilder
from tests.social.members import Member, join, set_state, until
from tests.social.posts import settle
from tests.social.tokens import new_app
from tests.town import Person, Town

VERIFY = "/api/v1/apps/verify_credentials"
USERINFO = "/oauth/userinfo"
CHECK = "/api/v1/emails/check_confirmation"
ACCOUNTS = "/api/v1/accounts"

INVALID = (401, "The access token is invalid")
REVOKED = (401, "The access token was revoked")
OUTSIDE = (403, "This action is outside the authorized scopes")
NEEDS_USER = (422, "This method requires an authenticated user")
NEEDS_APP = (403, "This method requires an client credentials authentication")
UNCONFIRMED = (403, "Your login is missing a confirmed e-mail address")
PENDING = (403, "Your login is currently pending approval")
DISABLED = (403, "Your login is currently disabled")

_end_token = command(
    update(tokens).where(tokens.c.key_hash == bindparam("hash")).values(expires_at=bindparam("at", type_=Instant()))
)


async def call(town: Town, path: str, key: str | None, **options: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {key}"} if key is not None else {}
    return await town.http.request("POST" if path == ACCOUNTS else "GET", path, headers=headers, **options)


def verdict(answer: httpx.Response) -> tuple[int, str] | int:
    return (answer.status_code, answer.json()["error"]) if answer.status_code >= 400 else answer.status_code


async def change(town: Town, person: Person, **values: object) -> None:
    async with town.house() as house, house.works.begin() as work:
        user = await store.find(work.db, person.username)
        assert user is not None
        await store.write(work.db, user.id, values, work.now)


async def become(town: Town, person: Member, name: str, value: object) -> None:
    await set_state(town, person.id, lambda _: {name: value})


async def test_what_a_token_can_and_what_state_its_owner_is_in_decide(town: Town) -> None:
    """Every state of a token against every kind of guard."""
    app = await new_app(town, "read write profile")
    keys: dict[str, str | None] = {"none": None, "garbage": "garbage", "app": await app.token("read write profile")}
    keys["narrow app"] = await app.token("read")
    states: dict[str, dict[str, object]] = {
        "able": {},
        "unconfirmed": {"confirmed_at": None},
        "pending": {"approved_at": None},
        "disabled": {"is_active": False},
        "narrow": {},
    }
    for name, values in states.items():
        person = await town.sign_up()
        keys[name] = await app.token_of(person, "write:media" if name == "narrow" else "read write profile")
        if values:
            await change(town, person, **values)

    seen = {
        state: [verdict(await call(town, path, key)) for path in (VERIFY, USERINFO, CHECK, ACCOUNTS)]
        for state, key in keys.items()
    }

    blank = (422, "Validation failed")
    assert {state: [_short(one) for one in found] for state, found in seen.items()} == {
        "none": [INVALID] * 4,
        "garbage": [INVALID] * 4,
        "app": [200, NEEDS_USER, NEEDS_USER, blank],
        "narrow app": [200, OUTSIDE, NEEDS_USER, OUTSIDE],
        "able": [200, 200, 200, NEEDS_APP],
        "unconfirmed": [200, UNCONFIRMED, 200, NEEDS_APP],
        "pending": [200, PENDING, 200, NEEDS_APP],
        "disabled": [DISABLED, DISABLED, DISABLED, NEEDS_APP],
        "narrow": [200, OUTSIDE, OUTSIDE, OUTSIDE],
    }


def _short(found: tuple[int, str] | int) -> tuple[int, str] | int:
    return (found[0], found[1].partition(":")[0]) if isinstance(found, tuple) else found


async def test_a_token_ends_when_its_time_has_come_and_says_so(town: Town) -> None:
    ada = await town.sign_up()
    key = (await town.kith("tokens", "create", ada.username, "--scopes", "read profile", "--expires", "1")).strip()
    assert (await call(town, USERINFO, key)).status_code == 200

    async with town.house() as house, house.works.begin() as work:
        await work.db.run(_end_token, hash=hash_key(key), at=datetime.now(UTC) - timedelta(seconds=1))

    answer = await call(town, USERINFO, key)
    assert verdict(answer) == (401, "The access token expired")
    assert answer.headers["www-authenticate"] == (
        'Bearer realm="Kith", error="invalid_token", error_description="The access token expired"'
    )


async def test_a_token_comes_in_the_header_the_query_or_a_form(town: Town) -> None:
    app = await new_app(town, "read write profile")
    key = await app.token_of(await town.sign_up(), "profile")

    asked = [
        await town.http.get(USERINFO, headers={"Authorization": f"bearer  {key}"}),
        await town.http.get(USERINFO, params={"access_token": key}),
        await town.http.get(USERINFO, params={"bearer_token": key}),
        await town.http.post(USERINFO, data={"access_token": key}),
        await town.http.post(USERINFO, json={"access_token": key}),
        await town.http.post(USERINFO, files={"access_token": (None, key)}),
    ]
    assert [answer.status_code for answer in asked] == [200] * 6

    own = await app.token("write")
    form = {"access_token": own, "username": "x", "agreement": "true"}
    complaints = (await town.http.post(ACCOUNTS, data=form)).json()["details"]
    assert "agreement" not in complaints  # the body was still there for the handler
    assert (await town.http.get(USERINFO, headers={"Authorization": "Basic eDp5"})).status_code == 401


async def test_who_is_disabled_is_out_with_the_next_call(town: Town) -> None:
    ada, app = await town.sign_up(), await new_app(town, "profile")
    given = await app.token_of(ada, "profile")
    own = (await town.kith("tokens", "create", ada.username, "--scopes", "profile")).strip()
    assert [(await call(town, USERINFO, key)).status_code for key in (given, own)] == [200, 200]

    await town.kith("users", "disable", ada.username)
    assert verdict(await call(town, USERINFO, own)) == DISABLED
    await settle(town)
    assert verdict(await call(town, USERINFO, given)) == DISABLED
    await town.kith("users", "enable", ada.username)
    assert [(await call(town, USERINFO, key)).status_code for key in (given, own)] == [200, 200]


async def test_who_has_moved_died_or_been_suspended_is_out_of_every_call(town: Town) -> None:
    # given
    home = await join(town)
    states: list[tuple[str, object]] = [
        ("suspended_at", datetime.now(UTC)),
        ("moved_to", int(home.id)),
        ("memorial", True),
    ]
    people = [(await join(town), name, value) for name, value in states]
    calls = [
        ("GET", VERIFY),
        ("GET", USERINFO),
        ("GET", CHECK),
        ("GET", "/api/v1/accounts/verify_credentials"),
        ("GET", f"/api/v1/accounts/{home.id}"),
        ("GET", "/api/v1/timelines/home"),
        ("GET", "/api/v1/timelines/public"),
        ("GET", "/api/v1/notifications"),
        ("GET", "/api/v1/lists"),
        ("GET", "/api/v2/search?q=x"),
        ("POST", "/api/v1/statuses"),
        ("POST", "/api/v1/statuses/1/favourite"),
        ("POST", "/api/v1/media"),
        ("POST", "/api/v1/markers"),
        ("DELETE", "/api/v1/statuses/1"),
    ]

    # when
    for person, name, value in people:
        await become(town, person, name, value)

    # then
    for person, name, _ in people:

        async def is_out(token: str = person.token) -> bool:
            return (
                verdict(await call(town, VERIFY, token)) == DISABLED
            )  # who could act a moment ago is believed for one

        await until(is_out)
        for method, path in calls:
            assert verdict(await person.call(method, path)) == DISABLED, (name, method, path)

    # and
    for person, name, _ in people:
        await become(town, person, name, False if name == "memorial" else None)
        assert (await call(town, VERIFY, person.token)).status_code == 200


async def test_whoever_has_no_address_has_none_to_confirm(town: Town) -> None:
    person = await town.sign_up()
    await change(town, person, email="", email_key="", confirmed_at=None)
    key = (await town.kith("tokens", "create", person.username, "--scopes", "profile")).strip()

    assert (await call(town, USERINFO, key)).status_code == 200


async def test_the_last_use_of_a_token_is_noted(town: Town) -> None:
    app, ada = await new_app(town, "profile"), await town.sign_up()
    key = await app.token_of(ada, "profile")
    personal = (await town.kith("tokens", "create", ada.username, "--scopes", "profile")).strip()
    password = (await town.kith("tokens", "create", ada.username, "--intent", "app_password")).strip()

    for one in (key, personal):
        assert (await call(town, USERINFO, one)).status_code == 200
    basic = await town.http.get("/api/v2/core/users/me/", auth=(ada.username, password))
    assert basic.status_code == 200

    listed = await town.kith("tokens", "list", ada.username, "--json")
    assert listed.count('"last_used_at": null') == 0
    async with database(town) as db:
        bearer = await find_bearer(db, hash_key(key))
    assert bearer is not None
    assert bearer.last_used_at is not None


async def test_an_app_password_opens_no_more_than_its_scopes(town: Town) -> None:
    ada = await town.sign_up()
    social = (await town.kith("tokens", "create", ada.username, "--intent", "app_password", "--scopes", "read")).strip()

    answer = await town.http.get("/api/v2/core/users/me/", auth=(ada.username, social))

    assert answer.status_code == 403


async def test_callers_are_counted_by_person_and_by_token(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on")
    ada = await town.sign_up()
    first, second = [
        (await town.kith("tokens", "create", ada.username, "--scopes", "profile")).strip() for _ in range(2)
    ]

    answers = [await call(town, USERINFO, first) for _ in range(3)]
    left = [int(answer.headers["x-ratelimit-remaining"]) for answer in answers]
    assert answers[0].headers["x-ratelimit-limit"] == "300"  # the token's own is the tighter one
    assert left[0] > left[2] or left[2] == 299  # a window may end in between
    other = await call(town, USERINFO, second)
    assert int(other.headers["x-ratelimit-remaining"]) >= left[2]
    refused = await call(town, USERINFO, "garbage")
    assert refused.headers["x-ratelimit-limit"] == "300"
    assert len(refused.headers.get_list("x-ratelimit-limit")) == 1

    many = [(await call(town, USERINFO, first)).status_code for _ in range(610)]
    assert 429 in many
    assert (await call(town, USERINFO, second)).status_code == 200


@pytest.mark.parametrize(
    ("granted", "needed", "expected"),
    [
        ("read", "read:bookmarks", True),
        ("read:bookmarks", "read", False),
        ("follow", "write:follows", True),
        ("follow", "read:mutes", True),
        ("follow", "write:statuses", False),
        ("write", "read:accounts", False),
        ("admin:read", "admin:read:reports", True),
        ("read", "admin:read", False),
        ("crypto", "crypto", True),
        ("profile", "read:accounts", False),
    ],
)
def test_a_parent_covers_its_children_and_nothing_else(granted: str, needed: str, expected: bool) -> None:
    assert covers(granted.split(), needed) is expected
    assert {granted, needed} <= set(SOCIAL)

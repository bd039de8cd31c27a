"""Basic and Bearer on the identity API, as a client meets them."""

from __future__ import annotations

import base64

import httpx
import pytest

from kith.base.db import connect
from kith.base.settings import load
from kith.identity.audit import store as audit
from tests.conftest import TownBuilder
from tests.town import Town
from tests.town.plain import PLAIN

USERS = "/api/v2/core/users/"


async def test_the_owner_lists_people_in_the_envelope(town: Town) -> None:
    ada = await town.owner()
    bob = await town.sign_up()

    answer = await ada.get(USERS, params={"limit": 1000})

    assert answer.status_code == 200
    body = answer.json()
    assert list(body) == ["count", "next", "previous", "results"]
    assert body["count"] == len(body["results"])
    [found] = [user for user in body["results"] if user["username"] == bob.username]
    assert found["pk"] == found["id"]
    assert found["email"] == f"{bob.username}@example.org"
    assert found["is_superuser"] is False
    assert not {"password", "username_key", "role"} & set(found)
    assert answer.headers["cache-control"] == "no-store"


async def test_pages_follow_each_other_without_gap_or_overlap(town: Town) -> None:
    ada = await town.owner()
    for _ in range(3):
        await town.sign_up()
    seen: list[str] = []
    url: str | None = f"{town.base_url}{USERS}?limit=2"

    while url:
        body = (await ada.get(url)).json()
        seen += [user["username"] for user in body["results"]]
        url = body["next"]

    assert len(seen) == len(set(seen)) == body["count"]
    assert seen == sorted(seen)


async def test_a_member_may_sign_in_but_not_look(town: Town) -> None:
    bob = await town.sign_up()

    answer = await bob.get(USERS)

    assert answer.status_code == 403
    assert answer.json()["detail"] == "You do not have permission to perform this action."
    assert answer.json()["permission"] == "core.view_user"


async def test_a_single_person_is_read_by_id_and_anything_else_is_not_found(town: Town) -> None:
    ada = await town.owner()
    listed = (await ada.get(USERS, params={"limit": 1})).json()["results"][0]

    assert (await ada.get(f"{USERS}{listed['id']}/")).json() == listed
    for wrong in ("0", "999999999", "x", "1.5", "-1", "99999999999999999999"):
        answer = await ada.get(f"{USERS}{wrong}/")
        assert answer.status_code == 404
        assert answer.json() == {"detail": "Not found."}


def encoded(text: str) -> str:
    return "Basic " + base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    ("header", "detail"),
    [
        (None, "Authentication credentials were not provided."),
        ("Digest abc", "Authentication credentials were not provided."),
        ("Basic", "Invalid basic header. No credentials provided."),
        ("Basic a b", "Invalid basic header. Credentials string should not contain spaces."),
        ("Basic !!!", "Invalid basic header. Credentials not correctly base64 encoded."),
        (encoded("nocolon"), "Invalid basic header. Credentials not correctly base64 encoded."),
        (encoded("nobody:nothing"), "Invalid username/password."),
        (encoded(":"), "Invalid username/password."),
        (encoded("nobody:" + "x" * 5000), "Invalid username/password."),
        (encoded("nul\0name:x"), "Invalid username/password."),
        ("Bearer kith_wrong", "Invalid token."),
        ("Bearer", "Invalid token."),
    ],
)
async def test_wrong_credentials_are_told_in_the_documented_words(town: Town, header: str | None, detail: str) -> None:
    answer = await town.http.get(USERS, headers={"authorization": header} if header else {})

    assert answer.status_code == 401
    assert answer.json() == {"detail": detail}
    assert answer.headers["www-authenticate"] == 'Basic realm="api"'


async def test_names_are_one_whatever_their_case(town: Town) -> None:
    ada = await town.owner()

    answer = await town.http.get(USERS, auth=(ada.username.upper(), ada.password))
    taken = await town.kith(
        "users", "create", ada.username.upper(), "--email", "x@example.org", "--password", "whatever 1", expect=1
    )

    assert answer.status_code == 200
    assert "already exists" in taken


async def test_a_failed_sign_in_is_written_down_without_the_password(town: Town) -> None:
    bob = await town.sign_up()
    await town.http.get(USERS, auth=(bob.username, "not the password"))

    database = await connect(load(town.environment), connections=1)
    events = await audit.newest(database.session(), 50)
    await database.close()

    [event] = [event for event in events if event.action == "login_failed" and event.username == bob.username]
    assert event.client_ip == "127.0.0.1"
    assert event.context["http_request"]["method"] == "GET"
    assert "not the password" not in str(event)


async def test_guessing_is_slowed_down_even_for_the_right_password(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on")
    ada = await town.owner()
    async with httpx.AsyncClient(base_url=town.base_url, timeout=60, verify=PLAIN) as guesser:
        codes = [(await guesser.get(USERS, auth=(ada.username, f"guess {n}"))).status_code for n in range(12)]
        right = await guesser.get(USERS, auth=(ada.username, ada.password))

    assert codes == [401] * 10 + [429] * 2
    assert right.status_code == 429


async def test_a_token_opens_the_api_only_with_the_api_scope(town: Town) -> None:
    ada = await town.owner()
    good = (await town.kith("tokens", "create", ada.username, "--scopes", "api")).strip()
    social = (await town.kith("tokens", "create", ada.username, "--scopes", "read write")).strip()

    bearer = await town.http.get(USERS, headers={"authorization": f"Bearer {good}"})
    basic = await town.http.get(USERS, auth=("anything", good))
    refused = await town.http.get(USERS, headers={"authorization": f"Bearer {social}"})

    assert bearer.status_code == basic.status_code == 200
    assert refused.status_code == 403

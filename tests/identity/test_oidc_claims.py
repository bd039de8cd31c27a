"""What OpenID Connect's scope `profile` tells, and how signing out ends."""

from __future__ import annotations

import re

import pytest

from tests.identity.flow_browser import Browser
from tests.identity.records import API, make, new_name, owner_of, results
from tests.identity.relying_party import make_party, signed_in
from tests.town import Person, Town


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


async def test_the_profile_tells_what_is_known_of_somebody(town: Town, ada: Person) -> None:
    party = await make_party(town, ada)
    person, browser = await signed_in(town)
    [user] = await results(ada, "/core/users/", username=person.username)
    attributes = {
        "settings": {"locale": "de", "timezone": "Europe/Berlin"},
        "website": "https://grace.example/",
        "picture": "https://grace.example/me.png",
    }
    changed = await ada.call("PATCH", f"{API}/core/users/{user['pk']}/", json={"attributes": attributes})
    assert changed.status_code == 200, changed.text

    tokens = await party.tokens(browser, scope="openid profile")
    told = (await party.userinfo(tokens["access_token"])).json()

    expected = {
        "locale": "de",
        "zoneinfo": "Europe/Berlin",
        "website": "https://grace.example/",
        "picture": "https://grace.example/me.png",
        "profile": f"{town.base_url}/@{person.username}",
    }
    assert {name: told.get(name) for name in expected} == expected
    assert isinstance(told["updated_at"], int)
    in_token = await party.read(tokens["id_token"])
    assert {name: in_token.get(name) for name in expected} == expected
    less = (await party.userinfo((await party.tokens(browser, scope="openid email"))["access_token"])).json()
    assert not {*expected, "updated_at"} & set(less)
    described = await town.http.get(f"/application/o/{party.slug}/.well-known/openid-configuration")
    assert {*expected, "updated_at"} <= set(described.json()["claims_supported"])


async def test_a_mapping_decides_about_the_profile_alone(town: Town, ada: Person) -> None:
    expression = 'return {"name": "x", "zoneinfo": "Etc/Nowhere"}'
    own = await make(ada, "/propertymappings/scope/", name=new_name("own"), scope_name="profile", expression=expression)
    party = await make_party(town, ada, property_mappings=[own["pk"]])
    _, browser = await signed_in(town)

    told = (await party.userinfo((await party.tokens(browser, scope="openid profile"))["access_token"])).json()

    assert set(told) == {"sub", "name", "zoneinfo"}


@pytest.mark.parametrize("by_slug", [True, False])
async def test_signing_out_without_an_address_ends_on_a_page_that_says_so(
    town: Town, ada: Person, by_slug: bool
) -> None:
    party = await make_party(town, ada)
    _, browser = await signed_in(town)
    hint = (await party.tokens(browser))["id_token"]
    end = f"/application/o/{f'{party.slug}/' if by_slug else ''}end-session/"

    answer = await browser.http.get(end, params={"id_token_hint": hint})
    page = await browser.http.get(answer.headers["location"])

    assert await browser.who() is None
    for shown in (page, await Browser(town).http.get(end)):
        assert shown.status_code == 200
        assert re.search(r"<h1>You are signed out</h1>", shown.text)
        assert "http-equiv" not in shown.text

from __future__ import annotations

import asyncio
import re

from tests.conftest import TownBuilder

OWNER = {"username": "ada", "email": "ada@example.org", "password": "a long enough one", "name": "Ada"}


async def test_the_link_of_the_first_start_makes_the_owner_once(new_town: TownBuilder) -> None:
    town = await new_town()
    link = town.setup_link()

    made = await town.http.post(link, json=OWNER)
    again = await town.http.post(link, json=OWNER | {"username": "eve"})
    users = await town.http.get("/api/v2/core/users/", auth=("ada", OWNER["password"]))

    assert made.status_code == 201
    assert made.json()["role"] == "owner"
    assert again.status_code == 404
    assert [user["username"] for user in users.json()["results"]] == ["ada"]


async def test_of_two_at_once_only_one_becomes_the_owner(new_town: TownBuilder) -> None:
    town = await new_town()
    link = town.setup_link()

    answers = await asyncio.gather(*(town.http.post(link, json=OWNER | {"username": f"u{n}"}) for n in range(6)))

    assert sorted(answer.status_code for answer in answers) == [201, 404, 404, 404, 404, 404]


async def test_the_page_makes_the_owner_without_any_script(new_town: TownBuilder) -> None:
    town = await new_town()
    link = town.setup_link()
    page = await town.http.get(link)
    found = re.search(r'name="csrf" value="([^"]+)"', page.text)
    assert found is not None
    form = OWNER | {"csrf": found[1], "password_again": OWNER["password"]}

    differing = await town.http.post(link, data=form | {"password_again": "another"})
    forged = await town.http.post(link, data=form | {"csrf": "x.y"})
    made = await town.http.post(link, data=form)

    assert differing.status_code == 400
    assert "The two passwords do not match." in differing.text
    assert forged.status_code == 403
    assert made.status_code == 201
    assert "All set, ada" in made.text


async def test_a_weak_or_missing_field_is_named_and_the_link_stays_open(new_town: TownBuilder) -> None:
    town = await new_town()
    link = town.setup_link()

    short = await town.http.post(link, json=OWNER | {"password": "short"})
    missing = await town.http.post(link, json={"username": "ada"})
    bad_name = await town.http.post(link, json=OWNER | {"username": "not a name"})
    made = await town.http.post(link, json=OWNER)

    assert short.json() == {"password": ["Ensure this field has at least 8 characters."]}
    assert set(missing.json()) == {"email", "password"}
    assert set(bad_name.json()) == {"username"}
    assert made.status_code == 201


async def test_a_wrong_link_and_a_restart_after_the_owner_offer_nothing(new_town: TownBuilder) -> None:
    town = await new_town()

    wrong = await town.http.get("/setup/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
    await town.http.post(town.setup_link(), json=OWNER)
    first_link = town.setup_link()
    await town.stop()
    await town.start()

    assert wrong.status_code == 404
    assert town.setup_link() == first_link
    assert (await town.http.get(first_link)).status_code == 404

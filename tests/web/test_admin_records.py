"""The console's lists and forms, made from the fields of the API."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kith.identity.collections import RESOURCES
from kith.web.admin.questions import label_of
from tests.conftest import TownBuilder
from tests.identity.saml_keys import pair
from tests.town import Person, Town
from tests.web.browsing import Browser

EVERY_KIND = (
    (Path(__file__).parents[1] / "identity" / "every_kind.yaml").read_text().partition("  # The social half")[0]
)
LISTED = sorted(one.path for one in RESOURCES if "list" in one.allow)


@asynccontextmanager
async def closing_browser(town: Town) -> AsyncIterator[Browser]:
    browser = Browser(town)
    try:
        yield browser
    finally:
        await browser.close()


async def enter(town: Town, browser: Browser) -> Person:
    owner = await town.owner()
    await browser.sign_in(owner.username, owner.password)
    return owner


async def test_only_the_team_comes_in(town: Town, browser: Browser) -> None:
    person = await town.sign_up()
    assert "f-uid_field" in (await browser.open("/admin")).text
    await browser.sign_in(person.username, person.password)
    for path in ("/admin", "/admin/records/core/users", "/admin/records/core/users/new", "/admin/kinds/policies"):
        assert (await browser.open(path)).status_code == 404
    form = {"csrf": browser.cookie("kith_csrf") or "", "username": "intruder", "name": "x"}
    assert (await browser.http.post("/admin/records/core/users/new", data=form)).status_code == 404


async def test_every_collection_has_a_list_and_a_form(town: Town, browser: Browser) -> None:
    await enter(town, browser)
    for path in LISTED:
        answer = await browser.open(f"/admin/records{path}")
        assert answer.status_code == 200, (path, answer.text)
        answer = await browser.open(f"/admin/records{path}new")
        assert answer.status_code == 200, (path, answer.text)


async def test_a_record_of_every_kind_is_opened_from_where_all_kinds_are_listed(new_town: TownBuilder) -> None:
    town = await new_town()
    async with closing_browser(town) as browser:
        await look_at_every_kind(town, browser)


async def look_at_every_kind(town: Town, browser: Browser) -> None:
    owner = await enter(town, browser)
    keys = pair("blueprints")
    context = {"certificate": keys.certificate, "key": keys.key}
    sent = {"content": EVERY_KIND, "context": context}
    answer = await owner.call("POST", "/api/v2/managed/blueprints/import/", json=sent)
    assert answer.json()["success"], answer.text
    for area in ("stages", "policies", "sources", "providers", "propertymappings"):
        kinds = {one.path for one in RESOURCES if one.area == area and one.family is not None and one.kind}
        kinds = {one for one in kinds if "_connections/" not in one}
        page = await browser.open(f"/admin/kinds/{area}")
        links = set(re.findall(rf'href="(/admin/records/{area}/[^"]+)"', page.text))
        opened = {link for link in links if re.search(r"/[0-9]+$|/[0-9a-f-]{36}$", link)}
        assert {one for one in kinds if not any(f"records{one}" in link for link in opened)} == set(), area
        for link in sorted(opened):
            answer = await browser.open(link)
            assert answer.status_code == 200, link
            assert 'name="name"' in answer.text, link
    for path, name in (
        ("policies/bindings", "Binding: membership"),
        ("flows/bindings", "Stage in a flow: ask"),
        ("core/authenticated_sessions", "Session: "),
    ):
        page = await browser.open(f"/admin/records/{path}?limit=100")
        rows = re.findall(rf'<th scope="row"><a href="(/admin/records/{path}/[^"]+)">([^<]+)</a>', page.text)
        assert rows
        assert not any(re.fullmatch("[0-9a-f-]{36}", words) for _, words in rows)
        [first, *_] = [link for link, words in rows if words.startswith(name)]
        assert f"<h1>{name}" in (await browser.open(first)).text
    events = (await browser.open("/admin/records/audit/events?search=login")).text
    assert not re.search(r"<td>(stages|core|providers|policies)\.", events)
    assert "<td>Signing in</td>" in events
    flow = await browser.open("/admin/flows/our-way-in")
    steps = re.findall(r'href="(/admin/records/stages/[^"]+(?<!/new))"', flow.text)
    assert any("/prompt/stages/" in link for link in steps)
    for link in steps:
        assert (await browser.open(link)).status_code == 200, link


async def test_a_record_is_made_changed_and_deleted(town: Town, browser: Browser) -> None:
    owner = await enter(town, browser)
    await browser.open("/admin/records/policies/password/new")
    await browser.press("/new", name="long words", length_min="14", error_message="Too short & too simple")
    assert browser.path == "/admin/records/policies/password"
    assert "long words" in browser.page.text

    found = (await owner.get("/api/v2/policies/password/?search=long words")).json()["results"]
    assert [(one["length_min"], one["error_message"]) for one in found] == [(14, "Too short & too simple")]
    place = f"/admin/records/policies/password/{found[0]['pk']}"
    await browser.open(place)
    assert 'value="14"' in browser.page.text
    await browser.press(found[0]["pk"], length_min="many")
    assert browser.page.status_code == 400
    assert "A valid integer is required." in browser.page.text
    await browser.open(place)
    await browser.press(found[0]["pk"], length_min="16")
    assert (await owner.get(f"/api/v2/policies/password/{found[0]['pk']}/")).json()["length_min"] == 16
    await browser.open(place)
    await browser.submit(1)
    assert (await owner.get(f"/api/v2/policies/password/{found[0]['pk']}/")).status_code == 404


async def test_lists_are_searched_sorted_and_paged(town: Town, browser: Browser) -> None:
    await enter(town, browser)
    for number in range(3):
        await town.sign_up(f"sorted_{number}")
    page = (await browser.open("/admin/records/core/users?search=sorted_&ordering=-username")).text
    assert [page.index(f"sorted_{number}</a>") for number in (2, 1, 0)] == sorted(
        page.index(f"sorted_{number}</a>") for number in (2, 1, 0)
    )
    assert "1 to 3 of 3" in page
    assert "Nothing was found." in (await browser.open("/admin/records/core/users?search=nobody_at_all")).text


@pytest.mark.parametrize(
    "path", ["/admin/records/nowhere", "/admin/records/core/users/999999", "/admin/kinds/nothing", "/admin/records/"]
)
async def test_what_is_not_there_is_not_found(town: Town, browser: Browser, path: str) -> None:
    await enter(town, browser)
    assert (await browser.open(path)).status_code == 404


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("name", "Name"),
        ("meta_launch_url", "Meta launch URL"),
        ("_redirect_uris", "Redirect URIs"),
        ("acs_url", "ACS URL"),
        ("idp_issuer", "IdP issuer"),
    ],
)
def test_names_become_words(name: str, label: str) -> None:
    assert label_of(name) == label

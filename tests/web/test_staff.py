"""The pages of those who run the server."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest

from tests.town import Person, Town
from tests.web.browsing import Browser
from tests.web.test_flows import flow_of, made, word

PAGES = (
    "/staff/",
    "/staff/refusals/",
    "/staff/flows/",
    "/staff/policies/",
    "/staff/flows/default-authentication-flow/",
)
CODE = re.compile(r"Error code: ([2-9A-Z]{4}-[2-9A-Z]{4})\. Give it to the administrators")


@pytest.fixture
async def staff(town: Town) -> AsyncIterator[tuple[Browser, Person]]:
    """An administrator who is signed in."""
    owner, browser = await town.owner(), Browser(town)
    await browser.sign_in(owner.username, owner.password)
    yield browser, owner
    await browser.close()


@pytest.fixture
async def visitor(town: Town) -> AsyncIterator[Browser]:
    browser = Browser(town)
    yield browser
    await browser.close()


async def test_only_superusers_find_the_staff_pages(
    town: Town, staff: tuple[Browser, Person], visitor: Browser
) -> None:
    browser, owner = staff
    ada, grace = await town.sign_up(), await town.sign_up()
    [found] = (await owner.get("/api/v2/core/users/", params={"username": grace.username})).json()["results"]
    group = await made(owner, "/core/groups/", name=word(), is_superuser=True)
    joined = await owner.call("PATCH", f"/api/v2/core/users/{found['pk']}/", json={"groups": [group["pk"]]})
    assert joined.status_code == 200, joined.text

    for path in PAGES:
        assert (await visitor.open(path)).status_code == 404, path
    await visitor.sign_in(ada.username, ada.password)
    assert 'href="/staff/"' not in visitor.page.text
    for path in PAGES:
        assert (await visitor.open(path)).status_code == 404, path
    token = visitor.cookie("kith_csrf") or ""
    tried = await visitor.http.post(PAGES[-1], data={"csrf": token, "user": ada.username})
    assert tried.status_code == 404
    for path in PAGES:
        assert (await browser.open(path)).status_code == 200, path
    assert 'href="/staff/"' in browser.page.text
    mighty = Browser(town)
    await mighty.sign_in(grace.username, grace.password)
    assert 'href="/admin"' in mighty.page.text
    assert (await mighty.open("/staff/")).status_code == 200
    await mighty.close()


async def test_a_refusal_is_looked_up_by_the_code_that_was_shown(
    staff: tuple[Browser, Person], visitor: Browser
) -> None:
    browser, owner = staff
    slug = await flow_of(owner, denied_action="message")
    [flow] = (await owner.get("/api/v2/flows/instances/", params={"slug": slug})).json()["results"]
    policy = await made(
        owner, "/policies/expression/", name=word(), expression='print("<seen>")\nak_message("Not you.")\nreturn False'
    )
    await made(owner, "/policies/bindings/", target=flow["pbm_uuid"], policy=policy["pk"], order=0)

    refused = await visitor.open(f"/flows/{slug}/")
    shown = CODE.search(refused.text)
    assert refused.status_code == 403
    assert shown is not None
    found = await browser.open(f"/staff/refusals/?code={shown[1].lower().replace('-', '')}")
    unknown = await browser.http.get("/staff/refusals/?code=22222222")
    listed = await browser.http.get("/staff/refusals/")

    assert found.status_code == 200
    assert found.url.path == f"/staff/refusals/{shown[1].replace('-', '')}"
    for words in ("Not you.", policy["name"], "&lt;seen&gt;", "127.0.0.1", "The flow&#39;s policies refused."):
        assert words in found.text, words
    assert unknown.status_code == 404
    assert "There is no record for this code" in unknown.text
    assert shown[1] in listed.text
    assert (await browser.open("/staff/refusals/nothing")).status_code == 404


async def test_a_page_that_is_refused_has_a_code_too(
    town: Town, staff: tuple[Browser, Person], visitor: Browser
) -> None:
    browser, _ = staff
    ada = await town.sign_up()
    await visitor.sign_in(ada.username, ada.password)

    owners_only = await visitor.open("/settings/impersonate")
    forged = await visitor.http.post("/settings/language", data={"csrf": "x.y", "language": "de"})
    as_json = await visitor.http.post("/settings/language", json={"language": "de"})
    shown, unasked = CODE.search(owners_only.text), CODE.search(forged.text)
    assert shown is not None
    assert unasked is not None
    found = await browser.open(f"/staff/refusals/{shown[1]}")
    said = await town.kith("why", as_json.json()["code"])

    assert owners_only.status_code == forged.status_code == as_json.status_code == 403
    for words in (ada.username, "Only an owner may view this server as another person", "/settings/impersonate"):
        assert words in found.text, words
    assert "CSRF" in said


async def test_a_stage_that_breaks_shows_its_code_and_staff_where_it_broke(
    staff: tuple[Browser, Person], visitor: Browser
) -> None:
    browser, owner = staff
    slug = await flow_of(owner, await made(owner, "/stages/dummy/", name=word(), throw_error=True))
    await visitor.open(f"/flows/{slug}/")

    page = await visitor.submit()
    shown = CODE.search(page.text)
    assert shown is not None
    found = await browser.open(f"/staff/refusals/{shown[1]}")

    assert page.status_code == 500
    assert "RuntimeError" not in page.text
    assert "RuntimeError: a dummy stage was told to fail" in found.text
    assert "Traceback (most recent call last)" in found.text


async def test_a_flow_is_tried_out_on_a_page(town: Town, staff: tuple[Browser, Person]) -> None:
    browser, owner = staff
    ada = await town.sign_up()
    stage = await made(owner, "/stages/dummy/", name=word())
    slug = await flow_of(owner, stage, authentication="require_authenticated")
    page = f"/staff/flows/{slug}/"

    await browser.open("/staff/flows/")
    assert f'href="{page}"' in browser.page.text
    await browser.open(page)
    nobody = await browser.submit()
    wrong = await browser.submit(user="nobody-of-this-name", context="[1]")
    tried = await browser.submit(user=ada.username, context='{"colour": "blue"}')
    forged = await browser.http.post(page, data={"user": ada.username})

    assert "They cannot use this flow." in nobody.text
    assert wrong.status_code == 400
    assert "There is no user with this name." in wrong.text
    assert "This is not a JSON object" in wrong.text
    assert tried.status_code == 200
    assert "They can use this flow." in tried.text
    assert stage["name"] in tried.text
    assert "always runs" in tried.text
    assert forged.status_code == 403


async def test_a_policy_is_tried_out_on_a_page(town: Town, staff: tuple[Browser, Person]) -> None:
    browser, owner = staff
    ada = await town.sign_up()
    expression = (
        f'print("about", user and user.username)\nreturn user is not None and user.username == "{ada.username}"'
    )
    policy = await made(owner, "/policies/expression/", name=word(), expression=expression)
    await browser.open("/staff/policies/")
    assert f'href="/staff/policies/{policy["pk"]}/"' in browser.page.text

    await browser.open(f"/staff/policies/{policy['pk']}/")
    passes = await browser.submit(user=ada.username)
    fails = await browser.submit(user="")

    assert "The policy passes." in passes.text
    assert f"about {ada.username}" in passes.text
    assert "The policy does not pass." in fails.text
    assert (await browser.open("/staff/policies/nothing/")).status_code == 404

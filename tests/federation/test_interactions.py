"""The page to which other servers lead their visitors: somebody or something from elsewhere, to be followed here."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import quote

import pytest

from tests.federation.neighbour import Neighbour, neighbour
from tests.social.members import join
from tests.town import Town, build_town
from tests.town.town import Engine
from tests.web.browsing import Browser

PAGE = "/authorize_interaction"


@pytest.fixture(scope="module")
async def here(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    async with build_town(engine, tmp_path_factory.mktemp("here"), private_hosts="127.0.0.1") as built:
        yield built


@pytest.fixture
async def near() -> AsyncIterator[Neighbour]:
    async with neighbour() as one:
        yield one


@pytest.fixture
async def browser(here: Town) -> AsyncIterator[Browser]:
    made = Browser(here)
    yield made
    await made.close()


async def test_webfinger_names_the_page(here: Town) -> None:
    ada = await join(here)
    resource = f"acct:{ada.name}@127.0.0.1:{here.port}"

    links = (await here.http.get("/.well-known/webfinger", params={"resource": resource})).json()["links"]

    templates = [one["template"] for one in links if one["rel"] == "http://ostatus.org/schema/1.0/subscribe"]
    assert templates == [f"{here.base_url}{PAGE}?uri={{uri}}"]


@pytest.mark.parametrize("way", ["address", "page", "handle", "acct"])
async def test_somebody_is_followed_after_signing_in(here: Town, near: Neighbour, browser: Browser, way: str) -> None:
    # given
    ada, carol = await join(here), near.person("carol", summary="<p>Bakes <script>x()</script></p>")
    near.serves("/@carol", carol.document)
    asked = {
        "address": carol.uri,
        "page": f"{near.url}/@carol",
        "handle": f"@{carol.handle}",
        "acct": f"acct:{carol.handle}",
    }[way]

    # when
    await browser.open(f"{PAGE}?uri={quote(asked, safe='')}")
    assert "/flows/" in browser.path
    await browser.submit(uid_field=ada.name)
    await browser.submit(password=f"correct horse {ada.name}")

    # then
    assert browser.page.status_code == 200
    assert browser.path.startswith(PAGE)
    assert f"@{carol.handle}" in browser.page.text
    assert "x()" not in browser.page.text
    await browser.press(PAGE)
    assert "You have asked to follow this account." in browser.page.text
    await near.receives("Follow")


async def test_a_post_is_shown(here: Town, near: Neighbour, browser: Browser) -> None:
    ada, carol = await join(here), near.person("carol")
    note = carol.note("1", "Fresh bread")
    await browser.sign_in(ada.name, f"correct horse {ada.name}")

    await browser.open(f"{PAGE}?uri={quote(note['id'], safe='')}")

    assert browser.page.status_code == 200
    assert "Fresh bread" in browser.page.text
    found = await ada.get("/api/v2/search", params={"q": note["id"], "resolve": "true"})
    assert [one["uri"] for one in found["statuses"]] == [note["id"]]


async def test_the_address_of_an_activity_shows_the_post(here: Town, near: Neighbour, browser: Browser) -> None:
    ada, carol = await join(here), near.person("carol")
    note = carol.note("7", "Fresh rolls")
    near.serves("/users/carol/statuses/7/activity", carol.create(note))
    said = await ada.post("/api/v1/statuses", json={"status": "Stale bread"})
    await browser.sign_in(ada.name, f"correct horse {ada.name}")

    for address, words in ((note["id"], "Fresh rolls"), (said["uri"], "Stale bread"), (said["url"], "Stale bread")):
        await browser.open(f"{PAGE}?uri={quote(f'{address}/activity', safe='')}")
        assert words in browser.page.text


async def test_what_leads_nowhere_is_not_found(here: Town, near: Neighbour, browser: Browser) -> None:
    ada = await join(here)
    await browser.sign_in(ada.name, f"correct horse {ada.name}")

    for asked in (f"{near.url}/nothing", f"@nobody@{near.domain}", "", "what?", "http://192.0.2.1/x", "\0"):
        await browser.open(f"{PAGE}?uri={quote(asked, safe='')}")
        assert browser.page.status_code == 404, asked
    refused = await browser.http.post(PAGE, data={"id": "1"})
    assert refused.status_code == 403


async def test_one_does_not_follow_oneself(here: Town, browser: Browser) -> None:
    ada = await join(here)
    await browser.sign_in(ada.name, f"correct horse {ada.name}")

    await browser.open(f"{PAGE}?uri={quote(ada.me['uri'], safe='')}")

    assert "This is you." in browser.page.text
    assert not [form for form in browser.forms() if form.action.endswith(PAGE)]

"""The client as an app among a person's others."""

from __future__ import annotations

from tests.social.members import join
from tests.town import Town
from tests.web.browsing import Browser
from tests.web.scenery import person_of


async def test_what_is_shared_from_elsewhere_begins_a_post(town: Town, browser: Browser) -> None:
    ada = await join(town)
    await browser.sign_in(ada.name, person_of(ada).password)
    assert '<link rel="manifest" href="/manifest.json">' in (await browser.open("/home")).text

    answer = await browser.http.get("/manifest.json")

    assert answer.headers["content-type"] == "application/manifest+json"
    told = answer.json()
    for address in (
        told["start_url"],
        *(one["src"] for one in told["icons"]),
        *(one["url"] for one in told["shortcuts"]),
    ):
        assert (await browser.http.get(address)).status_code == 200, address
    target = told["share_target"]
    said = {target["params"]["title"]: "A <b>title", target["params"]["url"]: "https://example.org/x"}
    page = await browser.http.request(target["method"], target["action"], params=said)
    assert "A &lt;b&gt;title\n\nhttps://example.org/x</textarea>" in page.text


async def test_the_manifest_speaks_the_readers_language(town: Town, browser: Browser) -> None:
    answer = await browser.http.get("/manifest.json", headers={"accept-language": "de"})
    assert answer.json()["lang"] == "de"
    assert "Benachrichtigungen" in {one["name"] for one in answer.json()["shortcuts"]}

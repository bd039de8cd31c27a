"""What the team decided about somebody: they read it and appeal, also when they may not come in any more."""

from __future__ import annotations

import pytest

from kith.social.moderation.appeal_keys import appeal_key
from kith.web.known_paths import LEADS_TO
from tests.social.staff import employ
from tests.town import Town
from tests.web.browsing import Browser
from tests.web.conftest import NewBrowser
from tests.web.test_client import signed_in


async def act_on(town: Town, account: str, kind: str, text: str) -> None:
    owner = await employ(town, "owner")
    done = await owner.call("POST", f"/api/v1/admin/accounts/{account}/action", json={"type": kind, "text": text})
    assert done.status_code == 200, done.text


async def test_members_read_what_was_decided_and_appeal_once(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    await browser.open("/disputes/strikes")
    assert "There are none." in browser.page.text
    await act_on(town, ada.id, "silence", "Too <loud>")
    [strike] = await ada.get("/api/v1/strikes")
    place = f"/disputes/strikes/{strike['id']}"

    await browser.open("/disputes/strikes")
    assert place in browser.page.text
    await browser.open(place)
    assert "Too &lt;loud&gt;" in browser.page.text
    refused = await browser.press(place, text=" ")
    assert refused.status_code == 422
    await browser.press(place, text="I <whispered>")

    assert "Your appeal was sent." in browser.page.text
    assert "I &lt;whispered&gt;" in browser.page.text
    assert 'name="text"' not in browser.page.text
    [appealed] = await ada.get("/api/v1/strikes")
    assert appealed["appeal"] == {"text": "I <whispered>", "state": "pending"}


async def test_nobody_reads_what_was_decided_about_others(
    town: Town, browser: Browser, new_browser: NewBrowser
) -> None:
    ada = await signed_in(town, browser)
    await act_on(town, ada.id, "none", "Quiet, please")
    [strike] = await ada.get("/api/v1/strikes")
    other = new_browser()
    await signed_in(town, other)

    assert (await other.open(f"/disputes/strikes/{strike['id']}")).status_code == 404
    assert (await other.open(f"/appeal/{strike['id']}/{'0' * 40}")).status_code == 404


async def test_who_may_not_come_in_appeals_with_the_key(town: Town, browser: Browser, new_browser: NewBrowser) -> None:
    ada = await signed_in(town, browser)
    await act_on(town, ada.id, "none", "first")
    [strike] = await ada.get("/api/v1/strikes")
    await act_on(town, ada.id, "suspend", "Goodbye")
    async with town.house() as house, house.works.begin() as work:
        key = appeal_key(work, int(strike["id"]))
    stranger = new_browser()

    await stranger.open(f"/appeal/{strike['id']}/{key}")
    assert "first" in stranger.page.text
    assert (await stranger.press("", text="")).status_code == 422
    await stranger.press("", text="Please look again")

    assert "The team looks at your appeal." in stranger.page.text
    owner = await employ(town, "owner")
    texts = [one["text"] for one in await owner.get("/api/v1/admin/appeals")]
    assert "Please look again" in texts


async def test_addresses_that_people_know_lead_to_a_page(town: Town, browser: Browser) -> None:
    await signed_in(town, browser)
    for known in (*LEADS_TO, "/web/home", "/deck/notifications"):
        answer = await browser.open(known)
        # 403 of pages of the team that exist, 404 of those that do not.
        assert answer.status_code in ((404, 403) if known.startswith("/admin") else (200,)), known
        assert browser.path != known


@pytest.mark.parametrize("path", ["/web//elsewhere.example/", "/deck//elsewhere.example", "/web/\\elsewhere.example"])
async def test_known_addresses_lead_nowhere_else(town: Town, path: str) -> None:
    answer = await town.http.get(path, follow_redirects=False)
    assert answer.headers.get("location", "/").startswith("/")
    assert not answer.headers.get("location", "/").startswith(("//", "/\\"))

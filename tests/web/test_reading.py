"""How members wish to read and write: their time zone, what is open, what is filtered, and what the short form knows."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from kith.web.time_zones import said_in, zone_named, zones_by_region
from tests.social.members import Member, join, set_state
from tests.social.posts import post, settle
from tests.social.samples import image_file
from tests.town import Town
from tests.web.browsing import Browser
from tests.web.test_client import press, signed_in

SUMMER = datetime(2026, 7, 1, 22, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "words"),
    [
        ("", "2026-07-01 22:30 UTC"),
        ("Europe/Berlin", "2026-07-02 00:30 CEST"),
        ("America/Sao_Paulo", "2026-07-01 19:30 UTC-03"),
        ("../../etc/passwd", "2026-07-01 22:30 UTC"),
        ("Nowhere/At_all", "2026-07-01 22:30 UTC"),
    ],
)
def test_a_moment_in_a_zone(zone: str, words: str) -> None:
    assert said_in(SUMMER, zone) == words


def test_zones_are_offered_by_region() -> None:
    regions = dict(zones_by_region())
    assert ("Europe/Berlin", "Berlin") in regions["Europe"]
    assert all(zone_named(name) is not UTC for names in regions.values() for name, _ in names)


async def prefer(browser: Browser, **fields: str) -> None:
    await browser.open("/settings/preferences")
    await browser.press("/settings/preferences", **{"timezone": "", **fields})
    assert 'class="notice success"' in browser.page.text


async def test_moments_are_told_and_typed_in_the_chosen_zone(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    said = await post(ada, "When?")
    await prefer(browser, timezone="Asia/Tokyo", page_language="de")
    await prefer(browser, timezone="Asia/Nowhere")

    await browser.open(f"/@{ada.name}/{said['id']}")
    assert 'lang="de"' in browser.page.text
    assert 'data-zone="Asia/Tokyo"' in browser.page.text
    assert f"{said_in(datetime.fromisoformat(said['created_at']), 'Asia/Tokyo')}</time>" in browser.page.text
    await browser.open("/publish")
    assert "In der Zeitzone Asia/Tokyo." in browser.page.text
    await browser.press("/publish", status="Later", scheduled_at="2037-03-01T09:00")
    [planned] = await ada.get("/api/v1/scheduled_statuses")
    assert planned["scheduled_at"].startswith("2037-03-01T00:00:00")
    assert 'value="2037-03-01T09:00"' in browser.page.text

    await prefer(browser, timezone="")
    await browser.open(f"/@{ada.name}/{said['id']}")
    assert " UTC</time>" in browser.page.text


async def picture(member: Member) -> str:
    file = {"file": ("a.png", image_file("PNG"), "image/png")}
    made = await member.post("/api/v2/media", files=file)
    return str(made["id"])


async def test_media_and_warnings_are_open_as_preferred(town: Town, browser: Browser) -> None:
    ada, bob = await signed_in(town, browser), await join(town)
    await post(bob, "Behind", spoiler_text="A warning", media_ids=[await picture(bob)])
    await post(bob, "Bare", sensitive=True, media_ids=[await picture(bob)])
    await post(bob, "Plain", media_ids=[await picture(bob)])

    async def veils() -> tuple[int, int]:
        await browser.open(f"/@{bob.name}")
        found = re.findall(r'<details class="veil"( open)?>', browser.page.text)
        return len(found), sum(1 for is_open in found if is_open)

    assert await veils() == (2, 0)
    await ada.patch("/api/v1/preferences", json={"reading:expand:media": "show_all", "reading:expand:spoilers": True})
    assert await veils() == (1, 1)
    await ada.patch("/api/v1/preferences", json={"reading:expand:media": "hide_all"})
    assert await veils() == (4, 1)


async def test_filters_do_what_they_say_where_they_say_it(town: Town, browser: Browser) -> None:
    ada, bob = await signed_in(town, browser), await join(town)
    await ada.to(bob, "follow")
    await settle(town)
    await post(bob, "About zebras")
    await post(bob, "About yaks", media_ids=[await picture(bob)])
    await settle(town)
    rules = [("zebras", "hide", "public"), ("zebras", "warn", "account"), ("yaks", "blur", "home")]
    for word, action, context in rules:
        words = {"title": f"No {word}", "context": [context], "filter_action": action}
        await ada.post("/api/v2/filters", json={**words, "keywords_attributes": [{"keyword": word}]})

    def seen(page: str) -> tuple[bool, bool, bool]:
        return "About zebras" in page, "Filtered: No zebras" in page, "Filtered: No yaks" in page

    assert seen((await browser.open("/home")).text) == (True, False, True)
    assert seen((await browser.open("/public/local")).text) == (False, False, False)
    assert seen((await browser.open(f"/@{bob.name}")).text) == (True, True, False)


async def test_the_short_form_holds_to_preferences_and_grows(town: Town, browser: Browser) -> None:
    """With what was typed, and a file that was chosen."""
    ada = await signed_in(town, browser)
    wishes = {"posting:default:visibility": "private", "posting:default:quote_policy": "nobody"}
    await ada.patch("/api/v1/preferences", json={**wishes, "posting:default:language": "fr"})
    await browser.open("/home")
    await browser.press("/publish", status="Bonjour")
    [said, *_] = await ada.get(f"/api/v1/accounts/{ada.id}/statuses")
    assert (said["visibility"], said["language"]) == ("private", "fr")
    assert said["quote_approval"]["automatic"] == []

    form = {"csrf": browser.cookie("kith_csrf") or "", "status": "Not yet", "visibility": "unlisted", "more": "true"}
    form |= {"new_descriptions[]": "All green", "next": "/home"}
    files = {"files[]": ("a.png", image_file("PNG"), "image/png")}
    browser.page = await browser.http.post("/publish", data=form, files=files)
    assert browser.page.status_code == 200
    [whole] = [one for one in browser.forms() if one.action == "/publish"]
    assert (whole.values["status"], whole.values["visibility"]) == ("Not yet", "unlisted")
    assert (whole.values["language"], whole.values["quote_approval_policy"]) == ("fr", "nobody")
    assert "All green</textarea>" in browser.page.text
    assert len(await ada.get(f"/api/v1/accounts/{ada.id}/statuses")) == 1


async def test_what_is_between_two_people_stands_on_the_profile(town: Town, browser: Browser) -> None:
    ada, bob = await signed_in(town, browser), await join(town)
    await browser.open(f"/@{bob.name}")
    await browser.press(f"/{bob.id}/note", comment="Met at the <market>")
    assert "Met at the &lt;market&gt;</textarea>" in browser.page.text
    await browser.press(f"/{bob.id}/mute", duration="3600", notifications="false")
    assert "You have muted this account" in browser.page.text
    [between] = await ada.get("/api/v1/accounts/relationships", params={"id": bob.id})
    assert (between["muting"], between["muting_notifications"]) == (True, False)
    await press(browser, f"/{bob.id}/block")
    assert "You have blocked this account" in browser.page.text
    await set_state(town, bob.id, lambda work: {"suspended_at": work.now})
    await browser.open(f"/@{bob.name}")
    assert browser.page.status_code == 403
    assert "have suspended this account" in browser.page.text


async def test_a_refusal_is_told_in_the_language_of_the_page_and_leads_back(town: Town, browser: Browser) -> None:
    await signed_in(town, browser)
    bob = await join(town)
    said = await post(bob, "Soup or salad?", poll={"options": ["Soup", "Salad"], "expires_in": 3600})
    await prefer(browser, page_language="de")
    await browser.open(f"/@{bob.name}/{said['id']}")
    await browser.press("/votes", **{"choices[]": "7"})
    assert browser.page.status_code == 422
    assert f'href="/@{bob.name}/{said["id"]}#post-{said["id"]}">Zurück' in browser.page.text
    await browser.open("/publish")
    await browser.press("/publish", status="x" * 501)
    assert "Gültigkeitsprüfung fehlgeschlagen: " not in browser.page.text
    assert "Validation failed" not in browser.page.text
    assert 'role="alert"' in browser.page.text


def shows_share(share: str, page: str) -> bool:
    """Not in an address, where what follows an id may be written with a percent sign."""
    return re.search(rf"\b{share}(?![0-9A-F]{{2}})", page) is not None


async def test_results_are_seen_without_a_vote_unless_they_are_kept_back(town: Town, browser: Browser) -> None:
    await signed_in(town, browser)
    bob, cy = await join(town), await join(town)
    for hidden in (False, True):
        poll = {"options": ["Soup", "Salad"], "expires_in": 3600, "hide_totals": hidden}
        said = await post(bob, "Soup or salad?", poll=poll)
        await cy.does("POST", f"/api/v1/polls/{said['poll']['id']}/votes", json={"choices": [1]})
        page = (await browser.open(f"/@{bob.name}/{said['id']}")).text
        assert ("See results" in page) is not hidden
        assert shows_share("100%", page) is not hidden
        await browser.press("/votes", **{"choices[]": "0"})
        page = (await browser.open(f"/@{bob.name}/{said['id']}")).text
        assert "your vote" in page
        assert shows_share("50%", page) is not hidden

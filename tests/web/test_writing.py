"""What one does with one's posts and other people's on pages: delete, write anew, plan, report, quote, translate."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kith.web.client.drafts import moment_of
from tests.social.members import Member, join, stranger
from tests.social.posts import does, post, said_elsewhere
from tests.social.samples import image_file
from tests.town import Town
from tests.web.browsing import Browser
from tests.web.test_client import press, signed_in


def address(author: Member, said: dict[str, Any]) -> str:
    return f"/@{author.name}/{said['id']}"


async def is_there(reader: Member, said: dict[str, Any]) -> bool:
    return (await reader.call("GET", f"/api/v1/statuses/{said['id']}")).status_code == 200


async def test_deleting_asks_first(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    said = await post(ada, "Not my best")
    await browser.open(f"{address(ada, said)}/delete")
    assert "Not my best" in browser.page.text
    assert await is_there(ada, said)

    await browser.press(f"/statuses/{said['id']}")

    assert browser.path == f"/@{ada.name}"
    assert not await is_there(ada, said)


async def test_what_is_not_ones_own_is_neither_deleted_nor_written_anew(town: Town, browser: Browser) -> None:
    await signed_in(town, browser)
    bob = await join(town)
    said = await post(bob, "Mine")
    for verb in ("delete", "redraft", "edit"):
        assert (await browser.open(f"{address(bob, said)}/{verb}")).status_code == 404


async def test_a_post_stays_until_what_replaces_it_is_sent(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    files = {"file": ("a.png", image_file("PNG"), "image/png")}
    medium = await ada.post("/api/v1/media", files=files)
    said = await post(ada, "A frist try", media_ids=[medium["id"]], visibility="unlisted")
    await browser.open(f"{address(ada, said)}/redraft")
    assert await is_there(ada, said)
    refused = await browser.press("/publish", status="x" * 501)
    assert refused.status_code == 422
    assert "character limit" in refused.text
    assert await is_there(ada, said), "what is refused replaces nothing"

    await browser.press("/publish", **{"status": "A first try", f"descriptions[{medium['id']}]": "Red and blue"})

    assert not await is_there(ada, said)
    [new] = await ada.get(f"/api/v1/accounts/{ada.id}/statuses")
    assert (new["content"], new["visibility"]) == ("<p>A first try</p>", "unlisted")
    [kept] = new["media_attachments"]
    assert (kept["id"], kept["description"]) == (medium["id"], "Red and blue")
    assert 'alt="Red and blue"' in (await browser.open(f"/@{ada.name}")).text


async def test_a_poll_closes_when_it_would_have_though_its_post_is_edited(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    said = await post(ada, "Wich one?", poll={"options": ["This", "That"], "expires_in": 604800})
    answers: Any = {"poll[options][]": ["This", "That"]}
    await browser.open(f"{address(ada, said)}/edit")
    await browser.press("/publish", status="Which one?", **answers)
    now = await ada.get(f"/api/v1/statuses/{said['id']}")
    assert now["content"] == "<p>Which one?</p>"
    assert now["poll"]["expires_at"] == said["poll"]["expires_at"]

    await browser.open(f"{address(ada, said)}/edit")
    await browser.press("/publish", **answers, **{"poll[expires_in]": "300"})
    assert (await ada.get(f"/api/v1/statuses/{said['id']}"))["poll"]["expires_at"] < said["poll"]["expires_at"]


async def test_files_keep_their_description_and_focus_when_the_post_was_refused(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    await browser.open("/publish")
    [form] = [one for one in browser.forms() if one.action == "/publish"]
    sent = {**form.values, "status": "x" * 501, "new_descriptions[]": "Two colours"}
    del sent["files[]"]
    files = {"files[]": ("a.png", image_file("PNG"), "image/png")}
    browser.page = await browser.http.post("/publish", data=sent, files=files)
    assert browser.page.status_code == 422
    [id] = re.findall(r'name="media_ids\[\]" value="(\d+)"', browser.page.text)
    assert ">Two colours</textarea>" in browser.page.text

    await browser.press("/publish", **{"status": "Short", f"focus[{id}]": "0,1"})

    [said] = await ada.get(f"/api/v1/accounts/{ada.id}/statuses")
    [medium] = said["media_attachments"]
    assert (medium["id"], medium["description"]) == (id, "Two colours")
    assert medium["meta"]["focus"] == {"x": 0.0, "y": 1.0}


async def test_scripts_are_told_what_became_of_the_form(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    await browser.open("/publish?next=/public/local")
    [form] = [one for one in browser.forms() if one.action == "/publish"]
    asks = {"Accept": "application/json"}

    refused = await browser.http.post("/publish", data={**form.values, "status": ""}, headers=asks)
    made = await browser.http.post("/publish", data={**form.values, "status": "By a script"}, headers=asks)

    assert refused.status_code == 422
    assert refused.json()["error"] == "Validation failed: Text can't be blank"
    [said] = await ada.get(f"/api/v1/accounts/{ada.id}/statuses")
    assert made.json() == {"id": said["id"], "to": f"/public/local#post-{said['id']}"}


async def test_the_history_of_a_post_is_shown_to_everybody(town: Town, browser: Browser) -> None:
    ada = await join(town)
    said = await post(ada, "Soup today", spoiler_text="Food")
    await ada.does("PUT", f"/api/v1/statuses/{said['id']}", json={"status": "Salad <b>today</b>"})

    answer = await browser.open(f"{address(ada, said)}/history")

    assert answer.status_code == 200, answer.text
    first, second = answer.text.index("Salad &lt;b&gt;today"), answer.text.index("Soup today")
    assert first < second
    assert "Food" in answer.text


async def test_a_planned_post_is_moved_and_cancelled(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    assert "no scheduled posts" in (await browser.open("/scheduled")).text
    at = datetime.now(UTC).replace(microsecond=0, second=0) + timedelta(days=2)
    await browser.open("/publish")
    await browser.press("/publish", status="Later", scheduled_at=f"{at:%Y-%m-%dT%H:%M}")
    assert browser.path == "/scheduled"
    [planned] = await ada.get("/api/v1/scheduled_statuses")

    refused = await browser.press(f"/scheduled/{planned['id']}", scheduled_at="2020-01-01T10:00")
    assert refused.status_code == 422
    assert "must be in the future" in refused.text
    later = at + timedelta(hours=1)
    await browser.press(f"/scheduled/{planned['id']}", scheduled_at=f"{later:%Y-%m-%dT%H:%M}", zone="Africa/Lagos")

    [moved] = await ada.get("/api/v1/scheduled_statuses")
    assert datetime.fromisoformat(moved["scheduled_at"]) == at
    [cancel] = re.findall(r'form="act-delete" formaction="([^"]+)"', browser.page.text)
    await browser.http.post(cancel, data={"csrf": browser.cookie("kith_csrf"), "_method": "DELETE"})
    assert await ada.get("/api/v1/scheduled_statuses") == []


@pytest.mark.parametrize(
    ("local", "zone", "moment"),
    [
        ("", "Europe/Berlin", ""),
        ("2026-11-16T10:00", "", "2026-11-16T10:00:00+00:00"),
        ("2026-11-16T10:00", "Europe/Berlin", "2026-11-16T09:00:00+00:00"),
        ("2026-07-16T10:00", "Europe/Berlin", "2026-07-16T08:00:00+00:00"),
        ("2026-11-16T10:00", "America/New_York", "2026-11-16T15:00:00+00:00"),
        ("2026-11-16T10:00", "Never/Never", "2026-11-16T10:00:00+00:00"),
    ],
)
def test_local_times_become_moments(local: str, zone: str, moment: str) -> None:
    """Also half a year ahead, when clocks are set differently."""
    assert moment_of(local, zone) == moment


async def test_somebody_is_reported_with_their_posts(town: Town, browser: Browser) -> None:
    ada, bob = await signed_in(town, browser), await join(town)
    said, other = await post(bob, "Buy my pills"), await post(bob, "Buy more of them")
    await browser.open(f"/report?account={bob.id}&status={said['id']}")
    assert "Buy more of them" in browser.page.text
    assert browser.page.text.count("checked") == 1

    too_long = await browser.press("/report", category="spam", comment="x" * 1001)
    assert too_long.status_code == 422
    assert "is too long" in too_long.text
    [form] = [one for one in browser.forms() if one.action == "/report"]
    sent = {**form.values, "comment": "Every day", "category": "spam", "statuses[]": [said["id"], other["id"]]}
    browser.page = await browser.http.post("/report", data=sent)

    assert "Thank you" in browser.page.text
    [report] = await ada.get("/api/v1/reports")
    assert (report["category"], report["comment"]) == ("spam", "Every day")
    assert sorted(report["status_ids"]) == sorted([said["id"], other["id"]])
    await press(browser, f"/{bob.id}/mute")
    assert (await ada.sees(bob))["muting"]


async def test_reports_of_people_elsewhere_are_forwarded_if_one_wishes(town: Town, browser: Browser) -> None:
    ada, far = await signed_in(town, browser), await stranger(town)
    said = await said_elsewhere(town, far, "Elsewhere")
    await browser.open(f"/report?account={far.id}&status={said}")
    assert "elsewhere.example" in browser.page.text

    await browser.press("/report", category="other", forward="true")

    [report] = await ada.get("/api/v1/reports")
    assert (report["forwarded"], report["status_ids"]) == (True, [said])


@pytest.mark.parametrize("query", ["", "?account=x", "?account=99999999"])
async def test_nobody_is_reported_who_is_not_there(town: Town, browser: Browser, query: str) -> None:
    await signed_in(town, browser)
    assert (await browser.open(f"/report{query}")).status_code == 404


async def test_a_quote_is_taken_back_by_whoever_was_quoted(town: Town, browser: Browser) -> None:
    ada, bob = await signed_in(town, browser), await join(town)
    said = await post(ada, "Quote me")
    quoting = await post(bob, "As she said", quoted_status_id=said["id"])
    await browser.open(f"{address(ada, said)}/quotes")
    assert "As she said" in browser.page.text

    await press(browser, f"/statuses/{said['id']}/quotes/{quoting['id']}/revoke")

    assert (await bob.get(f"/api/v1/statuses/{quoting['id']}"))["quote"]["state"] == "revoked"
    assert "Nobody has quoted" in (await browser.open(f"{address(ada, said)}/quotes")).text


async def test_a_quote_shows_files_and_what_a_filter_says_of_it(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    bob = await join(town)
    files = {"file": ("a.png", image_file("PNG"), "image/png")}
    medium = await bob.post("/api/v1/media", files=files, data={"description": "Two colours"})
    said = await post(bob, "", media_ids=[medium["id"]])
    quoting = await post(bob, "Look", quoted_status_id=said["id"])
    shown = (await browser.open(address(bob, quoting))).text
    [card] = re.findall(r'<blockquote class="quoted".*?</blockquote>', shown, re.DOTALL)
    assert 'alt="Two colours"' in card

    said = await post(bob, "Pineapple")
    quoting = await post(bob, "Look", quoted_status_id=said["id"])
    words = [{"keyword": "pineapple"}]
    wish = {"title": "No fruit", "context": ["thread", "home"], "keywords_attributes": words}
    await ada.post("/api/v2/filters", json=wish)
    shown = (await browser.open(address(bob, quoting))).text
    [card] = re.findall(r'<blockquote class="quoted".*?</blockquote>', shown, re.DOTALL)
    assert "<summary>Filtered: No fruit</summary>" in card


async def test_only_what_may_be_quoted_offers_it(town: Town, browser: Browser) -> None:
    await signed_in(town, browser)
    bob = await join(town)
    free = await post(bob, "Free", quote_approval_policy="public")
    mine = await post(bob, "Mine", quote_approval_policy="nobody")
    await browser.open(f"/@{bob.name}")
    assert f"/publish?quote={free['id']}" in browser.page.text
    assert f"/publish?quote={mine['id']}" not in browser.page.text


async def test_own_posts_are_pinned_and_conversations_muted(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    said = await post(ada, "Keep this above")
    await browser.open(address(ada, said))
    await press(browser, f"/{said['id']}/pin")
    await press(browser, f"/{said['id']}/mute")
    seen = await ada.get(f"/api/v1/statuses/{said['id']}")
    assert (seen["pinned"], seen["muted"]) == (True, True)
    await press(browser, f"/{said['id']}/unpin")
    await press(browser, f"/{said['id']}/unmute")
    seen = await ada.get(f"/api/v1/statuses/{said['id']}")
    assert (seen["pinned"], seen["muted"]) == (False, False)


async def test_nothing_is_translated_where_nobody_translates(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    said = await post(ada, "Guten Morgen", language="de")
    await browser.open(address(ada, said))
    assert "/translate" not in browser.page.text
    form = {"csrf": browser.cookie("kith_csrf")}
    assert (await browser.http.post(f"{address(ada, said)}/translate", data=form)).status_code == 422


async def test_a_shared_address_becomes_a_draft(town: Town, browser: Browser) -> None:
    await signed_in(town, browser)
    await browser.open("/share?title=A+%3Cpage%3E&text=Read+this&url=https%3A%2F%2Fexample.org%2F")
    assert "A &lt;page&gt;\n\nRead this\n\nhttps://example.org/</textarea>" in browser.page.text


async def test_who_marked_a_post_is_linked_from_its_page(town: Town, browser: Browser) -> None:
    ada, bob = await signed_in(town, browser), await join(town)
    said = await post(bob, "Look")
    await does(ada, "favourite", said)
    await browser.open(address(bob, said))
    assert f'href="{address(bob, said)}/favourites">1 favourite</a>' in browser.page.text

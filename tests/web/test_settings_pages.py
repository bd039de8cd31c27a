"""What members set for themselves, by links and forms alone."""

from __future__ import annotations

import re

import pytest

from kith.social.roles.tables import EVERYONE
from tests.identity.records import make, new_name, results
from tests.social.members import join
from tests.social.posts import post
from tests.social.staff import employ
from tests.social.test_registration import ask
from tests.town import Town
from tests.web.browsing import Browser
from tests.web.conftest import NewBrowser
from tests.web.test_client import press, signed_in


async def test_settings_are_listed_and_strangers_sign_in_first(town: Town, browser: Browser) -> None:
    await browser.open("/settings/profile")
    assert browser.path.startswith("/flows/")
    await signed_in(town, browser)
    await browser.open("/settings")
    for address in sorted(set(re.findall(r'href="(/settings/[a-z_]+)"', browser.page.text))):
        answer = await browser.open(address)
        assert answer.status_code == 200, address
        assert 'aria-current="page"' in answer.text.partition('class="settings-menu"')[2], address


async def test_a_profile_is_changed_as_a_whole(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    await browser.open("/settings/profile")
    fields = {"display_name": "Ada <L>", "note": "Counts\nmuch", "discoverable": "true", "noindex": "true"}
    await browser.press("/settings/profile", **fields, **{"field_names[]": "Site", "field_values[]": "x.example"})

    assert "Saved." in browser.page.text
    assert "Ada &lt;L&gt;" in browser.page.text
    me = await ada.get("/api/v1/accounts/verify_credentials")
    assert (me["display_name"], me["discoverable"], me["noindex"], me["locked"]) == ("Ada <L>", True, True, False)
    assert me["source"]["note"] == "Counts\nmuch"
    assert [(one["name"], one["value"]) for one in me["source"]["fields"]] == [("Site", "x.example")]
    assert 'content="noindex' in (await browser.open(f"/@{ada.name}")).text


async def test_a_profile_that_is_refused_is_shown_as_it_was_typed(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    await browser.open("/settings/profile")
    answer = await browser.press("/settings/profile", display_name="x" * 41, note="Kept & shown")

    assert answer.status_code == 422
    assert "too long (maximum is 40 characters)" in answer.text
    assert "Kept &amp; shown</textarea>" in answer.text
    assert (await ada.get("/api/v1/accounts/verify_credentials"))["source"]["note"] == ""


async def test_hashtags_are_featured_and_no_longer(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    await browser.open("/settings/profile")
    await browser.press("/v1/featured_tags", name="knitting")
    [tag] = await ada.get("/api/v1/featured_tags")
    assert "#knitting" in browser.page.text
    await press(browser, f"/featured_tags/{tag['id']}", _method="DELETE")
    assert await ada.get("/api/v1/featured_tags") == []


async def test_preferences_are_those_of_the_api(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    await browser.open("/settings/preferences")
    await browser.press(
        "/settings/preferences",
        visibility="unlisted", quote_policy="nobody", language="de", media="show_all", spoilers="true",
        mail_favourite="true", page_language="de", **{"languages[]": "fr"},
    )  # fmt: skip

    assert "Gespeichert." in browser.page.text
    kept = await ada.get("/api/v1/preferences")
    assert (kept["posting:default:visibility"], kept["posting:default:quote_policy"]) == ("unlisted", "nobody")
    assert (kept["posting:default:language"], kept["reading:languages"]) == ("de", ["fr"])
    assert (kept["reading:expand:media"], kept["reading:expand:spoilers"]) == ("show_all", True)
    mails = await ada.get("/api/v1/notifications/emails")
    assert (mails["favourite"], mails["reblog"], mails["mention"]) == (True, False, True)


async def test_a_filter_is_made_changed_and_deleted(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    assert "You have no filters yet" in (await browser.open("/settings/filters")).text
    await browser.open("/settings/filters/new")
    refused = await browser.press("/settings/filters", title="")
    assert refused.status_code == 422
    words = {"words[0][keyword]": "spoon", "words[0][whole]": "true", "words[1][keyword]": "fork"}
    await browser.press("/settings/filters", title="Cutlery", filter_action="hide", expires_in="3600", **words)
    [made] = await ada.get("/api/v2/filters")
    assert (made["title"], made["filter_action"]) == ("Cutlery", "hide")
    assert [(one["keyword"], one["whole_word"]) for one in made["keywords"]] == [("spoon", True), ("fork", True)]

    await browser.open(f"/settings/filters/{made['id']}")
    await browser.press(f"/settings/filters/{made['id']}", **{"words[0][keyword]": ""})
    [changed] = await ada.get("/api/v2/filters")
    assert [one["keyword"] for one in changed["keywords"]] == ["fork"]
    assert changed["expires_at"] == made["expires_at"]
    await press(browser, f"/v2/filters/{made['id']}", _method="DELETE")
    assert await ada.get("/api/v2/filters") == []


@pytest.mark.parametrize(("part", "verb"), [("mutes", "mute"), ("blocks", "block")])
async def test_people_are_taken_off_the_lists(town: Town, browser: Browser, part: str, verb: str) -> None:
    ada, bob = await signed_in(town, browser), await join(town)
    await ada.to(bob, verb)
    await browser.open(f"/settings/{part}")
    assert f"@{bob.name}" in browser.page.text
    await press(browser, f"/{bob.id}/un{verb}")
    assert f"@{bob.name}" not in browser.page.text
    assert await ada.get(f"/api/v1/{part}") == []


async def test_servers_are_blocked_and_unblocked(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    await browser.open("/settings/domain_blocks")
    refused = await browser.press("/settings/domain_blocks", domain="not a name")
    assert refused.status_code == 422
    assert 'value="not a name"' in refused.text
    await browser.press("/settings/domain_blocks", domain="loud.example")
    assert await ada.get("/api/v1/domain_blocks") == ["loud.example"]
    await press(browser, "domain_blocks?domain=loud.example", _method="DELETE")
    assert await ada.get("/api/v1/domain_blocks") == []


async def test_old_posts_are_deleted_as_one_says(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    await browser.open("/settings/statuses_cleanup")
    await browser.press("/settings/statuses_cleanup", enabled="true", min_status_age="604800", min_favs="3")
    policy = await ada.get("/api/v1/statuses_cleanup_policy")
    assert (policy["enabled"], policy["min_status_age"], policy["min_favs"]) == (True, 604_800, 3)
    assert (policy["keep_pinned"], policy["min_reblogs"]) == (True, None)
    assert (await browser.press("/settings/statuses_cleanup", min_favs="0")).status_code == 422


async def test_whoever_leaves_is_told_what_it_means_first(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    await post(ada, "Still here")
    await browser.open("/settings/delete")
    assert "This cannot be undone" in browser.page.text
    assert 'href="/flows/-/default/unenrollment/"' in browser.page.text


async def test_a_link_lets_as_many_in_as_it_says(town: Town, new_browser: NewBrowser) -> None:
    browser, stranger = new_browser(), new_browser()
    owner = await town.owner()
    await browser.sign_in(owner.username, owner.password)
    await browser.open("/settings/invites")
    await browser.press("/settings/invites", max_uses="1", expires_in="3600", autofollow="true")
    [address] = re.findall(rf"{re.escape(town.base_url)}(/invite/[0-9a-f-]+)", browser.page.text)
    assert "used by 0 of 1" in browser.page.text
    assert "they follow you" in browser.page.text
    assert re.search(r"until <time [^>]*data-exact", browser.page.text), 'not "until in 59 minutes"'

    led = await stranger.http.get(address)
    assert led.status_code == 302
    assert "/enrollment/?itoken=" in led.headers["location"]
    code = address.removeprefix("/invite/")
    assert (await ask(town, new_name("guest").replace("-", "_"), invite_code=code)).status_code == 200
    over = await stranger.http.get(address, headers={"accept": "application/json"})
    assert (over.status_code, over.json()) == (401, {"error": "This invite is not valid"})
    assert "used by 1 of 1" in (await browser.open("/settings/invites")).text
    await browser.press(f"{code}/withdraw")
    assert "You have made no links yet" in browser.page.text
    assert (await stranger.http.get(address)).status_code == 404


async def test_only_whom_the_role_lets_invite(town: Town, browser: Browser) -> None:
    await signed_in(town, browser)
    owner = await employ(town, "owner")
    everyone = f"/api/v1/admin/roles/{EVERYONE}"
    before = await owner.get(everyone)
    await owner.does("PUT", everyone, json={"permissions_as_keys": []})
    await browser.open("/settings/invites")
    assert "You cannot invite people at the moment" in browser.page.text
    token = browser.cookie("kith_csrf") or ""
    assert (await browser.http.post("/settings/invites", data={"csrf": token})).status_code == 403
    await owner.does("PUT", everyone, json={"permissions": before["permissions"]})


async def test_applications_are_found_and_asked_for(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    owner = await town.owner()
    wiki, cellar = new_name("Wiki"), new_name("Cellar")
    await make(owner, "/core/applications/", name=wiki, slug=wiki.lower(), meta_description="All we know")
    hidden = await make(owner, "/core/applications/", name=cellar, slug=cellar.lower(), policy_engine_mode="any")
    [me] = await results(owner, "/core/users/", username=owner.username)
    await make(owner, "/policies/bindings/", target=hidden["pk"], user=me["pk"], order=0)
    await make(owner, "/core/access_offers/", application=hidden["pk"], approvers=[me["pk"]])

    await browser.open("/applications?q=we+KNOW")
    assert wiki in browser.page.text
    await browser.open("/applications?q=<nothing>")
    assert wiki not in browser.page.text
    assert "No application of yours fits “&lt;nothing&gt;”" in browser.page.text
    await browser.open("/applications")
    assert f">{cellar}</p>" in browser.page.text.partition("On request")[2]
    assert "Ask for access" in browser.page.text
    assert ada.name in browser.page.text

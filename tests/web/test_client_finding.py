"""Finding people, posts and hashtags on pages, and keeping lists of people, by links and forms alone."""

from __future__ import annotations

import re
from urllib.parse import quote

from tests.social.members import join, stranger, strangers
from tests.social.posts import post, said_elsewhere, settle
from tests.social.staff import employ
from tests.social.trend_seeds import refresh, share, use
from tests.town import Town
from tests.web.browsing import Browser
from tests.web.test_client import press, signed_in


async def test_strangers_are_shown_what_is_for_everybody(town: Town, browser: Browser) -> None:
    for path, words in (
        ("/explore", "No post stands out"),
        ("/explore/tags", "No hashtag stands out"),
        ("/explore/links", "No link is shared"),
        ("/search", "What are you looking for?"),
        ("/directory", "People here and elsewhere."),
    ):
        answer = await browser.open(path)
        assert answer.status_code == 200, path
        assert words in answer.text, path
    assert "/explore/suggestions" not in (await browser.open("/explore")).text
    for path in ("/explore/suggestions", "/lists", "/lists/5", "/lists/5/edit", "/lists/5/delete", "/followed_tags"):
        assert "/flows/" in str((await browser.open(path)).url), path


async def test_one_searches_for_people_posts_and_hashtags(town: Town, browser: Browser) -> None:
    ada, bob = await signed_in(town, browser), await join(town)
    await post(ada, f"Marmalade for @{bob.name} #zucchini{bob.name}")
    await settle(town)

    everything = (await browser.open(f"/search?q={bob.name}")).text
    assert f'href="/@{bob.name}"' in everything
    await press(browser, f"/{bob.id}/follow")
    assert (await ada.sees(bob))["following"]
    posts = (await browser.open("/search?q=marmalade+from:me&type=statuses")).text
    assert "Marmalade for" in posts
    assert 'value="marmalade from:me"' in posts
    tags = (await browser.open(f"/search?q=zucchini{bob.name}&type=hashtags")).text
    assert f"#zucchini{bob.name}" in tags
    await press(browser, f"/zucchini{bob.name}/follow")
    assert f"#zucchini{bob.name}" in (await browser.open("/followed_tags")).text
    await press(browser, f"/zucchini{bob.name}/unfollow")
    assert "You follow no hashtags yet" in browser.page.text
    assert "Nothing was found" in (await browser.open("/search?q=qqqqqqqqqq")).text


async def test_a_search_that_cannot_be_made_says_why(town: Town, browser: Browser) -> None:
    await signed_in(town, browser)

    answer = await browser.open("/search?q=from:me&type=statuses")

    assert answer.status_code == 200
    assert "That cannot be searched for: At least one keyword or phrase is required" in answer.text
    assert 'class="notice error"' not in answer.text
    assert 'value="from:me"' in answer.text
    escaped = await browser.open('/search?q="><script>alert(1)</script>')
    assert escaped.status_code == 200
    assert "<script>alert" not in escaped.text


async def test_results_go_on_on_a_further_page(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    for number in range(22):
        await post(ada, f"Walnut {number}.")
    await settle(town)

    first = (await browser.open("/search?q=walnut&type=statuses")).text
    assert first.count("<article") == 20
    [more] = re.findall(r'rel="next" href="([^"]+)"', first)
    second = (await browser.open(more.replace("&amp;", "&"))).text
    assert second.count("<article") == 2
    assert 'rel="prev"' in second


async def test_the_address_of_a_post_elsewhere_leads_to_its_page_here(town: Town, browser: Browser) -> None:
    await signed_in(town, browser)
    far = await stranger(town)
    id = await said_elsewhere(town, far, "From far away")

    await browser.open(f"/search?q={far.uri}/{id}")

    assert browser.path == f"/@{far.username}@{far.domain}/{id}"
    assert "From far away" in browser.page.text


async def test_strangers_are_told_to_sign_in_to_search_posts(town: Town, browser: Browser) -> None:
    ada = await join(town)
    assert f'href="/@{ada.name}"' in (await browser.open(f"/search?q={ada.name}")).text
    assert "Only members can search for posts" in (await browser.open("/search?q=marmalade&type=statuses")).text


async def test_a_list_is_made_filled_changed_read_and_deleted(town: Town, browser: Browser) -> None:
    ada, bob, cleo = await signed_in(town, browser), await join(town), await join(town)
    await ada.to(bob, "follow")
    assert "You have no lists yet" in (await browser.open("/lists")).text

    await browser.press("/web/api/v1/lists", title="Neighbours & <friends>", replies_policy="none", exclusive="true")
    assert "Neighbours &amp; &lt;friends&gt;" in browser.page.text
    [made] = await ada.get("/api/v1/lists")
    assert (made["replies_policy"], made["exclusive"]) == ("none", True)

    await browser.open(f"/lists/{made['id']}/edit?q={bob.name}")
    await press(browser, f"/accounts?account_ids[]={bob.id}")
    assert [one["id"] for one in await ada.get(f"/api/v1/lists/{made['id']}/accounts")] == [bob.id]
    assert "nobody else is called like that" in browser.page.text
    assert "nobody else" in (await browser.open(f"/lists/{made['id']}/edit?q={cleo.name}")).text
    await browser.press(f"/lists/{made['id']}", title="Friends", exclusive="false")
    assert browser.path == f"/lists/{made['id']}"
    changed = await ada.get(f"/api/v1/lists/{made['id']}")
    assert (changed["title"], changed["replies_policy"], changed["exclusive"]) == ("Friends", "none", False)

    await post(bob, "Over the fence")
    await settle(town)
    assert "Over the fence" in (await browser.open(f"/lists/{made['id']}")).text

    await browser.open(f"/lists/{made['id']}/delete")
    await browser.press(f"/lists/{made['id']}")
    assert await ada.get("/api/v1/lists") == []
    assert browser.path == "/lists"


async def test_somebody_is_put_on_lists_from_their_profile(town: Town, browser: Browser) -> None:
    ada, bob = await signed_in(town, browser), await join(town)
    await ada.to(bob, "follow")
    made = await ada.post("/api/v1/lists", json={"title": "Near"})
    assert f'href="/lists?account={bob.id}"' in (await browser.open(f"/@{bob.name}")).text

    await browser.open(f"/lists?account={bob.id}")
    await press(browser, f"/lists/{made['id']}/accounts?account_ids[]={bob.id}")
    assert [one["id"] for one in await ada.get(f"/api/v1/lists/{made['id']}/accounts")] == [bob.id]
    await press(browser, f"/lists/{made['id']}/accounts?account_ids[]={bob.id}", _method="DELETE")
    assert await ada.get(f"/api/v1/lists/{made['id']}/accounts") == []


async def test_lists_of_others_are_not_there(town: Town, browser: Browser) -> None:
    await signed_in(town, browser)
    theirs = await (await join(town)).post("/api/v1/lists", json={"title": "Private"})
    for path in ("", "/edit", "/delete"):
        answer = await browser.open(f"/lists/{theirs['id']}{path}")
        assert answer.status_code == 404
        assert "Private" not in answer.text


async def test_a_hashtag_is_followed_and_featured_on_its_page(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    tag = f"plums{ada.name}"
    await post(ada, f"Ripe #{tag}")
    await browser.open(f"/tags/{tag}")
    assert "Ripe" in browser.page.text
    await press(browser, f"/tags/{tag}/follow")
    await press(browser, f"/tags/{tag}/feature")
    told = await ada.get(f"/api/v1/tags/{tag}")
    assert (told["following"], told["featuring"]) == (True, True)
    assert f"#{tag}" in (await browser.open(f"/@{ada.name}/featured")).text


async def test_suggestions_are_followed_or_put_away(town: Town, browser: Browser) -> None:
    ada, bob, cleo, dan = await signed_in(town, browser), await join(town), await join(town), await join(town)
    await ada.to(bob, "follow")
    for one in (cleo, dan):
        await one.patch("/api/v1/accounts/update_credentials", json={"discoverable": True})
        await bob.to(one, "follow")
    await browser.open("/explore/suggestions")
    assert "Followed by people you follow" in browser.page.text

    await press(browser, f"/suggestions/{cleo.id}", _method="DELETE")
    assert f"/accounts/{cleo.id}/follow" not in browser.page.text
    await press(browser, f"/accounts/{dan.id}/follow")
    assert (await ada.sees(dan))["following"]


async def test_the_directory_lists_who_wants_to_be_found(town: Town, browser: Browser) -> None:
    ada, bob = await join(town), await join(town)
    await ada.patch("/api/v1/accounts/update_credentials", json={"discoverable": True})
    for member in (ada, bob):
        await post(member, "Here I am")

    await browser.open("/directory?order=new&local=true")

    assert f'href="/@{ada.name}"' in browser.page.text
    assert f'href="/@{bob.name}"' not in browser.page.text
    assert 'href="?order=active&amp;local=true"' in browser.page.text


async def test_what_many_people_share_is_explored(town: Town, browser: Browser) -> None:
    moderator, people = await employ(town, "moderator"), await strangers(town, 6, discoverable=True)
    url, tag = "https://news.example/article?a=1&b=2", f"harvest{people[0].id}"
    assert (await browser.open(f"/links?url={quote(url, safe='')}")).status_code == 404
    card = await share(town, url, people, title="Rain <at> last")
    await use(town, tag, people)
    await refresh(town)
    await moderator.post(f"/api/v1/admin/trends/links/{card}/approve")
    [known] = [one for one in await moderator.get("/api/v1/admin/trends/tags") if one["name"] == tag]
    await moderator.post(f"/api/v1/admin/trends/tags/{known['id']}/approve")

    news = (await browser.open("/explore/links")).text
    assert "Rain &lt;at&gt; last" in news
    assert "6 people in the past two days" in news
    [about] = re.findall(r'href="(/links[^"]+)"', news)
    assert (await browser.open(about.replace("&amp;", "&"))).text.count("<article") == 6
    tags = (await browser.open("/explore/tags")).text
    assert f"#{tag}" in tags
    assert "/follow" not in tags
    await signed_in(town, browser)
    await browser.open("/explore/tags")
    await press(browser, f"/{tag}/follow")
    assert f"Unfollow #{tag}" in browser.page.text

"""What everybody sees: the welcome, what is said about the server, feeds, and what pages tell programs."""

from __future__ import annotations

import json
import re
from email.utils import parsedate_to_datetime
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kith.web.client.syndication import Channel, _atom, _entry, _item, _rss, split_ending
from kith.web.shown_posts import written
from kith.web.translation import translator
from tests.conftest import TownBuilder
from tests.social.members import join, set_state
from tests.social.posts import post
from tests.social.staff import employ
from tests.town import Town
from tests.web.browsing import Browser

ATOM = "{http://www.w3.org/2005/Atom}"


def told(page: str) -> dict[str, str]:
    """What the meta elements of a page say, by their names; of several with one name, the first."""
    found = re.findall(r'<meta (?:name|property)="([^"]+)" content="([^"]*)">', page)
    return dict(reversed(found))


def data_of(page: str) -> dict[str, Any] | None:
    found = re.search(r'<script type="application/ld\+json">(.*?)</script>', page, re.DOTALL)
    return json.loads(found[1]) if found else None


async def test_strangers_are_welcomed_with_the_newest_posts(town: Town, browser: Browser) -> None:
    ada = await join(town)
    await post(ada, "Good morning, everybody")
    await post(ada, "Between friends", visibility="private")

    page = (await browser.open("/")).text

    assert "Good morning, everybody" in page
    assert "Between friends" not in page
    assert 'href="/flows/-/default/authentication/"' in page
    assert 'href="/flows/-/default/enrollment/"' in page
    assert 'action="/settings/language"' in page
    assert told(page)["og:type"] == "website"


async def test_a_server_for_its_people_alone_shows_strangers_nothing(new_town: TownBuilder) -> None:
    town = await new_town(secure_mode="on", registrations="closed")
    ada = await join(town)
    await post(ada, "Among ourselves #inside")
    browser = Browser(town)
    try:
        page = (await browser.open("/")).text
        assert "Among ourselves" not in page
        assert "Sign up" not in page
        assert "New members are not taken" in page
        for path in (f"/@{ada.name}.rss", "/tags/inside.atom", "/explore", "/search?q=a", "/directory", "/tags/inside"):
            answer = await browser.open(path)
            assert answer.status_code == 401, path
            assert "Among ourselves" not in answer.text
        assert (await browser.open("/robots.txt")).text == "User-agent: *\nDisallow: /\n"
        assert (await browser.open("/about")).status_code == 200
    finally:
        await browser.close()


async def test_about_says_who_runs_it_and_by_which_rules(new_town: TownBuilder) -> None:
    town = await new_town(publish_domain_blocks="on", contact_email="help@example.org")
    owner = await employ(town, "owner")
    await owner.post("/api/v1/admin/rules", json={"text": "Be kind & <patient>", "hint": "To newcomers, too"})
    await owner.post(
        "/api/v1/admin/domain_blocks",
        json={"domain": "bad.example", "severity": "suspend", "public_comment": "Spam <all> day"},
    )
    browser = Browser(town)
    try:
        page = (await browser.open("/about")).text
    finally:
        await browser.close()

    assert "Be kind &amp; &lt;patient&gt;" in page
    assert "To newcomers, too" in page
    assert 'href="mailto:help@example.org"' in page
    assert page.count(f'href="/@{owner.name}"') >= 2  # as the contact, and in the team
    assert "bad.example" in page
    assert "Spam &lt;all&gt; day" in page


async def test_what_is_not_written_or_not_published_is_said_so(town: Town, browser: Browser) -> None:
    about = (await browser.open("/about")).text
    assert "has not written down any rules" in about
    assert "does not say which other servers" in about
    assert "no content yet" in (await browser.open("/privacy-policy")).text
    assert "no content yet" in (await browser.open("/terms-of-service")).text
    assert (await browser.open("/terms-of-service/2020-01-01")).status_code == 404
    assert "no emoji of its own" in (await browser.open("/custom_emojis")).text


async def test_profiles_are_followed_by_rss_and_atom(town: Town, browser: Browser) -> None:
    ada, bob = await join(town), await join(town)
    said = await post(ada, "Fish & chips <tonight> #supper", spoiler_text="Food")
    await post(bob, "Mine, too", in_reply_to_id=said["id"])
    await post(ada, "An answer", in_reply_to_id=(await post(bob, "A question"))["id"])
    await post(ada, "psst", visibility="private")

    answer = await browser.open(f"/@{ada.name}.rss")
    assert answer.headers["content-type"] == "application/rss+xml; charset=utf-8"
    [item] = ET.fromstring(answer.content).iter("item")
    assert item.findtext("link") == said["url"]
    assert item.findtext("category") == "supper"
    html = item.findtext("description") or ""
    assert "<strong>Content warning:</strong> Food" in html
    assert "Fish &amp; chips &lt;tonight&gt;" in html
    assert parsedate_to_datetime(item.findtext("pubDate") or "").isoformat()[:16] == said["created_at"][:16]

    atom = await browser.open(f"/@{ada.name}.atom")
    assert atom.headers["content-type"] == "application/atom+xml; charset=utf-8"
    [entry] = ET.fromstring(atom.content).iter(f"{ATOM}entry")
    assert (entry.findtext(f"{ATOM}id"), entry.findtext(f"{ATOM}title")) == (said["uri"], "Food")
    again = await browser.http.get(f"/@{ada.name}.atom", headers={"If-None-Match": atom.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    profile = (await browser.open(f"/@{ada.name}")).text
    assert f'type="application/rss+xml" title="@{ada.name}@' in profile
    assert (await browser.open("/@nobody_at_all.rss")).status_code == 404


async def test_hashtags_are_followed_by_rss_and_atom(town: Town, browser: Browser) -> None:
    ada = await join(town)
    tag = f"figs{ada.name}"
    said = await post(ada, f"Ripe #{tag}")
    for ending, name in (("rss", "link"), ("atom", f"{ATOM}id")):
        found = ET.fromstring((await browser.open(f"/tags/{tag}.{ending}")).content)
        [one] = [*found.iter("item"), *found.iter(f"{ATOM}entry")]
        assert one.findtext(name) in (said["url"], said["uri"])
    empty = await browser.open("/tags/nobodysaysthis.rss")
    assert empty.status_code == 200
    assert "<item>" not in empty.text


async def test_a_featured_hashtag_leads_to_what_somebody_posted_with_it(town: Town, browser: Browser) -> None:
    ada, bob = await join(town), await join(town)
    await post(ada, "Mine with it #quinces")
    await post(ada, "Mine without it")
    await post(bob, "Somebody else's #quinces")
    await ada.post("/api/v1/featured_tags", json={"name": "quinces"})
    [link] = re.findall(r'href="([^"]+/tagged/[^"]+)"', (await browser.open(f"/@{ada.name}/featured")).text)

    shown = (await browser.open(link)).text.partition("<main")[2]

    assert "Mine with it" in shown
    assert "Mine without it" not in shown
    assert "Somebody else" not in shown
    assert "Nothing to see here yet." in (await browser.open(f"/@{ada.name}/tagged/nobodysaysthis")).text


async def test_links_to_posts_look_right_elsewhere(town: Town, browser: Browser) -> None:
    ada = await join(town)
    await ada.patch("/api/v1/accounts/update_credentials", json={"display_name": 'Ada "</script>'})
    said = await post(ada, "Plums </script><b> & pears")
    hidden = await post(ada, "The murderer is", spoiler_text="The end")

    page = (await browser.open(f"/@{ada.name}/{said['id']}")).text
    shown = told(page)
    assert shown["og:title"].startswith("Ada &#34;&lt;/script&gt; (@")
    assert shown["og:description"] == "Plums &lt;/script&gt;&lt;b&gt; &amp; pears"
    assert (shown["og:type"], shown["og:url"], shown["twitter:card"]) == ("article", said["url"], "summary")
    [oembed] = re.findall(r'type="application/json\+oembed" href="([^"]+)"', page)
    assert (await browser.http.get(oembed.replace("&amp;", "&"))).json()["type"] == "rich"
    data = data_of(page)
    assert data is not None
    assert (data["@type"], data["text"]) == ("SocialMediaPosting", "Plums </script><b> & pears")
    warned = (await browser.open(f"/@{ada.name}/{hidden['id']}")).text
    assert told(warned)["og:description"] == "The end"
    assert "murderer" not in json.dumps(data_of(warned))
    person = data_of((await browser.open(f"/@{ada.name}")).text)
    assert person is not None
    assert person["mainEntity"]["name"] == 'Ada "</script>'


async def test_a_public_post_stands_in_frames_of_other_sites_and_no_other_page_does(town: Town) -> None:
    bob = await join(town)
    open_post, hidden = await post(bob, "For <all>"), await post(bob, "For few", visibility="private")

    shown = await town.http.get(f"/@{bob.name}/{open_post['id']}/embed")

    assert "For &lt;all&gt;" in shown.text
    assert "frame-ancestors *" in shown.headers["content-security-policy"]
    assert not {"set-cookie", "x-frame-options"} & set(shown.headers)
    assert "<form" not in shown.text
    assert "<script" not in shown.text
    assert (await town.http.get(f"/@{bob.name}/{hidden['id']}/embed")).status_code == 404
    whole = await town.http.get(f"/@{bob.name}/{open_post['id']}")
    assert "frame-ancestors 'none'" in whole.headers["content-security-policy"]


async def test_engines_are_told_each_persons_wish(town: Town, browser: Browser) -> None:
    ada = await join(town)
    said, quiet = await post(ada, "Hello"), await post(ada, "Hush", visibility="unlisted")
    assert "robots" not in told((await browser.open(f"/@{ada.name}/{said['id']}")).text)
    unlisted = (await browser.open(f"/@{ada.name}/{quiet['id']}")).text
    assert (told(unlisted)["robots"], data_of(unlisted)) == ("noindex, noarchive", None)

    await set_state(town, ada.id, lambda _: {"noindex": True})

    for path in (f"/@{ada.name}", f"/@{ada.name}/{said['id']}"):
        page = (await browser.open(path)).text
        assert (told(page)["robots"], data_of(page)) == ("noindex, noarchive", None)
    assert (await browser.open(f"/@{ada.name}.rss")).headers["x-robots-tag"] == "noindex"
    robots = (await browser.open("/robots.txt")).text
    assert "Disallow: /settings\n" in robots
    assert "Disallow: /\n" not in robots


async def test_what_was_deleted_is_gone(town: Town, browser: Browser) -> None:
    ada = await join(town)
    said, secret = await post(ada, "Soon gone"), await post(ada, "psst", visibility="private")
    for one in (said, secret):
        await ada.delete(f"/api/v1/statuses/{one['id']}")

    answer = await browser.open(f"/@{ada.name}/{said['id']}")
    assert answer.status_code == 410
    assert "This post has been deleted." in answer.text
    assert "Soon gone" not in answer.text
    assert (await browser.open(f"/@{ada.name}/{secret['id']}")).status_code == 404

    await set_state(town, ada.id, lambda work: {"deleted_at": work.now, "suspended_at": work.now})
    for path in ("", ".rss", "/media"):
        assert (await browser.open(f"/@{ada.name}{path}")).status_code == 410, path


async def test_own_links_of_a_profile_say_me(town: Town, browser: Browser) -> None:
    ada, bob = await join(town), await join(town)
    field = {"name": "Site", "value": "https://ada.example"}
    note = f"See https://two.example and @{bob.name} #plums"
    await ada.patch("/api/v1/accounts/update_credentials", json={"note": note, "fields_attributes": [field]})

    page = (await browser.open(f"/@{ada.name}")).text

    links = {to: tag for tag, to in re.findall(r'(<a [^>]*href="([^"]+)"[^>]*>)', page)}
    assert 'rel="nofollow noopener me"' in links["https://ada.example"]
    assert 'rel="nofollow noopener me"' in links["https://two.example"]
    assert not [to for to, tag in links.items() if ' me"' in tag and "ample" not in to]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ada", ("ada", "")),
        ("ada.rss", ("ada", "rss")),
        ("ada.atom", ("ada", "atom")),
        ("ada@far.rss", ("ada@far.rss", "")),
        ("ada.json", ("ada.json", "")),
    ],
)
def test_the_ending_of_an_address_names_a_feed(name: str, expected: tuple[str, str]) -> None:
    assert split_ending(name) == expected


@given(st.text(max_size=50), st.text(max_size=50), st.text(max_size=20))
def test_whatever_people_write_is_xml(title: str, said: str, tag: str) -> None:
    medium = {"url": f"https://x.example/{said}", "type": "image", "description": said}
    entity: dict[str, Any] = {
        "uri": "https://x.example/1", "url": None, "created_at": "2026-01-02T03:04:05.000Z", "edited_at": None,
        "spoiler_text": title, "content": said, "emojis": [], "poll": {"options": [{"title": said}]}, "tags": [{"name": tag}],
        "media_attachments": [medium], "sensitive": True,
        "account": {"display_name": title, "username": "x", "url": said},
    }  # fmt: skip
    channel = Channel(title, said, "https://x.example/", f"https://x.example/{tag}", said)
    for write_one, write, path in ((_item, _rss, "channel/item"), (_entry, _atom, f"{ATOM}entry")):
        tree = ET.fromstring(write(channel, None, write_one(entity, translator("de"))).encode())
        assert len(tree.findall(path)) == 1


@pytest.mark.parametrize(
    ("html", "own", "expected"),
    [
        ('<a href="https://a.example">a</a>', True, "nofollow noopener me"),
        ('<a href="https://a.example">a</a>', False, 'nofollow noopener"'),
        ('<a href="https://a.example" class="u-url mention">a</a>', True, 'nofollow noopener"'),
    ],
)
def test_only_ones_own_links_say_me(html: str, own: bool, expected: str) -> None:
    assert expected in written(html, [], own=own)

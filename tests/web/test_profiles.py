"""Pages of people and of posts, as strangers see them."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import httpx
import pytest

from kith.web.assets import address
from kith.web.shown_posts import emphasised, written
from tests.conftest import TownBuilder
from tests.social.members import join, set_state, stranger
from tests.social.posts import does, post, said_elsewhere
from tests.town import Town

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


class Links(HTMLParser):
    """What a page links to, by relation, and whether it brings a script of somebody's."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: dict[str, str] = {}
        self.scripts: list[str] = []
        self.handlers: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag == "link":
            self.links[f"{named.get('rel')} {named.get('type', '')}".strip()] = named.get("href") or ""
        if tag == "script" and named.get("type") != "application/ld+json":
            self.scripts.append(named.get("src") or "")
        self.handlers += [name for name, _ in attrs if name.startswith("on")]


async def look(town: Town, url: str, language: str = "en") -> httpx.Response:
    path = url.removeprefix(town.base_url)
    headers = {"Accept": BROWSER, "Accept-Language": language}
    return await town.http.get(path, headers=headers, follow_redirects=False)


async def test_a_profile_shows_who_it_is_and_what_they_posted(town: Town) -> None:
    ada = await join(town)
    await ada.patch(
        "/api/v1/accounts/update_credentials",
        json={
            "display_name": "Ada <b>",
            "note": "I write <i>",
            "fields_attributes": [{"name": "Site", "value": "https://ada.example"}],
        },
    )
    pinned = await post(ada, "This stays on top")
    await does(ada, "pin", pinned)
    await post(ada, "<script>alert(1)</script> hello")
    await post(ada, "the murderer", spoiler_text="The end")
    await post(ada, "psst", visibility="private")
    await post(ada, "between us", visibility="direct")

    answer = await look(town, ada.me["url"])

    page, found = answer.text, Links(answer.text)
    assert answer.status_code == 200
    assert "Ada &lt;b&gt;" in page
    assert "I write &lt;i&gt;" in page
    assert "&lt;script&gt;alert(1)" in page
    assert "This stays on top" in page
    assert "<summary>The end</summary>" in page
    assert "psst" not in page
    assert "between us" not in page
    assert 'href="https://ada.example"' in page
    assert found.scripts == [address("client/main.js")]
    assert found.handlers == []
    assert found.links["alternate application/activity+json"] == ada.me["uri"]
    assert f'<{ada.me["uri"]}>; rel="alternate"; type="application/activity+json"' in answer.headers["link"]
    assert 'rel="lrdd"; type="application/jrd+json"' in answer.headers["link"]
    assert "Accept" in answer.headers["vary"]


async def test_a_post_has_a_page_with_its_thread(town: Town) -> None:
    ada, bob = await join(town), await join(town)
    first = await post(ada, "What is above")
    said = await post(bob, "In the middle", in_reply_to_id=first["id"])
    await post(ada, "What is below", in_reply_to_id=said["id"])
    await post(ada, "psst", in_reply_to_id=said["id"], visibility="private")

    answer = await look(town, said["url"])

    shown = answer.text.partition("<main")[2]
    texts = [shown.index(words) for words in ("What is above", "In the middle", "What is below")]
    assert texts == sorted(texts)
    assert "psst" not in answer.text
    assert Links(answer.text).links["alternate application/activity+json"] == said["uri"]
    assert f'<{said["uri"]}>; rel="alternate"' in answer.headers["link"]


async def test_older_posts_are_a_page_further(town: Town) -> None:
    ada = await join(town)
    said = [await post(ada, f"number {number}.") for number in range(22)]

    first = (await look(town, ada.me["url"])).text
    older = (await look(town, f"{ada.me['url']}?max_id={said[2]['id']}")).text

    assert f'href="?max_id={said[2]["id"]}"' in first
    assert "number 2." in first
    assert "number 1." not in first
    assert "number 1." in older
    assert 'rel="next"' not in older


async def test_pages_speak_german(town: Town) -> None:
    ada = await join(town)
    said = await post(ada)

    assert "Beiträge" in (await look(town, ada.me["url"], "de")).text
    assert "Beitrag von" in (await look(town, said["url"], "de")).text
    assert "Older posts" not in (await look(town, ada.me["url"], "de")).text


async def test_addresses_that_are_nearly_right_lead_to_the_right_one(town: Town) -> None:
    ada, bob = await join(town), await join(town)
    said = await post(ada)
    boost = await does(bob, "reblog", said)

    upper = await look(town, f"/@{ada.name.upper()}")
    thing = await look(town, f"/@{ada.name.upper()}/{said['id']}")
    passed_on = await look(town, f"/@{bob.name}/{boost['id']}")

    assert (upper.status_code, upper.headers["location"]) == (301, ada.me["url"])
    assert (thing.status_code, thing.headers["location"]) == (301, said["url"])
    assert (passed_on.status_code, passed_on.headers["location"]) == (302, said["url"])


@pytest.mark.parametrize("visibility", ["private", "direct"])
async def test_what_is_not_for_everybody_has_no_page(town: Town, visibility: str) -> None:
    ada = await join(town)
    said = await post(ada, "psst", visibility=visibility)

    answer = await look(town, said["url"])

    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert "psst" not in answer.text


async def test_nothing_is_shown_of_who_is_not_there(town: Town) -> None:
    ada, bob, far = await join(town), await join(town), await stranger(town)
    said = await post(ada)
    elsewhere = await said_elsewhere(town, far)
    paths = [
        "/@nobody_at_all", "/@", f"/@{far.username}@{far.domain}", f"/@{bob.name}/{said['id']}", f"/@{ada.name}/1",
        f"/@{ada.name}/x", f"/@{ada.name}/{'9' * 19}", f"/@{far.username}/{elsewhere}", "/@" + "a" * 3000, "/@%00",
    ]  # fmt: skip

    assert [(await look(town, path)).status_code for path in paths] == [404] * len(paths)


async def test_a_boost_from_elsewhere_is_cleaned(town: Town) -> None:
    ada, far = await join(town), await stranger(town)
    html = '<p onclick="x()">Hi <img src="https://spy.example/x.png"><a href="javascript:x()">there</a></p>'
    id = await said_elsewhere(town, far, content=f"{html}<script>x()</script>")
    await does(ada, "reblog", id)

    page = (await look(town, ada.me["url"])).text

    assert "Hi" in page
    assert not [words for words in ("onclick", "javascript:", "x()", "spy.example") if words in page]


async def test_whoever_wants_no_search_engines_says_so(town: Town) -> None:
    ada = await join(town)
    assert 'name="robots"' not in (await look(town, ada.me["url"])).text

    await set_state(town, ada.id, lambda _: {"noindex": True})

    assert 'name="robots" content="noindex' in (await look(town, ada.me["url"])).text


async def test_pictures_may_come_from_where_media_are_kept(new_town: TownBuilder) -> None:
    town = await new_town(media_url="https://files.example/kith")
    ada = await join(town)

    policy = (await look(town, ada.me["url"])).headers["content-security-policy"]

    assert "img-src 'self' https://files.example data: blob:; media-src 'self' https://files.example" in policy
    assert "script-src 'self';" in policy


CAT = [{"shortcode": "cat", "static_url": 'https://a.example/"cat.png'}]
PICTURE = '<img class="emoji" src="https://a.example/&quot;cat.png" alt=":cat:" title=":cat:">'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <b> & :cat:", f"a &lt;b&gt; &amp; {PICTURE}"),
        (":dog: :cat", ":dog: :cat"),
        ("x:cat:", "x:cat:"),
    ],
)
def test_names_are_escaped_and_have_pictures(text: str, expected: str) -> None:
    assert emphasised(text, CAT) == expected


def test_pictures_are_put_between_tags_only() -> None:
    html: Any = written('<p><a href="https://x.example/:cat:">:cat:</a></p>', CAT)

    assert html.count("<img") == 1
    assert 'href="https://x.example/:cat:"' in html

"""Whatever a page leads to is there, for everybody who sees the page; and what is there is written for people.

A crawler follows the links of every page, in a town where each page has something to show, in one where nobody has been
yet, and where only members may read; as everybody who might look. Then it sends each form as it stands.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.identity.records import API
from tests.identity.saml_keys import pair
from tests.search_size import is_whole_search
from tests.social.members import join
from tests.social.posts import post
from tests.social.staff import employ
from tests.town import Person, Town, build_town
from tests.web.browsing import Browser
from tests.web.crawling import Crawler, faults_of, page_of
from tests.web.scenery import Scenery, build_scenery, person_of

EVERY_KIND = (
    (Path(__file__).parents[1] / "identity" / "every_kind.yaml").read_text().partition("  # The social half")[0]
)
SET_BEFORE: dict[str, Any] = {
    "title": "Tea House", "description": "Tea & rain", "contact_email": "ops@example.org", "minimum_age": "14",
    "registrations": "approval", "confirm_email": "off", "publish_peers": "off", "publish_activity": "off",
    "publish_directory": "on", "publish_domain_blocks": "members", "mail_footer": "By the pond", "backups": "off",
}  # fmt: skip
STARTS = {"owner": ("/staff/",)}
MOST = 1000 if is_whole_search() else 1


@pytest.fixture(scope="module")
async def scenery(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scenery]:
    """One database is enough: what is tried here is the pages."""
    async with build_town("sqlite", tmp_path_factory.mktemp("links")) as town:
        built = await build_scenery(town)
        keys = pair("blueprints")
        context = {"certificate": keys.certificate, "key": keys.key}
        made = await built.owner.call(
            "POST", f"{API}/managed/blueprints/import/", json={"content": EVERY_KIND, "context": context}
        )
        assert made.json()["success"], made.text
        yield built


async def crawl(
    town: Town, who: Person | None, *more: str, most: int = MOST, language: str = "en", sends: bool = False
) -> Crawler:
    """From the front page on, and from `more`, to which links lead only now and then."""
    browser = Browser(town)
    browser.http.headers["Accept-Language"] = language
    try:
        if who is not None:
            await browser.sign_in(who.username, who.password)
            assert await browser.is_signed_in()
        crawler = Crawler(browser, most=most)
        await crawler.crawl("/", *more)
        if sends:
            await crawler.send_forms()
        return crawler
    finally:
        await browser.close()


async def person_called(scenery: Scenery, who: str) -> Person | None:
    if who == "moderator":
        return person_of(await employ(scenery.town, "moderator"))
    return {"nobody": None, "member": person_of(scenery.ada), "owner": scenery.owner}[who]


# How many kinds of pages and forms there are at least, so that a crawler who has lost the way is noticed.
@pytest.mark.parametrize(
    ("who", "pages", "forms"), [("nobody", 50, 2), ("member", 100, 20), ("moderator", 100, 20), ("owner", 300, 110)]
)
async def test_every_link_leads_somewhere_and_every_form_is_taken(
    scenery: Scenery, who: str, pages: int, forms: int
) -> None:
    crawler = await crawl(scenery.town, await person_called(scenery, who), *STARTS.get(who, ()), sends=True)

    assert crawler.faults == []
    assert len(crawler.opened) >= pages
    assert crawler.sent >= forms


@pytest.mark.parametrize("who", ["nobody", "member", "moderator", "owner"] if is_whole_search() else ["member"])
async def test_so_it_is_in_german(scenery: Scenery, who: str) -> None:
    crawler = await crawl(scenery.town, await person_called(scenery, who), most=1, language="de")

    assert crawler.faults == []


async def test_where_nobody_has_been_yet_every_link_leads_somewhere(tmp_path: Path) -> None:
    """And every form is taken; whatever can be set in the console is set where this server is started."""
    async with build_town("sqlite", tmp_path / "new", **SET_BEFORE) as town:
        for who in (None, await town.owner()):
            crawler = await crawl(town, who, sends=True)

            assert crawler.faults == []
        assert crawler.sent >= 80


async def test_where_only_members_read_others_are_not_led_to_pages_for_members(tmp_path: Path) -> None:
    """But to people of the team, whom they can read about once they have signed in."""
    async with build_town("sqlite", tmp_path / "closed", secure_mode="on", registrations="closed") as town:
        ada = await join(town, "ada")
        await post(ada, "Only for us")
        owner = await town.owner()

        seen = await crawl(town, None)
        assert [one for one in seen.faults if f"/@{owner.username} answers 401" not in one] == []
        assert len(seen.opened) > 15
        assert (await crawl(town, person_of(ada))).faults == []


def test_what_programs_say_is_noticed() -> None:
    said = {
        "6b7f9d6e-94a0-4d0f-8a4c-0ad4ab1a1b2c": 1, "Report #117638522889830400": 1, "stages.user_login": 1, "Role: None": 1,
        "undefined": 1, "is_active": 1, "Hello {name}": 1, "<kith.base.Thing object at 0x7f>": 1, "None of them": 0,
        "person@example.org": 0, "https://example.org/a_b": 0, "@ada_b": 0, "12345": 0,
    }  # fmt: skip
    assert {text: len(faults_of([text])) for text in said} == said
    page = page_of("<p>a_b<code>c_d</code></p><pre>e_f</pre><img alt='g_h'><script>i_j</script><p title='k_l'>m</p>")
    assert page.texts == ["a_b", "g_h", "m"]

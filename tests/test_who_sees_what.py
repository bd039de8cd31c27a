"""Every address of the server, asked for by those who may see little: strangers where the server is for its people
alone, people whom an author blocks, and people whose account is suspended.

Words that stand nowhere else mark what somebody wrote. Wherever a marked word is answered to the wrong person, a
route has a rule of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import httpx
import msgspec
import pytest

from kith.base.routing import Route
from kith.social.annual_reports import store as reports
from kith.social.annual_reports.tables import AnnualReport
from kith.social.ids import AccountId
from tests.every_route import addresses, get_templates, is_stream
from tests.identity.flow_browser import Browser
from tests.search_size import is_whole_search
from tests.social import samples
from tests.social.members import Member, join
from tests.social.posts import arrive, post, settle
from tests.social.staff import employ
from tests.social.trend_seeds import refresh
from tests.town import Person, Town, build_town

AT_ONCE = 8
MOST = 40 if is_whole_search() else 3  # addresses of one template
SECONDS_FOR_A_STREAM = 0.2
PERSON, PUBLIC, PRIVATE, SHARED = "Qwilleran", "zephyrwort", "gloamthicket", "brindlefen"
MARKS = (PERSON, PUBLIC, PRIVATE, SHARED)

# Answered alike to everybody: frames of other sites, programs that read feeds, other servers, which sign what they ask
# for. What an author says in public, a blocked person reads there signed out, too.
FEEDS = ("/@{name}", "/tags/{name}")  # with an ending
KNOWS_NOBODY = ("/@{name}/{id}/embed", "/api/oembed", *FEEDS)
DOCUMENTS = ("/users/", "/ap/users/", "/contexts/")
# Left to the whole search: what nobody opens without a right of their own.
BEHIND_DOORS = ("/admin", "/staff", "/settings", "/api/v1/admin", "/api/v2/", "/application", "/source", "/static")
SOCIAL_V2 = ("/api/v2/search", "/api/v2/suggestions", "/api/v2/instance", "/api/v2/notifications", "/api/v2/filters")


class Scene(msgspec.Struct):
    town: Town
    values: dict[str, tuple[str, ...]]
    queries: tuple[str, ...]
    author: Member
    viewer: Member
    staff: Member


@pytest.fixture(scope="module")
async def scene(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    """One database is enough: what is tried is who is let in, which no statement decides."""
    async with build_town("sqlite", tmp_path_factory.mktemp("doors")) as town:
        yield await _furnish(town)


async def _furnish(town: Town) -> Scene:
    """An author, a friend who passes on what they say, and the viewer, who follows both."""
    author, friend = await join(town, "author"), await join(town, "friend")
    viewer, staff = await join(town, "viewer"), await employ(town, "owner")
    for one in (author, friend):
        about = {"display_name": f"{PERSON} {one.name}", "note": f"{PERSON} writes", "discoverable": True}
        await one.patch("/api/v1/accounts/update_credentials", json=about | {"indexable": True})
        await viewer.to(one, "follow")
    await friend.to(author, "follow")
    await arrive(viewer, friend)
    file = {"file": ("x.png", samples.image_file("PNG", (32, 32)), "image/png")}
    media = await author.call("POST", "/api/v2/media", files=file, data={"description": f"{PUBLIC} picture"})
    public = await post(author, f"{PUBLIC} lanternfish #marked", media_ids=[media.json()["id"]], language="en")
    poll = await post(author, f"{PUBLIC}?", poll={"options": [f"{PUBLIC} yes", "no"], "expires_in": 3600})
    unlisted = await post(author, f"{PUBLIC} quietly", visibility="unlisted")
    private = await post(author, f"{PRIVATE} among friends", visibility="private")
    direct = await post(author, f"@{viewer.name} {PRIVATE} for you", visibility="direct")
    await author.post(f"/api/v1/statuses/{public['id']}/pin")
    await author.post("/api/v1/featured_tags", json={"name": "marked"})
    answered = await post(friend, "indeed", in_reply_to_id=public["id"])
    await post(friend, "Look at this", quoted_status_id=public["id"])
    for verb in ("reblog", "favourite", "bookmark"):
        await friend.post(f"/api/v1/statuses/{public['id']}/{verb}")
    collected = await friend.post(
        "/api/v1/collections", json={"name": f"{SHARED} people", "account_ids": [author.id], "discoverable": True}
    )
    await _sum_up_a_year(town, author)
    await settle(town)
    await refresh(town)
    for one in await staff.get("/api/v1/admin/trends/statuses"):
        await staff.post(f"/api/v1/admin/trends/statuses/{one['id']}/approve")
    [listed] = await viewer.get("/api/v1/conversations")
    posts = tuple(one["id"] for one in (public, private, unlisted, poll, direct, answered))
    base = town.base_url
    return Scene(
        town=town,
        values={
            "accounts/id": (author.id,),
            "accounts/account_id": (author.id,),
            "statuses/id": posts,
            "@/name": ("author", "author.rss", "author.atom"),
            "users/name": ("author", author.id),
            "@/id": posts,
            "polls/id": (poll["poll"]["id"],),
            "media/id": (media.json()["id"],),
            "collections/id": (collected["collection"]["id"],),
            "conversations/id": (listed["id"],),
            "tag/name": ("marked",),
            "tags/name": ("marked", "marked.rss", "marked.atom"),
            "tagged/tag": ("marked",),
            "contexts/name": (public["id"], f"{author.id}-{public['id']}"),
            "handle": ("@author",),
            "year": ("2024",),
            "wrapstodon/year": ("2024",),
            "share_key": ("key",),
            "name": ("author", "marked"),
            "slug": ("default-authentication-flow",),
            "id": (*posts[:2], author.id, poll["poll"]["id"], "1"),
            "date": ("2024-01-01",),
            "domain": ("elsewhere.example",),
        },
        queries=(
            "",
            f"?url={base}/@author/{public['id']}&q=lanternfish&uri={base}/@author/{public['id']}&id[]={author.id}",
            f"?resource=acct:author@{base.removeprefix('http://')}&acct=author&limit=20&page=true&tag=marked",
            f"?q=author&id[]={public['id']}&id[]={private['id']}&uri={base}/@author&page=1&type=accounts",
        ),
        author=author,
        viewer=viewer,
        staff=staff,
    )


async def _sum_up_a_year(town: Town, author: Member) -> None:
    at = datetime(2025, 1, 1, tzinfo=UTC)
    figures = {"archetype": "oracle", "time_series": [], "top_hashtags": [{"name": SHARED}], "top_statuses": {}}
    async with town.house() as house, house.works.begin() as work:
        report = AnnualReport(work.new_id(), AccountId(int(author.id)), 2024, 2, None, "key", at)
        await reports.ask(work.db, report)
        await reports.finish(work.db, report.account_id, 2024, figures, version=2, now=at)


class Look(msgspec.Struct, frozen=True):
    template: str
    address: str
    status: int
    marks: tuple[str, ...]


async def _look_everywhere(
    scene: Scene, http: httpx.AsyncClient, *, kinds: Sequence[str], streams: bool = True
) -> list[Look]:
    """What every address answers, once for each way to ask."""
    wanted = [
        (template, route, f"{address}{query}", kind)
        for template, route in get_templates()
        if (streams or not is_stream(route)) and (is_whole_search() or _is_in_front(template))
        for address in addresses(template, scene.values, most=MOST)
        for query in (scene.queries if is_whole_search() or "{" not in template else scene.queries[:1])
        for kind in (kinds if not template.startswith("/api/") else kinds[:1])
    ]
    found: list[Look] = []

    async def work(rest: Iterable[tuple[str, Route, str, str]]) -> None:
        for template, route, address, kind in rest:
            found.append(await _look(http, template, route, address, kind))

    shared = iter(wanted)
    await asyncio.gather(*(work(shared) for _ in range(AT_ONCE)))
    assert len(found) == len(wanted) > 600
    return found


def _is_in_front(template: str) -> bool:
    return template.startswith(SOCIAL_V2) or not template.startswith(BEHIND_DOORS)


async def _look(http: httpx.AsyncClient, template: str, route: Route, address: str, kind: str) -> Look:
    headers = {"Accept": kind} if kind else {}
    seconds = SECONDS_FOR_A_STREAM if is_stream(route) else 60
    try:
        answer = await http.get(address, headers=headers, timeout=seconds)
    except httpx.ReadTimeout:
        return Look(template, address, 200, ("a stream",))
    except httpx.HTTPError as error:
        raise AssertionError(f"{address}: {error!r}") from error
    said = answer.text.lower()
    return Look(template, address, answer.status_code, tuple(mark for mark in MARKS if mark.lower() in said))


def _client(town: Town, **headers: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=town.base_url, timeout=60, transport=town.transport, headers=headers)


PAGES = ("text/html", "application/activity+json")


async def _strangers_look(scene: Scene) -> list[Look]:
    async with _client(scene.town) as http:
        return await _look_everywhere(scene, http, kinds=PAGES)


@asynccontextmanager
async def _with(town: Town, **settings: str) -> AsyncIterator[None]:
    """The same town with other settings, for a while."""
    before = {name: town.environment.get(f"KITH_{name.upper()}", _USUAL[name]) for name in settings}
    for chosen in (settings, before):
        await town.stop()
        town.change(**chosen)
        await town.start()
        if chosen is settings:
            yield


_USUAL = {"secure_mode": "off", "federation": "open"}


@pytest.fixture(scope="module")
async def seen_by_all(scene: Scene) -> list[Look]:
    return await _strangers_look(scene)


def test_marks_are_found_where_everybody_may_look(seen_by_all: list[Look]) -> None:
    """So that the others can fail: an open server shows the marked words in many places, and never what is private."""
    found = seen_by_all
    seen = {look.template for look in found if PUBLIC in look.marks}
    assert len(seen) > 20, seen
    assert {"/@{name}/{id}/embed", "/api/oembed", "/@{name}", "/tags/{name}", "/api/v1/timelines/public"} <= seen
    assert "/{handle}/wrapstodon/{year}/{share_key}" in {look.template for look in found if SHARED in look.marks}
    assert [look for look in found if PRIVATE in look.marks] == []
    assert [look for look in found if look.status >= 500] == []


@pytest.mark.parametrize("setting", [("secure_mode", "on"), ("federation", "allow-list")], ids="=".join)
async def test_a_server_for_its_people_alone_shows_strangers_nothing(scene: Scene, setting: tuple[str, str]) -> None:
    name, value = setting
    async with _with(scene.town, **{name: value}):
        found = await _strangers_look(scene)

    assert [look for look in found if look.marks] == []
    assert [look for look in found if look.status >= 500] == []


async def _as_viewer(scene: Scene) -> list[Look]:
    """By token in the API and by session on pages."""
    browser = Browser(scene.town)
    await browser.sign_in(Person(scene.town.http, scene.viewer.name, f"correct horse {scene.viewer.name}"))
    async with _client(scene.town, Authorization=f"Bearer {scene.viewer.token}") as http:
        http.cookies = browser.http.cookies
        return await _look_everywhere(scene, http, kinds=PAGES[:1], streams=False)


async def test_who_is_blocked_finds_no_post_of_who_blocks_them(scene: Scene) -> None:
    before = {look.template for look in await _as_viewer(scene) if PUBLIC in look.marks}
    await scene.author.to(scene.viewer, "block")
    await settle(scene.town)

    found = await _as_viewer(scene)

    assert len(before) > 30, before
    shown = [look for look in found if {PUBLIC, PRIVATE} & {*look.marks} and not _knows_nobody(look)]
    assert shown == []
    assert [look for look in found if look.status >= 500] == []


def _knows_nobody(look: Look) -> bool:
    if look.template in FEEDS:
        return look.address.partition("?")[0].endswith((".rss", ".atom"))
    return look.template in KNOWS_NOBODY or look.template.startswith(DOCUMENTS)


async def test_who_is_suspended_finds_nothing_that_strangers_do_not(scene: Scene, seen_by_all: list[Look]) -> None:
    await scene.author.to(scene.viewer, "unblock")
    await scene.viewer.to(scene.author, "follow")
    browser = Browser(scene.town)
    await browser.sign_in(Person(scene.town.http, scene.viewer.name, f"correct horse {scene.viewer.name}"))
    assert PRIVATE in (await browser.http.get("/home")).text
    await scene.staff.call("POST", f"/api/v1/admin/accounts/{scene.viewer.id}/action", json={"type": "suspend"})

    async with _client(scene.town, Authorization=f"Bearer {scene.viewer.token}") as http:
        http.cookies = browser.http.cookies
        found = await _look_everywhere(scene, http, kinds=PAGES[:1], streams=False)

    open_to_all = {(look.address, mark) for look in seen_by_all for mark in look.marks}
    assert [look for look in found for mark in look.marks if (look.address, mark) not in open_to_all] == []
    assert [look for look in found if look.status >= 500] == []

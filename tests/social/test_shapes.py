"""Every route of the social API answers what the documentation of the API says, key by key.

The table below names every route there is; one that is missing from it fails.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.conftest import TownBuilder
from tests.social import shapes
from tests.social.garbage import social_routes
from tests.social.members import Member, join, until
from tests.social.posts import arrive, does, post, settle
from tests.social.published import deviations
from tests.social.samples import gif, image_file, sound, video
from tests.social.shapes import Shape, differences
from tests.social.test_instance import RULE, V1, V2
from tests.town import Town

# Answered elsewhere in all their variants: test_apps, test_signup_api, test_guards, test_instance,
# test_translation, test_timelines, test_push, test_reports, test_moderation.
ELSEWHERE = {
    ("POST", "/api/v1/apps"), ("GET", "/api/v1/apps/verify_credentials"), ("POST", "/api/v1/accounts"),
    ("POST", "/api/v1/accounts/alias"), ("POST", "/api/v1/accounts/move"),
    ("POST", "/oauth/token"), ("POST", "/oauth/revoke"), ("GET", "/oauth/userinfo"), ("POST", "/oauth/userinfo"),
    ("POST", "/api/v1/emails/confirmations"), ("GET", "/api/v1/emails/check_confirmation"),
    ("POST", "/api/v1/accounts/{id}/email_subscriptions"), ("POST", "/api/v1/statuses/{id}/translate"),
    ("GET", "/api/v1/timelines/link"), ("GET", "/api/v1/instances"), ("GET", "/api/v1/instance/terms_of_service"),
    ("GET", "/api/v1/instance/terms_of_service/{date}"), ("GET", "/api/v1/openapi.json"),
    ("GET", "/headers/original/missing.png"), ("GET", "/.well-known/webfinger"),
    ("DELETE", "/api/web/push_subscriptions/{link}"), ("GET", "/api/v1/donation_campaigns"), ("PATCH", "/api/v1/preferences"),
    ("GET", "/api/v1/strikes"), ("GET", "/api/v1/strikes/{id}"), ("POST", "/api/v1/strikes/{id}/appeal"),
    *((method, f"/api/v1/notifications/requests{rest}") for method, rest in (
        ("GET", ""), ("GET", "/{id}"), ("POST", "/{id}/accept"), ("POST", "/{id}/dismiss"), ("POST", "/accept"),
        ("POST", "/dismiss"),
    )),
    ("POST", "/api/v1/appeals"), ("POST", "/api/v1/reports"), ("GET", "/api/v1/reports"),
}  # fmt: skip
# Rooms whose tests check every shape themselves.
OF_THEIR_OWN = (
    "/api/v1/admin/",
    "/api/v2/admin/",
    "/api/v1/announcements",
    "/api/v1/annual_reports",
    "/api/v1/statuses_cleanup_policy",
    "/api/v1/collections",
    "/api/v1_alpha/",
    "/api/v1/accounts/{account_id}/collections",
    "/api/v1/accounts/{account_id}/in_collections",
    "/api/v1/suggestions",
    "/api/v2/suggestions",
    "/api/v1/trends/",
    "/api/oembed",
    "/api/v1/conversations",
    "/api/v1/crypto/",
    "/api/v1/filters",
    "/api/v2/filters",
    "/api/v1/streaming",
    "/api/v1/severed_relationships",
)
NOTHING: Shape = {}


class Scene:
    """Two people who have done everything that can be done, and what came of it by name."""

    def __init__(self, ada: Member, bob: Member, eve: Member) -> None:
        self.ada = ada
        self.bob = bob
        self.eve = eve
        self.ids: dict[str, str] = {"ada": ada.id, "bob": bob.id, "eve": eve.id, "tag": "shapes"}


ALIKE = {"PUT": ("PATCH",), "PATCH": ("PUT",)}


class Case(msgspec.Struct, frozen=True):
    """`who` calls `method` at `route`, whose places are filled with `ids` of the scene, and sees `shape`."""

    who: str
    method: str
    route: str
    shape: Shape
    ids: tuple[str, ...] = ()
    query: str = ""
    sent: Any = None
    files: Any = None
    may_be_empty: bool = False

    def path(self, scene: Scene) -> str:
        path, names = self.route, iter(self.ids)
        while "{" in path:
            before, _, rest = path.partition("{")
            path = before + scene.ids[next(names)] + rest.partition("}")[2]
        return path + ("?" + self.query.format(**scene.ids) if self.query else "")


def _get(route: str, shape: Shape, *ids: str, who: str = "bob", query: str = "", may_be_empty: bool = False) -> Case:
    return Case(who, "GET", route, shape, ids, query, may_be_empty=may_be_empty)


def _do(route: str, shape: Shape, *ids: str, who: str = "bob", method: str = "POST", **sent: Any) -> Case:
    return Case(who, method, route, shape, ids, sent=sent)


STATUS_KINDS = (
    "plain", "pictures", "gif", "sound", "film", "poll", "quote", "requote", "edited", "reply", "boost", "direct", "warned", "card",
)  # fmt: skip
ONE = "/api/v1/statuses/{id}"
READS = [
    # accounts
    _get("/api/v1/accounts", [shapes.ACCOUNT], query="id[]={ada}&id[]={eve}"),
    *(_get("/api/v1/accounts/{id}", shapes.ACCOUNT, one, who=who) for one in ("ada", "eve") for who in ("bob", "")),
    _get("/api/v1/accounts/lookup", shapes.ACCOUNT, query="acct={ada_name}"),
    _get("/api/v1/accounts/{id}/identity_proofs", [NOTHING], "ada", may_be_empty=True),
    _get("/api/v1/accounts/verify_credentials", shapes.CREDENTIAL_ACCOUNT, who="ada"),
    _get("/api/v1/profile", shapes.PROFILE, who="ada"),
    _get("/api/v1/preferences", shapes.PREFERENCES),
    _get("/api/v1/accounts/relationships", [shapes.RELATIONSHIP], query="id[]={ada}&id[]={eve}"),
    _get("/api/v1/accounts/familiar_followers", [shapes.FAMILIAR_FOLLOWERS], query="id[]={ada}"),
    _get("/api/v1/accounts/{id}/followers", [shapes.ACCOUNT], "ada"),
    _get("/api/v1/accounts/{id}/following", [shapes.ACCOUNT], "bob", who=""),
    _get("/api/v1/accounts/{id}/endorsements", [shapes.ACCOUNT], "bob"),
    _get("/api/v1/accounts/{id}/lists", [shapes.LIST], "ada"),
    _get("/api/v1/endorsements", [shapes.ACCOUNT]),
    _get("/api/v1/follow_requests", [shapes.ACCOUNT], who="ada"),
    _get("/api/v1/blocks", [shapes.ACCOUNT], who="ada"),
    _get("/api/v1/mutes", [shapes.MUTED_ACCOUNT]),
    _get("/api/v1/domain_blocks", ["text"]),
    _get(
        "/api/v1/domain_blocks/preview", {"following_count": "int", "followers_count": "int"}, query="domain=x.example"
    ),
    # statuses
    *(_get(ONE, shapes.STATUS, kind) for kind in STATUS_KINDS),
    *(_get(ONE, shapes.PUBLIC_STATUS, kind, who="") for kind in STATUS_KINDS if kind != "direct"),
    *(_get(ONE, shapes.STATUS, kind, who="ada") for kind in STATUS_KINDS),
    _get("/api/v1/statuses", [shapes.STATUS], query="id[]={plain}&id[]={poll}&id[]={boost}"),
    _get(ONE + "/context", shapes.CONTEXT, "reply"),
    _get(ONE + "/context", shapes.PUBLIC_CONTEXT, "plain", who=""),
    *(_get(ONE + "/history", [shapes.STATUS_EDIT], kind) for kind in STATUS_KINDS if kind != "boost"),
    _get(ONE + "/source", shapes.STATUS_SOURCE, "edited", who="ada"),
    _get(ONE + "/card", shapes.CARD, "card"),
    _get(ONE + "/reblogged_by", [shapes.ACCOUNT], "plain", who="ada"),
    _get(ONE + "/favourited_by", [shapes.ACCOUNT], "plain", who=""),
    _get(ONE + "/quotes", [shapes.STATUS], "plain"),
    _get("/api/v1/polls/{id}", shapes.OWN_POLL, "poll_id"),
    _get("/api/v1/polls/{id}", shapes.POLL, "poll_id", who=""),
    _get("/api/v1/scheduled_statuses", [shapes.SCHEDULED], who="ada"),
    *(_get("/api/v1/scheduled_statuses/{id}", shapes.SCHEDULED, one, who="ada") for one in ("planned", "planned_bare")),
    *(_get("/api/v1/media/{id}", shapes.MEDIA, kind, who="ada") for kind in ("loose",)),
    # timelines
    _get("/api/v1/timelines/home", [shapes.STATUS]),
    _get("/api/v1/timelines/public", [shapes.STATUS], query="local=true&limit=40"),
    _get("/api/v1/timelines/public", [shapes.PUBLIC_STATUS], who=""),
    _get("/api/v1/timelines/tag/{name}", [shapes.STATUS], "tag"),
    _get("/api/v1/timelines/list/{id}", [shapes.STATUS], "list"),
    _get("/api/v1/timelines/direct", [shapes.STATUS]),
    _get("/api/v1/favourites", [shapes.STATUS]),
    _get("/api/v1/bookmarks", [shapes.STATUS]),
    _get("/api/v1/accounts/{id}/statuses", [shapes.STATUS], "ada", query="limit=40"),
    _get("/api/v1/accounts/{id}/statuses", [shapes.STATUS], "ada", query="pinned=true"),
    _get("/api/v1/accounts/{id}/statuses", [shapes.PUBLIC_STATUS], "ada", who="", query="only_media=true"),
    _get("/api/v1/markers", shapes.MARKERS, query="timeline[]=home&timeline[]=notifications"),
    # lists and tags
    _get("/api/v1/lists", [shapes.LIST]),
    _get("/api/v1/lists/{id}", shapes.LIST, "list"),
    _get("/api/v1/lists/{id}/accounts", [shapes.ACCOUNT], "list"),
    _get("/api/v1/tags/{name}", shapes.OWN_TAG, "tag"),
    _get("/api/v1/tags/{name}", shapes.TAG, "tag", who=""),
    _get("/api/v1/followed_tags", [shapes.OWN_TAG]),
    _get("/api/v1/featured_tags", [shapes.FEATURED_TAG], who="ada"),
    _get("/api/v1/featured_tags/suggestions", [shapes.OWN_TAG], who="ada"),
    _get("/api/v1/accounts/{id}/featured_tags", [shapes.FEATURED_TAG], "ada", who=""),
    # notifications and search
    _get("/api/v1/notifications", [shapes.NOTIFICATION], who="ada"),
    _get("/api/v1/notifications", [shapes.NOTIFICATION]),
    _get("/api/v1/notifications/unread_count", {"count": "int"}, who="ada"),
    _get("/api/v1/notifications/{id}", shapes.NOTIFICATION, "notification", who="ada"),
    _get("/api/v2/notifications", shapes.GROUPED_NOTIFICATIONS, who="ada"),
    _get("/api/v2/notifications/unread_count", {"count": "int"}, who="ada"),
    _get("/api/v2/notifications/{group_key}", shapes.GROUPED_NOTIFICATIONS, "group", who="ada"),
    _get("/api/v2/notifications/{group_key}/accounts", [shapes.ACCOUNT], "group", who="ada"),
    _get("/api/v1/notifications/policy", shapes.NOTIFICATION_POLICY_V1),
    _get("/api/v2/notifications/policy", shapes.NOTIFICATION_POLICY),
    _get("/api/v1/notifications/requests/merged", {"merged": "bool"}),
    _get("/api/v1/notifications/emails", shapes.NOTIFICATION_EMAILS),
    _get("/api/v2/search", shapes.SEARCH_V2, query="q=shapes"),
    _get("/api/v1/search", shapes.SEARCH_V1, query="q=shapes"),
    _get("/api/v1/accounts/search", [shapes.ACCOUNT], query="q={ada_name}"),
    # the place itself
    _get("/api/v1/instance", V1, who=""),
    _get("/api/v2/instance", V2, who=""),
    _get("/api/v1/instance/peers", ["text"], who="", may_be_empty=True),
    _get("/api/v1/peers/search", ["text"], who="", query="q=a", may_be_empty=True),
    _get("/api/v1/instance/activity", [shapes.ACTIVITY], who=""),
    _get("/api/v1/instance/rules", [RULE], who="", may_be_empty=True),
    _get("/api/v1/instance/domain_blocks", [NOTHING], who="", may_be_empty=True),
    _get("/api/v1/instance/extended_description", shapes.PAGE, who=""),
    _get("/api/v1/instance/privacy_policy", shapes.PAGE, who=""),
    _get("/api/v1/instance/translation_languages", NOTHING, who=""),
    _get("/api/v1/instance/languages", [{"code": "text", "name": "text"}], who=""),
    _get("/api/v1/trends", [shapes.TAG], may_be_empty=True),
    _get("/api/v1/custom_emojis", [shapes.PICKER_EMOJI], who="", may_be_empty=True),
    _get("/api/v1/directory", [shapes.ACCOUNT], query="local=true"),
]
PERSON = "/api/v1/accounts/{id}"
RECEIVER = {
    "endpoint": "http://127.0.0.1:9/nobody",
    "standard": True,
    "keys": {
        "p256dh": "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM",
        "auth": "tBHItJI5svbpez7KI4CCXg",
    },
}
WRITES = [
    # statuses
    _do("/api/v1/statuses", shapes.STATUS, status="again", poll={"options": ["a", "b"], "expires_in": 300}),
    _do("/api/v1/statuses", shapes.SCHEDULED, status="later", scheduled_at="2036-01-01T00:00:00Z"),
    _do(ONE, shapes.STATUS, "edited", who="ada", method="PUT", status="once more", spoiler_text="w"),
    _do(ONE + "/interaction_policy", shapes.STATUS, "plain", who="ada", method="PUT", quote_approval_policy="followers"),
    *(
        _do(f"{ONE}/{verb}", shapes.STATUS, "plain")
        for verb in ("favourite", "unfavourite", "bookmark", "unbookmark", "reblog", "unreblog", "mute", "unmute")
    ),
    *(_do(f"{ONE}/{verb}", shapes.STATUS, "plain", who="ada") for verb in ("unpin", "pin")),
    _do(ONE + "/quotes/{quoting}/revoke", shapes.STATUS, "plain", "quote", who="ada"),
    _do("/api/v1/polls/{id}/votes", shapes.OWN_POLL, "poll_id", who="eve", choices=[0]),
    _do("/api/v1/scheduled_statuses/{id}", shapes.SCHEDULED, "planned", who="ada", method="PUT",
        scheduled_at="2037-01-01T00:00:00Z"),
    _do("/api/v1/scheduled_statuses/{id}", NOTHING, "planned", who="ada", method="DELETE"),
    *(Case("ada", "POST", f"/api/v{version}/media", shapes.MEDIA, files={"file": ("a.png", image_file("PNG"), "image/png")})
      for version in (1, 2)),
    _do("/api/v1/media/{id}", shapes.MEDIA, "loose", who="ada", method="PUT", description="seen"),
    _do("/api/v1/media/{id}", NOTHING, "loose", who="ada", method="DELETE"),
    _do("/api/v1/markers", shapes.MARKERS, home={"last_read_id": "9"}),
    # people
    _do("/api/v1/accounts/update_credentials", shapes.CREDENTIAL_ACCOUNT, method="PATCH", display_name="Bob"),
    _do("/api/v1/profile", shapes.PROFILE, method="PATCH", note="hello"),
    *(_do(f"/api/v1/profile/{one}", shapes.CREDENTIAL_ACCOUNT, method="DELETE") for one in ("avatar", "header")),
    *(
        _do(f"{PERSON}/{verb}", shapes.RELATIONSHIP, "eve")
        for verb in ("unmute", "mute", "follow", "endorse", "unendorse", "pin", "unpin", "note", "unfollow",
                     "remove_from_followers", "block", "unblock")
    ),
    _do("/api/v1/follow_requests/{id}/authorize", shapes.RELATIONSHIP, "bob_asking", who="ada"),
    _do("/api/v1/follow_requests/{id}/reject", shapes.RELATIONSHIP, "eve_asking", who="ada"),
    _do("/api/v1/follows", shapes.ACCOUNT, uri="{ada_name}"),
    _do("/api/v1/domain_blocks", NOTHING, domain="worse.example"),
    _do("/api/v1/domain_blocks", NOTHING, method="DELETE", domain="worse.example"),
    # lists, tags, notifications
    _do("/api/v1/lists", shapes.LIST, title="new"),
    _do("/api/v1/lists/{id}", shapes.LIST, "list", method="PUT", title="newer"),
    _do("/api/v1/lists/{id}/accounts", NOTHING, "list", method="DELETE", account_ids=["{ada}"]),
    _do("/api/v1/lists/{id}/accounts", NOTHING, "list", account_ids=["{ada}"]),
    _do("/api/v1/lists/{id}", NOTHING, "list", method="DELETE"),
    *(_do(f"/api/v1/tags/{{name}}/{verb}", shapes.OWN_TAG, "tag") for verb in
      ("follow", "unfollow", "feature", "unfeature")),
    _do("/api/v1/featured_tags", shapes.FEATURED_TAG, name="fine"),
    _do("/api/v1/featured_tags/{id}", NOTHING, "featured", who="ada", method="DELETE"),
    _do("/api/v1/notifications/{id}/dismiss", NOTHING, "notification", who="ada"),
    _do("/api/v1/notifications/dismiss", NOTHING, who="ada", id="{notice}"),
    *(
        _do(f"/api/v{version}/notifications/policy", shape, method="PUT", for_bots="filter")
        for version, shape in ((1, shapes.NOTIFICATION_POLICY_V1), (2, shapes.NOTIFICATION_POLICY))
    ),
    _do("/api/v1/notifications/emails", shapes.NOTIFICATION_EMAILS, method="PUT", favourite=True),
    _do("/api/v2/notifications/{group_key}/dismiss", NOTHING, "group", who="ada"),
    _do("/api/v2/notifications/clear", NOTHING, who="bob"),
    _do("/api/v1/notifications/clear", NOTHING, who="ada"),
    # push
    _do("/api/v1/push/subscription", shapes.PUSH_SUBSCRIPTION, subscription=RECEIVER, data={"policy": "none"}),
    _get("/api/v1/push/subscription", shapes.PUSH_SUBSCRIPTION),
    _do("/api/v1/push/subscription", shapes.PUSH_SUBSCRIPTION, method="PUT", data={"alerts": {"mention": False}}),
    _do("/api/v1/push/subscription", NOTHING, method="DELETE"),
    # at last
    _do(ONE, shapes.DELETED_STATUS, "poll", who="ada", method="DELETE"),
]  # fmt: skip


def test_every_route_is_in_the_table() -> None:
    known = {(case.method, case.route) for case in (*READS, *WRITES)} | ELSEWHERE
    known |= {(other, path) for method, path in known for other in ALIKE.get(method, ())}

    routes = {(route.method, route.path) for route in social_routes()}
    assert {one for one in routes if not one[1].startswith(OF_THEIR_OWN)} == known


async def test_what_is_answered_has_every_key_and_every_kind(new_town: TownBuilder) -> None:
    """Reads first, then what changes things; the whole table is told what is wrong with it at once."""
    async with _elsewhere() as page:
        scene = await _play(await new_town(private_hosts="127.0.0.1", publish_domain_blocks="on"), page)
    wrong: list[str] = []

    for case in (*READS, *WRITES):
        for method in (case.method, *ALIKE.get(case.method, ())):
            found = await _look(scene, msgspec.structs.replace(case, method=method))
            wrong += [f"{case.who or 'nobody'} {method} {case.route}{one}" for one in found]

    assert not wrong, "\n".join(wrong)


async def _look(scene: Scene, case: Case) -> list[str]:
    sent = None if case.sent is None else _filled(case.sent, scene.ids)
    path, options = (
        case.path(scene),
        {"json": sent} if sent is not None else {"files": case.files} if case.files else {},
    )
    if case.who:
        member: Member = getattr(scene, case.who)
        answer = await member.call(case.method, path, **options)
    else:
        answer = await scene.ada.town.http.request(case.method, path, **options)
        assert deviations(answer) == []
    if answer.status_code != 200:
        return [f": {answer.status_code} {answer.text}"]
    told = answer.json()
    if told == [] and not case.may_be_empty:
        return [": there should be something"]
    return differences(told, case.shape)


def _filled(sent: Any, ids: dict[str, str]) -> Any:
    if isinstance(sent, dict):
        return {name: _filled(value, ids) for name, value in sent.items()}
    if isinstance(sent, list):
        return [_filled(value, ids) for value in sent]
    return sent.format(**ids) if isinstance(sent, str) else sent


async def _upload(author: Member, data: bytes, name: str, **more: str) -> str:
    sent = await author.call("POST", "/api/v2/media", files={"file": (name, data)}, data=more)
    # 202 of what a worker has yet to look at.
    assert sent.status_code in (200, 202), sent.text
    id: str = sent.json()["id"]

    async def is_ready() -> bool:
        return (await author.call("GET", f"/api/v1/media/{id}")).status_code == 200

    await until(is_ready)
    return id


PAGE = """<!doctype html><html lang="en"><head><title>A page</title><meta property="og:description" content="of words">
<meta property="og:image" content="/picture.png"><meta property="og:site_name" content="Elsewhere">
<meta name="author" content="Somebody"><meta property="article:published_time" content="2026-01-02T03:04:05Z"></head></html>"""


@asynccontextmanager
async def _elsewhere() -> AsyncIterator[str]:
    """A page that somebody may link to."""

    async def show(_request: web.Request) -> web.Response:
        return web.Response(text=PAGE, content_type="text/html")

    async def picture(_request: web.Request) -> web.Response:
        return web.Response(body=image_file("PNG"), content_type="image/png")

    app = web.Application()
    app.router.add_get("/page", show)
    app.router.add_get("/picture.png", picture)
    async with TestServer(app) as server:
        yield f"http://127.0.0.1:{server.port}/page"


async def _play(town: Town, page: str) -> Scene:
    scene = Scene(await join(town), await join(town), await join(town))
    scene.ids["page"] = page
    await arrive(scene.ada, scene.bob, scene.eve)
    await _meet(scene)
    await _post_all(scene)
    await _mark(scene)
    await settle(town)
    await _ask(scene)
    [*told] = await scene.ada.get("/api/v1/notifications")
    scene.ids["notification"], scene.ids["notice"], *_ = (one["id"] for one in told if "status" in one)
    scene.ids |= {"ada_name": scene.ada.name, "group": told[0]["group_key"]}
    return scene


async def _meet(scene: Scene) -> None:
    ada, bob, eve = scene.ada, scene.bob, scene.eve
    await ada.patch(
        "/api/v1/accounts/update_credentials",
        data={
            "display_name": "Ada shapes",
            "note": "about #shapes",
            "fields_attributes[0][name]": "Site",
            "fields_attributes[0][value]": "https://ada.example",
            "discoverable": "true",
        },
        files={
            "avatar": ("a.png", image_file("PNG"), "image/png"),
            "header": ("h.png", image_file("PNG"), "image/png"),
        },
    )
    for one, other in ((bob, ada), (eve, ada), (bob, eve), (ada, bob)):
        await one.to(other, "follow", notify=True)
    for other in (ada, eve):
        await bob.to(other, "endorse")
    await bob.to(eve, "mute", duration=3600)
    await bob.post("/api/v1/domain_blocks", json={"domain": "bad.example"})
    await ada.to(await join(ada.town), "block")
    made = await bob.post("/api/v1/lists", json={"title": "friends"})
    await bob.post(f"/api/v1/lists/{made['id']}/accounts", json={"account_ids": [ada.id]})
    await bob.post("/api/v1/tags/shapes/follow")
    featured = await ada.post("/api/v1/featured_tags", json={"name": "shapes"})
    scene.ids |= {"list": made["id"], "featured": featured["id"]}


async def _post_all(scene: Scene) -> None:
    ada, bob, ids = scene.ada, scene.bob, scene.ids
    pictures = [
        await _upload(ada, image_file("PNG"), "a.png", description="a"),
        await _upload(ada, image_file("WEBP"), "b.webp"),
    ]
    moving = [await _upload(ada, gif(), "b.gif")]
    heard, seen = (
        [await _upload(ada, sound("mp3", "libmp3lame"), "c.mp3")],
        [await _upload(ada, video(sound="aac"), "d")],
    )
    ids["loose"] = await _upload(ada, image_file("JPEG"), "e.jpg", focus="0.1,0.2")
    held = await _upload(ada, image_file("PNG"), "f.png")
    question = {"options": ["one", "two"], "expires_in": 3600, "multiple": True, "hide_totals": True}
    texts: dict[str, dict[str, Any]] = {
        "plain": {"status": f"shapes of #shapes and #others for @{bob.name}", "language": "en"},
        "pictures": {"status": "look", "media_ids": pictures, "sensitive": True},
        "gif": {"status": "look again", "media_ids": moving},
        "sound": {"media_ids": heard},
        "film": {"status": "", "media_ids": seen},
        "poll": {"status": "which?", "poll": question},
        "edited": {"status": "onec", "poll": {"options": ["x", "y"], "expires_in": 600}},
        "direct": {"status": f"hush @{bob.name}", "visibility": "direct"},
        "warned": {"status": "boo #others", "spoiler_text": "careful", "visibility": "unlisted"},
        "card": {"status": f"see {ids['page']}"},
    }
    for name, sent in texts.items():
        ids[name] = (await ada.post("/api/v1/statuses", json=sent))["id"]
    ids["poll_id"] = (await ada.get(f"/api/v1/statuses/{ids['poll']}"))["poll"]["id"]
    ids["reply"] = (await post(bob, "indeed", in_reply_to_id=ids["plain"]))["id"]
    await post(ada, "no", in_reply_to_id=ids["reply"])
    ids["quote"] = (await post(bob, "as she said", quoted_status_id=ids["plain"]))["id"]
    ids["requote"] = (await post(ada, "as he said", quoted_status_id=ids["quote"]))["id"]
    await ada.does("PUT", f"/api/v1/statuses/{ids['edited']}", json={"status": "once", "media_ids": []})
    everything = {
        "media_ids": [held],
        "spoiler_text": "s",
        "sensitive": True,
        "visibility": "private",
        "language": "de",
    }
    linked = {"in_reply_to_id": ids["plain"], "scheduled_at": "2036-01-01T00:00:00Z"}
    ids["planned"] = (await post(ada, "soon", **everything, **linked))["id"]
    ids["planned_bare"] = (await post(ada, "poll", poll=question, scheduled_at="2036-01-01T00:00:00Z"))["id"]


async def _mark(scene: Scene) -> None:
    ada, bob, eve, ids = scene.ada, scene.bob, scene.eve, scene.ids
    for name in ("plain", "pictures", "poll"):
        await does(bob, "favourite", ids[name])
        await does(bob, "bookmark", ids[name])
    await does(ada, "pin", ids["plain"])
    ids["boost"] = (await does(bob, "reblog", ids["pictures"]))["id"]
    await does(eve, "reblog", ids["plain"])
    await bob.post(f"/api/v1/polls/{ids['poll_id']}/votes", json={"choices": [0, 1]})
    await bob.post("/api/v1/markers", json={"home": {"last_read_id": "5"}, "notifications": {"last_read_id": "6"}})


async def _ask(scene: Scene) -> None:
    """Only when everything else has been done is the door closed."""
    await scene.ada.patch("/api/v1/accounts/update_credentials", json={"locked": True})
    for name in ("bob_asking", "eve_asking"):
        asking = await join(scene.ada.town)
        await asking.to(scene.ada, "follow")
        scene.ids[name] = asking.id
    await settle(scene.ada.town)

"""Everything that strangers can put on a page, put there with texts that mean harm."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.blobs import Blobs
from kith.base.db import command, insert_into
from kith.social.emojis.tables import Emoji, emojis
from tests.federation.inbox_street import Street
from tests.social import samples
from tests.social.members import SCOPES, Member, join, stranger, strangers
from tests.social.posts import arrive, post, said_elsewhere
from tests.social.staff import employ
from tests.social.tokens import new_app
from tests.social.trend_seeds import make_card, refresh, share
from tests.town import Person
from tests.web.browsing import Browser
from tests.web.scenery import person_of
from tests.web.test_admin_moderation import bury_jobs

__all__ = ["EVIL", "Planted", "plant"]

# A tag, a handler, an address that runs something, the end of an attribute, of a comment and of a script, and gaps as
# texts of ours have them.
EVIL = (
    '"\'><script>window.evil=1;alert(1)</script><img src=x onerror="window.evil=1;alert(1)">'
    '<a href="javascript:alert(1)">x</a>--></script></style></textarea></title><svg/onload=alert(1)>{name}{count}%(x)s%s'
)
RUNS = "javascript:window.evil=1;alert(1)"
_add_emoji = command(insert_into(emojis))


class Planted(msgspec.Struct):
    """Who looks, and at what."""

    ada: Member
    owner: Person
    for_members: list[str]
    for_owners: list[str]


async def plant(lane: Street) -> Planted:
    town = lane.here
    owner, team = await town.owner(), await employ(town, "owner")
    ada, bob = await join(town, "ada"), await join(town, "bob")
    await arrive(ada, bob)
    await ada.patch("/api/v1/accounts/update_credentials", json={"locked": True})
    delivered = await _deliver(lane, ada, bob)
    written = await _write(lane, ada, bob)
    known = await _look_after(lane, owner, team, ada, bob)
    await _knock(lane, ada)
    await lane.settled()
    return Planted(ada, owner, [*delivered, *written, *_LISTS], [*known, *_CONSOLE])


_LISTS = [
    "/", "/home", "/public", "/public/local", "/explore", "/explore/links", "/explore/tags", "/notifications",
    "/notifications/mentions", "/follow_requests", "/conversations", "/lists", "/settings/filters", "/settings/filters/new",
    "/settings/profile", "/settings/security", "/settings/applications", "/settings/export", "/applications", "/scheduled",
    "/custom_emojis", "/directory", "/oauth/authorized_applications", "/about", "/deck", "/bookmarks", "/settings/access",
    f"/share?text={EVIL.replace('%', '').replace('#', '')}&url={RUNS}", f"/search?q={EVIL.replace('%', '').replace('&', '')}",
    f"/authorize_interaction?uri={RUNS}", f"/settings/security?page={RUNS}", f"/publish?mention={EVIL.replace('%', '')}",
]  # fmt: skip
_CONSOLE = [
    "/admin", "/admin/people", "/admin/reports", "/admin/federation", "/admin/emoji", "/admin/emoji/elsewhere", "/admin/trends",
    "/admin/audit", "/admin/audit?show=all", "/admin/records/audit/events", "/admin/records/core/users", "/admin/records/core/groups",
    "/admin/applications", "/admin/groups", "/admin/announcements", "/admin/rules", "/admin/domain_blocks", "/admin/warning_presets",
    "/admin/webhooks", "/admin/jobs", "/admin/mails", "/admin/settings", "/admin/appeals", "/staff/refusals/", "/staff/signups/",
    "/admin/ip_blocks", "/admin/relays", "/admin/sources", "/settings/impersonate",
    f"/admin/people?search={EVIL.replace('%', '').replace('&', '')}", f"/admin/domain_blocks/new?domain={EVIL.replace('%', '')}",
]  # fmt: skip


async def _deliver(lane: Street, ada: Member, bob: Member) -> list[str]:
    """As another server sends it: signed, and read as everything from there."""
    eve = lane.there.person("eve", key=0, summary=EVIL)
    icon = {"type": "Image", "mediaType": "image/png", "url": RUNS}
    eve.document |= {
        "name": EVIL,
        "url": RUNS,
        "attachment": [{"type": "PropertyValue", "name": EVIL, "value": EVIL}],
        "tag": [{"type": "Emoji", "name": ":evil:", "icon": icon}],
        "icon": icon,
    }
    mention = {"type": "Mention", "href": ada.me["uri"], "name": EVIL}
    tag = {"type": "Hashtag", "name": f"#{EVIL}", "href": RUNS}
    attached = [{"type": "Document", "mediaType": "image/png", "url": f"{lane.there.url}/{EVIL}", "name": EVIL}]
    options = [{"type": "Note", "name": f"{EVIL}{number}", "replies": {"totalItems": 1}} for number in range(3)]
    said = eve.note("1", EVIL, summary=EVIL, tag=[mention, tag], attachment=attached, url=RUNS)
    await lane.sends(eve, eve.create(said))
    await lane.sends(eve, eve.create(eve.note("2", EVIL, type="Question", oneOf=options, tag=[mention, tag])))
    await lane.sends(eve, eve.activity("Follow", ada.me["uri"]), to=ada)
    own = await post(bob, "Bread")
    await lane.sends(eve, eve.activity("Flag", [bob.me["uri"], own["uri"]], content=EVIL))
    found = await ada.get("/api/v2/search", params={"q": said["id"], "resolve": "true", "type": "statuses"})
    id = found["statuses"][0]["id"]
    at = f"/@{eve.handle}"
    return [at, f"{at}/{id}", f"{at}/{id}/history", f"{at}/followers", f"/publish?reply_to={id}", f"/report?account={found['statuses'][0]['account']['id']}&status={id}"]  # fmt: skip


async def _write(lane: Street, ada: Member, bob: Member) -> list[str]:
    """What got into the database past all that reads it, and what members of the same server write."""
    town = lane.here
    fields = [{"name": EVIL, "value": EVIL, "verified_at": None}]
    away = await stranger(
        town, display_name=EVIL, note=EVIL, note_html=EVIL, fields=fields, url=RUNS, discoverable=True
    )
    async with town.house() as house, house.works.begin() as work:
        text = {"title": EVIL, "description": EVIL, "provider_name": EVIL, "author_name": EVIL, "html": EVIL}
        places = {"provider_url": RUNS, "author_url": RUNS, "embed_url": RUNS, "image": "", "image_description": EVIL}
        card = await make_card(work, f"https://news.example/{EVIL}", **text, **places)
    said = await said_elsewhere(town, away, EVIL, content=EVIL, spoiler_text=EVIL, url=RUNS)
    bare = await said_elsewhere(
        town, away, EVIL, content=EVIL, card_id=card, application={"name": EVIL, "website": RUNS}
    )
    # What is answered is not what is published: such a row never comes in by the API.
    kept = await town.http.post(f"/api/v1/statuses/{bare}/bookmark", headers={"Authorization": f"Bearer {ada.token}"})
    assert kept.status_code == 200
    await bob.patch("/api/v1/accounts/update_credentials", json={"display_name": EVIL[:30], "note": EVIL, "fields_attributes": [{"name": EVIL[:200], "value": EVIL[:200]}]})  # fmt: skip
    file = {"file": ("a.png", samples.image_file("PNG", (64, 48)), "image/png")}
    picture = await bob.post("/api/v2/media", files=file, data={"description": EVIL})
    shown = await post(bob, EVIL, media_ids=[picture["id"]])
    poll = await post(bob, EVIL, spoiler_text=EVIL, poll={"options": [EVIL[:50], "<b>"], "expires_in": 3600})
    await post(bob, f"@{ada.name} {EVIL}", visibility="direct")
    made = await ada.post("/api/v1/lists", json={"title": EVIL})
    words = {"title": EVIL, "context": ["home"], "keywords_attributes": [{"keyword": EVIL[:100]}]}
    sieve = await ada.post("/api/v2/filters", json=words)
    await ada.post("/api/v1/statuses", json={"status": EVIL, "scheduled_at": "2099-01-01T00:00:00Z"})
    far = await strangers(town, 6, discoverable=True, display_name=EVIL)
    async with town.house() as house, house.works.begin() as work:
        await work.find(Blobs).put("cards/evil.png", samples.image_file("PNG", (64, 64)), "image/png")
    link = "https://news.example/rain"
    for url in (link, f"{link}/again"):  # the team looks at one of them only
        await share(town, url, far, title=EVIL, description=EVIL, provider_name=EVIL, image="cards/evil.png")
    await refresh(town)
    at = f"/@{away.username}@{away.domain}"
    return [
        at, f"{at}/{said}", f"{at}/{bare}", f"/@{bob.name}", f"/@{bob.name}/{shown['id']}", f"/@{bob.name}/{poll['id']}",
        f"/@{bob.name}/media", f"/lists/{made['id']}", f"/lists/{made['id']}/edit", f"/lists/{made['id']}/delete",
        f"/settings/filters/{sieve['id']}", f"/publish?reply_to={said}", f"/publish?quote={poll['id']}", f"/links?url={link}",
        f"/tags/{EVIL.replace('/', '').replace('%', '')}",
    ]  # fmt: skip


async def _look_after(lane: Street, owner: Person, team: Member, ada: Member, bob: Member) -> list[str]:
    """What the people who run it come upon."""
    town = lane.here
    for card in await team.get("/api/v1/admin/trends/links"):
        if not card["url"].endswith("again"):
            await team.post(f"/api/v1/admin/trends/links/{card['id']}/approve")
    await bury_jobs(town, "mail.send", 1, EVIL)
    await strangers(town, 1, '"><script>alert(1)</script>.example', display_name=EVIL)
    async with town.house() as house, house.works.begin() as work:
        await work.find(Blobs).put("emojis/evil.png", samples.image_file("PNG", (32, 32)), "image/png")
        for domain in ("", "elsewhere.example"):
            row = Emoji(
                work.new_id(),
                EVIL[:60],
                domain,
                "emojis/evil.png",
                "emojis/evil.png",
                EVIL,
                True,
                False,
                RUNS,
                work.now,
            )
            await work.db.run(_add_emoji, **msgspec.structs.asdict(row))
    [own] = await team.get("/api/v1/admin/custom_emojis")
    told = await ada.post("/api/v1/reports", json={"account_id": bob.id, "comment": EVIL[:1000]})
    for path, sent in (
        ("announcements", {"text": EVIL}),
        ("rules", {"text": EVIL[:300], "hint": EVIL}),
        ("domain_blocks", {"domain": "bad.example", "public_comment": EVIL[:200], "private_comment": EVIL}),
        ("ip_blocks", {"ip": "192.0.2.0/24", "severity": "no_access", "comment": EVIL}),
    ):
        answer = await team.call("POST", f"/api/v1/admin/{path}", json=sent)
        assert answer.status_code == 200, (path, answer.text)
    app = await new_app(town, SCOPES, client_name=EVIL[:60], website="https://app.example/")
    await app.token_of(person_of(ada), SCOPES)
    fields: dict[str, Any] = {
        "name": EVIL,
        "slug": "evil",
        "meta_description": EVIL,
        "meta_publisher": EVIL,
        "group": EVIL,
    }
    await owner.call("POST", "/api/v2/core/applications/", json=fields)
    url = "https://elsewhere.example/"
    source = {
        "name": EVIL[:60], "slug": "evil", "provider_type": "openid-connect", "authorization_url": url, "access_token_url": url,
        "profile_url": url, "consumer_key": "x", "consumer_secret": "y",
    }  # fmt: skip
    made = await owner.call("POST", "/api/v2/sources/oauth/", json=source)
    await owner.call("POST", "/api/v2/core/groups/", json={"name": EVIL[:80], "parent": None})
    users = await owner.get("/api/v2/core/users/", params={"username": bob.name})
    user = users.json()["results"][0]["pk"]
    await owner.call("PATCH", f"/api/v2/core/users/{user}/", json={"name": EVIL[:150], "attributes": {EVIL: EVIL}})
    person = f"/admin/people/{user}"
    return [
        f"/admin/reports/{told['id']}", f"/admin/emoji/{own['id']}", "/admin/applications/evil", person, f"{person}/signins",
        f"{person}/access", f"{person}/posts", f"{person}/audit", "/admin/federation/elsewhere.example",
        f"/admin/federation/{lane.there.domain}", f"/admin/sources/oauth/{made.json()['pk']}",
    ]  # fmt: skip


async def _knock(lane: Street, ada: Member) -> None:
    """Sign-ins, right and wrong, by a browser that lies about its name."""
    for name, password in ((ada.name, person_of(ada).password), (EVIL[:100], EVIL)):
        browser = Browser(lane.here)
        browser.http.headers["user-agent"] = EVIL
        await browser.sign_in(name, password)
        await browser.close()

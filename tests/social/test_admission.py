"""What is kept out: servers with their accounts, mail addresses, networks."""

from __future__ import annotations

from typing import Any

import httpx
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kith.social.accounts.tables import Account
from kith.social.admission.emails import canonical, domains_of, hash_of
from kith.social.admission.entities import obfuscated
from kith.social.admission.gate import covers
from kith.social.ids import AccountId
from kith.social.relationships import store as relationships
from kith.social.relationships.tables import Follow
from tests.conftest import TownBuilder
from tests.identity.flow_browser import Browser
from tests.identity.records import make, results
from tests.social.members import Member, join, stranger, strangers, until
from tests.social.posts import post, settle
from tests.social.shapes import check, entity
from tests.social.staff import employ, verdict
from tests.social.tokens import new_app
from tests.town import Town

ADMIN = "/api/v1/admin"
BLOCK = entity("DomainBlock")
ALLOW = entity("DomainAllow")
EMAIL_DOMAIN = entity("EmailDomainBlock")
IP = entity("IPBlock")
CANONICAL = entity("CanonicalEmailBlock")


async def tie(member: Member, other: Account) -> dict[str, Any]:
    params = {"id[]": str(other.id), "with_suspended": "true"}
    return dict((await member.get("/api/v1/accounts/relationships", params=params))[0])


async def test_a_blocked_server_limits_and_suspends_its_accounts_and_back(new_town: TownBuilder) -> None:
    town = await new_town(publish_domain_blocks="on")
    admin, ada = await employ(town, "administrator"), await join(town)
    far, below = await stranger(town, "far.example"), await stranger(town, "deep.far.example:8443")
    near = await stranger(town, "notfar.example")
    await ada.to(far, "follow")

    async def states() -> list[tuple[bool, bool]]:
        found = [await ada.get(f"/api/v1/accounts/{one.id}") for one in (far, below, near)]
        return [("limited" in one, "suspended" in one) for one in found]

    block = await admin.post(f"{ADMIN}/domain_blocks", json={"domain": "FAR.example", "public_comment": "spam"})
    check(block, BLOCK)
    assert await states() == [(True, False), (True, False), (False, False)]
    await admin.does("PUT", f"{ADMIN}/domain_blocks/{block['id']}", json={"severity": "suspend", "obfuscate": True})
    assert await states() == [(False, True), (False, True), (False, False)]
    [public] = (await town.http.get("/api/v1/instance/domain_blocks")).json()
    assert public == {
        "domain": obfuscated("far.example"),
        "digest": block["digest"],
        "severity": "suspend",
        "comment": "spam",
    }
    await settle(town)
    assert (await tie(ada, far))["requested"] is False

    milder = await admin.call("POST", f"{ADMIN}/domain_blocks", json={"domain": "deep.far.example"})
    assert milder.status_code == 422
    assert milder.json()["error"] == "You have already imposed stricter limits on deep.far.example."
    assert milder.json()["existing_domain_block"]["id"] == block["id"]
    check(await admin.get(f"{ADMIN}/domain_blocks"), [BLOCK])

    assert await admin.delete(f"{ADMIN}/domain_blocks/{block['id']}") == {}
    assert await states() == [(False, False), (False, False), (False, False)]


async def test_what_a_person_did_to_an_account_outlives_a_block_of_its_server(town: Town) -> None:
    admin, ada, far = await employ(town, "administrator"), await join(town), await stranger(town, "keep.example")
    await admin.post(f"{ADMIN}/accounts/{far.id}/action", json={"type": "silence"})

    block = await admin.post(f"{ADMIN}/domain_blocks", json={"domain": "keep.example"})
    await admin.delete(f"{ADMIN}/domain_blocks/{block['id']}")

    assert (await ada.get(f"/api/v1/accounts/{far.id}"))["limited"] is True


async def test_follows_that_a_blocked_server_takes_are_told(new_town: TownBuilder) -> None:
    town = await new_town()
    admin, ada = await employ(town, "administrator"), await join(town)
    far = await stranger(town, "gone.example")
    async with town.house() as house, house.works.begin() as work:
        follow = Follow(work.new_id(), AccountId(int(ada.id)), far.id, True, False, None, None, work.now)
        await relationships.add_follow(work.db, follow)

    await admin.post(f"{ADMIN}/domain_blocks", json={"domain": "gone.example", "severity": "suspend"})
    await settle(town)

    [told] = await ada.get("/api/v1/notifications", params={"types[]": "severed_relationships"})
    event = told["event"]
    assert (event["type"], event["target_name"], event["following_count"]) == ("domain_block", "gone.example", 1)
    assert (await tie(ada, far))["following"] is False


SEVERED = "/api/v1/severed_relationships"
SEVERANCE = entity("SeveredRelationships")


async def knit(town: Town, one: int, other: int, **options: Any) -> None:
    """One follows the other."""
    async with town.house() as house, house.works.begin() as work:
        row = Follow(work.new_id(), AccountId(one), AccountId(other), True, False, None, None, work.now)
        await relationships.add_follow(work.db, msgspec.structs.replace(row, **options))


@pytest.mark.parametrize("by_oneself", [False, True])
async def test_follows_that_were_lost_can_be_looked_up_by_whoever_lost_them(
    new_town: TownBuilder, by_oneself: bool
) -> None:
    town = await new_town()
    admin, ada, eve = await employ(town, "administrator"), await join(town), await join(town)
    far, fan = await stranger(town, "lost.example"), await stranger(town, "lost.example")
    await knit(town, int(ada.id), far.id, reblogs=False, languages=["de", "en"])
    await knit(town, fan.id, int(ada.id))
    await knit(town, int(eve.id), fan.id)

    if by_oneself:
        await ada.post("/api/v1/domain_blocks", json={"domain": "lost.example"})
    else:
        await admin.post(f"{ADMIN}/domain_blocks", json={"domain": "lost.example", "severity": "suspend"})
    await settle(town)

    [event] = await ada.get(SEVERED)
    check(event, SEVERANCE)
    kind = "user_domain_block" if by_oneself else "domain_block"
    assert (event["type"], event["purged"]) == (kind, False)
    assert (event["target_name"], event["followers_count"], event["following_count"]) == ("lost.example", 1, 1)
    [told] = await ada.get("/api/v1/notifications", params={"types[]": "severed_relationships"})
    assert told["event"] == event
    followed = await ada.call("GET", f"{SEVERED}/{event['id']}/following.csv")
    assert followed.headers["content-type"] == "text/csv; charset=utf-8"
    assert followed.headers["content-disposition"] == 'attachment; filename="following-lost.example.csv"'
    assert followed.text.splitlines() == [
        "Account address,Show boosts,Notify on new posts,Languages",
        f'{far.acct},false,false,"de, en"',
    ]
    followers = await ada.call("GET", f"{SEVERED}/{event['id']}/followers.csv")
    assert followers.text.splitlines() == ["Account address", fan.acct]
    assert (await eve.call("GET", f"{SEVERED}/{event['id']}/followers.csv")).status_code == 404
    assert len(await eve.get(SEVERED)) == (0 if by_oneself else 1)
    assert (await tie(eve, fan))["following"] is by_oneself


async def test_many_follows_lost_with_one_server_are_told_once(new_town: TownBuilder) -> None:
    town = await new_town()
    admin, ada = await employ(town, "administrator"), await join(town)
    crowd = await strangers(town, 45, "crowd.example")
    for one in crowd:
        await knit(town, int(ada.id), one.id)

    await admin.post(f"{ADMIN}/domain_blocks", json={"domain": "crowd.example", "severity": "suspend"})
    await settle(town)

    [event] = await ada.get(SEVERED)
    assert (event["following_count"], event["followers_count"]) == (45, 0)
    ids = {"id[]": [str(one.id) for one in crowd], "with_suspended": "true"}
    assert not any(one["following"] for one in await ada.get("/api/v1/accounts/relationships", params=ids))


async def test_follows_that_ones_own_block_of_a_domain_takes_are_told(new_town: TownBuilder) -> None:
    town = await new_town()
    ada, far = await join(town), await stranger(town, "own.example")
    async with town.house() as house, house.works.begin() as work:
        follow = Follow(work.new_id(), AccountId(int(ada.id)), far.id, True, False, None, None, work.now)
        await relationships.add_follow(work.db, follow)

    await ada.post("/api/v1/domain_blocks", json={"domain": "own.example"})
    await settle(town)

    [told] = await ada.get("/api/v1/notifications")
    event = told["event"]
    assert (told["type"], told["account"]["id"]) == ("severed_relationships", ada.id)
    assert (event["type"], event["target_name"]) == ("user_domain_block", "own.example")
    assert (event["following_count"], event["followers_count"]) == (1, 0)


async def test_allowed_servers_are_kept(town: Town) -> None:
    admin = await employ(town, "administrator")

    made = await admin.post(f"{ADMIN}/domain_allows", json={"domain": "friend.example"})
    again = await admin.post(f"{ADMIN}/domain_allows", json={"domain": "friend.example"})

    check(made, ALLOW)
    assert again == made
    assert made in await admin.get(f"{ADMIN}/domain_allows")
    assert await admin.get(f"{ADMIN}/domain_allows/{made['id']}") == made
    assert await admin.delete(f"{ADMIN}/domain_allows/{made['id']}") == {}
    assert await verdict(admin, "GET", f"{ADMIN}/domain_allows/{made['id']}") == 404


async def sign_up(town: Town, name: str, email: str) -> httpx.Response:
    app = await new_app(town, "read write")
    sent = {"username": name, "email": email, "password": "correct horse", "agreement": True, "locale": "en"}
    headers = {"Authorization": f"Bearer {await app.token('read write')}"}
    return await town.http.post("/api/v1/accounts", json=sent, headers=headers)


async def test_mail_domains_and_addresses_are_refused_at_sign_up_sign_in_and_posting(new_town: TownBuilder) -> None:
    town = await new_town(confirm_email="off")
    admin = await employ(town, "administrator")
    person, bob = await town.sign_up("early"), await join(town, "poster")  # both at example.org
    owner, by_group = await town.owner(), await town.sign_up("boss")
    [boss] = await results(owner, "/core/users/", username="boss")
    await make(owner, "/core/groups/", name="bosses", is_superuser=True, user_set=[boss["pk"]])
    assert (await post(bob, "before"))["id"]

    made = await admin.post(f"{ADMIN}/email_domain_blocks", json={"domain": "example.org"})
    refused = await sign_up(town, "late", "late@mail.example.org")

    check(made, EMAIL_DOMAIN)
    assert refused.status_code == 422
    assert refused.json()["details"]["email"][0]["error"] == "ERR_BLOCKED"
    seen = await admin.get(f"{ADMIN}/email_domain_blocks/{made['id']}")
    assert (seen["history"][0]["uses"], seen["history"][0]["accounts"]) == ("1", "1")
    assert await verdict(bob, "POST", "/api/v1/statuses", json={"status": "after"}) == 403
    app = await new_app(town, "read")
    keys = {
        "client_id": app.client_id,
        "client_secret": app.secret,
        "grant_type": "password",
        "scope": "read",
        "username": person.username,
        "password": person.password,
    }
    assert (await town.http.post("/oauth/token", data=keys)).status_code == 400
    theirs = keys | {"username": by_group.username, "password": by_group.password}
    assert (await town.http.post("/oauth/token", data=theirs)).status_code == 200
    inside = Browser(town)
    await inside.sign_in(by_group)
    assert await inside.who() == "boss"
    assert (await admin.call("POST", "/api/v1/statuses", json={"status": "the team posts"})).status_code == 200

    assert await admin.delete(f"{ADMIN}/email_domain_blocks/{made['id']}") == {}
    assert (await post(bob, "again"))["id"]
    assert (await town.http.post("/oauth/token", data=keys)).status_code == 200

    own = await admin.post(f"{ADMIN}/canonical_email_blocks", json={"email": "P.oster+x@example.org"})
    assert await verdict(bob, "POST", "/api/v1/statuses", json={"status": "after"}) == 403
    early = await admin.post(f"{ADMIN}/canonical_email_blocks", json={"email": "early@example.org"})
    assert (await town.http.post("/oauth/token", data=keys)).status_code == 400
    browser = Browser(town)
    await browser.sign_in(person)
    assert await browser.who() is None
    for made in (own, early):
        assert await admin.delete(f"{ADMIN}/canonical_email_blocks/{made['id']}") == {}
    assert (await post(bob, "once more"))["id"]
    welcome = Browser(town)
    await welcome.sign_in(person)
    assert await welcome.who() == person.username

    one = await admin.post(f"{ADMIN}/canonical_email_blocks", json={"email": "B.a.d+note@Mail.example"})
    check(one, CANONICAL)
    assert await admin.post(f"{ADMIN}/canonical_email_blocks/test", json={"email": "bad@mail.example"}) == [one]
    assert await admin.post(f"{ADMIN}/canonical_email_blocks/test", json={"email": "good@mail.example"}) == []
    assert (await sign_up(town, "bad", "ba.d+x@mail.example")).status_code == 422
    assert (await sign_up(town, "good", "good@mail.example")).status_code == 200
    assert await verdict(admin, "POST", f"{ADMIN}/canonical_email_blocks", json={"email": "bad@mail.example"}) == 422


async def test_some_mail_domains_only_wait_for_approval(new_town: TownBuilder) -> None:
    town = await new_town(confirm_email="off")
    admin = await employ(town, "administrator")
    await admin.post(f"{ADMIN}/email_domain_blocks", json={"domain": "slow.example", "allow_with_approval": True})

    assert (await sign_up(town, "slow", "slow@slow.example")).status_code == 200
    await settle(town)
    assert [one["username"] for one in await admin.get(f"{ADMIN}/accounts", params={"pending": "1"})] == ["slow"]


async def test_networks_are_kept_out_by_degrees(new_town: TownBuilder) -> None:
    town = await new_town(confirm_email="off", trusted_proxies="127.0.0.1")
    admin = await employ(town, "administrator")

    async def call(ip: str, path: str = "/api/v2/instance") -> int:
        return (await town.http.get(path, headers={"X-Forwarded-For": ip})).status_code

    made = await admin.post(f"{ADMIN}/ip_blocks", json={"ip": "203.0.113.7/24", "severity": "no_access"})
    check(made, IP)
    assert made["ip"] == "203.0.113.0/24"
    for path in ("/api/v2/instance", "/", "/oauth/authorize", "/api/v2/core/users/", "/health", "/nowhere"):
        assert await call("203.0.113.99", path) == 403, path
    assert await call("203.0.114.99") == 200
    changed = await admin.does("PUT", f"{ADMIN}/ip_blocks/{made['id']}", json={"severity": "sign_up_block"})
    assert changed["severity"] == "sign_up_block"
    assert await call("203.0.113.99") == 200
    assert (
        await verdict(admin, "POST", f"{ADMIN}/ip_blocks", json={"ip": "203.0.113.0/24", "severity": "no_access"})
        == 422
    )

    own = await admin.call("POST", f"{ADMIN}/ip_blocks", json={"ip": "127.0.0.0/8", "severity": "no_access"})
    assert own.json()["error"] == "Validation failed: Ip would shut you out yourself"
    await admin.post(f"{ADMIN}/ip_blocks", json={"ip": "127.0.0.1", "severity": "sign_up_requires_approval"})
    assert (await sign_up(town, "waits", "waits@mail.example")).status_code == 200
    await settle(town)
    assert [one["username"] for one in await admin.get(f"{ADMIN}/accounts", params={"pending": "1"})] == ["waits"]
    await admin.post(f"{ADMIN}/ip_blocks", json={"ip": "127.0.0.0/8", "severity": "sign_up_block"})
    assert (await sign_up(town, "never", "never@mail.example")).status_code == 403
    check(await admin.get(f"{ADMIN}/ip_blocks"), [IP])


@pytest.mark.parametrize(
    ("path", "sent", "words"),
    [
        ("ip_blocks", {}, "Severity can't be blank, Ip can't be blank"),
        ("ip_blocks", {"ip": "x", "severity": "no_access"}, "Ip is invalid"),
        ("ip_blocks", {"ip": "10.0.0.1", "severity": "odd"}, "Severity is not included in the list"),
        ("domain_blocks", {"domain": ""}, "Domain can't be blank"),
        ("domain_blocks", {"domain": "x y"}, "Domain is not a valid domain name"),
        ("domain_blocks", {"domain": "a.example", "severity": "odd"}, "Severity is not included in the list"),
        ("email_domain_blocks", {"domain": "@"}, "Domain is not a valid domain name"),
        ("canonical_email_blocks", {"email": "x"}, "Email is invalid"),
        ("canonical_email_blocks", {}, "Canonical email hash can't be blank"),
    ],
)
async def test_what_cannot_be_blocked(town: Town, path: str, sent: dict[str, Any], words: str) -> None:
    admin = await employ(town, "administrator")

    answer = await admin.call("POST", f"{ADMIN}/{path}", json=sent)

    assert answer.status_code == 422
    assert answer.json()["error"].startswith(f"Validation failed: {words.partition(',')[0]}")


async def test_blocks_are_not_for_moderators(town: Town) -> None:
    mod = await employ(town, "moderator")

    for kind in ("domain_blocks", "domain_allows", "email_domain_blocks", "ip_blocks", "canonical_email_blocks"):
        assert await verdict(mod, "GET", f"{ADMIN}/{kind}") == 403
        assert await verdict(mod, "POST", f"{ADMIN}/{kind}", json={}) == 403


@pytest.mark.parametrize(
    ("email", "plain"),
    [
        ("Test@Example.com", "test@example.com"),
        ("t.e.s.t+note+more@x.example", "test@x.example"),
        ("@", "@"),
        ("", "@"),
    ],
)
def test_addresses_are_compared_in_one_form(email: str, plain: str) -> None:
    assert canonical(email) == plain


@given(st.text(max_size=300))
def test_any_text_is_looked_up_without_harm(text: str) -> None:
    assert len(hash_of(text.replace("\ud800", ""))) == 64
    assert len(domains_of(text)) <= 20
    assert covers("10.0.0.0/8", text) in (True, False)


@pytest.mark.parametrize(
    ("network", "address", "inside"),
    [
        ("10.0.0.0/8", "10.1.2.3", True),
        ("10.0.0.0/8", "::ffff:10.1.2.3", True),
        ("10.0.0.0/8", "11.0.0.1", False),
        ("2001:db8::/32", "2001:db8::1", True),
        ("2001:db8::/32", "10.0.0.1", False),
        ("10.0.0.1/32", "", False),
    ],
)
def test_networks_cover_addresses(network: str, address: str, inside: bool) -> None:
    assert covers(network, address) is inside


async def test_peers_are_told_without_those_that_are_blocked(new_town: TownBuilder) -> None:
    town = await new_town(publish_domain_blocks="on")
    admin = await employ(town, "administrator")
    for domain in ("good.example", "bad.example", "deep.bad.example", "notbad.example"):
        await stranger(town, domain)
    for domain, severity in (("bad.example", "suspend"), ("zzz.example", "silence"), ("aaa.example", "suspend")):
        await admin.post(f"{ADMIN}/domain_blocks", json={"domain": domain, "severity": severity})

    async def is_told() -> bool:
        told = (await town.http.get("/api/v1/instance/peers")).json()
        return bool(told == ["good.example", "notbad.example"])

    await until(is_told)
    assert (await town.http.get("/api/v1/peers/search", params={"q": "bad"})).json() == []
    assert (await town.http.get("/api/v1/peers/search", params={"q": "not"})).json() == ["notbad.example"]
    blocks = (await town.http.get("/api/v1/instance/domain_blocks")).json()
    assert [one["domain"] for one in blocks] == ["zzz.example", "aaa.example", "bad.example"]

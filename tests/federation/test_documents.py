"""What other servers are served: who and what is told, to whom, in which words."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from kith.base.errors import NotFound
from kith.base.paging import Cursor
from kith.base.work import Work
from kith.federation.documents import outbox, people, posts
from kith.social.accounts import store as accounts
from kith.social.ids import AccountId
from kith.social.relationships import store as relationships
from kith.social.relationships.tables import Follow
from tests.conftest import TownBuilder
from tests.federation.asking import ACTIVITY, LINKED_DATA, PUBLIC, ask, domain_of, fetch, terms_of
from tests.social.members import Member, join, set_state, stranger, strangers
from tests.social.posts import does, post, settle
from tests.social.samples import image_file
from tests.town import Town

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


async def test_a_person_is_told_with_a_key_that_stays(town: Town) -> None:
    ada = await join(town)
    await ada.patch(
        "/api/v1/accounts/update_credentials",
        json={
            "display_name": "Ada",
            "note": "About #Bread",
            "fields_attributes": [{"name": "Site", "value": "https://ada.example"}],
            "bot": True,
            "locked": True,
        },
    )
    uri = ada.me["uri"]

    told = await fetch(town, uri)

    assert told["id"] == uri == f"{town.base_url}/users/{ada.name}"
    assert (told["type"], told["name"], told["preferredUsername"]) == ("Service", "Ada", ada.name)
    assert told["url"] == f"{town.base_url}/@{ada.name}"
    assert told["manuallyApprovesFollowers"] is True
    assert told["attachment"][0]["type"] == "PropertyValue"
    assert [tag["name"] for tag in told["tag"]] == ["#bread"]
    assert told["endpoints"] == {"sharedInbox": f"{town.base_url}/inbox"}
    assert told["publicKey"]["id"] == f"{uri}#main-key"
    key: Any = load_pem_public_key(told["publicKey"]["publicKeyPem"].encode())
    assert key.key_size >= 2048
    assert (await fetch(town, uri))["publicKey"] == told["publicKey"]
    await ada.patch("/api/v1/accounts/update_credentials", json={"display_name": "Ada L."})
    changed = await fetch(town, uri)
    assert changed["name"] == "Ada L."
    assert changed["publicKey"] == told["publicKey"]


async def test_whoever_asks_first_waits_for_one_key(town: Town) -> None:
    ada = await join(town)

    told = await asyncio.gather(*(fetch(town, ada.me["uri"]) for _ in range(4)))

    assert len({one["publicKey"]["publicKeyPem"] for one in told}) == 1


async def test_the_server_is_an_actor_with_an_empty_outbox(town: Town) -> None:
    told = await fetch(town, "/actor")

    assert (told["id"], told["type"]) == (f"{town.base_url}/actor", "Application")
    load_pem_public_key(told["publicKey"]["publicKeyPem"].encode())
    assert (await fetch(town, told["outbox"]))["totalItems"] == 0


# Negotiation


WANTS: list[tuple[str, bool]] = [
    (ACTIVITY, True),
    (LINKED_DATA, True),
    ("application/ld+json", True),
    ('application/ld+json; profile="https://example.org/other"', False),
    ("application/json", True),
    (f"{LINKED_DATA}, {ACTIVITY}, text/html;q=0.1", True),
    (f"text/html, {ACTIVITY};q=0.9", False),
    (f"text/html;q=0.9, {ACTIVITY}", True),
    (f"{ACTIVITY};q=0, text/html", False),
    (f"{ACTIVITY};q=nonsense, text/html", False),
    (BROWSER, False),
    ("*/*", False),
    ("", False),
    (",;,=" * 400, False),
]


@pytest.mark.parametrize(("accept", "is_activity"), WANTS)
async def test_people_get_pages_and_servers_documents(town: Town, accept: str, is_activity: bool) -> None:
    ada = await _ada(town)
    said = await _said(town, ada)
    for uri, page in ((ada.me["uri"], ada.me["url"]), (said["uri"], said["url"])):
        for address in (uri, page):
            answer = await ask(town, address, accept)
            assert "Accept" in answer.headers["vary"]
            if is_activity:
                assert answer.status_code == 200
                assert answer.headers["content-type"].startswith(ACTIVITY)
                assert answer.json()["id"] == uri
            elif address == page:
                assert answer.status_code == 200
                assert answer.headers["content-type"].startswith("text/html")
            else:
                assert (answer.status_code, answer.headers["location"]) == (301, page)


async def test_addresses_that_end_with_json_are_documents(town: Town) -> None:
    ada = await _ada(town)
    said = await _said(town, ada)
    for uri, page in ((ada.me["uri"], ada.me["url"]), (said["uri"], said["url"])):
        for address in (uri, page):
            for accept in ("*/*", BROWSER, ACTIVITY):
                answer = await ask(town, f"{address}.json", accept)
                assert answer.status_code == 200, address
                assert answer.headers["content-type"].startswith(ACTIVITY)
                assert answer.json()["id"] == uri
    number = f"{town.base_url}/ap/users/{ada.id}"
    assert (await ask(town, f"{number}.json", "*/*")).json()["id"] == ada.me["uri"]
    for missing in (f"{town.base_url}/@nobody_here.json", f"{ada.me['url']}/1.json", f"{ada.me['url']}/x.json"):
        assert (await ask(town, missing, "*/*")).status_code == 404


_people: WeakKeyDictionary[Town, Member] = WeakKeyDictionary()
_posts: WeakKeyDictionary[Town, dict[str, Any]] = WeakKeyDictionary()


async def _ada(town: Town) -> Member:
    """One for all rows of the table."""
    if town not in _people:
        _people[town] = await join(town)
    return _people[town]


async def _said(town: Town, ada: Member) -> dict[str, Any]:
    if town not in _posts:
        _posts[town] = await post(ada, "Hello")
    return dict(_posts[town])


async def test_caches_may_keep_what_is_for_all(town: Town) -> None:
    ada = await join(town)
    said = await post(ada)

    for url in (ada.me["uri"], said["uri"], f"{said['uri']}/activity", f"{ada.me['uri']}/outbox", "/actor"):
        answer = await ask(town, url)
        assert answer.headers["cache-control"].startswith("public, max-age=180")


# Posts


async def test_a_post_is_told_with_all_that_is_on_it(town: Town) -> None:
    ada, far = await join(town), await stranger(town)
    files = {"file": ("a.png", image_file("PNG", (8, 6)), "image/png")}
    picture = (
        await ada.call("POST", "/api/v2/media", files=files, data={"description": "A loaf", "focus": "0.5,-0.5"})
    ).json()
    await settle(town)
    parent = await post(ada, "First")

    said = await post(
        ada,
        f"Hello @{far.username}@{far.domain} #Bread",
        media_ids=[picture["id"]],
        in_reply_to_id=parent["id"],
        spoiler_text="Food",
        sensitive=True,
        language="de",
    )
    told = await fetch(town, said["uri"])

    assert told["id"] == said["uri"]
    assert (told["type"], told["summary"], told["sensitive"]) == ("Note", "Food", True)
    assert told["attributedTo"] == ada.me["uri"]
    assert told["inReplyTo"] == parent["uri"]
    assert told["url"] == said["url"]
    assert told["to"] == [PUBLIC]
    assert told["cc"] == [f"{ada.me['uri']}/followers", far.uri]
    assert told["contentMap"] == {"de": told["content"]}
    names = [(tag["type"], tag["name"]) for tag in told["tag"]]
    assert names == [("Mention", f"@{far.username}@{far.domain}"), ("Hashtag", "#bread")]
    [attached] = told["attachment"]
    assert (attached["type"], attached["mediaType"], attached["name"]) == ("Document", "image/png", "A loaf")
    assert (attached["width"], attached["height"], attached["focalPoint"]) == (8, 6, [0.5, -0.5])
    assert attached["blurhash"]
    assert told["conversation"] == (await fetch(town, parent["uri"]))["conversation"]
    assert terms_of(told) >= {"sensitive", "Hashtag", "blurhash", "focalPoint", "conversation", "interactionPolicy"}


async def test_counts_edits_and_votes_are_told_at_once(town: Town) -> None:
    ada, bob = await join(town), await join(town)
    said = await post(ada, "Bread?", poll={"options": ["rye", "wheat"], "expires_in": 3600})
    before = await fetch(town, said["uri"])
    assert (before["type"], before["votersCount"]) == ("Question", 0)
    assert "closed" not in before
    assert "updated" not in before

    await does(bob, "favourite", said)
    await does(bob, "reblog", said)
    await bob.post(f"/api/v1/polls/{said['poll']['id']}/votes", json={"choices": [1]})
    after = await fetch(town, said["uri"])

    assert [one["replies"]["totalItems"] for one in after["oneOf"]] == [0, 1]
    assert after["votersCount"] == 1
    assert (after["likes"]["totalItems"], after["shares"]["totalItems"]) == (1, 1)
    assert (await fetch(town, after["likes"]["id"]))["totalItems"] == 1
    assert (await fetch(town, after["shares"]["id"]))["totalItems"] == 1
    plain = await post(ada, "one")
    await fetch(town, plain["uri"])
    await ada.does("PUT", f"/api/v1/statuses/{plain['id']}", json={"status": "two"})
    edited = await fetch(town, plain["uri"])
    assert edited["content"] == "<p>two</p>"
    assert edited["updated"]


async def test_a_post_and_a_boost_have_their_activities(town: Town) -> None:
    ada, bob = await join(town), await join(town)
    said = await post(ada)
    boost = await does(bob, "reblog", said)

    created = await fetch(town, f"{said['uri']}/activity")
    announced = await fetch(town, boost["uri"])

    assert (created["type"], created["actor"], created["object"]["id"]) == ("Create", ada.me["uri"], said["uri"])
    assert (created["to"], created["cc"]) == (created["object"]["to"], created["object"]["cc"])
    assert boost["uri"] == f"{bob.me['uri']}/statuses/{boost['id']}/activity"
    assert (announced["type"], announced["actor"], announced["object"]) == ("Announce", bob.me["uri"], said["uri"])
    assert announced["cc"] == [ada.me["uri"], f"{bob.me['uri']}/followers"]
    there = await ask(town, f"{bob.me['uri']}/statuses/{boost['id']}")
    assert (there.status_code, there.headers["location"]) == (301, said["uri"])


async def test_quotes_carry_a_stamp_that_ends_with_the_leave(town: Town) -> None:
    ada, bob = await join(town), await join(town)
    said = await post(ada, "Quote me")
    quoting = await post(bob, "Look", quoted_status_id=said["id"])

    told = await fetch(town, quoting["uri"])

    assert told["quote"] == told["quoteUri"] == told["_misskey_quote"] == said["uri"]
    stamp = await fetch(town, told["quoteAuthorization"])
    assert (stamp["type"], stamp["attributedTo"]) == ("QuoteAuthorization", ada.me["uri"])
    assert (stamp["interactingObject"], stamp["interactionTarget"]) == (quoting["uri"], said["uri"])
    elsewhere = told["quoteAuthorization"].replace(ada.me["uri"], bob.me["uri"])
    assert (await ask(town, elsewhere)).status_code == 404
    await ada.post(f"/api/v1/statuses/{said['id']}/quotes/{quoting['id']}/revoke")
    assert "quote" not in await fetch(town, quoting["uri"])
    assert (await ask(town, stamp["id"])).status_code == 404


async def test_a_deleted_post_leaves_a_stone_if_everybody_could_see_it(town: Town) -> None:
    ada, eve = await join(town), await join(town)
    for visibility, status in (("public", 410), ("unlisted", 410), ("private", 404), ("direct", 404)):
        said = await post(ada, "Hello", visibility=visibility)
        await ada.delete(f"/api/v1/statuses/{said['id']}")
        for address in (said["uri"], said["url"]):
            answer = await ask(town, address)
            assert answer.status_code == status, (visibility, address)
            if status == 410:
                assert answer.headers["content-type"].startswith(ACTIVITY)
                assert (answer.json()["id"], answer.json()["type"]) == (said["uri"], "Tombstone")
        elsewhere = said["uri"].replace(ada.name, eve.name)
        assert (await ask(town, elsewhere)).status_code == 404


async def test_what_is_quoted_and_deleted_leaves_a_stone(town: Town) -> None:
    ada, bob = await join(town), await join(town)
    said = await post(ada, "Quote me")
    quoting = await post(bob, "Look", quoted_status_id=said["id"])
    assert (await fetch(town, quoting["uri"]))["quote"] == said["uri"]

    await ada.delete(f"/api/v1/statuses/{said['id']}")

    assert (await fetch(town, quoting["uri"]))["quote"] == {"type": "Tombstone"}


@pytest.mark.parametrize(
    ("visibility", "is_open"), [("public", True), ("unlisted", True), ("private", False), ("direct", False)]
)
async def test_strangers_see_what_is_for_everybody(town: Town, visibility: str, is_open: bool) -> None:
    ada = await join(town)
    said = await post(ada, "psst", visibility=visibility)
    suffixes = ("", "/activity", "/replies", "/likes", "/shares")

    found = [(await ask(town, said["uri"] + suffix)).status_code for suffix in suffixes]

    assert found == [200 if is_open else 404] * len(suffixes)
    assert (await ask(town, said["url"])).status_code == (200 if is_open else 404)
    page = await fetch(town, f"{ada.me['uri']}/outbox?page=true")
    assert [one["object"]["id"] for one in page["orderedItems"]] == ([said["uri"]] if is_open else [])


async def test_nothing_is_at_wrong_addresses(town: Town) -> None:
    ada, bob, far = await join(town), await join(town), await stranger(town)
    said = await post(ada)
    wrong = [
        f"/users/{bob.name}/statuses/{said['id']}",
        f"/users/{ada.name}/statuses/1",
        f"/users/{ada.name}/statuses/{'9' * 19}",
        f"/users/{ada.name}/statuses/x",
        f"/users/{ada.name}/nothing",
        "/users/nobody_at_all",
        "/users/%00",
        f"/users/{ada.name}%00/outbox",
        "/users/" + "a" * 3000,
        f"/users/{far.username}",
        f"/users/{far.username}@{far.domain}",
        "/emojis/1",
        f"/users/{ada.name}/quote_authorizations/{said['id']}",
        f"/users/{ada.name}/followers?page=0",
        f"/users/{ada.name}/followers?page=-1",
        f"/users/{ada.name}/followers?page=99999999999",
    ]

    for path in wrong:
        answer = await ask(town, path)
        assert answer.status_code == 404, path
        assert "error" in answer.json()
    assert (await town.http.post(f"/users/{ada.name}")).status_code == 405


async def test_followers_elsewhere_see_what_is_for_followers(town: Town) -> None:
    """As whoever is known by the signature of a request would."""
    ada, far, other = await join(town), await stranger(town), await stranger(town)
    said = await post(ada, "psst", visibility="private")
    direct = await post(ada, f"@{far.username}@{far.domain} psst", visibility="direct")
    boost = await does(ada, "reblog", said)
    async with town.house() as house:
        async with house.works.begin() as work:
            row = Follow(work.new_id(), far.id, AccountId(int(ada.id)), True, False, None, None, work.now)
            await relationships.add_follow(work.db, row)
        async with house.works.begin() as work:
            author = await people.find_person(work, ada.name)
            private = await posts.find_post(work, author, int(said["id"]), far.id)
            told = json.loads(await posts.note_document(work, private))
            found = json.loads(await outbox.outbox_page(work, author, Cursor(20), far.id))
            named = await posts.find_post(work, author, int(direct["id"]), far.id)
            for id in (said["id"], direct["id"], boost["id"]):
                with pytest.raises(NotFound):
                    await posts.find_post(work, author, int(id), other.id)

    assert (told["to"], told["cc"], told["content"]) == ([f"{ada.me['uri']}/followers"], [], "<p>psst</p>")
    assert named.uri == direct["uri"]
    announced, created = found["orderedItems"]
    assert (created["object"]["id"], created["to"]) == (said["uri"], [f"{ada.me['uri']}/followers"])
    assert (announced["type"], announced["object"]["id"]) == ("Announce", said["uri"])
    assert announced["object"]["content"] == "<p>psst</p>"


# Lists


async def test_the_outbox_is_walked_both_ways(town: Town) -> None:
    ada, bob = await join(town), await join(town)
    theirs = await post(bob, "Theirs")
    said = [await post(ada, str(number)) for number in range(22)]
    await does(ada, "reblog", theirs)
    await post(ada, "psst", visibility="private")
    outbox = f"{ada.me['uri']}/outbox"

    whole = await fetch(town, outbox)
    first = await fetch(town, whole["first"])
    second = await fetch(town, first["next"])
    last = await fetch(town, whole["last"])

    assert (whole["type"], whole["totalItems"]) == ("OrderedCollection", 24)
    assert (first["type"], first["partOf"], first["id"]) == ("OrderedCollectionPage", outbox, whole["first"])
    assert (first["orderedItems"][0]["type"], first["orderedItems"][0]["object"]) == ("Announce", theirs["uri"])
    created = [
        one["object"]["id"] for one in (first["orderedItems"] + second["orderedItems"]) if one["type"] == "Create"
    ]
    assert created == [one["uri"] for one in reversed(said)]
    assert "next" not in second
    assert last["orderedItems"][-1]["object"]["id"] == said[0]["uri"]
    assert (await fetch(town, second["prev"]))["orderedItems"][-1] == first["orderedItems"][-1]


async def test_a_boost_of_what_is_no_longer_there_is_left_out(town: Town) -> None:
    ada, bob = await join(town), await join(town)
    theirs = await post(bob, "Theirs")
    boost = await does(ada, "reblog", theirs)
    await set_state(town, bob.id, lambda work: {"suspended_at": work.now})

    assert (await fetch(town, f"{ada.me['uri']}/outbox?page=true"))["orderedItems"] == []
    assert (await ask(town, boost["uri"])).status_code == 404


async def test_followers_are_told_page_by_page_unless_their_owner_hides_them(town: Town) -> None:
    ada = await join(town)
    fans = [await join(town) for _ in range(2)]
    for fan in fans:
        await fan.to(ada, "follow")
    followers, following = f"{ada.me['uri']}/followers", f"{fans[0].me['uri']}/following"

    whole = await fetch(town, followers)
    page = await fetch(town, whole["first"])

    assert (whole["type"], whole["totalItems"], whole["first"]) == ("OrderedCollection", 2, f"{followers}?page=1")
    assert page["orderedItems"] == [fan.me["uri"] for fan in reversed(fans)]
    assert (page["partOf"], page["totalItems"]) == (followers, 2)
    assert (await fetch(town, f"{following}?page=1"))["orderedItems"] == [ada.me["uri"]]
    assert (await fetch(town, f"{followers}?page=2"))["orderedItems"] == []
    await ada.patch("/api/v1/accounts/update_credentials", json={"hide_collections": True})
    hidden = await fetch(town, followers)
    assert {name for name in hidden if name != "@context"} == {"id", "type", "totalItems"}
    assert hidden["totalItems"] == 2
    assert (await ask(town, f"{followers}?page=1")).status_code == 403
    assert (await ask(town, f"{ada.me['uri']}/following?page=1")).status_code == 403


async def test_long_lists_of_followers_lead_on(town: Town) -> None:
    ada, many = await join(town), await strangers(town, 14)

    def followed(work: Work, by: AccountId) -> Follow:
        return Follow(
            id=work.new_id(), account_id=by, target_id=AccountId(int(ada.id)), reblogs=True, notify=False,
            languages=None, uri=None, created_at=work.now,
        )  # fmt: skip

    async with town.house() as house, house.works.begin() as work:
        for one in many:
            await relationships.add_follow(work.db, followed(work, one.id))
        await accounts.count(work.db, AccountId(int(ada.id)), followers=len(many))

    first = await fetch(town, f"{ada.me['uri']}/followers?page=1")
    second = await fetch(town, first["next"])

    assert first["orderedItems"] + second["orderedItems"] == [one.uri for one in reversed(many)]
    assert (len(first["orderedItems"]), second["prev"], "next" in second) == (12, first["id"], False)


async def test_pins_and_featured_tags_are_told_whole(town: Town) -> None:
    ada = await join(town)
    shown, secret = await post(ada, "Pinned #bread"), await post(ada, "psst", visibility="private")
    for one in (shown, secret):
        await does(ada, "pin", one)
    await ada.post("/api/v1/featured_tags", json={"name": "bread"})

    pins = await fetch(town, f"{ada.me['uri']}/collections/featured")
    tags = await fetch(town, f"{ada.me['uri']}/collections/tags")

    assert (pins["type"], pins["totalItems"]) == ("OrderedCollection", 1)
    assert [one["id"] for one in pins["orderedItems"]] == [shown["uri"]]
    assert "interactionPolicy" in terms_of(pins)
    assert (tags["type"], tags["totalItems"]) == ("Collection", 1)
    assert tags["items"] == [{"type": "Hashtag", "href": f"{ada.me['url']}/tagged/bread", "name": "#bread"}]


async def test_replies_are_told_first_of_the_author_then_of_the_others(town: Town) -> None:
    ada, bob = await join(town), await join(town)
    said = await post(ada)
    own = [await post(ada, str(number), in_reply_to_id=said["id"]) for number in range(7)]
    other = await post(bob, "Hm", in_reply_to_id=said["id"])
    await post(bob, "psst", in_reply_to_id=said["id"], visibility="private")

    told = await fetch(town, said["uri"])
    whole = await fetch(town, told["replies"]["id"])
    second = await fetch(town, whole["first"]["next"])
    others = await fetch(town, second["next"])

    assert whole["first"] == told["replies"]["first"]
    assert whole["first"]["items"] == [one["uri"] for one in own[:5]]
    assert (second["type"], second["items"]) == ("CollectionPage", [one["uri"] for one in own[5:]])
    assert others["items"] == [other["uri"]]
    assert "next" not in others
    assert [one["uri"] for one in own[:5]] == (await fetch(town, f"{said['uri']}/replies"))["first"]["items"]


async def test_a_thread_is_a_list_of_all_that_everybody_may_see(town: Town) -> None:
    ada, bob = await join(town), await join(town)
    said = await post(ada)
    answer = await post(bob, "Hm", in_reply_to_id=said["id"])
    deeper = await post(ada, "Well", in_reply_to_id=answer["id"])
    await post(bob, "psst", in_reply_to_id=said["id"], visibility="private")
    await does(bob, "reblog", said)

    told = await fetch(town, deeper["uri"])
    thread = await fetch(town, told["context"])

    assert told["context"] == (await fetch(town, said["uri"]))["context"]
    assert (thread["id"], thread["type"]) == (told["context"], "Collection")
    assert thread["first"]["items"] == [said["uri"], answer["uri"], deeper["uri"]]
    assert "next" not in thread["first"]
    page = await fetch(town, f"{told['context']}?min_id={said['id']}&page=true")
    assert page["items"] == [answer["uri"], deeper["uri"]]
    secret = await post(ada, "psst", visibility="private")
    wrong = [f"{ada.id}-{secret['id']}", f"{bob.id}-{said['id']}", f"{bob.id}-{answer['id']}", "x", "1-", "-1", "1-2-3"]
    for name in wrong:
        assert (await ask(town, f"/contexts/{name}")).status_code == 404, name


# People who are not there as others are


async def test_whoever_is_shut_out_is_told_to_be_and_nothing_more(town: Town) -> None:
    ada = await join(town)
    await ada.patch("/api/v1/accounts/update_credentials", json={"display_name": "Ada", "note": "Hello"})
    said = await post(ada)
    await fetch(town, ada.me["uri"])

    await set_state(town, ada.id, lambda work: {"suspended_at": work.now})
    told = await fetch(town, ada.me["uri"])

    assert (told["suspended"], told["name"], told["summary"]) == (True, "", "")
    assert told["publicKey"]["publicKeyPem"]
    assert (await ask(town, said["uri"])).status_code == 404
    for name in ("outbox", "followers", "following", "collections/featured", "collections/tags"):
        assert (await ask(town, f"{ada.me['uri']}/{name}")).status_code == 403
    page = await ask(town, ada.me["url"], BROWSER)
    assert page.status_code == 403
    assert "suspended" in page.text
    assert "Hello" not in page.text


async def test_whoever_is_gone_is_gone(town: Town) -> None:
    ada = await join(town)
    said = await post(ada)
    await set_state(town, ada.id, lambda work: {"deleted_at": work.now})

    for name in ("", "/outbox", "/followers", "/collections/featured", f"/statuses/{said['id']}"):
        assert (await ask(town, f"{ada.me['uri']}{name}")).status_code == 410
    assert (await ask(town, ada.me["url"], BROWSER)).status_code == 410
    assert (await ask(town, ada.me["url"])).status_code == 410


async def test_whoever_waits_to_be_let_in_is_not_there(town: Town) -> None:
    ada = await join(town)
    await set_state(town, ada.id, lambda _: {"is_listed": False})

    assert (await ask(town, ada.me["uri"])).status_code == 404
    assert (await ask(town, ada.me["url"], BROWSER)).status_code == 404


async def test_who_moved_says_where(town: Town) -> None:
    ada, far = await join(town), await stranger(town)
    await set_state(town, ada.id, lambda _: {"moved_to": far.id, "also_known_as": ["https://c.example/users/a"]})

    told = await fetch(town, ada.me["uri"])

    assert (told["movedTo"], told["alsoKnownAs"]) == (far.uri, ["https://c.example/users/a"])


async def test_whoever_is_limited_addresses_only_who_follows_them(town: Town) -> None:
    ada, bob, cleo = await join(town), await join(town), await join(town)
    await bob.to(ada, "follow")
    said = await post(ada, f"Hello @{bob.name} @{cleo.name}")
    await set_state(town, ada.id, lambda work: {"silenced_at": work.now})

    told = await fetch(town, said["uri"])

    assert told["cc"] == [f"{ada.me['uri']}/followers", bob.me["uri"]]
    assert {tag["href"] for tag in told["tag"]} == {bob.me["uri"], cleo.me["uri"]}
    await cleo.to(ada, "follow")
    assert set((await fetch(town, said["uri"]))["cc"]) >= {bob.me["uri"], cleo.me["uri"]}


async def test_in_secure_mode_only_the_server_itself_is_told_to_strangers(new_town: TownBuilder) -> None:
    town = await new_town(secure_mode="on")
    ada = await join(town)
    said = await post(ada)

    for url in (ada.me["uri"], said["uri"], f"{ada.me['uri']}/outbox", ada.me["url"], said["url"]):
        assert (await ask(town, url)).status_code == 401, url
    for url in (ada.me["url"], said["url"]):
        assert (await ask(town, url, BROWSER)).status_code == 401
    for path in ("/actor", "/nodeinfo/2.0", f"/.well-known/webfinger?resource=acct:{ada.name}@{domain_of(town)}"):
        assert (await ask(town, path)).status_code == 200, path

"""People on other servers, as accounts here: found, shown, kept up and gone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from kith.base.limits import Limiter
from kith.federation.fetching import FetchChain, FetchFailed
from kith.federation.keys.remote_keys import write_pem
from kith.federation.known import Known, Missing
from kith.federation.people.activities import apply_delete_actor, apply_move, apply_update_actor
from kith.federation.people.fetching import (
    COUNTS_OF_SITE,
    NAMED,
    ActorFetches,
    fetch_actor,
    fetch_handle,
    fetch_key,
    fetch_named,
    naming_key,
)
from kith.federation.people.tasks import REFRESH, RefreshActor
from kith.federation.vocabulary.incoming import Handle, read_activity
from kith.social.accounts import store as accounts
from kith.social.accounts.directory import Directory
from kith.social.ids import AccountId
from kith.social.relationships.service import follow
from tests.conftest import TownBuilder
from tests.federation.neighbour import ACTIVITY, AS, PUBLIC, Neighbour, RemotePerson, neighbour, pem_of
from tests.federation.remote_server import remote_server
from tests.federation.two_servers import arrived, find_person, handle, shows
from tests.social.members import Member, join, set_state, until
from tests.social.posts import post, settle
from tests.social.tokens import new_app
from tests.town import Town, build_town
from tests.town.town import Engine

PRIVATE = {"private_hosts": "127.0.0.1"}
APPLY = {"Update": apply_update_actor, "Delete": apply_delete_actor, "Move": apply_move}


@pytest.fixture
async def near() -> AsyncIterator[Neighbour]:
    async with neighbour() as one:
        yield one


@pytest.fixture(scope="module")
async def here(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """One for all tests of this file: the neighbours are others each time."""
    async with build_town(engine, tmp_path_factory.mktemp("here"), private_hosts="127.0.0.1") as built:
        yield built


async def resolve(member: Member, text: str) -> list[dict[str, Any]]:
    found = await member.get("/api/v2/search", params={"q": text, "resolve": "true", "type": "accounts"})
    return list(found["accounts"])


def picture() -> bytes:
    raw = BytesIO()
    Image.new("RGB", (500, 400), "red").save(raw, "PNG")
    return raw.getvalue()


def handle_of(person: RemotePerson) -> Handle:
    return Handle(*person.handle.split("@"))


async def owner_of(town: Town) -> Member:
    person = await town.owner()
    scopes = "read write follow admin:read admin:write"
    return Member(town, await (await new_app(town, scopes)).token_of(person, scopes))


async def refreshed(town: Town, id: str) -> None:
    async with town.house() as house, house.works.begin() as work:
        work.enqueue(REFRESH, RefreshActor(account_id=AccountId(int(id))))
    await settle(town)


async def long_ago(town: Town, id: str) -> None:
    await set_state(town, id, lambda work: {"fetched_at": work.now - timedelta(days=2)})


async def accepted(town: Town, id: str, member: Member) -> None:
    """Somebody elsewhere lets a member follow them."""
    async with town.house() as house, house.works.begin() as work:
        account = await accounts.find(work.db, AccountId(int(id)))
        assert account is not None
        await follow.authorize(work, account, AccountId(int(member.id)))


async def applied(town: Town, person: RemotePerson, document: dict[str, Any]) -> None:
    """As if it had come into the inbox: what is missing is fetched, and then it is tried again."""
    told = {"@context": AS, "actor": person.uri, "object": person.uri} | document
    activity = read_activity(told)
    async with town.house() as house:
        asked, unreachable = set[str](), set[str]()
        for _ in range(5):
            try:
                async with house.works.begin() as work:
                    sender = await accounts.find_by_uri(work.db, person.uri)
                    assert sender is not None
                    await APPLY[told["type"]](work, Known(unreachable), sender, activity)  # type: ignore[operator]
            except Missing as missing:
                if missing.uri in asked:  # as the inbox does it: nothing is asked for twice
                    unreachable.add(missing.uri)
                    continue
                asked.add(missing.uri)
                try:
                    await fetch_actor(house.works, missing.uri, FetchChain())
                except FetchFailed:
                    unreachable.add(missing.uri)
            else:
                return
        raise AssertionError("it never ends")


async def test_two_servers_find_each_others_people(new_town: TownBuilder) -> None:
    # given
    one, other = await new_town(**PRIVATE), await new_town(**PRIVATE)
    ada, bob = await join(one, "ada"), await join(other, "bob")
    await bob.patch(
        "/api/v1/accounts/update_credentials",
        json={"display_name": "Bob", "note": "I <b>bake</b>", "fields_attributes": [{"name": "Pet", "value": "Cat"}]},
    )
    handle = f"bob@127.0.0.1:{other.port}"

    # when
    [by_handle] = await resolve(ada, f"@{handle}")
    [by_page] = await resolve(ada, f"{other.base_url}/@bob")
    [by_id] = await resolve(ada, f"{other.base_url}/users/bob")

    # then
    assert by_handle["acct"] == handle
    assert (by_handle["display_name"], by_handle["note"]) == ("Bob", "<p>I &lt;b&gt;bake&lt;/b&gt;</p>")
    assert [(one["name"], one["value"]) for one in by_handle["fields"]] == [("Pet", "Cat")]
    assert by_page["id"] == by_id["id"] == by_handle["id"]
    assert by_handle["uri"] == f"{other.base_url}/users/bob"
    assert (await ada.get("/api/v1/accounts/lookup", params={"acct": handle}))["id"] == by_handle["id"]
    anonymous = await one.http.get("/api/v2/search", params={"q": f"@{handle}", "resolve": "true"})
    assert anonymous.status_code == 401


async def test_following_by_handle_asks_there(here: Town, near: Neighbour) -> None:
    ada, carol = await join(here), near.person("carol", manuallyApprovesFollowers=True)

    account = await ada.post("/api/v1/follows", json={"uri": carol.handle})

    assert (account["acct"], account["locked"]) == (carol.handle, True)
    [relation] = await ada.get("/api/v1/accounts/relationships", params={"id[]": account["id"]})
    assert relation["requested"] is True


async def test_somebody_who_is_mentioned_is_looked_up(here: Town, near: Neighbour) -> None:
    ada, carol = await join(here), near.person("carol")

    status = await ada.post("/api/v1/statuses", json={"status": f"Hello @{carol.handle} and @nobody@{near.domain}"})

    assert [one["acct"] for one in status["mentions"]] == [carol.handle]
    assert f'href="{carol.document["url"]}"' in status["content"]


# What is stored of them


async def test_a_profile_is_shown_as_its_server_tells_it(here: Town, near: Neighbour) -> None:
    # given
    ada = await join(here)
    near.serves("/face.png", picture(), type="image/png")
    for name, total in (("outbox", 42), ("followers", 7), ("following", 3)):
        near.serves_collection(f"/users/carol/{name}", [], totalItems=total)
    carol = near.person(
        "carol",
        type="Service",
        summary='<p onclick="x()">Hi<script>alert(1)</script></p>',
        icon={"type": "Image", "mediaType": "image/png", "url": f"{near.url}/face.png", "summary": "A face"},
        attachment=[{"type": "PropertyValue", "name": "Web", "value": '<a href="javascript:x()">x</a>'}],
        tag=[{"type": "Emoji", "name": ":blob:", "icon": {"type": "Image", "url": f"{near.url}/blob.png"}}],
        discoverable=True,
        indexable=True,
        published="2020-02-02T00:00:00Z",
    )
    carol.document["name"] = "Carol :blob:"

    # when
    [found] = await resolve(ada, f"@{carol.handle}")

    # then
    assert found["note"] == "<p>Hi</p>"
    assert "javascript" not in found["fields"][0]["value"]
    assert (found["statuses_count"], found["followers_count"], found["following_count"]) == (42, 7, 3)
    assert (found["bot"], found["discoverable"], found["indexable"]) == (True, True, True)
    assert found["created_at"].startswith("2020-02-02")
    assert [one["shortcode"] for one in found["emojis"]] == ["blob"]
    assert found["avatar"].startswith(f"{here.base_url}/media/avatars/")
    assert found["avatar_description"] == "A face"
    assert "/face.png" not in near.asked
    face = await here.http.get(found["avatar"], follow_redirects=True)
    assert (face.status_code, face.headers["content-type"]) == (200, "image/png")
    again = await here.http.get(found["avatar_static"], follow_redirects=True)
    assert again.status_code == 200
    assert near.asked.count("/face.png") == 1


async def test_a_picture_that_is_none_is_not_asked_for_again_and_again(here: Town, near: Neighbour) -> None:
    ada = await join(here)
    near.serves("/face.jpg", b"no picture", type="image/jpeg")
    carol = near.person("carol", icon={"type": "Image", "url": f"{near.url}/face.jpg"})
    [found] = await resolve(ada, f"@{carol.handle}")

    answers = [(await here.http.get(found["avatar"])).status_code for _ in range(3)]

    assert answers == [404, 404, 404]
    assert near.asked.count("/face.jpg") == 1


async def test_a_name_that_does_not_lead_back_is_not_believed(here: Town, near: Neighbour) -> None:
    ada = await join(here)
    carol = near.person("carol")
    near.serves(
        f"/.well-known/webfinger?resource=acct%3Adave%40{near.domain.replace(':', '%3A')}",
        {"subject": f"acct:dave@{near.domain}", "links": [{"rel": "self", "type": ACTIVITY, "href": carol.uri}]},
        type="application/jrd+json",
    )

    assert await resolve(ada, f"@dave@{near.domain}") == []
    assert await resolve(ada, f"@nobody@{near.domain}") == []


async def test_whoever_comes_from_a_blocked_server_gets_what_the_block_says(here: Town, near: Neighbour) -> None:
    owner = await owner_of(here)
    await owner.post(
        "/api/v1/admin/domain_blocks", json={"domain": near.domain, "severity": "silence", "reject_media": True}
    )
    carol = near.person("carol", icon={"type": "Image", "url": f"{near.url}/face.png"})

    [found] = await resolve(owner, f"@{carol.handle}")

    assert found["limited"] is True
    assert found["avatar"].endswith("missing.png")


async def test_a_server_suspends_its_own_and_takes_it_back(here: Town, near: Neighbour) -> None:
    ada, carol = await join(here), near.person("carol")
    [found] = await resolve(ada, f"@{carol.handle}")

    carol.document["suspended"] = True
    await refreshed(here, found["id"])
    assert (await ada.get(f"/api/v1/accounts/{found['id']}"))["suspended"] is True
    carol.document["suspended"] = False
    await refreshed(here, found["id"])

    assert "suspended" not in await ada.get(f"/api/v1/accounts/{found['id']}")


async def test_whoever_is_gone_there_is_gone_here(here: Town, near: Neighbour) -> None:
    ada, carol = await join(here), near.person("carol")
    [found] = await resolve(ada, f"@{carol.handle}")
    near.serves("/users/carol", b"", status=410)

    await refreshed(here, found["id"])

    answer = await ada.call("GET", f"/api/v1/accounts/{found['id']}")
    assert answer.status_code == 410
    near.serves("/users/carol", carol.document)
    [again] = await resolve(ada, f"@{carol.handle}")
    assert again["display_name"] == "Carol"


async def test_a_handle_at_a_new_address_is_the_same_person(here: Town, near: Neighbour) -> None:
    # given
    ada, carol = await join(here), near.person("carol")
    account = await ada.post("/api/v1/follows", json={"uri": carol.handle})
    await accepted(here, account["id"], ada)
    carol.uri = f"{near.url}/people/carol"
    carol.key_id = f"{carol.uri}#main-key"
    moved = carol.document | {"id": carol.uri, "inbox": f"{carol.uri}/inbox", "publicKey": carol.public_key}
    near.serves("/people/carol", moved)

    # when
    async with here.house() as house:
        now = await fetch_handle(house.works, handle_of(carol), FetchChain())

    # then
    assert now is not None
    assert (str(now.id), now.uri) == (account["id"], carol.uri)
    await until(lambda: _asks(ada, account["id"]))


async def _asks(member: Member, id: str) -> bool:
    [relation] = await member.get("/api/v1/accounts/relationships", params={"id[]": id})
    return bool(relation["requested"]) and not relation["following"]


HOSTILE: dict[str, Any] = {
    "another host's id": {"id": "https://elsewhere.example/users/carol"},
    "no inbox": {"inbox": None},
    "somebody else's inbox": {"inbox": "https://elsewhere.example/inbox"},
    "no key": {"publicKey": None},
    "a key that is none": {"publicKey": {"id": 7}},
    "no name": {"preferredUsername": ""},
    "a name with a space": {"preferredUsername": "ca rol"},
    "no person": {"type": "Note"},
    "no context": {"@context": "https://elsewhere.example/ns"},
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_an_actor_that_is_not_right_is_nobody(here: Town, near: Neighbour, name: str) -> None:
    ada, carol = await join(here), near.person("carol", **HOSTILE[name])
    near.serves("/users/carol", carol.document)

    assert await resolve(ada, f"@{carol.handle}") == []
    assert await resolve(ada, carol.uri) == []


async def test_whatever_else_stands_in_an_actor_is_cut_or_left_out(here: Town, near: Neighbour) -> None:
    long = "x" * 30_000
    carol = near.person(
        "carol",
        summary=f"\0{long}",
        attachment=[{"type": "PropertyValue", "name": f"\0{long[:3000]}", "value": long[:3000]}] * 60,
        alsoKnownAs=[f"https://a.example/{number}" for number in range(1000)],
        movedTo=near.url + "/users/carol",
        published="soon",
        icon=[7, {"type": "Image", "url": f"{near.url}/x.png", "summary": f"\0{long}"}],
        featured={"id": 7},
        tag=[{"type": "Emoji", "name": ":\0:", "icon": {"url": "x"}}, 7, None],
        outbox=f"{near.url}/users/carol/outbox",
    )
    near.serves("/users/carol/outbox", {"@context": AS, "type": "OrderedCollection", "totalItems": 10**30})

    [found] = await resolve(await join(here), f"@{carol.handle}")

    assert len(found["fields"]) == 50
    assert len(found["note"]) <= 20 * 1024 + 100
    assert "moved" not in found


# Keys


async def test_keys_are_fetched_with_their_owner(here: Town, near: Neighbour) -> None:
    # given
    carol, dave, erin = near.person("carol"), near.person("dave"), near.person("erin")
    dave.document["publicKey"] = near.serves("/users/dave/key", dave.public_key | {"id": f"{near.url}/users/dave/key"})
    stub = {name: erin.document[name] for name in ("@context", "id", "type", "preferredUsername")}
    own = erin.public_key | {"id": f"{erin.uri}/main-key"}
    erin.document["publicKey"] = own
    near.serves("/users/erin/main-key", stub | {"publicKey": own})

    async with here.house() as house:
        for person, key_id in (
            (carol, carol.key_id),
            (dave, f"{near.url}/users/dave/key"),
            (erin, f"{erin.uri}/main-key"),
            (carol, f"acct:{carol.handle}"),
        ):
            # when
            account, key = await fetch_key(house.works, key_id, FetchChain())

            # then
            assert account.uri == person.uri
            assert write_pem(key) == pem_of(person.key)
        for wrong in (f"{carol.uri}#other", f"{near.url}/users/nobody#main-key", "nonsense"):
            with pytest.raises(FetchFailed):
                await fetch_key(house.works, wrong, FetchChain())


async def test_a_key_of_somebody_else_is_nobodys(here: Town, near: Neighbour) -> None:
    carol, eve = near.person("carol"), near.person("eve")
    eve.document["publicKey"] = [eve.public_key, eve.public_key | {"id": f"{eve.uri}#stolen", "owner": carol.uri}]
    near.serves("/keys/1", eve.public_key | {"id": f"{near.url}/keys/1", "owner": carol.uri})

    async with here.house() as house:
        for wrong in (f"{eve.uri}#stolen", f"{near.url}/keys/1"):
            with pytest.raises(FetchFailed):
                await fetch_key(house.works, wrong, FetchChain())


async def test_a_key_is_asked_for_anew_once_in_a_while(here: Town, near: Neighbour) -> None:
    carol = near.person("carol", key=0)
    async with here.house() as house:
        _, first = await fetch_key(house.works, carol.key_id, FetchChain())
        carol.change_key(1)
        asked = near.asked.count("/users/carol")
        _, soon = await fetch_key(house.works, carol.key_id, FetchChain())
        assert near.asked.count("/users/carol") == asked
        house.works.services[ActorFetches] = ActorFetches(house.works)  # as if 20 seconds had passed
        _, later = await fetch_key(house.works, carol.key_id, FetchChain())

    assert write_pem(first) == write_pem(soon)
    assert write_pem(later) == pem_of(carol.key)


# What they say of themselves


async def test_an_update_counts_at_once_and_keeps_the_followers(here: Town, near: Neighbour) -> None:
    ada, carol = await join(here), near.person("carol", key=0)
    account = await ada.post("/api/v1/follows", json={"uri": carol.handle})
    await accepted(here, account["id"], ada)
    carol.change_key(1)
    carol.document["name"] = "Carol the Second"

    await applied(here, carol, carol.activity("Update", carol.document))

    assert (await ada.get(f"/api/v1/accounts/{account['id']}"))["display_name"] == "Carol the Second"
    await settle(here)
    [relation] = await ada.get("/api/v1/accounts/relationships", params={"id[]": account["id"]})
    assert relation["following"] is True


async def test_an_actor_of_ours_is_nobody_elsewhere(here: Town, near: Neighbour) -> None:
    ada = await join(here)
    near.person("carol", id=ada.me["uri"])
    async with here.house() as house:
        with pytest.raises(FetchFailed):
            await fetch_actor(house.works, f"{near.url}/users/carol", FetchChain())


async def test_whoever_deletes_their_account_is_gone(here: Town, near: Neighbour) -> None:
    ada, carol = await join(here), near.person("carol")
    account = await ada.post("/api/v1/follows", json={"uri": carol.handle})
    await accepted(here, account["id"], ada)

    for _ in range(2):
        await applied(here, carol, carol.activity("Delete", carol.uri))

    assert (await ada.call("GET", f"/api/v1/accounts/{account['id']}")).status_code == 410
    await until(lambda: _follows_nobody(ada))
    assert await resolve(ada, carol.uri) == []  # although their server has not forgotten them yet


async def _follows_nobody(member: Member) -> bool:
    return not await member.get(f"/api/v1/accounts/{member.id}/following")


async def test_followers_here_go_along_with_somebody_who_moves(here: Town, near: Neighbour) -> None:
    # given
    ada, carol, dave, eve = await join(here), near.person("carol"), near.person("dave"), near.person("eve")
    old = await ada.post("/api/v1/follows", json={"uri": carol.handle})
    await accepted(here, old["id"], ada)
    [new] = await resolve(ada, f"@{dave.handle}")

    # when
    await applied(here, carol, {"type": "Move", "id": f"{carol.uri}#moves/1", "target": eve.uri})
    assert "moved" not in await ada.get(f"/api/v1/accounts/{old['id']}")
    dave.document["alsoKnownAs"] = [carol.uri]
    await long_ago(here, new["id"])
    for _ in range(2):
        await applied(here, carol, {"type": "Move", "id": f"{carol.uri}#moves/2", "target": dave.uri})

    # then
    assert (await ada.get(f"/api/v1/accounts/{old['id']}"))["moved"]["id"] == new["id"]
    await until(lambda: _asks(ada, new["id"]))
    [before] = await ada.get("/api/v1/accounts/relationships", params={"id[]": old["id"]})
    assert (before["following"], before["requested"]) == (False, False)
    eve.document["alsoKnownAs"] = [carol.uri]
    await applied(here, carol, {"type": "Move", "id": f"{carol.uri}#moves/3", "target": eve.uri})
    assert (await ada.get(f"/api/v1/accounts/{old['id']}"))["moved"]["id"] == new["id"]


async def test_somebody_moves_to_another_server(new_town: TownBuilder) -> None:
    one, other = await new_town(**PRIVATE), await new_town(**PRIVATE)
    ada, there, fan = await join(one, "ada"), await join(other, "ada"), await join(one)
    await fan.to(ada, "follow")
    await there.post("/api/v1/accounts/alias", json={"also_known_as_uris": [f"ada@127.0.0.1:{one.port}"]})

    answer = await ada.call(
        "POST",
        "/api/v1/accounts/move",
        json={"moved_to_uri": f"{other.base_url}/@ada", "password": "correct horse ada"},
    )

    assert answer.status_code == 202, answer.text
    target = answer.json()["moved"]
    assert target["acct"] == f"ada@127.0.0.1:{other.port}"
    await until(lambda: _asks(fan, target["id"]))
    document = await one.http.get("/users/ada", headers={"Accept": ACTIVITY})
    assert document.json()["movedTo"] == f"{other.base_url}/users/ada"


async def test_a_site_that_another_one_only_names_is_asked_so_often(here: Town, near: Neighbour) -> None:
    carol, dora, site = near.person("carol"), near.person("dora"), "loud.example"
    async with here.house() as house:
        works = house.works
        works.services[Limiter] = limiter = Limiter(works.database)
        limiter.spend(NAMED, naming_key(site, near.domain), NAMED.most - 1)

        assert await fetch_named(works, carol.uri, site, FetchChain()) is not None
        assert await fetch_named(works, dora.uri, site, FetchChain()) is None
        assert "/users/dora" not in near.asked
        assert await fetch_named(works, dora.uri, near.domain, FetchChain()) is not None


def test_names_that_a_site_makes_up_take_few_counts() -> None:
    assert len({naming_key("loud.example", f"{number}.example") for number in range(10_000)}) <= COUNTS_OF_SITE


# Profiles that are opened


async def test_a_profile_is_filled_when_it_is_opened(here: Town, near: Neighbour) -> None:
    carol = near.person("carol", featured=f"{near.url}/users/carol/pins", featuredTags=f"{near.url}/users/carol/tags")
    near.serves_collection("/users/carol/tags", [{"type": "Hashtag", "name": "#Bread"}, {"type": "Hashtag"}])
    eve, pinned, newest = near.person("eve"), carol.note("1", "On top"), carol.note("2", "Newest")
    foreign = eve.note("3", "Not hers")
    near.serves_collection("/users/carol/pins", [pinned["id"], foreign["id"]])
    boost = {"id": f"{carol.uri}/boost", "type": "Announce", "actor": carol.uri, "object": foreign["id"]}
    page = f"{near.url}/users/carol/outbox?page=true"
    near.serves_collection("/users/carol/outbox", [], first=page, totalItems=2)
    near.serves_collection("/users/carol/outbox?page=true", [carol.create(newest), boost], type="OrderedCollectionPage")
    ada = await join(here)
    [found] = await resolve(ada, f"@{carol.handle}")

    await ada.get(f"/api/v1/accounts/{found['id']}")

    async def is_filled() -> bool:
        tags = await ada.get(f"/api/v1/accounts/{found['id']}/featured_tags")
        posts = await ada.get(f"/api/v1/accounts/{found['id']}/statuses")
        return [one["name"] for one in tags] == ["Bread"] and newest["id"] in [one["uri"] for one in posts]

    await until(is_filled)
    shown = await ada.get(f"/api/v1/accounts/{found['id']}/statuses", params={"pinned": "true"})
    assert [one["uri"] for one in shown] == [pinned["id"]]


async def test_whose_words_a_boost_shows_are_not_pinned(here: Town, near: Neighbour) -> None:
    ada = await join(here)
    said = await post(ada, "Ada's words")
    carol = near.person("carol", featured=f"{near.url}/users/carol/pins")
    own, boost = carol.note("1", "On top"), carol.activity("Announce", said["uri"], to=[PUBLIC])
    assert (await carol.post(f"{here.base_url}/inbox", boost)).status_code == 202
    await settle(here)
    near.serves_collection("/users/carol/pins", [boost["id"], own["id"]])
    [found] = await resolve(ada, f"@{carol.handle}")
    await ada.get(f"/api/v1/accounts/{found['id']}")

    async def pinned() -> list[str]:
        shown = await ada.get(f"/api/v1/accounts/{found['id']}/statuses", params={"pinned": "true"})
        return [one["uri"] for one in shown]

    async def is_filled() -> bool:
        return own["id"] in await pinned()

    await until(is_filled)
    assert await pinned() == [own["id"]]


async def test_pins_are_read_again_when_a_profile_is_opened(here: Town, near: Neighbour) -> None:
    carol = near.person("carol", featured=f"{near.url}/users/carol/pins", featuredTags=f"{near.url}/users/carol/tags")
    first, second = carol.note("1", "First"), carol.note("2", "Second")
    near.serves_collection("/users/carol/pins", [first["id"]])
    near.serves_collection("/users/carol/tags", [{"type": "Hashtag", "name": "#Bread"}])
    ada = await join(here)
    [found] = await resolve(ada, f"@{carol.handle}")
    path = f"/api/v1/accounts/{found['id']}"

    def is_on_top(pin: dict[str, Any], tag: str) -> Callable[[], Awaitable[bool]]:
        async def is_shown() -> bool:
            pins = await ada.get(f"{path}/statuses", params={"pinned": "true"})
            tags = await ada.get(f"{path}/featured_tags")
            return [one["uri"] for one in pins] == [pin["id"]] and [one["name"] for one in tags] == [tag]

        return is_shown

    await ada.get(path)
    await until(is_on_top(first, "Bread"))
    await settle(here)
    near.serves_collection("/users/carol/pins", [second["id"]])
    near.serves_collection("/users/carol/tags", [{"type": "Hashtag", "name": "#Rye"}])
    async with here.house() as house:  # another process, which has not asked lately
        account_id = AccountId(int(found["id"]))
        async with house.works.begin() as work:
            await work.find(Directory).opened(work, account_id)  # type: ignore[type-abstract]

    await until(is_on_top(second, "Rye"))
    await settle(here)
    for name in ("pins", "tags"):  # what cannot be read whole takes nothing away
        near.serves_collection(f"/users/carol/{name}", [], first=f"{near.url}/users/carol/{name}?page=1")
    async with here.house() as house, house.works.begin() as work:
        await work.find(Directory).opened(work, account_id)  # type: ignore[type-abstract]
    await settle(here)
    assert await is_on_top(second, "Rye")()


async def test_a_handle_may_live_at_another_host_than_its_server(new_town: TownBuilder) -> None:
    # given
    async with remote_server() as names:
        one = await new_town(**PRIVATE)
        other = await new_town(**PRIVATE, local_domain=names.domain)
        ada, bob = await join(one), await join(other, "bob")
        path = f"/.well-known/webfinger?resource=acct:bob@{names.domain}"
        names.redirects(path, f"{other.base_url}{path}", status=301)

        # when
        [by_handle] = await resolve(ada, f"@bob@{names.domain}")
        [by_server] = await resolve(ada, f"@bob@127.0.0.1:{other.port}")
        [by_id] = await resolve(ada, bob.me["uri"])
        handle = f"bob@{names.domain}"

    # then
    assert by_handle["acct"] == handle
    assert by_handle["uri"] == f"{other.base_url}/users/bob"
    assert by_handle["id"] == by_server["id"] == by_id["id"]


async def test_people_whose_handles_live_elsewhere_follow_and_write_to_each_other(new_town: TownBuilder) -> None:
    async with remote_server() as names:
        one = await new_town(**PRIVATE)
        other = await new_town(**PRIVATE, local_domain=names.domain)
        ada, bob = await join(one), await join(other)
        path = f"/.well-known/webfinger?resource=acct:{bob.name}@{names.domain}"
        names.redirects(path, f"{other.base_url}{path}", status=301)
        bob_here = await find_person(ada, f"{bob.name}@{names.domain}")
        ada_there = await find_person(bob, handle(ada))

        for member, known_as in ((ada, bob_here), (bob, ada_there)):
            await member.post(f"/api/v1/accounts/{known_as}/follow", json={})
            await shows(member, f"/api/v1/accounts/relationships?id[]={known_as}", lambda found: found[0]["following"])
        said = await bob.post("/api/v1/statuses", json={"status": "From two hosts", "visibility": "private"})
        answered = await ada.post(
            "/api/v1/statuses",
            json={"status": f"@{bob.name}@{names.domain} Hello", "visibility": "direct"},
        )

        here = await arrived(ada, said["uri"])
        assert here["account"]["acct"] == f"{bob.name}@{names.domain}"
        [mention] = answered["mentions"]
        assert (mention["id"], mention["acct"]) == (bob_here, f"{bob.name}@{names.domain}")
        there = await arrived(bob, answered["uri"])
        assert [one["acct"] for one in there["mentions"]] == [bob.name]


async def test_a_post_looks_up_only_so_many(here: Town, near: Neighbour) -> None:
    people = [near.person(f"p{number}") for number in range(14)]
    ada = await join(here)

    status = await ada.post("/api/v1/statuses", json={"status": " ".join(f"@{one.handle}" for one in people)})

    assert len(status["mentions"]) == 10

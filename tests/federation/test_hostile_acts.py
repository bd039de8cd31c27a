"""What somebody does in the name of others, or with what is none of theirs, changes nothing of anybody."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from sqlalchemy import Table, bindparam, select, update

from kith.base.db import Instant, command, query
from kith.federation.signatures.signing import Signer
from kith.social.accounts.tables import accounts
from kith.social.relationships.tables import blocks, follows
from kith.social.statuses.tables import favourites, mentions, pins, polls, statuses, votes
from tests.federation.inbox_street import Street, street
from tests.federation.neighbour import ACTIVITY, AS, PUBLIC, RemotePerson
from tests.social.members import Member, join
from tests.social.posts import post
from tests.town.town import Engine

_TABLES: tuple[Table, ...] = (accounts, statuses, follows, blocks, favourites, mentions, pins, polls, votes)
_end_poll = command(
    update(polls).where(polls.c.id == bindparam("of")).values(expires_at=bindparam("then", type_=Instant()))
)
_OF_NO_WEIGHT = frozenset({"fetched_at", "updated_at", "version", "last_status_at"})


class Scene(msgspec.Struct):
    """Bob lives here, carol at another server and mallory at a third; dan follows carol, and mallory nobody."""

    lane: Street
    bob: Member
    dan: Member
    carol: RemotePerson
    mallory: RemotePerson
    carols: dict[str, Any]
    carols_private: dict[str, Any]
    follow: dict[str, Any]
    like: dict[str, Any]
    boost: dict[str, Any]
    block: dict[str, Any]
    said: dict[str, Any]
    secret: dict[str, Any]
    letter: dict[str, Any]
    poll: dict[str, Any]


@pytest.fixture(scope="module")
async def scene(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    async with street(engine, tmp_path_factory.mktemp("lane")) as lane:
        yield await _set(lane)


async def _set(lane: Street) -> Scene:
    bob, dan = await join(lane.here), await join(lane.here)
    carol = lane.away.person("carol", key=1)
    carol.document["featured"] = f"{carol.uri}/featured"
    mallory = lane.there.person("mallory", key=2)
    mallory.document["featured"] = f"{mallory.uri}/featured"
    said = await post(bob, "For everybody")
    secret = await post(bob, "For followers", visibility="private")
    letter = await post(bob, "For nobody", visibility="direct")
    poll = await post(bob, "Which?", poll={"options": ["one", "two"], "expires_in": 3600})
    await dan.post("/api/v1/follows", json={"uri": carol.handle})
    asked = {"type": "Follow", "actor": dan.me["uri"], "object": carol.uri}
    await lane.sends(carol, carol.activity("Accept", asked))
    carols, private = carol.note("1"), carol.note("2", to=[f"{carol.uri}/followers"], cc=[])
    follow, like = carol.activity("Follow", bob.me["uri"]), carol.activity("Like", said["uri"])
    boost = carol.activity("Announce", said["uri"], to=[PUBLIC])
    eve = await join(lane.here)
    block = carol.activity("Block", eve.me["uri"])
    pinned = carol.activity("Add", carols["id"], target=carol.document["featured"])
    for one in (carol.create(carols), carol.create(private), follow, like, boost, block, pinned):
        await lane.sends(carol, one)
    await lane.sends(mallory, mallory.activity("Like", mallory.uri))
    return Scene(
        lane, bob, dan, carol, mallory, carols, private, follow, like, boost, block, said, secret, letter, poll
    )


def inner(document: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != "@context"} | changes


def forged(scene: Scene) -> dict[str, dict[str, Any]]:
    """What mallory signs and sends: each is about somebody or something of others."""
    carol, mallory, bob, dan, do = scene.carol, scene.mallory, scene.bob, scene.dan, scene.mallory.activity
    carols, ours = scene.carols, scene.said["uri"]
    own = f"{mallory.uri}/statuses/own"
    asked = {"type": "Follow", "actor": dan.me["uri"], "object": carol.uri}
    note = mallory.note("own")
    later = {"updated": "2100-01-01T00:00:00Z", "content": "<p>Taken over</p>"}
    return {
        "update of another's post": do("Update", inner(carols, **later)),
        "update of another's post as one's own": do("Update", inner(carols, attributedTo=mallory.uri, **later)),
        "update of our post": do("Update", inner(note, id=ours, **later)),
        "update of our post by its author's name": do("Update", inner(note, id=ours, attributedTo=bob.me["uri"])),
        "update of another actor": do("Update", inner(carol.document, name="Taken over")),
        "update of our actor": do("Update", inner(mallory.document, id=bob.me["uri"])),
        "update by another, by name": do("Update", inner(carols, **later), actor=carol.uri, id=f"{carol.uri}#u"),
        "delete of another's post": do("Delete", carols["id"]),
        "delete of another's post by its tombstone": do("Delete", {"id": carols["id"], "type": "Tombstone"}),
        "delete by its second name": do("Delete", {"id": own, "type": "Tombstone", "atomUri": carols["id"]}),
        "delete of our post": do("Delete", ours),
        "delete of our post's second name": do("Delete", {"id": own, "type": "Tombstone", "atomUri": ours}),
        "delete of another actor": do("Delete", carol.uri),
        "delete of our actor": do("Delete", bob.me["uri"]),
        "delete in another's name": do("Delete", carol.uri, actor=carol.uri, id=f"{carol.uri}#d"),
        "delete in our name": do("Delete", bob.me["uri"], actor=bob.me["uri"], id=f"{bob.me['uri']}#d"),
        "undo of another's like": do("Undo", inner(scene.like)),
        "undo of another's like as one's own": do("Undo", inner(scene.like, actor=mallory.uri)),
        "undo of another's like by id": do("Undo", scene.like["id"]),
        "undo of another's follow": do("Undo", inner(scene.follow)),
        "undo of another's follow without an actor": do("Undo", {**inner(scene.follow), "actor": None}),
        "undo of another's follow by id": do("Undo", scene.follow["id"]),
        "undo of another's boost": do("Undo", inner(scene.boost)),
        "undo of another's boost by id": do("Undo", scene.boost["id"]),
        "undo of another's block": do("Undo", inner(scene.block)),
        "undo of a follow from here": do("Undo", asked),
        "announce in another's name": do("Announce", ours, actor=carol.uri, id=f"{carol.uri}#a", to=[PUBLIC]),
        "announce under another's id": do("Announce", ours, id=f"{carol.uri}#a", to=[PUBLIC]),
        "announce of a private post of ours": do("Announce", scene.secret["uri"], to=[PUBLIC]),
        "announce of a letter of ours": do("Announce", scene.letter["uri"], to=[PUBLIC]),
        "announce of another's private post": do("Announce", scene.carols_private["id"], to=[PUBLIC]),
        "announce with a forged post inside": do("Announce", inner(carols, **later), to=[PUBLIC]),
        "like of a private post": do("Like", scene.secret["uri"]),
        "like of a letter": do("Like", scene.letter["uri"]),
        "like in another's name": do("Like", ours, actor=carol.uri, id=f"{carol.uri}#l"),
        "like of another server's post": do("Like", carols["id"]),
        "move of another": do("Move", carol.uri, target=mallory.uri),
        "move of ours": do("Move", bob.me["uri"], target=mallory.uri),
        "move to whoever does not know it": do("Move", mallory.uri, target=carol.uri),
        "move to us, who do not know it": do("Move", mallory.uri, target=bob.me["uri"]),
        "pin in another's list": do("Add", own, target=carol.document["featured"]),
        "pin of another's post": do("Add", scene.carols_private["id"], target=mallory.document["featured"]),
        "pin of our post": do("Add", ours, target=mallory.document["featured"]),
        "unpin in another's list": do("Remove", carols["id"], target=carol.document["featured"]),
        "unpin of another's post in one's own": do("Remove", carols["id"], target=mallory.document["featured"]),
        "accept of a follow of another": do("Accept", asked),
        "reject of a follow of another": do("Reject", asked),
        "accept of a follow nobody asked for": do("Accept", {**asked, "object": mallory.uri}),
        "accept of a follow in its target's name": do("Accept", asked, actor=carol.uri, id=f"{carol.uri}#ok"),
        "undo of an accept of another": do("Undo", {"type": "Accept", "actor": carol.uri, "object": asked}),
        "undo of an accept as one's own": do("Undo", {"type": "Accept", "actor": mallory.uri, "object": asked}),
        "follow of somebody elsewhere": do("Follow", carol.uri),
        "follow in another's name": do("Follow", dan.me["uri"], actor=carol.uri, id=f"{carol.uri}#f"),
        "follow in our name": do("Follow", carol.uri, actor=bob.me["uri"], id=f"{bob.me['uri']}#f"),
        "block in another's name": do("Block", dan.me["uri"], actor=carol.uri, id=f"{carol.uri}#b"),
        "block of somebody elsewhere": do("Block", carol.uri),
        "create under our id": mallory.create(inner(note, id=f"{bob.me['uri']}/statuses/1")),
        "create by one of ours": mallory.create(inner(note, attributedTo=bob.me["uri"])),
        "create of another's": mallory.create(inner(carols, id=f"{carol.uri}/statuses/forged")),
        "create in our name": mallory.create(
            inner(note, id=f"{bob.me['uri']}/statuses/1", attributedTo=bob.me["uri"]), actor=bob.me["uri"]
        ),
        "vote in another's name": mallory.create(
            {"id": own + "v", "type": "Note", "name": "one", "attributedTo": carol.uri, "inReplyTo": scene.poll["uri"]}
        ),
        "vote for what is no choice": mallory.create(
            {
                "id": own + "w",
                "type": "Note",
                "name": "three",
                "attributedTo": mallory.uri,
                "inReplyTo": scene.poll["uri"],
                "to": bob.me["uri"],
            }
        ),
        "quote request for another's post": do(
            "QuoteRequest", carols["id"], instrument=inner(note, quote=carols["id"])
        ),
        "quote request for a private post": do(
            "QuoteRequest", scene.secret["uri"], instrument=own, id=f"{mallory.uri}/q/1"
        ),
        "accept of a quote of another's": do(
            "Accept",
            {"type": "QuoteRequest", "actor": dan.me["uri"], "object": carols["id"], "instrument": ours},
            result=f"{mallory.uri}/stamps/1",
        ),
        "flag in another's name": do("Flag", [bob.me["uri"]], actor=carol.uri, id=f"{carol.uri}#flag"),
    }


_rows = {
    table.name: query(
        select(*(column for column in table.c if column.name not in _OF_NO_WEIGHT)).order_by(
            *table.primary_key.columns
        ),
        tuple,
    )
    for table in _TABLES
}


async def everything(scene: Scene) -> dict[str, list[Any]]:
    """All rows of those tables but what mallory is."""
    me = (await scene.lane.account_of(scene.mallory)).id
    found = {name: await scene.lane.every(rows) for name, rows in _rows.items()}
    found["social_accounts"] = [row for row in found["social_accounts"] if row[0] != me]
    return found


async def test_nobody_acts_for_others(scene: Scene) -> None:
    before = await everything(scene)
    for name, activity in forged(scene).items():
        answer = await scene.lane.says(scene.mallory, activity)
        # 202 where only a worker finds out: what counts is that nothing has changed in the end.
        assert answer.status_code in (202, 400, 401, 403), f"{name}: {answer.status_code} {answer.text}"
    await scene.lane.settled()

    assert await everything(scene) == before
    own = scene.mallory.activity("Like", scene.said["uri"])
    await scene.lane.sends(scene.mallory, own)
    assert await everything(scene) != before
    await scene.lane.sends(scene.mallory, scene.mallory.undo(own))


def vote(voter: RemotePerson, question: str, name: str, number: int) -> dict[str, Any]:
    note = {"id": f"{voter.uri}#votes/{number}", "type": "Note", "name": name, "attributedTo": voter.uri}
    return voter.create(note | {"inReplyTo": question, "to": question.partition("/statuses/")[0]})


async def test_votes_count_once_and_in_time(scene: Scene) -> None:
    lane, mallory, bob = scene.lane, scene.mallory, scene.bob
    asked = await post(bob, "Which?", poll={"options": ["one", "two"], "expires_in": 3600})
    for number, name in enumerate(("one", "two", "one")):
        await lane.sends(mallory, vote(mallory, asked["uri"], name, number))
    assert [one["votes_count"] for one in (await bob.get(f"/api/v1/statuses/{asked['id']}"))["poll"]["options"]] == [
        1,
        0,
    ]
    over = await post(bob, "Which?", poll={"options": ["one", "two"], "expires_in": 3600})
    async with lane.here.house() as house, house.works.begin() as work:
        await work.db.run(_end_poll, of=int(over["poll"]["id"]), then=work.now - timedelta(minutes=1))
    private = await post(bob, "Which?", visibility="private", poll={"options": ["one", "two"], "expires_in": 3600})
    for number, question in enumerate((over, private), 10):
        await lane.sends(mallory, vote(mallory, question["uri"], "one", number))
        now = (await bob.get(f"/api/v1/statuses/{question['id']}"))["poll"]
        assert now["votes_count"] == 0


async def test_a_vote_may_say_more_than_its_name(scene: Scene) -> None:
    """As snac's do; what names no choice is an answer like others."""
    lane, mallory, bob = scene.lane, scene.mallory, scene.bob
    asked = await post(bob, "Which?", poll={"options": ["one", "two"], "expires_in": 3600})
    path = f"/api/v1/statuses/{asked['id']}"
    tag = [{"type": "Mention", "href": bob.me["uri"], "name": "@bob"}]

    for number, name in enumerate(("two", "two", "one", "three")):
        said = mallory.note(f"choice{number}", inReplyTo=asked["uri"], to=[bob.me["uri"]], cc=[], tag=tag)
        said["name"] = name
        await lane.sends(mallory, mallory.create(said))
        await lane.sends(mallory, mallory.activity("Update", said))

    assert [one["votes_count"] for one in (await bob.get(path))["poll"]["options"]] == [0, 1]
    answers = (await bob.get(f"{path}/context"))["descendants"]
    assert [one["uri"] for one in answers] == [f"{mallory.uri}/statuses/choice3"]


async def test_a_stranger_who_answers_a_private_post_shows_nothing_of_it(scene: Scene) -> None:
    lane, mallory, bob, dan = scene.lane, scene.mallory, scene.bob, scene.dan
    secret = await post(bob, "Between us", visibility="private")
    answer = mallory.note("answer", inReplyTo=secret["uri"], tag=[{"type": "Mention", "href": dan.me["uri"]}])
    await lane.sends(mallory, mallory.create(answer))

    found = await dan.get("/api/v2/search", params={"q": answer["id"], "resolve": "true", "type": "statuses"})
    [shown] = found["statuses"]
    context = await dan.get(f"/api/v1/statuses/{shown['id']}/context")
    assert context["ancestors"] == []
    assert (await dan.call("GET", f"/api/v1/statuses/{secret['id']}")).status_code == 404
    for path in ("", "/replies", "/likes", "/shares", "/activity"):
        # 401 of addresses that ask for a signature, 404 of those that tell nobody of it.
        assert (await mallory.get(secret["uri"] + path)).status_code in (401, 403, 404), path


async def test_a_key_counts_for_its_owner_only(scene: Scene) -> None:
    """Whoever signs with a key that names another owner, or points at one of ours, is nobody."""
    lane, mallory, carol, bob = scene.lane, scene.mallory, scene.carol, scene.bob
    before = await everything(scene)
    for number, owner in enumerate((carol.uri, bob.me["uri"], f"{lane.there.url}/users/nobody")):
        key = f"{lane.there.url}/keys/{number}"
        pem = mallory.public_key["publicKeyPem"]
        lane.there.serves(f"/keys/{number}", {"@context": AS, "id": key, "owner": owner, "publicKeyPem": pem})
        like = mallory.activity("Like", scene.said["uri"], actor=owner, id=f"{owner}#l")
        answer = await lane.says(mallory, like, signer=Signer(key, mallory.key))
        assert answer.status_code == 401, answer.text
    thief = lane.there.person("thief", key=3)
    thief.document["publicKey"] = [thief.public_key, {**mallory.public_key, "owner": thief.uri}, carol.public_key]
    await lane.sends(thief, thief.activity("Like", thief.uri))
    stolen = thief.activity("Like", scene.said["uri"], actor=mallory.uri, id=f"{mallory.uri}#l")
    for key_id in (mallory.key_id, carol.key_id, bob.me["uri"] + "#main-key"):
        answer = await lane.says(thief, stolen, signer=Signer(key_id, thief.key))
        assert answer.status_code == 401, answer.text
    await lane.settled()
    now = await everything(scene)
    now["social_accounts"] = [row for row in now["social_accounts"] if thief.uri not in row]
    assert now == before


async def test_nobody_takes_the_name_of_another(scene: Scene) -> None:
    """A handle of another host or of ours, by what the actor claims or by what WebFinger says."""
    lane, carol, bob = scene.lane, scene.carol, scene.bob
    before = await everything(scene)
    claims: list[RemotePerson] = []
    for number, claimed in enumerate((carol.handle, f"{bob.name}@{lane.here.base_url.partition('//')[2]}")):
        name = f"imitator{number}"
        imitator = lane.there.person(name, key=4)
        claims.append(imitator)
        imitator.document |= {"webfinger": claimed, "preferredUsername": claimed.partition("@")[0]}
        for asked in (imitator.handle, imitator.uri):
            place = f"/.well-known/webfinger?resource=acct:{asked}"
            links = [{"rel": "self", "type": ACTIVITY, "href": imitator.uri}]
            lane.there.serves(place, {"subject": f"acct:{claimed}", "links": links}, type="application/jrd+json")
        answer = await lane.says(imitator, imitator.activity("Follow", bob.me["uri"]))
        assert answer.status_code == 401, answer.text
        found = await bob.get("/api/v2/search", params={"q": imitator.handle, "resolve": "true", "type": "accounts"})
        assert imitator.uri not in [one["uri"] for one in found["accounts"]]
    pointing = lane.there.person("pointing", key=5)
    links = [{"rel": "self", "type": ACTIVITY, "href": bob.me["uri"]}]
    place = f"/.well-known/webfinger?resource=acct:{pointing.handle}"
    lane.there.serves(place, {"subject": f"acct:{pointing.handle}", "links": links}, type="application/jrd+json")
    await bob.get("/api/v2/search", params={"q": pointing.handle, "resolve": "true"})
    await lane.settled()
    assert await everything(scene) == before


async def test_a_forged_stamp_is_no_leave_to_quote(scene: Scene) -> None:
    lane, mallory, carol = scene.lane, scene.mallory, scene.carol
    dan = scene.dan
    stamps = {
        "own": {"attributedTo": mallory.uri},
        "hers": {"attributedTo": carol.uri},
        "elsewhere": {"attributedTo": carol.uri, "id": f"{carol.uri}/stamps/forged"},
    }
    for name, changes in stamps.items():
        note = mallory.note(f"quote-{name}", quote=scene.carols["id"], tag=[{"type": "Mention", "href": dan.me["uri"]}])
        stamp = f"{mallory.uri}/stamps/{name}"
        note["quoteAuthorization"] = stamp
        lane.there.serves(
            f"/users/mallory/stamps/{name}",
            {
                "@context": AS,
                "id": stamp,
                "type": "QuoteAuthorization",
                "interactingObject": note["id"],
                "interactionTarget": scene.carols["id"],
                **changes,
            },
        )
        await lane.sends(mallory, mallory.create(note))
        [shown] = (await dan.get("/api/v2/search", params={"q": note["id"], "resolve": "true", "type": "statuses"}))[
            "statuses"
        ]
        assert shown["quote"]["state"] == "pending", name
        assert shown["quote"]["quoted_status"] is None

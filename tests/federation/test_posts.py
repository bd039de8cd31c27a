"""Posts of people elsewhere: kept with everything on them, and seen by those they are for."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kith.app import House
from kith.base.db import Session
from kith.base.ids import at_of
from kith.federation.inbox.processing import process
from kith.federation.inbox.tables import NOBODY, WAITING, Received
from kith.federation.known import Known, Missing
from kith.federation.people.tables import RemoteActor
from kith.federation.posts import pins, rows
from kith.federation.posts.editing import edit
from kith.federation.vocabulary.incoming.notes import read_bare_note
from kith.federation.vocabulary.incoming.tags import IncomingHashtag
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.admin.report_entities import POSTS_BYTES
from kith.social.ids import AccountId, StatusId
from kith.social.media import store as media
from kith.social.statuses import store as statuses
from kith.social.statuses.api.reading import CONTEXT_BYTES
from kith.social.statuses.service import revisions
from kith.social.statuses.service.edit import Changes
from kith.social.statuses.service.edit import edit as edit_own
from kith.social.statuses.service.revisions import MOST_FILES, MOST_REVISIONS
from kith.social.statuses.tables import NOT_KNOWN, Status
from tests.federation.receiving import (
    AS,
    PUBLIC,
    activity,
    create,
    find_post,
    follow,
    note_of,
    receive,
    receive_all,
    somebody,
    written,
)
from tests.social.members import Member, join
from tests.social.posts import arrive, home, notices, post, settle
from tests.social.staff import employ
from tests.town import Town


async def _follower(town: Town) -> tuple[Member, Account]:
    ada, author = await join(town), await somebody(town, indexable=True)
    await follow(ada, author)
    await arrive(ada)
    return ada, author


async def _kept(town: Town, note: dict[str, Any]) -> Status:
    found = await find_post(town, note["id"])
    assert found is not None
    return found


async def test_a_post_comes_home_to_followers_with_everything_on_it(town: Town) -> None:
    ada, author = await _follower(town)
    note = note_of(
        author,
        content='<h1>Title</h1><p onclick="x()">Sourdoughish :loaf: <script>alert(1)</script><a href="javascript:x">a</a></p>',
        summary="food",
        sensitive=True,
        contentMap={"de": "<p>other</p>"},
        url=f"{author.url}/1",
        tag=[
            {"type": "Hashtag", "name": "#Bread", "href": "https://elsewhere.example/tags/bread"},
            {"type": "Hashtag", "name": "#not a tag"},
            {
                "type": "Emoji",
                "name": ":loaf:",
                "id": None,
                "icon": {"type": "Image", "url": "https://elsewhere.example/loaf.png", "mediaType": "image/png"},
            },
            {"type": "Mention", "href": ada.me["uri"], "name": f"@{ada.name}"},
        ],
        attachment=[
            {
                "type": "Document",
                "mediaType": "image/jpeg",
                "url": f"https://elsewhere.example/{number}.jpg",
                "name": "A loaf",
                "blurhash": "UBL_:rOpGG-oBUNG,qRj2so|=eE1w^n4S5NH",
                "focalPoint": [0.0, 0.25],
                "width": 1600,
                "height": 1200,
            }
            for number in range(6)
        ],
        likes={"type": "Collection", "totalItems": 7},
        shares={"type": "Collection", "totalItems": 2},
    )

    await receive(town, author, create(author, note))
    await receive(town, author, create(author, note))  # the same again changes nothing

    [shown] = await ada.get("/api/v1/timelines/home")
    assert shown["uri"] == note["id"]
    assert shown["url"] == f"{author.url}/1"
    assert "script" not in shown["content"]
    assert "onclick" not in shown["content"]
    assert "javascript" not in shown["content"]
    assert shown["content"].startswith("<p><strong>Title</strong></p>")
    assert (shown["spoiler_text"], shown["sensitive"], shown["language"]) == ("food", True, "de")
    assert [tag["name"] for tag in shown["tags"]] == ["bread"]
    assert [one["shortcode"] for one in shown["emojis"]] == ["loaf"]
    assert [one["acct"] for one in shown["mentions"]] == [ada.name]
    assert (shown["favourites_count"], shown["reblogs_count"]) == (7, 2)
    assert len(shown["media_attachments"]) == 4
    picture = shown["media_attachments"][0]
    assert picture["url"].startswith(f"{town.base_url}/media_proxy/")
    assert picture["remote_url"] == "https://elsewhere.example/0.jpg"
    assert picture["description"] == "A loaf"
    assert picture["meta"]["focus"] == {"x": 0.0, "y": 0.25}
    assert picture["meta"]["original"]["size"] == "1600x1200"
    assert shown["account"]["statuses_count"] == 1
    assert ("mention", str(author.id), shown["id"]) in await notices(ada)
    tagged = await ada.get("/api/v1/timelines/tag/bread")  # others use the tag, too
    assert [one["id"] for one in tagged if one["account"]["id"] == shown["account"]["id"]] == [shown["id"]]
    found = await ada.get("/api/v2/search", params={"q": "Sourdoughish", "type": "statuses"})
    assert shown["id"] in [one["id"] for one in found["statuses"]]


async def test_what_concerns_nobody_here_is_not_kept(town: Town) -> None:
    author, other = await somebody(town), await somebody(town)
    ada = await join(town)
    await follow(ada, other)
    said = await post(ada)
    plain = note_of(author, "plain")
    direct = note_of(other, "direct", to=[author.uri], cc=[], tag=[{"type": "Mention", "href": author.uri}])
    answer = note_of(author, "answer", inReplyTo=said["uri"])
    followed = note_of(other, "followed")
    answer_to_followed = note_of(author, "second", inReplyTo=followed["id"])

    await receive(town, author, create(author, plain))
    await receive(town, other, create(other, direct))
    await receive(town, author, create(author, answer))
    await receive(town, other, create(other, followed))
    await receive(town, author, create(author, answer_to_followed))

    assert await find_post(town, plain["id"]) is None
    assert await find_post(town, direct["id"]) is None
    kept = await _kept(town, answer)
    assert str(kept.in_reply_to_id) == said["id"]
    assert (await ada.get(f"/api/v1/statuses/{said['id']}"))["replies_count"] == 1
    assert await find_post(town, answer_to_followed["id"]) is not None


@pytest.mark.parametrize(
    ("to", "mentioned", "visibility"),
    [
        (["followers"], False, "private"),
        (["ada"], True, "direct"),
        (["ada"], False, "private"),  # addressed without a mention: limited, which apps know as private
    ],
)
async def test_what_is_for_some_is_seen_by_them(town: Town, to: list[str], mentioned: bool, visibility: str) -> None:
    ada, author = await _follower(town)
    bob = await join(town)
    places = {"followers": f"{author.uri}/followers", "ada": ada.me["uri"]}
    tag = [{"type": "Mention", "href": ada.me["uri"]}] if mentioned else []
    note = note_of(author, to=[places[one] for one in to], cc=[], tag=tag)

    await receive(town, author, create(author, note))

    kept = await _kept(town, note)
    assert (await ada.get(f"/api/v1/statuses/{kept.id}"))["visibility"] == visibility
    assert (await bob.call("GET", f"/api/v1/statuses/{kept.id}")).status_code == 404
    assert (await ada.call("GET", f"/api/v1/statuses/{kept.id}/context")).status_code == 200
    assert await home(ada) == [str(kept.id)]


async def test_whoever_a_post_is_delivered_to_may_see_it(town: Town) -> None:
    ada, author = await _follower(town)
    bob = await join(town)
    note = note_of(author, to=[ada.me["uri"]], cc=[], tag=[{"type": "Mention", "href": ada.me["uri"]}])
    await receive(town, author, create(author, note))
    kept = await _kept(town, note)
    assert (await bob.call("GET", f"/api/v1/statuses/{kept.id}")).status_code == 404

    await receive(town, author, create(author, note), delivered_to=bob)

    assert (await bob.call("GET", f"/api/v1/statuses/{kept.id}")).status_code == 200


async def test_whoever_is_sent_something_that_does_not_name_them_sees_it(town: Town) -> None:
    ada, author = await join(town), await somebody(town)
    note, plain = note_of(author, to=[], cc=[author.uri]), note_of(author, "plain")

    await receive(town, author, create(author, note))
    assert await find_post(town, note["id"]) is None
    await receive(town, author, create(author, note), delivered_to=ada)
    await receive(town, author, create(author, plain), delivered_to=ada)

    kept = await _kept(town, note)
    assert (await ada.call("GET", f"/api/v1/statuses/{kept.id}")).status_code == 200
    assert await find_post(town, plain["id"]) is None  # for everybody, and of nobody's concern


async def test_people_whom_nobody_knows_are_asked_for_and_left_out_if_they_cannot_be_had(town: Town) -> None:
    ada, author = await _follower(town)
    unknown = "https://third.example/users/eve"
    note = note_of(author, tag=[{"type": "Mention", "href": unknown}, {"type": "Mention", "href": ada.me["uri"]}])

    with pytest.raises(Missing) as missing:
        await receive(town, author, create(author, note))
    assert (missing.value.kind, missing.value.uri) == ("actor", unknown)
    assert await find_post(town, note["id"]) is None
    await receive(town, author, create(author, note), unreachable=(unknown,))

    assert [one["acct"] for one in (await ada.get("/api/v1/timelines/home"))[0]["mentions"]] == [ada.name]


async def test_an_edit_keeps_what_was_said_before(town: Town) -> None:
    ada, author = await _follower(town)
    begun = datetime.now(UTC) - timedelta(hours=1)
    note = note_of(author, content="<p>first</p>", published=written(begun))
    await receive(town, author, create(author, note))
    kept = await _kept(town, note)
    edited = note | {"content": "<p>second <script>x</script></p>", "updated": written(begun + timedelta(minutes=5))}
    older = note | {"content": "<p>older</p>", "updated": written(begun - timedelta(minutes=5))}

    for sent in (edited, older, edited):
        await receive(town, author, activity("Update", author, sent))

    shown = await ada.get(f"/api/v1/statuses/{kept.id}")
    assert shown["content"] == "<p>second </p>"
    assert shown["edited_at"] == f"{written(begun + timedelta(minutes=5))[:-1]}.000Z"
    history = await ada.get(f"/api/v1/statuses/{kept.id}/history")
    assert [one["content"] for one in history] == ["<p>first</p>", "<p>second </p>"]


async def test_a_post_is_gone_although_two_workers_take_its_beginning_and_its_end_at_once(town: Town) -> None:
    """Neither sees what the other is about to store."""
    _ada, author = await _follower(town)
    note = note_of(author)

    def row(number: int, sent: dict[str, Any]) -> Received:
        now = datetime.now(UTC)
        return Received(
            number, author.id, sent["id"], NOBODY, json.dumps({"@context": AS} | sent), None, WAITING, now, now
        )

    async with town.house() as house:

        async def end() -> None:
            async with house.works.begin() as work:
                await process(work, row(2, activity("Delete", author, note["id"])))

        async with house.works.begin() as work:
            await process(work, row(1, create(author, note)))
            ending = asyncio.create_task(end())
            await asyncio.wait({ending}, timeout=0.3)  # long enough to get it wrong
        await ending
    await settle(town)

    assert await find_post(town, note["id"]) is None


async def test_an_edit_counts_although_a_clock_was_set_back(town: Town) -> None:
    ada, author = await _follower(town)
    begun = datetime.now(UTC)
    note = note_of(author, content="<p>first</p>", published=written(begun - timedelta(seconds=1)))
    await receive(town, author, create(author, note))
    theirs, ours = await _kept(town, note), await post(ada, "first")

    async with town.house() as house:
        earlier = begun - timedelta(minutes=5)
        house.works.clock = lambda: earlier
        async with house.works.begin() as work:
            said = note | {"content": "<p>second</p>", "updated": written(begun + timedelta(seconds=1))}
            await edit(work, Known(), author, theirs, read_bare_note(said))
        async with house.works.begin() as work:
            mine = await statuses.find(work.db, StatusId(int(ours["id"])))
            actor = await accounts.find(work.db, AccountId(int(ada.id)))
            assert mine is not None
            assert actor is not None
            edited = await edit_own(work, actor, mine, Changes(status="second"), {})

    assert (await _kept(town, note)).content == "<p>second</p>"
    assert edited.edited_at is not None
    assert edited.edited_at > edited.created_at
    await settle(town)


async def test_whoever_edits_without_end_fills_no_disk_with_it(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is all that was kept read with each of their edits."""
    looked: list[int] = []
    read_files = statuses.files_of_edits

    async def files_of_edits(db: Session, status_id: StatusId) -> set[int]:
        looked.append(status_id)
        return await read_files(db, status_id)

    monkeypatch.setattr(statuses, "files_of_edits", files_of_edits)
    ada, author = await _follower(town)
    begun = datetime.now(UTC) - timedelta(hours=1)
    note = note_of(author, content="<p>0</p>", published=written(begun))
    await receive(town, author, create(author, note))
    kept = await _kept(town, note)
    times = MOST_REVISIONS + 110

    async with town.house() as house, house.works.begin() as work:
        for count in range(1, times + 1):
            said = note | {
                "content": f"<p>{count}</p>",
                "updated": written(begun + timedelta(seconds=count)),
                "attachment": [
                    {"type": "Document", "mediaType": "image/png", "url": f"https://elsewhere.example/{count}/{place}"}
                    for place in range(4)
                ],
            }
            now = await statuses.find(work.db, kept.id)
            assert now is not None
            await edit(work, Known(), author, now, read_bare_note(said))
        files = await media.ids_of_status(work.db, kept.id, most=1000)
    await settle(town)

    history = [one["content"] for one in await ada.get(f"/api/v1/statuses/{kept.id}/history")]
    assert history == [*(f"<p>{count}</p>" for count in range(MOST_REVISIONS - 1)), f"<p>{times}</p>"]
    assert 4 * (MOST_REVISIONS - 1) <= len(files) <= MOST_FILES, "those of all that are kept, and some more"
    assert len(looked) == 2


async def test_members_who_edit_without_end_fill_no_disk_with_it(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revisions, "MOST_REVISIONS", 4)
    ada = await join(town)
    said = await post(ada, "0")

    async with town.house() as house:
        for count in range(1, 9):
            await _edit_own(house, ada, await _own(house, said), str(count))

    history = [one["content"] for one in await ada.get(f"/api/v1/statuses/{said['id']}/history")]
    assert history == [f"<p>{count}</p>" for count in (0, 1, 2, 8)]


async def test_an_edit_is_compared_with_the_post_as_it_is_and_not_as_it_was_looked_up(town: Town) -> None:
    ada = await join(town)
    said = await post(ada, "first")
    async with town.house() as house:
        before = await _own(house, said)
        await _edit_own(house, ada, before, "second")

        await _edit_own(house, ada, before, "first")

        assert (await _own(house, said)).text == "first"


async def test_of_people_elsewhere_who_are_named_no_more_nothing_is_remembered(town: Town) -> None:
    ada, author = await _follower(town)
    bob, carl = await join(town), await somebody(town)
    begun = datetime.now(UTC) - timedelta(hours=1)
    tag = [{"type": "Mention", "href": uri} for uri in (ada.me["uri"], bob.me["uri"], carl.uri)]
    for_all = note_of(author, "open", tag=tag, published=written(begun))
    for_some = note_of(author, "private", tag=tag, published=written(begun), to=[ada.me["uri"]], cc=[])

    for note, left in ((for_all, {int(ada.id)}), (for_some, {int(ada.id), int(bob.id)})):
        await receive(town, author, create(author, note))
        kept = await _kept(town, note)
        said = note | {"tag": tag[:1], "updated": written(begun + timedelta(seconds=1))}
        async with town.house() as house, house.works.begin() as work:
            await edit(work, Known(), author, kept, read_bare_note(said))
            assert set(await statuses.mentioned_in(work.db, kept.id)) == left
    await settle(town)


async def _own(house: House, said: dict[str, Any]) -> Status:
    async with house.works.begin() as work:
        found = await statuses.find(work.db, StatusId(int(said["id"])))
    assert found is not None
    return found


async def _edit_own(house: House, member: Member, status: Status, text: str) -> None:
    async with house.works.begin() as work:
        author = await accounts.find(work.db, AccountId(int(member.id)))
        assert author is not None
        await edit_own(work, author, status, Changes(status=text), {})


async def test_figures_are_told_without_an_edit(town: Town) -> None:
    ada, author = await _follower(town)
    question = note_of(author, type="Question", **_poll({"rye": 1, "wheat": 0}, voters=1))
    await receive(town, author, create(author, question))
    kept = await _kept(town, question)
    poll = (await ada.get(f"/api/v1/statuses/{kept.id}"))["poll"]
    assert (poll["votes_count"], poll["voters_count"], poll["expired"], poll["expires_at"]) == (1, 1, False, None)
    await ada.post(f"/api/v1/polls/{poll['id']}/votes", json={"choices": [1]})

    told = question | _poll({"rye": 3, "wheat": 4}, voters=7) | {"likes": {"type": "Collection", "totalItems": 5}}
    await receive(town, author, activity("Update", author, told))

    shown = await ada.get(f"/api/v1/statuses/{kept.id}")
    assert [one["votes_count"] for one in shown["poll"]["options"]] == [3, 4]
    assert (shown["poll"]["own_votes"], shown["favourites_count"], shown["edited_at"]) == ([1], 5, None)

    others = question | _poll({"rye": 0, "spelt": 0}, voters=0) | {"updated": written(datetime.now(UTC))}
    others["published"] = question["published"]
    await receive(town, author, activity("Update", author, others))

    poll = (await ada.get(f"/api/v1/statuses/{kept.id}"))["poll"]
    assert [one["title"] for one in poll["options"]] == ["rye", "spelt"]
    assert (poll["own_votes"], poll["votes_count"]) == ([], 0)


def _poll(options: dict[str, int], voters: int, **changes: Any) -> dict[str, Any]:
    chosen = [
        {"type": "Note", "name": name, "replies": {"type": "Collection", "totalItems": count}}
        for name, count in options.items()
    ]
    return {"oneOf": chosen, "votersCount": voters} | changes


async def test_an_update_of_a_young_post_that_nobody_knows_is_its_beginning(town: Town) -> None:
    _, author = await _follower(town)
    young = note_of(author, "young", updated=written())
    old = note_of(author, "old", published=written(datetime.now(UTC) - timedelta(days=2)), updated=written())

    for note in (young, old):
        await receive(town, author, activity("Update", author, note))

    assert await find_post(town, young["id"]) is not None
    assert await find_post(town, old["id"]) is None


async def test_deleting_comes_before_or_after(town: Town) -> None:
    ada, author = await _follower(town)
    other = await somebody(town)
    early, late = note_of(author, "early"), note_of(author, "late", atomUri=f"{author.uri}/atom/late")
    tombstone = {"id": early["id"], "type": "Tombstone"}

    await receive(town, author, activity("Delete", author, tombstone))
    await receive(town, author, create(author, early))
    await receive(town, author, create(author, late))
    kept = await _kept(town, late)
    await receive(town, other, activity("Delete", other, late["id"]))

    assert await find_post(town, early["id"]) is None
    assert await find_post(town, late["id"]) is not None
    for _ in range(2):
        await receive(town, author, activity("Delete", author, {"id": late["id"], "type": "Tombstone"}))
    assert (await ada.call("GET", f"/api/v1/statuses/{kept.id}")).status_code == 404
    assert await home(ada) == []
    await receive(town, author, create(author, late))
    assert await find_post(town, late["id"]) is None


async def test_answers_find_their_parents_in_any_order(town: Town) -> None:
    ada, author = await _follower(town)
    bob = await somebody(town, "unreachable.example")
    await follow(ada, bob)
    await settle(town)
    root, middle = note_of(author, "root"), note_of(bob, "middle", inReplyTo=f"{author.uri}/statuses/root")
    leaf = note_of(author, "leaf", inReplyTo=middle["id"])

    await receive(town, author, create(author, leaf))
    first = await _kept(town, leaf)
    shown = await ada.get(f"/api/v1/statuses/{first.id}")
    assert (shown["in_reply_to_id"], shown["in_reply_to_account_id"]) == (None, None)
    assert await home(ada) == []  # nobody knows yet whether it concerns her
    await receive(town, bob, create(bob, middle))
    await receive(town, author, create(author, root))

    ids = [str((await _kept(town, note)).id) for note in (root, middle, leaf)]
    found = await ada.get(f"/api/v1/statuses/{ids[1]}/context")
    assert [one["id"] for one in found["ancestors"]] == [ids[0]]
    assert [one["id"] for one in found["descendants"]] == [ids[2]]
    kept = [await _kept(town, note) for note in (root, middle, leaf)]
    assert len({one.conversation_id for one in kept}) == 1
    assert [one.replies_count for one in kept] == [1, 1, 0]
    assert sorted(await home(ada)) == sorted(ids)


async def test_a_thread_that_answers_itself_has_an_end(town: Town) -> None:
    ada, author = await _follower(town)
    names = ["a", "b", "c"]
    notes = [
        note_of(author, name, inReplyTo=f"{author.uri}/statuses/{names[place - 1]}") for place, name in enumerate(names)
    ]

    for note in notes:
        await receive(town, author, create(author, note))

    kept = [await _kept(town, note) for note in notes]
    for one in kept:
        found = await ada.get(f"/api/v1/statuses/{one.id}/context")
        assert len(found["ancestors"]) + len(found["descendants"]) == 2
    assert [one.in_reply_to_id for one in kept] == [NOT_KNOWN, kept[0].id, kept[1].id]


async def test_of_a_thread_of_very_long_answers_is_shown_what_has_room(town: Town) -> None:
    ada, author = await _follower(town)
    said = await post(ada)
    notes = [
        note_of(author, f"long{number}", f"{number} {'word ' * 12_000}", inReplyTo=said["uri"])
        for number in range(CONTEXT_BYTES // 60_000 + 20)
    ]
    await receive_all(town, author, [create(author, note) for note in notes])

    answer = await ada.call("GET", f"/api/v1/statuses/{said['id']}/context")
    below = [int(one["id"]) for one in answer.json()["descendants"]]
    every = sorted([(await _kept(town, note)).id for note in notes])

    assert len(answer.content) < CONTEXT_BYTES + 100
    assert CONTEXT_BYTES // 70_000 < len(below) < len(notes)
    assert below == every[: len(below)]


async def test_reports_of_very_long_posts_tell_what_has_room(town: Town) -> None:
    ada, author = await _follower(town)
    mod, notes = await employ(town, "moderator"), [note_of(author, f"r{n}", "word " * 12_000) for n in range(40)]
    await receive_all(town, author, [create(author, note) for note in notes])
    ids = [str((await _kept(town, note)).id) for note in notes]
    for _ in range(3):
        await ada.post("/api/v1/reports", json={"account_id": str(author.id), "status_ids": ids})

    answer = await mod.call("GET", "/api/v1/admin/reports", params={"target_account_id": str(author.id)})
    told = [len(one["statuses"]) for one in answer.json()]

    assert len(answer.content) < POSTS_BYTES + 100_000
    assert told[0] == len(ids)
    assert sum(told) < 3 * len(ids)


async def test_nobody_moves_the_threads_of_others(town: Town) -> None:
    ada, author = await _follower(town)
    said = await post(ada)
    context = f"{town.base_url}/contexts/{ada.id}-{said['id']}"
    unknown = note_of(author, "unknown")
    claiming = note_of(author, "claiming", inReplyTo=unknown["id"], context=context)
    await receive(town, author, create(author, claiming))
    assert (await _kept(town, claiming)).conversation_id == int(said["id"])

    await receive(town, author, create(author, unknown))

    own = await find_post(town, said["uri"])
    assert own is not None
    assert own.conversation_id == own.id


async def test_old_posts_sort_where_they_belong(town: Town) -> None:
    ada, author = await _follower(town)
    now = datetime.now(UTC)
    times = {
        "old": now - timedelta(days=3),
        "future": now + timedelta(days=3),
        "ancient": datetime(900, 1, 1, tzinfo=UTC),
    }
    for name, at in times.items():
        await receive(town, author, create(author, note_of(author, name, published=written(at).zfill(20))))

    kept = {name: await _kept(town, note_of(author, name)) for name in times}

    assert kept["ancient"].id < kept["old"].id < kept["future"].id
    assert abs(at_of(kept["old"].id) - times["old"]) < timedelta(seconds=2)
    assert kept["future"].created_at <= datetime.now(UTC)
    assert at_of(kept["future"].id) <= datetime.now(UTC)
    assert await home(ada) == [str(kept[name].id) for name in ("future", "old", "ancient")]  # they were delivered


@pytest.mark.parametrize(
    ("given", "meant"),
    [("de", "de"), ("de-AT", "de-AT"), ("zh-Hant-TW", "zh"), ("EN", "en"), ("tlh", None), (None, None)],
)
def test_languages(given: str | None, meant: str | None) -> None:
    content = {"contentMap": {given: "x"}} if given else {"content": "x"}
    note = read_bare_note(
        {"id": "https://a.example/1", "type": "Note", "attributedTo": "https://a.example/a"} | content
    )
    assert rows.language_of(note) == meant


def test_tags_are_words() -> None:
    given = [IncomingHashtag(name, None) for name in ("Bread", "bread", "1234", "a-b", "Brötchen")]
    assert rows.tags_of(given) == {"bread": "bread", "brotchen": "Brötchen"}


@pytest.mark.parametrize(
    ("policy", "meant"),
    [
        (None, "nobody"),
        ({"automaticApproval": [PUBLIC]}, "public"),
        ({"automaticApproval": "as:Public", "manualApproval": PUBLIC}, "public"),
        ({"automaticApproval": ["https://a.example/a/followers"]}, "followers"),
        ({"automaticApproval": ["https://a.example/a"]}, "nobody"),
        ({"automaticApproval": [], "manualApproval": [PUBLIC]}, "manual"),
        ({"automaticApproval": ["https://b.example/b/followers"]}, "nobody"),
    ],
)
def test_who_may_quote(policy: dict[str, Any] | None, meant: str) -> None:
    document = {
        "id": "https://a.example/1",
        "type": "Note",
        "attributedTo": "https://a.example/a",
        "interactionPolicy": {"canQuote": policy},
    }
    actor = RemoteActor(AccountId(1), "https://a.example/a/inbox", followers="https://a.example/a/followers")
    assert rows.quote_policy(read_bare_note(document), actor) == meant


async def test_a_thread_whose_end_comes_first_is_not_written_anew_with_every_post(town: Town) -> None:
    _, author = await _follower(town)
    notes = [note_of(author, f"c{n}", inReplyTo=f"{author.uri}/statuses/c{n + 1}") for n in range(5)]
    for note in notes[:4]:
        await receive(town, author, create(author, note))
    before = {one.id: one.version for one in [await _kept(town, note) for note in notes[:4]]}

    await receive(town, author, create(author, notes[4]))

    kept = [await _kept(town, note) for note in notes]
    assert [one.in_reply_to_id for one in kept[:4]] == [one.id for one in kept[1:]]
    assert len({one.conversation_id for one in kept}) == 1
    assert [one.id for one in kept if before.get(one.id, one.version) != one.version] == [kept[3].id]


async def test_of_two_threads_that_are_one_the_shorter_is_joined_to_the_longer(town: Town) -> None:
    ada, author = await _follower(town)
    deep = [
        note_of(author, f"d{n}", **({"inReplyTo": f"{author.uri}/statuses/d{n - 1}"} if n else {})) for n in range(3)
    ]
    late = [note_of(author, f"l{n}", inReplyTo=f"{author.uri}/statuses/l{n - 1}") for n in range(1, 6)]
    for note in (*deep, *late):
        await receive(town, author, create(author, note))
    [last] = [await _kept(town, late[-1])]
    await ada.post(f"/api/v1/statuses/{(await _kept(town, deep[0])).id}/mute")

    await receive(town, author, create(author, note_of(author, "l0", inReplyTo=deep[-1]["id"])))

    kept = [await _kept(town, note) for note in (*deep, *late)]
    assert {one.conversation_id for one in kept} == {last.conversation_id}
    assert (await ada.get(f"/api/v1/statuses/{last.id}"))["muted"] is True


async def test_a_thread_that_began_here_keeps_its_name(town: Town) -> None:
    ada, author = await _follower(town)
    said = await post(ada, "here")
    late = [note_of(author, f"h{n}", inReplyTo=f"{author.uri}/statuses/h{n - 1}") for n in range(1, 3)]
    for note in late:
        await receive(town, author, create(author, note))

    await receive(town, author, create(author, note_of(author, "h0", inReplyTo=said["uri"])))

    assert {(await _kept(town, note)).conversation_id for note in late} == {int(said["id"])}


async def test_of_a_tag_that_is_shown_on_a_profile_the_newest_posts_are_counted(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its owner may put it there and take it back for ever, and have used it in any number of posts."""
    monkeypatch.setattr(pins, "MOST_COUNTED", 2)
    ada, author = await _follower(town)
    tag = {"type": "Hashtag", "name": "#Bread"}
    begun = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)
    moments = [begun + timedelta(minutes=number) for number in (3, 1, 2)]
    for number, at in enumerate(moments):
        note = note_of(author, f"bread{number}", tag=[tag], published=written(at))
        await receive(town, author, create(author, note))

    async with town.house() as house, house.works.begin() as work:
        await pins.feature_tag(work, author, IncomingHashtag("Bread", None))

    [shown] = await ada.get(f"/api/v1/accounts/{author.id}/featured_tags")
    assert (shown["statuses_count"], shown["last_status_at"][:10]) == ("2", moments[0].date().isoformat())

"""No page and no answer is longer than what a page may hold, whatever strangers have filled it with.

Each text is bounded where it is read (`tests/test_costs.py`). Here everything that takes GET is asked where all that
strangers can fill is full: long posts of several kinds, answered and reported, polls, profiles with all their fields and
500 emoji, and many of such people: on lists, in conversations, among followers.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from kith.base.db import command, insert_into
from kith.social.accounts.tables import Account
from kith.social.conversations import store as conversations
from kith.social.conversations.tables import Conversation, participants_of
from kith.social.emojis.tables import emojis
from kith.social.ids import AccountId, StatusId
from kith.social.lists import store as lists
from kith.social.relationships import store as relationships
from kith.social.relationships.tables import Follow
from kith.social.statuses.tables import DIRECT
from tests.every_route import addresses, get_templates, is_stream
from tests.federation.receiving import create, follow, note_of, receive_all, somebody
from tests.identity.flow_browser import Browser
from tests.social.members import Member, strangers
from tests.social.posts import post, said_elsewhere
from tests.social.staff import employ
from tests.town import Person, Town, build_town

MOST_BYTES = 9 << 20  # eight megabytes, and the last that fits
POSTS = 44  # a page has 40 of them
PEOPLE = 100  # a list can be asked for all of them
CONVERSATIONS = 12
CODES = [f"e{number}" for number in range(500)]
EVERY_CODE = " ".join(f":{code}:" for code in CODES)
EMOJI = {"type": "Emoji", "name": ":e1:", "icon": {"type": "Image", "url": f"https://far.example/{'x' * 300}.png"}}
PIECES = (":e1: ", '"', "<b>&amp;</b>", "<br>", "字", "word ")


@pytest.fixture(scope="module")
async def full(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Town, Member, Account, list[str]]]:
    async with build_town("sqlite", tmp_path_factory.mktemp("full")) as town:
        owner = await employ(town, "owner")
        field = {"name": ":e1: " * 400, "value": '"<b>:e1:</b>' * 150}
        long: dict[str, Any] = {
            "display_name": ":e1: " * 400,
            "note_html": EVERY_CODE + ":e1: " * 3000,
            "fields": [field] * 9,
        }
        author = await somebody(town, "far.example", **long)
        await follow(owner, author)
        await _fill_with_people(town, owner, author, await strangers(town, PEOPLE, "far.example", **long))
        said = await post(owner, "What do you think?")
        await receive_all(town, author, [create(author, note) for note in _notes(author, owner, said["uri"])])
        found = await owner.get(f"/api/v1/accounts/{author.id}/statuses", params={"limit": 40})
        ids = [str(one["id"]) for one in found]
        for id in ids:
            for act in ("favourite", "bookmark", "reblog"):
                await owner.post(f"/api/v1/statuses/{id}/{act}")
        for _ in range(3):
            await owner.post("/api/v1/reports", json={"account_id": str(author.id), "status_ids": ids})
        yield town, owner, author, [str(said["id"]), *ids]


async def _fill_with_people(town: Town, owner: Member, author: Account, people: list[Account]) -> None:
    """Emoji, people whom one follows and who follow each other, a list of them, and conversations of very many."""
    me = AccountId(int(owner.id))
    list_id = int((await owner.post("/api/v1/lists", json={"title": "Everybody"}))["id"])
    said = [await said_elsewhere(town, author, visibility=DIRECT) for _ in range(CONVERSATIONS)]
    async with town.house() as house, house.works.begin() as work:
        icon = f"https://far.example/{'x' * 100}.png"
        rows = [{"id": work.new_id(), "shortcode": code, "domain": "far.example", "file": icon, "static_file": icon,
                 "category": None, "visible_in_picker": True, "disabled": False, "uri": None, "updated_at": work.now}
                for code in CODES]  # fmt: skip
        await work.db.many(command(insert_into(emojis)), rows)
        for one in people:
            await lists.add(work.db, list_id, one.id, id=work.new_id())
            await relationships.endorse(work.db, me, one.id, id=work.new_id(), now=work.now)
            for follower, followed in ((me, one.id), (one.id, author.id), (one.id, me)):
                row = Follow(work.new_id(), follower, followed, True, False, None, None, work.now)
                await relationships.add_follow(work.db, row)
        for number, id in enumerate(said):
            named = participants_of({author.id, *(one.id for one in people[number:])})
            row_of = Conversation(work.new_id(), me, int(id), named, StatusId(int(id)), True)
            await conversations.insert(work.db, row_of)


def _notes(author: Account, owner: Member, answered: str) -> list[dict[str, Any]]:
    mention = {"type": "Mention", "href": owner.me["uri"], "name": f"@{owner.name}"}
    tag = [EMOJI, mention, {"type": "Hashtag", "name": "#full"}]
    made = []
    for number in range(POSTS):
        piece = PIECES[number % len(PIECES)]
        more: dict[str, Any] = {"inReplyTo": answered} if number % 2 else {}
        if number % 4 == 0:
            more |= {"type": "Question", "oneOf": [{"name": f"{n} {'o' * 2000}"} for n in range(400)]}
        text = f"<p>{piece * (64_000 // len(piece))}</p>"
        made.append(note_of(author, f"full{number}", text, summary=":e1: " * 1900, tag=tag, **more))
    return made


async def test_no_answer_is_longer_than_a_page_may_be(full: tuple[Town, Member, Account, list[str]]) -> None:
    town, owner, author, ids = full
    member, stranger = Browser(town), httpx.AsyncClient(base_url=town.base_url, timeout=120, transport=town.transport)
    await member.sign_in(Person(town.http, owner.name, f"correct horse {owner.name}"))
    acct = f"{author.username}@far.example"
    list_id = (await owner.get("/api/v1/lists"))[0]["id"]
    values = {
        "statuses/id": ids[:3], "@/name": (owner.name, acct), "@/id": ids[:2], "accounts/id": (str(author.id), owner.id),
        "users/name": (owner.name,), "tags/name": ("full", "full.rss", "full.atom"), "tag/name": ("full",),
        "name": ("full", owner.name), "id": (ids[0], str(author.id), "1"), "lists/id": (list_id,), "handle": (f"@{acct}",),
    }  # fmt: skip
    query = "?limit=1000&q=full&resolved=1&unresolved=1"
    long: dict[str, int] = {}
    largest = 0
    for template, route in get_templates():
        if is_stream(route):
            continue
        for address in addresses(template, values, most=3):
            answers = [await member.http.get(f"{address}{query}"), await stranger.get(f"{address}{query}")]
            if answers[0].status_code == 401:
                headers = {"Authorization": f"Bearer {owner.token}"}
                answers.append(await stranger.get(f"{address}{query}", headers=headers))
            for answer in answers:
                assert answer.status_code != 500, (address, answer.text[:500])
                largest = max(largest, len(answer.content))
                if len(answer.content) > MOST_BYTES:
                    long[address] = len(answer.content)

    assert long == {}
    assert largest > 2 << 20, "what is to be seen is there"


async def test_nor_where_everybody_is_asked_for_at_once(full: tuple[Town, Member, Account, list[str]]) -> None:
    _, owner, author, _ = full
    list_id = (await owner.get("/api/v1/lists"))[0]["id"]
    people = [one["id"] for one in await owner.get(f"/api/v1/lists/{list_id}/accounts")]
    for path, query in (
        (f"/api/v1/lists/{list_id}/accounts", {"limit": "0"}),
        ("/api/v1/endorsements", {"limit": "0"}),
        ("/api/v1/accounts/familiar_followers", {"id[]": [str(author.id), owner.id, *people[:38]]}),
    ):
        answer = await owner.call("GET", path, params=query)
        assert (answer.status_code, len(answer.content) < MOST_BYTES) == (200, True), path
        assert len(answer.content) > 500_000, "what is to be seen is there"

"""No page and no answer is longer than what a page may hold, whatever strangers have filled it with.

Each text is bounded where it is read (`tests/test_costs.py`). Here everything that takes GET is asked where all that
strangers can fill is full: long posts of several kinds, answered and reported, polls, profiles with all their fields.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from kith.social.accounts.tables import Account
from tests.every_route import addresses, get_templates, is_stream
from tests.federation.receiving import create, follow, note_of, receive_all, somebody
from tests.identity.flow_browser import Browser
from tests.social.members import Member
from tests.social.posts import post
from tests.social.staff import employ
from tests.town import Person, Town, build_town

MOST_BYTES = 20 << 20  # eighty notices with a post and two profiles each
POSTS = 44  # a page has 40 of them
EMOJI = {"type": "Emoji", "name": ":e1:", "icon": {"type": "Image", "url": f"https://far.example/{'x' * 300}.png"}}
PIECES = (":e1: ", '"', "<b>&amp;</b>", "<br>", "字", "word ")


@pytest.fixture(scope="module")
async def full(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Town, Member, Account, list[str]]]:
    async with build_town("sqlite", tmp_path_factory.mktemp("full")) as town:
        owner = await employ(town, "owner")
        field = {"name": ":e1: " * 400, "value": '"<b>:e1:</b>' * 150}
        author = await somebody(
            town, "far.example", display_name=":e1: " * 400, note_html=":e1: " * 4000, fields=[field] * 9
        )
        await follow(owner, author)
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
    values = {
        "statuses/id": ids[:3], "@/name": (owner.name, acct), "@/id": ids[:2], "accounts/id": (str(author.id), owner.id),
        "users/name": (owner.name,), "tags/name": ("full", "full.rss", "full.atom"), "tag/name": ("full",),
        "name": ("full", owner.name), "id": (ids[0], str(author.id), "1"), "handle": (f"@{acct}",),
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

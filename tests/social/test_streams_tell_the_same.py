"""A stream tells each listener what the API answers to them, whatever they have to do with a post or with what it quotes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from tests.social.members import Member, join
from tests.social.posts import arrive, does, post, settle
from tests.social.streams import Socket, open_socket
from tests.town import Town


async def _who_have_to_do_with(town: Town, quoted: Member, old: dict[str, Any]) -> list[Member]:
    """Listeners of whom each has done something else with the post; the last has done nothing."""
    listeners = [await join(town) for _ in range(7)]
    for one, verb in zip(listeners, ("favourite", "bookmark", "reblog", "mute"), strict=False):
        await does(one, verb, old)
    await listeners[4].post(f"/api/v1/polls/{old['poll']['id']}/votes", json={"choices": [1]})
    await listeners[5].to(quoted, "follow")
    return listeners


async def _who_are_apart(town: Town, quoted: Member, _old: dict[str, Any]) -> list[Member]:
    blocking, muting, blocked, nobody = listeners = [await join(town) for _ in range(4)]
    await blocking.to(quoted, "block")
    await muting.to(quoted, "mute")
    await quoted.to(blocked, "block")
    await nobody.to(quoted, "follow")
    return listeners


async def _told(socket: Socket, id: str, streams: set[str]) -> dict[str, dict[str, Any]]:
    """What each of these streams says of the post."""
    found: dict[str, dict[str, Any]] = {}
    while set(found) != streams:
        [stream], name, payload = await socket.next_of()
        if name in ("update", "status.update") and payload["id"] == id:
            found[stream] = payload
    return found


async def _shown_on(member: Member, id: str) -> set[str]:
    """The streams of the timelines on which they find the post."""
    pages = {"user": "home", "public": "public"}
    shown = {stream: await member.get(f"/api/v1/timelines/{page}") for stream, page in pages.items()}
    return {stream for stream, posts in shown.items() if id in [one["id"] for one in posts]}


def _quote(told: dict[str, Any]) -> tuple[str, str | None]:
    quote = told["quote"]
    return quote["state"], (quote["quoted_status"] or {}).get("content")


@pytest.mark.parametrize("make", [_who_have_to_do_with, _who_are_apart])
async def test_what_is_told_of_a_quote_is_what_is_answered(town: Town, make: Callable[..., Any]) -> None:
    author, quoted = await join(town), await join(town)
    await author.to(quoted, "follow")
    poll = {"options": ["yes", "no"], "expires_in": 86400}
    old = await post(quoted, "old", poll=poll, quote_approval_policy="followers")
    listeners = [*await make(town, quoted, old), quoted, author]
    for one in listeners[:-1]:
        await one.to(author, "follow")
    await arrive(*listeners)
    await settle(town)
    async with AsyncExitStack() as stack:
        sockets = [await stack.enter_async_context(open_socket(one)) for one in listeners]
        for socket in sockets:
            await socket.subscribes("user")
            await socket.subscribes("public")
        new = await post(author, "look", quoted_status_id=old["id"])
        for edit in ("", "look again"):
            if edit:
                await author.does("PUT", f"/api/v1/statuses/{new['id']}", json={"status": edit})
            await settle(town)
            for one, socket in zip(listeners, sockets, strict=True):
                answered = await one.get(f"/api/v1/statuses/{new['id']}")
                told = await _told(socket, new["id"], await _shown_on(one, new["id"]))
                assert told.get("user", answered) == answered, (listeners.index(one), edit)
                assert "public" not in told or _quote(told["public"]) == _quote(answered), (listeners.index(one), edit)


async def test_a_list_tells_nothing_of_the_end_of_what_its_owner_could_not_read(town: Town) -> None:
    ada, author, other = await join(town), await join(town), await join(town)
    await ada.to(author, "follow")
    await arrive(ada, author, other)
    made = await ada.post("/api/v1/lists", json={"title": "some"})
    await ada.post(f"/api/v1/lists/{made['id']}/accounts", json={"account_ids": [author.id]})
    async with open_socket(ada, "list", list=made["id"]) as socket:
        secret = await post(author, f"@{other.name} psst", visibility="direct")
        named = await post(author, f"@{ada.name} psst", visibility="direct")
        private = await post(author, "for followers", visibility="private")
        await settle(town)
        for one in (secret, named, private):
            await author.delete(f"/api/v1/statuses/{one['id']}")
        heard = await socket.until("delete", private["id"])
    assert [id for name, id in heard if name == "delete"] == [named["id"], private["id"]]

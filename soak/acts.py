"""What members do: each act asks the server, and writes down what must be there if it was accepted."""

from __future__ import annotations

import asyncio
import io
import itertools
import re
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
from PIL import Image

from soak.ledger import Post
from soak.people import Answer, Person

__all__ = ["ACTS", "MARK", "Community", "post_now"]

MARK = re.compile(r"\bm\d+x\d+\b")
_TRIES = 6
_PAUSE_SECONDS = 3.0
_GONE = (200, 404)


class Community:
    """Who there is. `core` follow each other for good; `shy` ones do nothing, and are followed and blocked."""

    def __init__(self, seed: int, core: list[Person], shy: list[Person]) -> None:
        self._seed, self._numbers = seed, itertools.count(1)
        self.core, self.shy = core, shy
        self.by_handle = {one.handle: one for one in (*core, *shy)}

    def number(self) -> int:
        return next(self._numbers)

    def mark(self) -> str:
        return f"m{self._seed}x{self.number()}"

    def others(self, me: Person, *, here: bool = False) -> list[Person]:
        return [one for one in self.core if one is not me and (not here or one.site is me.site)]


def named(me: Person, other: Person) -> str:
    return f"@{other.name}" if other.site is me.site else f"@{other.handle}"


# Posting


async def post(community: Community, me: Person) -> None:
    kind = me.dice.choices(["plain", "mention", "reply", "media", "poll", "direct"], [8, 5, 3, 2, 2, 1])[0]
    sent: dict[str, Any] = {"visibility": me.dice.choices(["public", "unlisted", "private"], [6, 1, 1])[0]}
    words, mentions = f"said in passing #soak{me.dice.randrange(5)}", tuple[str, ...]()
    if kind in ("mention", "direct"):
        other = me.dice.choice(community.others(me))
        words, mentions = f"{named(me, other)} {words}", (other.handle,)
        sent["visibility"] = "direct" if kind == "direct" else sent["visibility"]
    elif kind == "reply":
        found = await _seen(community, me)
        if found is None:
            return
        sent["in_reply_to_id"] = found[1]
    elif kind == "media":
        id = await upload(me)
        if id is None:
            return
        sent["media_ids"] = [id]
    elif kind == "poll":
        sent["poll"] = {"options": ["yes", "no", "perhaps"], "expires_in": 86400}
    await post_now(community, me, words, sent, mentions)


async def post_now(
    community: Community, me: Person, words: str, sent: dict[str, Any], mentions: tuple[str, ...] = ()
) -> Post:
    """Sent again with the same key while nobody knows whether it was taken: it must be there once."""
    mark = community.mark()
    made = Post(mark, me.site.name, me.handle, f"key-{mark}", sent, me.ledger.now, mentions=mentions)
    sent["status"] = made.text = f"{mark} {words}"
    me.ledger.posts[mark] = made
    me.ledger.write(asked="post", mark=mark, who=me.handle)
    is_lost = False
    for _ in range(_TRIES):
        # A post that is answered, or a file, may be gone by now.
        answer = await me.ask(
            "post", "POST", "/api/v1/statuses", json=sent, headers={"Idempotency-Key": made.key}, fine=(200, 404, 422)
        )
        if answer.is_yes:
            made.there, made.id, made.uri = True, answer.body["id"], answer.body["uri"]
            break
        if answer.outcome is False:
            made.there = None if is_lost else False
            break
        is_lost = True  # whatever is answered from now on, it may be there
        await asyncio.sleep(_PAUSE_SECONDS)
    me.ledger.write(post=mark, there=made.there, id=made.id)
    return made


async def upload(me: Person) -> str | None:
    file = io.BytesIO()
    color = tuple(me.dice.randrange(256) for _ in range(3))
    Image.new("RGB", (64, 48), color).save(file, "PNG")
    form = aiohttp.FormData()
    form.add_field("file", file.getvalue(), filename="picture.png", content_type="image/png")
    answer = await me.ask("upload", "POST", "/api/v2/media", data=form, fine=(200, 202))
    if not answer.is_yes:
        return None
    for _ in range(20):
        if answer.status == 200:
            return str(answer.body["id"])
        await asyncio.sleep(0.5)
        answer = (
            await me.ask("file", "GET", f"/api/v1/media/{answer.body['id']}", fine=(200, 206))
            if answer.is_yes
            else answer
        )
    return None


async def edit(community: Community, me: Person) -> None:
    mine = _mine(me)
    if not mine:
        return
    made = me.dice.choice(mine)
    text = f"{made.mark} said anew {community.number()}"
    answer = await me.ask("edit", "PUT", f"/api/v1/statuses/{made.id}", json={"status": text})
    if answer.is_yes:
        made.text = text
        made.mentions = ()
    elif answer.outcome is None:
        made.text = None
        made.mentions = ()


async def delete(community: Community, me: Person) -> None:
    mine = _mine(me)
    if not mine:
        return
    made = me.dice.choice(mine)
    before, made.there = made.there, None  # whoever looks meanwhile cannot know
    answer = await me.ask("delete", "DELETE", f"/api/v1/statuses/{made.id}", fine=_GONE)
    if answer.is_yes:
        made.there = False
    elif answer.status == 404:
        me.ledger.violated("lost", f"{made.mark} of {me.handle} is not there for its author")
    elif answer.outcome is False:
        made.there = before
    me.ledger.write(deleted=made.mark, there=made.there)


def _mine(me: Person) -> list[Post]:
    """Those that may be edited and deleted: the newer ones, so that most stay."""
    found = [one for one in reversed(me.ledger.posts.values()) if one.author == me.handle and one.there and one.id]
    return found[:12]


# What one sees, and does with it


async def _seen(community: Community, me: Person) -> tuple[Post, str, dict[str, Any]] | None:
    """Something public of somebody else on one's home, and what it is called here."""
    answer = await me.ask("home", "GET", "/api/v1/timelines/home?limit=20", fine=(200, 206))
    if not answer.is_yes:
        return None
    ids = [one["id"] for one in answer.body]
    if len(set(ids)) != len(ids):
        me.ledger.violated("doubled", f"the home of {me.handle} shows one thing twice: {ids}")
    found = []
    for one in answer.body:
        shown = one["reblog"] or one
        mark = MARK.search(shown["content"])
        made = me.ledger.posts.get(mark[0]) if mark else None
        if made and made.there and made.sent["visibility"] in ("public", "unlisted") and made.author != me.handle:
            found.append((made, shown["id"], shown))
    return me.dice.choice(found) if found else None


def _does(verb: str, undo: str, mark: str) -> Callable[[Community, Person], Awaitable[None]]:
    async def act(community: Community, me: Person) -> None:
        found = await _seen(community, me)
        if found is None:
            return
        made, id, _ = found
        known = me.ledger.marks.get((mark, me.handle, made.mark))
        wanted = not known if known is not None else True
        answer = await me.ask(verb, "POST", f"/api/v1/statuses/{id}/{verb if wanted else undo}", fine=_GONE)
        remember(me, mark, made.mark, answer, wanted=wanted)

    return act


def remember(me: Person, verb: str, what: str, answer: Answer, *, wanted: bool) -> None:
    if answer.is_yes:
        me.ledger.set(verb, me.handle, what, wanted)
    elif answer.outcome is None:
        me.ledger.set(verb, me.handle, what, None)


async def vote(community: Community, me: Person) -> None:
    found = await _seen(community, me)
    if found is None or "poll" not in found[0].sent:
        return
    made, _, shown = found
    if shown["poll"] is None or ("vote", me.handle, made.mark) in me.ledger.marks:
        return
    answer = await me.ask(
        "vote", "POST", f"/api/v1/polls/{shown['poll']['id']}/votes", json={"choices": [1]}, fine=(200, 404)
    )
    remember(me, "vote", made.mark, answer, wanted=True)


# Others


async def follow(community: Community, me: Person) -> None:
    other = me.dice.choice(community.shy)
    key = ("follow", me.handle, other.handle)
    blocking = me.ledger.marks.get(("block", me.handle, other.handle), False)
    if blocking is not False:
        return
    wanted = not me.ledger.marks.get(key, False)
    verb = "follow" if wanted else "unfollow"
    answer = await me.ask("follow", "POST", f"/api/v1/accounts/{me.known[other.handle]}/{verb}")
    remember(me, "follow", other.handle, answer, wanted=wanted)


async def block(community: Community, me: Person) -> None:
    other = me.dice.choice(community.shy)
    known = me.ledger.marks.get(("block", me.handle, other.handle), False)
    wanted = not known if known is not None else False
    verb = "block" if wanted else "unblock"
    answer = await me.ask("block", "POST", f"/api/v1/accounts/{me.known[other.handle]}/{verb}")
    remember(me, "block", other.handle, answer, wanted=wanted)
    if wanted and (answer.is_yes or answer.outcome is None):  # who is blocked is not followed any more
        me.ledger.set("follow", me.handle, other.handle, False if answer.is_yes else None)


# Reading, and what is one's own


async def read(community: Community, me: Person) -> None:
    path = me.dice.choice([
        "/api/v1/timelines/public?limit=20", "/api/v1/timelines/public?local=true", "/api/v1/timelines/tag/soak1",
        "/api/v1/notifications?limit=30", "/api/v2/notifications", "/api/v1/accounts/verify_credentials",
        "/api/v1/conversations", "/api/v1/bookmarks", "/api/v1/favourites", "/api/v1/lists", "/api/v2/filters",
        "/api/v1/trends/tags", "/api/v1/custom_emojis", "/api/v2/instance", "/api/v1/announcements",
        "/api/v2/search?q=passing", f"/api/v2/search?q={me.name}&type=accounts", "/api/v1/preferences",
    ])  # fmt: skip
    kind = path.split("?", maxsplit=1)[0].rsplit("/", 2)[-2:]
    answer = await me.ask(f"read {'/'.join(kind)}", "GET", path)
    if answer.is_yes and isinstance(answer.body, list):
        ids = [one["id"] for one in answer.body if isinstance(one, dict) and "id" in one]
        if len(set(ids)) != len(ids):
            me.ledger.violated("doubled", f"{path} shows {me.handle} one thing twice: {ids}")


async def keep_list(community: Community, me: Person) -> None:
    await _make_and_end(
        me,
        "list",
        f"list {community.number()}",
        "/api/v1/lists",
        lambda name: {"title": name, "replies_policy": "none"},
    )


async def keep_filter(community: Community, me: Person) -> None:
    await _make_and_end(
        me, "filter", f"filter {community.number()}", "/api/v2/filters",
        lambda name: {"title": name, "context": ["home"], "keywords_attributes": [{"keyword": f"never {name}"}]},
    )  # fmt: skip


async def _make_and_end(me: Person, kind: str, name: str, path: str, body: Callable[[str], dict[str, Any]]) -> None:
    me.ledger.note(f"{kind} of {me.handle}", name, None)
    answer = await me.ask(kind, "POST", path, json=body(name))
    me.ledger.note(f"{kind} of {me.handle}", name, answer.outcome)
    if not answer.is_yes or me.dice.random() < 0.3:
        return
    me.ledger.note(f"{kind} of {me.handle}", name, None)
    ended = await me.ask(kind, "DELETE", f"{path}/{answer.body['id']}")
    if ended.outcome is not None:
        me.ledger.note(f"{kind} of {me.handle}", name, not ended.is_yes)


async def mark_read(community: Community, me: Person) -> None:
    found = await _seen(community, me)
    if found is not None:
        await me.ask("marker", "POST", "/api/v1/markers", json={"home": {"last_read_id": found[1]}}, fine=(200, 409))


ACTS: dict[Callable[[Community, Person], Awaitable[None]], int] = {
    post: 12,
    edit: 3,
    delete: 2,
    _does("favourite", "unfavourite", "favourite"): 8,
    _does("reblog", "unreblog", "boost"): 5,
    _does("bookmark", "unbookmark", "bookmark"): 2,
    vote: 3,
    follow: 3,
    block: 1,
    read: 20,
    keep_list: 1,
    keep_filter: 1,
    mark_read: 2,
}

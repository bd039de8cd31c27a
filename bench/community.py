"""A community that has been talking for a while, written straight into a database through the house's own tables."""

from __future__ import annotations

import hashlib
import random
import uuid
from collections import defaultdict
from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import Table

from kith.app import House
from kith.base.db import command, insert_into
from kith.base.ids import id_at
from kith.base.work import Work
from kith.identity.tokens.tables import tokens
from kith.identity.users import store as users
from kith.social.accounts.new_rows import new_account
from kith.social.accounts.tables import accounts
from kith.social.feeds.tables import feed_states, feeds
from kith.social.ids import AccountId
from kith.social.media.tables import media
from kith.social.notifications.tables import notifications
from kith.social.relationships.tables import follows
from kith.social.search.tables import account_words, status_words
from kith.social.search.words import to_index
from kith.social.statuses.tables import favourites, statuses
from kith.social.tags.tables import status_tags, tags
from kith.social.versions import FIRST

FOLLOWERS = 500
THREAD = 50
FEED = 400
BATCH = 5_000
TAG = "bench"
SCOPES = "read write follow"
WORDS = (
    "morning", "garden", "bread", "river", "paper", "music", "winter", "letter", "window", "market", "bicycle",
    "coffee", "forest", "history", "question", "answer", "harbour", "evening", "lantern", "meadow", "copper",
    "village", "summer", "library", "kitchen", "journey",
)  # fmt: skip


class Size(msgspec.Struct, frozen=True):
    members: int
    follows: int
    statuses: int


WHOLE = Size(members=200, follows=5_000, statuses=50_000)
QUICK = Size(members=50, follows=500, statuses=5_000)


class Member(msgspec.Struct):
    account_id: int
    token: str


class Community(msgspec.Struct):
    """What is worth asking for. `author` has the followers; `last` is the one who hears last."""

    members: list[Member]
    author: Member
    last: Member
    thread_id: int
    public_ids: list[int]
    followers: list[Member] = []  # of the author


class _Seed:
    def __init__(self, size: Size, now: datetime) -> None:
        self.size = size
        self.now = now
        self.random = random.Random(7)  # the same community every time
        self.rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.members: list[Member] = []
        self.count = 0

    def id(self, at: datetime) -> int:
        self.count += 1
        return id_at(at, self.count % 65_536)


async def seed(house: House, size: Size) -> Community:
    community, _rows = await seed_rows(house, size)
    return community


Rows = dict[str, list[dict[str, Any]]]


async def seed_rows(house: House, size: Size) -> tuple[Community, Rows]:
    """The community, and what was written of it, by table."""
    async with house.works.begin() as work:
        made = _Seed(size, work.now)
        people = await _people(work, made)
    _statuses(made)
    thread_id = _thread(made)
    _ties(made)
    _feeds(made)
    _marks(made)
    for table in (
        accounts, tokens, feed_states, follows, tags, statuses, media, status_tags, status_words, account_words,
        favourites, notifications, feeds,
    ):  # fmt: skip
        await insert_rows(house, table, made.rows[table.name])
    open_ones = [row["id"] for row in made.rows[statuses.name] if row["visibility"] == 0][-5_000:]
    community = Community(people[: size.members], people[0], people[-1], thread_id, open_ones, people[size.members :])
    return community, made.rows


async def insert_rows(house: House, table: Table, rows: list[dict[str, Any]]) -> None:
    """A column that a row does not name is empty."""
    statement = command(insert_into(table))
    empty = {column.name: None for column in table.columns if column.nullable}
    for start in range(0, len(rows), BATCH):
        async with house.works.begin() as work:
            await work.db.many(statement, [empty | row for row in rows[start : start + BATCH]])


async def _people(work: Work, made: _Seed) -> list[Member]:
    begun = made.now - timedelta(days=400)
    for number in range(made.size.members + FOLLOWERS):
        name = f"member{number:04}"
        moments = dict.fromkeys(("created_at", "updated_at", "confirmed_at", "approved_at"), made.now)
        nothing = dict.fromkeys(("password", "last_login_at", "password_changed_at"))
        user = await users.insert(work.db, moments | nothing | {
            "uuid": str(uuid.uuid4()), "username": name, "name": name.title(), "email": f"{name}@example.org",
            "is_active": True, "role": "user", "type": "internal", "path": "users", "attributes": {},
        })  # fmt: skip
        id = made.id(begun + timedelta(minutes=number))
        base = f"{work.settings.base_url}/users/{name}"
        account = new_account(
            AccountId(id),
            username=name,
            domain="",
            uri=base,
            url=f"{work.settings.base_url}/@{name}",
            now=made.now,
            user_id=user.id,
            display_name=f"Member {number}",
            note="Likes bread and rivers.",
            note_html="<p>Likes bread and rivers.</p>",
            fields=[{"name": "Home", "value": "https://example.org", "html": "https://example.org"}],
            discoverable=True,
            indexable=True,
            last_status_at=made.now,
            created_at=begun,
        )
        made.rows[accounts.name].append(msgspec.structs.asdict(account))
        made.rows[account_words.name].append({"account_id": id, "words": to_index(name, f"Member {number}")})
        key = f"kith_bench_{number:04}_{uuid.uuid4().hex}"
        made.rows[tokens.name].append({
            "token_uuid": str(uuid.uuid4()), "identifier": f"bench-{number}",
            "key_hash": hashlib.sha256(key.encode()).hexdigest(), "intent": "api", "user_id": user.id,
            "scopes": SCOPES, "description": "", "created_at": made.now, "expires_at": None,
            "last_used_at": made.now,
        })  # fmt: skip
        made.rows[feed_states.name].append(
            {"account_id": id, "state": "ready", "active_at": made.now, "changed_at": made.now}
        )
        made.members.append(Member(id, key))
    return made.members


def _statuses(made: _Seed) -> None:
    """Every fifth answers another, every tenth has a picture, every twentieth a tag."""
    talking = made.members[: made.size.members]
    step = timedelta(days=90) / made.size.statuses
    made.rows[tags.name].append({
        "id": made.id(made.now - timedelta(days=100)), "name": TAG, "display": TAG, "usable": True, "listable": True,
        "trendable": None, "last_status_at": made.now, "created_at": made.now,
    })  # fmt: skip
    for number in range(made.size.statuses):
        at = made.now - timedelta(days=90) + step * number
        before = made.rows[statuses.name]
        parent = made.random.choice(before[-200:]) if number % 5 == 4 else None
        _say(made, made.random.choice(talking), at, parent=parent, picture=number % 10 == 0, tagged=number % 20 == 0)


def _say(
    made: _Seed, who: Member, at: datetime, *, parent: dict[str, Any] | None = None, picture: bool = False,
    tagged: bool = False,
) -> dict[str, Any]:  # fmt: skip
    id = made.id(at)
    text = " ".join(made.random.choices(WORDS, k=25))
    shown = [made.id(at)] if picture else []
    row: dict[str, Any] = {
        "id": id, "version": FIRST, "account_id": who.account_id, "local": True, "uri": f"https://bench.example/{id}",
        "url": f"https://bench.example/@x/{id}", "visibility": 0 if made.count % 8 else 2,
        "in_reply_to_id": parent["id"] if parent else None,
        "in_reply_to_account_id": parent["account_id"] if parent else None, "reblog_of_id": None,
        "conversation_id": parent["conversation_id"] if parent else id, "text": text, "content": f"<p>{text}</p>",
        "spoiler_text": "", "sensitive": False, "language": "en", "media_ids": shown,
        "tag_names": [TAG] if tagged else [], "poll_id": None, "card_id": None, "quoted_id": None,
        "quote_state": None, "quote_policy": "public", "application": {"name": "Bench", "website": None},
        "replies_count": 0, "reblogs_count": 0, "favourites_count": 0, "quotes_count": 0, "created_at": at,
        "edited_at": None, "deleted_at": None, "fetched_at": None,
    }  # fmt: skip
    if parent:
        parent["replies_count"] += 1
    made.rows[statuses.name].append(row)
    made.rows[status_words.name].append({"status_id": id, "words": to_index(text)})
    if tagged:
        [tag] = made.rows[tags.name]
        made.rows[status_tags.name].append({"tag_id": tag["id"], "status_id": id, "account_id": who.account_id})
    for media_id in shown:
        made.rows[media.name].append({
            "id": media_id, "account_id": who.account_id, "status_id": id, "scheduled_id": None, "kind": "image",
            "state": "ready", "file": f"attachments/{media_id}/original/a.jpg",
            "preview": f"attachments/{media_id}/small/a.jpg", "source": "", "mime": "image/jpeg",
            "description": "A river", "meta": {"original": {"width": 800, "height": 600, "size": "800x600"}},
            "blurhash": "LEHV6nWB2yk8pyo0adR*.7kCMdnj", "remote_url": None, "preview_remote_url": None, "error": "",
            "fetched_bytes": 0, "withheld_kind": "",
            "created_at": at,
        })  # fmt: skip
    return row


def _thread(made: _Seed) -> int:
    """One post and its answers, some of them to one another."""
    at = made.now - timedelta(hours=2)
    first = _say(made, made.members[1], at)
    first["visibility"] = 0
    said = [first]
    for number in range(THREAD):
        parent = said[made.random.randrange(len(said))]
        reply = _say(made, made.members[2 + number % 40], at + timedelta(seconds=number + 1), parent=parent)
        reply["visibility"] = 0
        said.append(reply)
    return int(first["id"])


def _ties(made: _Seed) -> None:
    """Everybody follows some; one has hundreds who follow."""
    at = made.now - timedelta(days=200)
    talking = made.members[: made.size.members]
    pairs: dict[tuple[int, int], None] = {}
    while len(pairs) < made.size.follows:
        one, other = made.random.choice(talking), made.random.choice(talking)
        if one is not other:
            pairs[one.account_id, other.account_id] = None
    for one in made.members[made.size.members :]:
        pairs[one.account_id, made.members[0].account_id] = None
    known = {row["id"]: row for row in made.rows[accounts.name]}
    for number, (account_id, target_id) in enumerate(pairs):
        known[account_id]["following_count"] += 1
        known[target_id]["followers_count"] += 1
        made.rows[follows.name].append({
            "id": made.id(at + timedelta(seconds=number)), "account_id": account_id, "target_id": target_id,
            "reblogs": True, "notify": False, "languages": None, "uri": None, "created_at": at,
        })  # fmt: skip


def _feeds(made: _Seed) -> None:
    by_author: dict[int, list[int]] = defaultdict(list)
    for row in made.rows[statuses.name]:
        by_author[row["account_id"]].append(row["id"])
    followed: dict[int, list[int]] = defaultdict(list)
    for row in made.rows[follows.name]:
        followed[row["account_id"]].append(row["target_id"])
    for owner, authors in followed.items():
        entries = [(id, author) for author in authors for id in by_author[author][-FEED:]]
        made.rows[feeds.name] += [
            {"owner": owner, "status_id": id, "original_id": id, "author_id": author, "by_tag": False}
            for id, author in sorted(entries)[-FEED:]
        ]


def _marks(made: _Seed) -> None:
    """Favourites for a third of what is said, by up to five people each, and the notice of each."""
    talking = made.members[: made.size.members]
    for number, row in enumerate(made.rows[statuses.name][::3]):
        for who in made.random.sample(talking, min(1 + number % 5, len(talking))):
            _favour(made, who.account_id, row)
    counts: dict[int, int] = defaultdict(int)
    for row in made.rows[statuses.name]:
        counts[row["account_id"]] += 1
    for row in made.rows[accounts.name]:
        row["statuses_count"] = counts[row["id"]]


def _favour(made: _Seed, who: int, row: dict[str, Any]) -> None:
    at = row["created_at"] + timedelta(minutes=5)
    row["favourites_count"] += 1
    made.rows[favourites.name].append({"id": made.id(at), "account_id": who, "status_id": row["id"], "created_at": at})
    if who != row["account_id"]:
        made.rows[notifications.name].append({
            "id": made.id(at), "account_id": row["account_id"], "from_id": who, "type": "favourite",
            "status_id": row["id"], "group_key": f"favourite-{row['id']}", "filtered": False, "created_at": at,
            "once_key": f"favourite:{row['id']}:{who}",
        })  # fmt: skip

"""Activities of people elsewhere, done as the inbox does them: each in a transaction of its own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from kith.federation.inbox.dispatch import dispatch
from kith.federation.known import Known
from kith.federation.people import store as people
from kith.federation.people.tables import RemoteActor
from kith.federation.vocabulary.incoming import read_activity
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId
from kith.social.relationships import store as relationships
from kith.social.relationships.tables import Follow
from kith.social.statuses import store as statuses
from kith.social.statuses.tables import Status
from tests.social.members import Member, stranger
from tests.social.posts import settle
from tests.town import Town

__all__ = [
    "AS",
    "PUBLIC",
    "activity",
    "create",
    "find_post",
    "follow",
    "note_of",
    "receive",
    "receive_all",
    "somebody",
    "written",
]

AS = "https://www.w3.org/ns/activitystreams"
PUBLIC = f"{AS}#Public"


def written(at: datetime | None = None) -> str:
    return (at or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")


async def somebody(town: Town, domain: str = "elsewhere.example", **differing: Any) -> Account:
    """An account elsewhere with what its server needs to be written to."""
    account = await stranger(town, domain, **differing)
    async with town.house() as house, house.works.begin() as work:
        actor = RemoteActor(
            account.id,
            f"{account.uri}/inbox",
            followers=f"{account.uri}/followers",
            following=f"{account.uri}/following",
            featured=f"{account.uri}/collections/featured",
        )
        await people.save_actor(work.db, actor)
    return account


async def follow(member: Member, author: Account) -> None:
    """As if it had been accepted."""
    async with member.town.house() as house, house.works.begin() as work:
        row = Follow(work.new_id(), AccountId(int(member.id)), author.id, True, False, None, None, work.now)
        assert await relationships.add_follow(work.db, row)


def note_of(author: Account, name: str = "1", content: str = "<p>Hello</p>", **changes: Any) -> dict[str, Any]:
    return {
        "id": f"{author.uri}/statuses/{name}",
        "type": "Note",
        "attributedTo": author.uri,
        "content": content,
        "published": written(),
        "to": [PUBLIC],
        "cc": [f"{author.uri}/followers"],
    } | changes


def activity(type: str, author: Account, object: Any, **changes: Any) -> dict[str, Any]:
    return {"id": f"{author.uri}#{type.lower()}/1", "type": type, "actor": author.uri, "object": object} | changes


def create(author: Account, note: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return activity("Create", author, note, **({"id": f"{note['id']}/activity"} | changes))


async def receive(
    town: Town,
    sender: Account,
    sent: dict[str, Any],
    *,
    unreachable: tuple[str, ...] = (),
    delivered_to: Member | None = None,
) -> None:
    read = read_activity({"@context": AS} | sent)
    known = Known(unreachable, delivered_to=None if delivered_to is None else AccountId(int(delivered_to.id)))
    async with town.house() as house, house.works.begin() as work:
        await dispatch(work, known, sender, read)
    await settle(town)


async def receive_all(town: Town, sender: Account, sent: Sequence[dict[str, Any]]) -> None:
    """One after the other, without waiting for what follows from each."""
    async with town.house() as house:
        for one in sent:
            async with house.works.begin() as work:
                await dispatch(work, Known(()), sender, read_activity({"@context": AS} | one))
    await settle(town)


async def find_post(town: Town, uri: str) -> Status | None:
    async with town.house() as house, house.works.begin() as work:
        found = await statuses.find_by_uri(work.db, uri)
    return None if found is None or found.deleted_at is not None else found

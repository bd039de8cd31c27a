"""What people post and where it is then seen."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import bindparam, or_, select

from kith.base.db import Database, Instant, query
from kith.base.jobs.tables import DEAD, Job, jobs
from kith.social.accounts.tables import Account
from kith.social.statuses import store as statuses
from kith.social.statuses.facts import StatusPosted
from kith.social.statuses.tables import PUBLIC, Status
from kith.social.tags import store as tags
from kith.social.versions import FIRST
from tests.social.members import Member
from tests.town import Town

PATIENCE = 120.0
_NEXT = re.compile(r'<([^>]+)>; rel="next"')
_PREV = re.compile(r'<([^>]+)>; rel="prev"')
_due = query(
    select(jobs).where(or_(jobs.c.run_at <= bindparam("now", type_=Instant()), jobs.c.error.is_not(None))), Job
)

# What asks servers elsewhere, which nobody can reach from here but where a town has some of its own.
_ASKING = ("statuses.fetch_card", "accounts.verify_links")


_UNREACHABLE = ("OutgoingError", "FetchFailed")


def _is_waited_for(town: Town, job: Job) -> bool:
    if job.kind.startswith(("identity.", "mail.")):
        return False  # the other half's, in a town that others use too
    if job.kind.startswith("federation_keys."):
        return job.error is not None  # nothing here is signed with a key; but that it cannot be made is a fault
    return job.kind not in _ASKING or "KITH_PRIVATE_HOSTS" in town.environment


def waits_for_a_place(job: Job) -> bool:
    """That others have all places is no failure: it is tried again from the beginning."""
    return "no place of" in (job.error or "")


async def settle(town: Town) -> None:
    """Until the workers have done all that is due for the social half; one job that fails is one too many.

    What fails because a server cannot be reached from here is not, and what is put off is not waited for: a mute
    that ends in two hours leaves a job that stays for two hours.
    """
    until = time.monotonic() + PATIENCE
    async with town.opened_database() as database:
        while left := await _left(database, town):
            assert time.monotonic() < until, f"still to be done: {left}"
            await asyncio.sleep(0.02)


async def _left(database: Database, town: Town) -> list[Job]:
    session = database.session()
    due = await session.all(_due, now=datetime.now(UTC))
    found = [job for job in due if not any(name in (job.error or "") for name in _UNREACHABLE)]
    await session.rollback()
    wrong = [job for job in found if (job.error and not waits_for_a_place(job)) or job.state == DEAD]
    assert not wrong, wrong[0].error
    return [job for job in found if _is_waited_for(town, job)]


async def post(author: Member, text: str = "Hello", **sent: Any) -> dict[str, Any]:
    return dict(await author.post("/api/v1/statuses", json={"status": text, **sent}))


async def said_elsewhere(town: Town, author: Account, text: str = "Hello", **differing: Any) -> str:
    """Something an account elsewhere has posted, as if it had arrived; its id."""
    async with town.house() as house, house.works.begin() as work:
        id = work.new_id()
        values: dict[str, Any] = {
            "id": id, "version": FIRST, "account_id": author.id, "local": False, "uri": f"{author.uri}/{id}",
            "url": f"{author.uri}/{id}", "visibility": PUBLIC, "in_reply_to_id": None, "in_reply_to_account_id": None,
            "reblog_of_id": None, "conversation_id": id, "text": text, "content": f"<p>{text}</p>",
            "spoiler_text": "", "sensitive": False, "language": "en", "media_ids": [], "tag_names": [],
            "poll_id": None, "card_id": None, "quoted_id": None, "quote_state": None, "quote_policy": "public",
            "application": None, "replies_count": 0, "reblogs_count": 0, "favourites_count": 0, "quotes_count": 0,
            "created_at": work.now, "edited_at": None, "deleted_at": None, "fetched_at": work.now,
        }  # fmt: skip
        status = Status(**(values | differing))
        await statuses.insert(work.db, status)
        spelled = {name: name for name in status.tag_names}
        noted = await tags.note(work.db, spelled, ids=[work.new_id() for _ in spelled], now=work.now)
        await tags.link(work.db, status.id, author.id, [tag.id for tag in noted.values()])
        work.announce(StatusPosted(status_id=status.id, account_id=author.id))
    return str(id)


async def does(member: Member, verb: str, status: Mapping[str, Any] | str, **sent: Any) -> Any:
    id = status if isinstance(status, str) else status["id"]
    return await member.post(f"/api/v1/statuses/{id}/{verb}", json=sent)


async def ids(member: Member, path: str, **params: Any) -> list[str]:
    """Which statuses a list shows, boosts by what they boost."""
    answer = await member.call("GET", path, params={"limit": "40", **params})
    assert answer.status_code == 200, answer.text
    return [(one["reblog"] or one)["id"] for one in answer.json()]


async def home(member: Member, **params: Any) -> list[str]:
    return await ids(member, "/api/v1/timelines/home", **params)


async def arrive(*members: Member) -> None:
    """Whoever has looked at their home once has one from then on."""
    for member in members:
        answer = await member.call("GET", "/api/v1/timelines/home")
        # 206 while it is being built, which takes a worker as long as it takes.
        assert answer.status_code in (200, 206), answer.text
    await settle(members[0].town)


async def walk(member: Member, path: str, *, back: bool = False) -> list[list[str]]:
    """Every page from where `path` begins, by its links: to the oldest, or `back` to the newest."""
    pages: list[list[str]] = []
    url: str | None = path
    while url is not None and len(pages) < 200:
        answer = await member.call("GET", url)
        assert answer.status_code == 200, answer.text
        found = [one["id"] for one in answer.json()]
        if not found:
            break
        pages.append(found)
        link = (_PREV if back else _NEXT).search(answer.headers.get("link", ""))
        url = link.group(1) if link else None
    return pages


async def notices(member: Member, **params: Any) -> list[tuple[str, str, str | None]]:
    """Type, who, and about which status; newest first."""
    found = await member.get("/api/v1/notifications", params=params)
    return [(one["type"], one["account"]["id"], (one.get("status") or {}).get("id")) for one in found]

"""What is over leaves the database: the posts of people who left, and what was deleted long ago."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import bindparam, func, select, update

from kith.base.db import Instant, any_of, command, query
from kith.base.jobs import JobKind
from kith.social.accounts import store as accounts
from kith.social.ids import AccountId
from kith.social.media.tables import media
from kith.social.statuses.purging import BATCH, GRACE, PURGE, Purge
from kith.social.statuses.tables import bookmarks, favourites, mentions, polls, scheduled, statuses
from tests.social.members import join_all, until
from tests.social.posts import does, post, settle
from tests.social.samples import image_file
from tests.social.staff import employ
from tests.town import Town

_age = command(update(statuses).where(any_of(statuses.c.id, "ids")).values(deleted_at=bindparam("at", type_=Instant())))
_rows = query(select(statuses.c.id).where(any_of(statuses.c.id, "ids")), int)
_of_account = {
    table.name: query(select(func.count()).where(table.c.account_id == bindparam("account")), int)
    for table in (favourites, bookmarks, scheduled, media)
}
_hanging = {
    table.name: query(select(func.count()).where(table.c.status_id == bindparam("status")), int)
    for table in (favourites, mentions, polls)
}
_shown_by = query(
    select(func.count()).where(statuses.c.account_id == bindparam("account"), statuses.c.deleted_at.is_(None)), int
)


async def _left(town: Town, ids: list[str]) -> list[str]:
    async with town.house() as house, house.works.begin() as work:
        return [str(id) for id in sorted(await work.db.all(_rows, ids=[int(id) for id in ids]))]


async def _purge(town: Town, ids: list[str], *, after: timedelta) -> None:
    """As if they had been deleted `after` ago, at the hour when it is looked for what is over."""
    kind: JobKind[Any] = PURGE
    async with town.house() as house, house.works.begin() as work:
        if ids:
            await work.db.run(_age, ids=[int(id) for id in ids], at=work.now - after)
        work.enqueue(kind, Purge())
    await settle(town)


async def test_what_was_deleted_long_ago_leaves_no_row(town: Town) -> None:
    # given
    ada, bob = await join_all(town, 2)
    said = await post(ada, f"@{bob.name} said", poll={"options": ["a", "b"], "expires_in": 600})
    quote = await post(bob, "see", quoted_status_id=said["id"])
    reply = await post(bob, "so?", in_reply_to_id=said["id"])
    await does(bob, "favourite", said)
    boost = await does(bob, "reblog", said)
    kept = await post(ada, "stays")
    gone = [said["id"], boost["id"]]

    # when
    await ada.delete(f"/api/v1/statuses/{said['id']}")
    await settle(town)
    await _purge(town, gone, after=GRACE - timedelta(minutes=5))

    # then
    assert await _left(town, [*gone, kept["id"]]) == sorted([*gone, kept["id"]])

    # when
    await _purge(town, gone, after=GRACE + timedelta(minutes=5))

    # then
    assert await _left(town, [*gone, kept["id"], quote["id"], reply["id"]]) == sorted(
        [kept["id"], quote["id"], reply["id"]]
    )
    async with town.house() as house, house.works.begin() as work:
        left = {name: await work.db.all(rows, status=int(said["id"])) for name, rows in _hanging.items()}
    assert all(counted == [0] for counted in left.values()), left
    assert (await town.http.get(f"/api/v1/statuses/{said['id']}")).status_code == 404
    assert (await bob.get(f"/api/v1/statuses/{quote['id']}"))["quote"] == {"state": "deleted", "quoted_status": None}
    assert await bob.get(f"/api/v1/statuses/{reply['id']}/context") == {"ancestors": [], "descendants": []}
    assert reply["id"] not in [one["id"] for one in await ada.get("/api/v1/timelines/public", params={"limit": "40"})]


async def test_more_than_a_stretch_is_gone_on_with(town: Town) -> None:
    [ada] = await join_all(town, 1)
    gone = [(await post(ada, f"{number}"))["id"] for number in range(BATCH + 3)]

    await _purge(town, gone, after=GRACE * 2)

    assert await _left(town, gone) == []


async def test_who_leaves_takes_their_posts_along(town: Town) -> None:
    # given
    ada, bob = await join_all(town, 2)
    files = {"file": ("a.png", image_file("PNG", (40, 30)), "image/png")}
    picture = (await ada.post("/api/v2/media", files=files))["id"]
    said = [(await post(ada, f"{number}"))["id"] for number in range(BATCH + 1)]
    shown = await post(ada, "look", media_ids=[picture])
    theirs = await post(bob, "bob's")
    await post(ada, "a reply", in_reply_to_id=theirs["id"])
    await post(ada, "a quote", quoted_status_id=theirs["id"])
    for verb in ("favourite", "bookmark", "reblog"):
        await does(ada, verb, theirs)
    boost = await does(bob, "reblog", shown)
    await settle(town)
    seen = await bob.get(f"/api/v1/statuses/{theirs['id']}")
    counts = ("replies_count", "favourites_count", "reblogs_count", "quotes_count")
    assert [seen[name] for name in counts] == [1, 1, 1, 1]

    # when
    owner = await town.owner()
    async with town.house() as house, house.works.begin() as work:
        account = await accounts.find(work.db, AccountId(int(ada.id)))
        assert account is not None
    assert (await owner.call("DELETE", f"/api/v2/core/users/{account.user_id}/")).status_code == 204

    async def is_done() -> bool:
        async with town.house() as house, house.works.begin() as work:
            return await work.db.one(_shown_by, account=int(ada.id)) == 0

    await until(is_done)
    await settle(town)

    # then
    seen = await bob.get(f"/api/v1/statuses/{theirs['id']}")
    assert [seen[name] for name in counts] == [0, 0, 0, 0]
    async with town.house() as house, house.works.begin() as work:
        left = {name: await work.db.all(rows, account=int(ada.id)) for name, rows in _of_account.items()}
    assert all(counted == [0] for counted in left.values()), left
    assert (await bob.call("GET", f"/api/v1/statuses/{boost['id']}")).status_code == 404
    assert (await town.http.get(shown["media_attachments"][0]["url"])).status_code == 404

    # when
    await _purge(town, [*said, shown["id"]], after=GRACE * 2)

    # then
    assert await _left(town, [*said, shown["id"]]) == []


async def test_what_was_reported_stays_while_the_report_is_open(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    mod = await employ(town, "moderator")
    rude = await post(bob, "rude")
    report = await ada.post("/api/v1/reports", json={"account_id": bob.id, "status_ids": [rude["id"]]})
    await bob.delete(f"/api/v1/statuses/{rude['id']}")

    await _purge(town, [rude["id"]], after=GRACE + timedelta(days=1))
    assert await _left(town, [rude["id"]]) == [rude["id"]]

    await mod.post(f"/api/v1/admin/reports/{report['id']}/resolve")
    await _purge(town, [], after=GRACE)
    assert await _left(town, [rude["id"]]) == []

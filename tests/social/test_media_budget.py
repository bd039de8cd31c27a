"""Other servers' files take only so much room, and files of rejected servers none: all come back when looked at."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
from sqlalchemy import bindparam, update

from kith.base.db import Instant, command
from kith.base.work import Work
from kith.social.accounts import deletion
from kith.social.accounts import store as accounts
from kith.social.accounts.remote_pictures import columns
from kith.social.accounts.tables import fetched_pictures
from kith.social.admission import store as admission
from kith.social.admission.facts import ServerBlockChanged
from kith.social.admission.tables import ServerBlock
from kith.social.ids import AccountId
from kith.social.media import store as media
from kith.social.media.tables import media as media_table
from kith.social.remote_media import store
from kith.social.remote_media.budget import KEEP_BUDGET, KeepBudget
from kith.social.statuses.tables import cards
from tests.conftest import TownBuilder
from tests.social.members import Member, join, stranger
from tests.social.posts import post, settle
from tests.social.shapes import STATUS, check
from tests.social.test_mirror import attached, elsewhere
from tests.social.test_statuses import site
from tests.town import Town

_weigh = command(
    update(media_table)
    .where(media_table.c.id == bindparam("media_id"))
    .values(fetched_bytes=600, looked_at=bindparam("at", type_=Instant()))
)
_weigh_faces = command(
    update(fetched_pictures)
    .where(fetched_pictures.c.account_id == bindparam("account"))
    .values(fetched_bytes=500, looked_at=bindparam("at", type_=Instant()))
)
_weigh_cards = command(update(cards).values(image_bytes=5000, looked_at=bindparam("at", type_=Instant())))


async def _keep_budget(town: Town) -> None:
    async with town.house() as house, house.works.begin() as work:
        work.enqueue(KEEP_BUDGET, KeepBudget())
    await settle(town)


async def _looks(town: Town, id: str) -> httpx.Response:
    """At the file itself."""
    answer = await town.http.get(f"/media_proxy/{id}/original")
    assert answer.status_code == 302, answer.text
    return await town.http.get(answer.headers["location"], follow_redirects=True)


async def _is_here(town: Town, id: str) -> bool:
    async with town.house() as house, house.works.begin() as work:
        row = await media.find(work.db, int(id))
        assert row is not None
        assert (row.looked_at is None) == (row.file == "") == (row.fetched_bytes == 0)
        return bool(row.file)


async def _age(work: Work, id: str, days: int) -> None:
    await work.db.run(_weigh, media_id=int(id), at=work.now - timedelta(days=days))


async def test_what_nobody_has_looked_at_for_longest_is_dropped_and_comes_back(new_town: TownBuilder) -> None:
    async with elsewhere() as (base, asked):
        # given three files of 600 bytes, and a look at the oldest of them
        town = await new_town(private_hosts="127.0.0.1", media_budget="1.5KB")
        far = await stranger(town)
        posts = [await attached(town, far, f"{base}/picture") for _ in range(3)]
        first, second, third = (id for _, id in posts)
        places = [(await town.http.get(f"/media_proxy/{id}/small")).headers["location"] for _, id in posts]
        async with town.house() as house, house.works.begin() as work:
            for days, (_, id) in enumerate(posts):
                await _age(work, id, 9 - days)
        shown = await town.http.get(f"/api/v1/statuses/{posts[1][0]}")
        assert shown.json()["media_attachments"][0]["preview_url"] == places[1]
        assert (await town.http.get(places[0])).status_code == 200
        asked.clear()

        # when
        await _keep_budget(town)

        # then
        assert [await _is_here(town, id) for id in (first, second, third)] == [True, False, True]
        async with town.house() as house, house.works.begin() as work:
            row = await media.find(work.db, int(first))
            assert row is not None
            assert row.looked_at is not None
            assert work.now - row.looked_at < timedelta(hours=1)
        [again] = (await town.http.get(f"/api/v1/statuses/{posts[1][0]}")).json()["media_attachments"]
        assert again["preview_url"] == f"{town.base_url}/media_proxy/{second}/small"
        old = await town.http.get(places[1])
        assert (old.status_code, old.headers["location"]) == (302, f"{town.base_url}/media_proxy/{second}/small")
        assert (await town.http.get(places[1], follow_redirects=True)).status_code == 200
        assert (await _looks(town, second)).status_code == 200
        assert asked == ["/picture"]


async def test_without_a_budget_nothing_is_dropped(new_town: TownBuilder) -> None:
    async with elsewhere() as (base, _):
        town = await new_town(private_hosts="127.0.0.1", media_budget="0")
        _, id = await attached(town, await stranger(town), f"{base}/picture")
        assert (await _looks(town, id)).status_code == 200
        await _keep_budget(town)
        assert await _is_here(town, id)


async def _carded(town: Town, ada: Member, text: str) -> dict[str, Any]:
    made = await post(ada, text)
    await settle(town)
    shown: dict[str, Any] = await ada.get(f"/api/v1/statuses/{made['id']}")
    check(shown, STATUS)
    return shown


async def test_a_picture_of_a_preview_is_dropped_and_comes_back(new_town: TownBuilder) -> None:
    async with site() as (base, asked):
        town = await new_town(private_hosts="127.0.0.1", media_budget="2KB")
        ada = await join(town)
        status = await _carded(town, ada, f"{base}/page")
        image = status["card"]["image"]
        before = (await town.http.get(image)).content
        async with town.house() as house, house.works.begin() as work:
            await work.db.run(_weigh_cards, at=work.now - timedelta(days=1))
        asked.clear()

        await _keep_budget(town)
        folder = town.folder / "media" / image.rpartition("/media/")[2]
        assert not folder.exists()

        assert (await ada.get(f"/api/v1/statuses/{status['id']}"))["card"]["image"] == image
        back = await town.http.get(image)
        assert (back.status_code, back.content == before, asked) == (200, True, ["/picture.png"])
        assert (await town.http.get(image)).status_code == 200
        assert asked == ["/picture.png"]
        other = f"{image.rpartition('/')[0]}/{'0' * 32}.png"
        assert ((await town.http.get(other)).status_code, asked) == (404, ["/picture.png"])


async def test_files_of_a_rejected_server_go_and_come_back(new_town: TownBuilder) -> None:
    async with elsewhere() as (base, asked):
        # given
        town = await new_town(private_hosts="127.0.0.1")
        avatar = "https://sub.pictures.example/avatar.png"
        far = await stranger(town, "sub.pictures.example", avatar=avatar, avatar_static=avatar)
        status_id, id = await attached(town, far, f"{base}/picture")
        place = (await town.http.get(f"/media_proxy/{id}/original")).headers["location"]
        assert (await town.http.get(place)).status_code == 200
        assert (await town.http.get(f"/api/v1/statuses/{status_id}")).json()["account"]["avatar"] == avatar

        # when
        await town.kith("domains", "block", "pictures.example", "--severity", "noop", "--reject-media")
        await settle(town)

        # then
        assert not await _is_here(town, id)
        shown = (await town.http.get(f"/api/v1/statuses/{status_id}")).json()
        [file] = shown["media_attachments"]
        assert (file["type"], file["url"], file["preview_url"]) == ("unknown", f"{base}/picture", None)
        assert shown["account"]["avatar"].endswith("missing.png")
        assert (await town.http.get(place, follow_redirects=True)).status_code == 404
        assert (await town.http.get(f"/media_proxy/{id}/original")).status_code == 404
        asked.clear()

        # and when it is let in again
        await town.kith("domains", "unblock", "pictures.example")
        await settle(town)
        shown = (await town.http.get(f"/api/v1/statuses/{status_id}")).json()
        assert (shown["media_attachments"][0]["type"], shown["account"]["avatar"]) == ("image", avatar)
        assert (await town.http.get(place, follow_redirects=True)).status_code == 200
        assert asked == ["/picture"]


async def test_files_of_a_suspended_person_go_and_come_back(new_town: TownBuilder) -> None:
    async with elsewhere() as (base, asked):
        town = await new_town(private_hosts="127.0.0.1")
        far = await stranger(town)
        _, id = await attached(town, far, f"{base}/picture")
        assert (await _looks(town, id)).status_code == 200
        assert await _is_here(town, id)

        await town.kith("accounts", "suspend", far.acct)
        await settle(town)
        assert not await _is_here(town, id)
        asked.clear()
        assert (await town.http.get(f"/media_proxy/{id}/small")).status_code == 404
        assert asked == []

        await town.kith("accounts", "unsuspend", far.acct)
        assert (await _looks(town, id)).status_code == 200


async def _block_loopback(town: Town) -> None:
    """A host that no team can name, but the only one that there is here."""
    async with town.house() as house, house.works.begin() as work:
        row = ServerBlock(1, "127.0.0.1", "noop", True, False, False, None, None, work.now)
        await admission.insert(work.db, "domain_block", row)
        work.announce(ServerBlockChanged(domain="127.0.0.1"))
    await settle(town)


async def _unblock_loopback(town: Town) -> None:
    async with town.house() as house, house.works.begin() as work:
        await admission.remove(work.db, "domain_block", 1)
        work.announce(ServerBlockChanged(domain="127.0.0.1"))
    await settle(town)


async def test_previews_of_a_rejected_server_have_no_picture(new_town: TownBuilder) -> None:
    async with site() as (base, asked):
        town = await new_town(private_hosts="127.0.0.1")
        ada = await join(town)
        status = await _carded(town, ada, f"{base}/page")
        assert (await town.http.get(status["card"]["image"])).status_code == 200

        await _block_loopback(town)
        assert (await ada.get(f"/api/v1/statuses/{status['id']}"))["card"]["image"] is None
        assert (await town.http.get(status["card"]["image"])).status_code == 404
        asked.clear()
        assert (await _carded(town, ada, f"{base}/film"))["card"]["image"] is None
        assert "/picture.png" not in asked

        await _unblock_loopback(town)
        image = (await ada.get(f"/api/v1/statuses/{status['id']}"))["card"]["image"]
        assert (await town.http.get(image, follow_redirects=True)).status_code == 200
        assert asked[-1] == "/picture.png"


async def _faces(town: Town, base: str, count: int) -> list[dict[str, Any]]:
    """People elsewhere with an avatar and a header, as they are shown."""
    found = []
    for _ in range(count):
        far = await stranger(town)
        named = {**columns(far, "avatar", (f"{base}/picture", "")), **columns(far, "header", (f"{base}/dance", ""))}
        async with town.house() as house, house.works.begin() as work:
            await accounts.change(work.db, far.id, named, work.now)
        found.append((await town.http.get(f"/api/v1/accounts/{far.id}")).json())
    return found


async def test_faces_of_people_elsewhere_count_and_are_dropped_and_come_back(new_town: TownBuilder) -> None:
    async with elsewhere() as (base, asked):
        # given two people whose pictures were looked at, one of them long ago
        town = await new_town(private_hosts="127.0.0.1", media_budget="1KB")
        old, new = await _faces(town, base, 2)
        before = {}
        for one in (old, new):
            for name in ("avatar", "header"):
                answer = await town.http.get(one[name], follow_redirects=True)
                before[one["id"], name] = answer.content
                assert answer.status_code == 200
        async with town.house() as house, house.works.begin() as work:
            assert await store.total(work.db) >= sum(len(one) for one in before.values())
            for days, one in ((9, old), (1, new)):
                await work.db.run(_weigh_faces, account=int(one["id"]), at=work.now - timedelta(days=days))
        asked.clear()

        # when
        await _keep_budget(town)

        # then
        shown = [(await town.http.get(f"/api/v1/accounts/{one['id']}")).json() for one in (old, new)]
        names = [(one, name, one[name].rpartition("/media/")[2]) for one in shown for name in ("avatar", "header")]
        here = [(town.folder / "media" / key).exists() for _, _, key in names]
        assert here == [False, False, True, True]
        for one, name, _ in names:
            assert (await town.http.get(one[name])).content == before[one["id"], name]
        assert asked == ["/picture", "/dance"]

        # and what is not spoken of any more is not counted
        async with town.house() as house, house.works.begin() as work:
            for one in (old, new):
                account = await accounts.find(work.db, AccountId(int(one["id"])))
                assert account is not None
                await deletion.empty(work, account)
        async with town.house() as house, house.works.begin() as work:
            assert await store.total(work.db) == 0

"""Notifications that are about no status, alone and in groups: lost relationships, reports, sign-ups, a year's report."""

from __future__ import annotations

from typing import Any

from kith.base.db import command, insert_into
from kith.social.ids import AccountId
from kith.social.notifications import service
from kith.social.notifications.service import Notice
from kith.social.relationships.tables import follows
from tests.social.members import Member, join, stranger
from tests.social.posts import settle
from tests.social.shapes import check, entity
from tests.town import Town

EVENT = entity("SeveredRelationships")
_follow = command(insert_into(follows))


async def _both(member: Member, type: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    asked = {"types[]": type}
    singles = await member.get("/api/v1/notifications", params=asked)
    groups = await member.get("/api/v2/notifications", params=asked)
    return singles, groups["notification_groups"]


async def test_whoever_blocks_a_domain_is_told_what_they_lost(town: Town) -> None:
    ada = await join(town)
    domain = f"{ada.name.replace('_', '-')}.example"
    far, farther = await stranger(town, domain), await stranger(town, domain)
    async with town.house() as house, house.works.begin() as work:
        for one, other in ((far.id, int(ada.id)), (farther.id, int(ada.id)), (int(ada.id), far.id)):
            await work.db.run(_follow, **_row(work, one, other))
    await ada.post("/api/v1/domain_blocks", json={"domain": domain})
    await settle(town)
    [single], [group] = await _both(ada, "severed_relationships")
    check(single["event"], EVENT)
    assert group["event"] == single["event"]
    event = single["event"]
    assert (event["type"], event["target_name"]) == ("user_domain_block", domain)
    assert (event["followers_count"], event["following_count"]) == (2, 1)
    assert single["account"]["id"] == ada.id
    # Where nothing is lost nothing is told.
    await ada.post("/api/v1/domain_blocks", json={"domain": f"other.{domain}"})
    await settle(town)
    assert len((await _both(ada, "severed_relationships"))[0]) == 1


def _row(work: Any, account_id: int, target_id: int) -> dict[str, Any]:
    return {
        "id": work.new_id(),
        "account_id": account_id,
        "target_id": target_id,
        "reblogs": True,
        "notify": False,
        "languages": None,
        "uri": None,
        "created_at": work.now,
    }


async def test_the_report_of_a_year_is_told_once(town: Town) -> None:
    ada = await join(town)
    me = AccountId(int(ada.id))
    async with town.house() as house, house.works.begin() as work:
        for _ in range(2):
            await service.tell_anyhow(
                work, "annual_report", me, [Notice(me, f"annual_report:2025:{me}", subject_id=2025)]
            )
    [single], [group] = await _both(ada, "annual_report")
    assert (single["account"]["id"], group["annual_report"]) == (ada.id, {"year": "2025"})
    shown = await ada.get("/api/v2/notifications", params={"supported_types[]": "mention"})
    assert shown["notification_groups"][0]["fallback"]["title"] == "Your summary of the year is ready"

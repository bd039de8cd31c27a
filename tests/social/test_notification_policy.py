"""Notifications from people one has little to do with: accepted, filtered or dropped, and asked about."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import bindparam, update

from kith.base.db import Instant, command
from kith.social.ids import AccountId
from kith.social.notifications.policy import Acquaintance, decide
from kith.social.notifications.tables import NotificationPolicy
from kith.social.relationships.tables import follows
from tests.social.members import Member, join, join_all, set_state
from tests.social.posts import does, notices, post, settle
from tests.social.shapes import check, entity
from tests.town import Town

V1, V2 = "/api/v1/notifications/policy", "/api/v2/notifications/policy"
REQUESTS = "/api/v1/notifications/requests"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
OLD = NOW - timedelta(days=400)
SUMMARY = {"pending_requests_count": 0, "pending_notifications_count": 0}
DEFAULTS = {
    "for_not_following": "accept",
    "for_not_followers": "accept",
    "for_new_accounts": "accept",
    "for_private_mentions": "filter",
    "for_limited_accounts": "filter",
    "for_bots": "accept",
}
OPEN = dict.fromkeys(DEFAULTS, "accept")
REQUEST = entity("NotificationRequest")
_age = command(
    update(follows).where(follows.c.account_id == bindparam("who")).values(created_at=bindparam("at", type_=Instant()))
)


def _known(**differing: Any) -> Acquaintance:
    """Somebody old, who is not followed and follows since long."""
    usual: dict[str, Any] = {
        "recipient_id": AccountId(1),
        "is_permitted": False,
        "is_following": False,
        "followed_since": OLD,
        "sender_since": OLD,
        "is_limited": False,
        "is_bot": False,
    } | OPEN
    return Acquaintance(**(usual | differing))


@pytest.mark.parametrize(
    ("rule", "applies", "spared"),
    [
        ("for_not_following", {}, {"is_following": True}),
        ("for_not_followers", {"followed_since": None}, {"followed_since": NOW - timedelta(days=4)}),
        ("for_not_followers", {"followed_since": NOW - timedelta(days=2), "is_following": True}, {}),
        ("for_new_accounts", {"sender_since": NOW - timedelta(days=29)}, {"sender_since": NOW - timedelta(days=31)}),
        ("for_new_accounts", {"sender_since": NOW}, {"sender_since": NOW, "is_following": True}),
        ("for_limited_accounts", {"is_limited": True}, {"is_limited": True, "is_following": True}),
        ("for_bots", {"is_bot": True}, {"is_bot": True, "is_following": True}),
        ("for_private_mentions", {"private": True}, {"private": True, "is_following": True}),
        ("for_private_mentions", {"private": True}, {}),
    ],
)
def test_each_rule_is_for_its_own(rule: str, applies: dict[str, Any], spared: dict[str, Any]) -> None:
    for choice in ("accept", "filter", "drop"):
        for about, expected in ((applies, choice), (spared, "accept")):
            given = dict(about)
            private = given.pop("private", False)
            assert decide(_known(**{rule: choice}, **given), NOW, private=private) == expected
            assert decide(_known(**{rule: choice, "is_permitted": True}, **given), NOW, private=private) == "accept"


def test_the_strictest_rule_decides() -> None:
    known = _known(for_not_following="filter", for_bots="drop", is_bot=True)
    assert decide(known, NOW, private=False) == "drop"
    assert NotificationPolicy() == NotificationPolicy(**DEFAULTS)


async def test_the_policy_is_kept_in_both_versions(town: Town) -> None:
    ada = await join(town)
    assert await ada.get(V2) == DEFAULTS | {"summary": SUMMARY}
    old = {
        "filter_not_following": False,
        "filter_not_followers": False,
        "filter_new_accounts": False,
        "filter_private_mentions": True,
        "filter_bots": False,
        "summary": SUMMARY,
    }
    assert await ada.get(V1) == old
    changed = await ada.patch(V2, json={"for_bots": "drop"})
    assert changed == DEFAULTS | {"for_bots": "drop", "summary": SUMMARY}
    assert (await ada.get(V1))["filter_bots"] is True
    assert (await ada.does("PUT", V2, data={"for_bots": "filter"}))["for_bots"] == "filter"
    assert await ada.does("PUT", V1, json={"filter_bots": False, "filter_private_mentions": False}) == old | {
        "filter_private_mentions": False
    }
    assert await ada.patch(V1, data={"filter_new_accounts": "true"}) == await ada.get(V1)
    assert await ada.get(V2) == OPEN | {
        "for_limited_accounts": "filter",
        "for_new_accounts": "filter",
        "summary": SUMMARY,
    }
    for sent in ({"for_bots": "maybe"}, {"for_bots": "drop", "for_new_accounts": ""}):
        refused = await ada.call("PATCH", V2, json=sent)
        assert refused.status_code == 422
        assert refused.json()["error"].startswith("Validation failed")
    assert (await ada.get(V2))["for_bots"] == "accept"


async def test_what_is_filtered_is_kept_apart_and_what_is_dropped_is_not_told(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    own = await post(ada)
    await ada.patch(V2, json={"for_not_following": "filter"})
    mention = await post(bob, f"hello @{ada.name}")
    await does(bob, "favourite", own)
    await does(bob, "reblog", own)
    await bob.to(ada, "follow")
    await settle(town)
    assert await notices(ada) == []
    held = await ada.get("/api/v1/notifications", params={"include_filtered": "true"})
    assert sorted(one["type"] for one in held) == ["favourite", "follow", "mention", "reblog"]
    assert all(one["filtered"] and one["group_key"] == f"ungrouped-{one['id']}" for one in held)
    assert len(await notices(ada, account_id=bob.id)) == 4
    assert (await ada.get("/api/v1/notifications/unread_count"))["count"] == 0
    [request] = await ada.get(REQUESTS)
    assert (request["notifications_count"], request["last_status"]["id"]) == ("1", mention["id"])

    await ada.patch(V2, json={"for_not_followers": "drop"})
    await post(bob, f"again @{ada.name}")
    await settle(town)
    assert len(await notices(ada, include_filtered="true")) == 4
    # Who is followed, and follows since long, is heard.
    await ada.to(bob, "follow")
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(_age, who=int(bob.id), at=work.now - timedelta(days=4))
    heard = await post(bob, f"and again @{ada.name}")
    await settle(town)
    assert await notices(ada) == [("mention", bob.id, heard["id"])]


async def test_limited_accounts_bots_and_new_ones_are_told_apart(town: Town) -> None:
    ada, bob, cat = await join_all(town, 3)
    own = await post(ada)
    await set_state(town, bob.id, lambda work: {"silenced_at": work.now})
    await cat.patch("/api/v1/accounts/update_credentials", json={"bot": True})
    await ada.patch(V2, json={"for_bots": "drop"})
    for other in (bob, cat):
        await does(other, "favourite", own)
    await settle(town)
    assert await notices(ada) == []
    assert await notices(ada, include_filtered="true") == [("favourite", bob.id, own["id"])]
    assert await ada.get(REQUESTS) == []  # only mentions and quotes ask
    await ada.patch(V2, json={"for_bots": "accept", "for_new_accounts": "filter"})
    await does(cat, "reblog", own)
    await set_state(town, cat.id, lambda work: {"created_at": work.now - timedelta(days=31)})
    mention = await post(cat, f"@{ada.name}")
    await settle(town)
    assert ("mention", cat.id, mention["id"]) in await notices(ada)


async def _inbox(member: Member) -> list[str]:
    return [one["last_status"]["id"] for one in await member.get("/api/v1/conversations")]


async def test_private_mentions_are_filtered_unless_they_answer(town: Town) -> None:
    ada, bob, cat = await join_all(town, 3)
    uninvited = await post(bob, f"psst @{ada.name}", visibility="direct")
    await settle(town)
    assert await notices(ada) == [] == await _inbox(ada)
    [request] = await ada.get(REQUESTS)
    assert request["last_status"]["id"] == uninvited["id"]

    first = await post(ada, f"what do you think? @{cat.name}", visibility="direct")
    await settle(town)
    assert await notices(cat) == []
    reply = await post(cat, f"@{ada.name} much", in_reply_to_id=first["id"], visibility="direct")
    more = await post(cat, f"@{ada.name} and more", in_reply_to_id=reply["id"], visibility="direct")
    await settle(town)
    assert await notices(ada) == [("mention", cat.id, more["id"]), ("mention", cat.id, reply["id"])]
    assert await _inbox(ada) == [more["id"]]


async def test_accepting_lets_everything_through_for_good(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    first = await post(bob, f"psst @{ada.name}", visibility="direct")
    second = await post(bob, f"psst psst @{ada.name}", visibility="direct")
    await settle(town)
    [request] = await ada.get(REQUESTS)
    check({name: value for name, value in request.items() if name != "last_status"}, REQUEST)
    assert await ada.get(f"{REQUESTS}/{request['id']}") == request
    assert (request["account"]["id"], request["notifications_count"]) == (bob.id, "2")
    assert (await ada.get(V2))["summary"] == {"pending_requests_count": 1, "pending_notifications_count": 2}
    assert (await bob.call("GET", f"{REQUESTS}/{request['id']}")).status_code == 404
    assert (await bob.call("POST", f"{REQUESTS}/{request['id']}/accept")).status_code == 404

    assert await ada.post(f"{REQUESTS}/{request['id']}/accept") == {}
    await settle(town)
    assert await ada.get(f"{REQUESTS}/merged") == {"merged": True}
    assert await ada.get(REQUESTS) == []
    assert await notices(ada) == [("mention", bob.id, second["id"]), ("mention", bob.id, first["id"])]
    assert "filtered" not in (await ada.get("/api/v1/notifications"))[0]
    assert sorted(await _inbox(ada)) == sorted([first["id"], second["id"]])
    third = await post(bob, f"thanks @{ada.name}", visibility="direct")
    await settle(town)
    assert (await notices(ada))[0] == ("mention", bob.id, third["id"])


async def test_dismissing_forgets_and_many_are_decided_at_once(town: Town) -> None:
    ada, *others = await join_all(town, 5)
    for other in others:
        await post(other, f"psst @{ada.name}", visibility="direct")
    await settle(town)
    ids = [one["id"] for one in await ada.get(REQUESTS)]
    assert [one["id"] for one in await ada.get(REQUESTS, params={"limit": 2, "max_id": ids[0]})] == ids[1:3]
    assert await ada.post(f"{REQUESTS}/{ids[0]}/dismiss") == {}
    for verb in ("accept", "dismiss"):
        refused = await ada.call("POST", f"{REQUESTS}/{verb}", json={"id": [ids[1], "1"]})
        assert refused.status_code == 404
        assert await ada.post(f"{REQUESTS}/{verb}", json={}) == {}
    assert await ada.post(f"{REQUESTS}/dismiss", json={"id": ids[1:3]}) == {}
    assert await ada.post(f"{REQUESTS}/accept", data={"id[]": ids[3]}) == {}
    await settle(town)
    assert await ada.get(REQUESTS) == []
    assert [told[1] for told in await notices(ada, include_filtered="true")] == [others[0].id]
    # Whoever was dismissed asks anew with what they do next.
    await post(others[3], f"psst again @{ada.name}", visibility="direct")
    await settle(town)
    assert [one["account"]["id"] for one in await ada.get(REQUESTS)] == [others[3].id]


async def test_a_request_ends_with_what_it_is_about(town: Town) -> None:
    ada, bob, cat = await join_all(town, 3)
    said = [await post(other, f"psst @{ada.name}", visibility="direct") for other in (bob, cat)]
    await settle(town)
    assert len(await ada.get(REQUESTS)) == 2
    await bob.delete(f"/api/v1/statuses/{said[0]['id']}")
    await ada.to(cat, "block")
    await settle(town)
    assert await ada.get(REQUESTS) == []
    assert (await ada.get(V2))["summary"] == SUMMARY


async def test_clearing_takes_what_is_held_back_too(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    await post(bob, f"psst @{ada.name}", visibility="direct")
    await settle(town)
    await ada.post("/api/v1/notifications/clear")
    assert await ada.get(REQUESTS) == [] == await notices(ada, include_filtered="true")

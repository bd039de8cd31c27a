"""Collections: accounts that somebody shows together."""

from __future__ import annotations

from typing import Any

import pytest

from tests.social.members import Member, join, join_all
from tests.social.posts import settle
from tests.social.shapes import ACCOUNT, check, entity
from tests.social.staff import verdict
from tests.social.streams import listen
from tests.town import Town

ALL = "/api/v1/collections"
ITEM = entity("CollectionItem")
COLLECTION = entity("Collection")


async def findable(town: Town, count: int) -> list[Member]:
    found = await join_all(town, count)
    for one in found:
        await one.patch("/api/v1/accounts/update_credentials", json={"discoverable": True})
    return found


async def collect(by: Member, *others: Member, **sent: Any) -> dict[str, Any]:
    body = {"name": "Friends", "account_ids": [one.id for one in others]} | sent
    made: dict[str, Any] = (await by.post(ALL, json=body))["collection"]
    check(made, COLLECTION)
    return made


async def members(viewer: Member, id: str) -> list[str]:
    shown = (await viewer.get(f"{ALL}/{id}"))["collection"]
    check(shown, COLLECTION)
    assert shown["item_count"] == len(shown["items"])
    return [item["account_id"] for item in shown["items"]]


async def test_a_collection_is_made_shown_changed_and_deleted(town: Town) -> None:
    ada = await join(town)
    bob, cleo = await findable(town, 2)
    made = await collect(ada, bob, description="Nice", language="de", tag_name="#People", sensitive=True)
    assert (made["name"], made["tag"]["name"], made["discoverable"]) == ("Friends", "People", False)
    path = f"{ALL}/{made['id']}"

    item = (await ada.post(f"{path}/items", json={"account_id": cleo.id}))["collection_item"]

    check(item, ITEM)
    whole = (await town.http.get(path)).json()
    assert (await town.http.get(path.replace("v1", "v1_alpha"))).json() == whole
    check(whole, {"collection": COLLECTION, "accounts": [ACCOUNT]})
    assert [one["id"] for one in whole["accounts"]] == [ada.id, bob.id, cleo.id]
    changed = (await ada.patch(path, json={"name": "Pals", "tag_name": "", "discoverable": True}))["collection"]
    assert (changed["name"], changed["tag"], changed["description"]) == ("Pals", None, "Nice")
    assert await ada.delete(f"{path}/items/{item['id']}") == {}
    assert await members(bob, made["id"]) == [bob.id]
    assert await verdict(bob, "PATCH", path, json={"name": "Mine"}) == 403
    assert await verdict(bob, "DELETE", path) == 403
    assert await ada.delete(path) == {}
    assert await verdict(ada, "GET", path) == 404


async def test_others_see_those_that_are_to_be_found(town: Town) -> None:
    ada = await join(town)
    [bob] = await findable(town, 1)
    hidden, shown = await collect(ada, bob), await collect(ada, bob, discoverable=True)

    async def listed(viewer: Member) -> list[str]:
        return [one["id"] for one in (await viewer.get(f"/api/v1/accounts/{ada.id}/collections"))["collections"]]

    assert await listed(ada) == [shown["id"], hidden["id"]]
    assert await listed(bob) == [shown["id"]]
    mine = (await bob.get(f"/api/v1/accounts/{bob.id}/in_collections"))["collections"]
    check(mine, [COLLECTION])
    assert [one["id"] for one in mine] == [shown["id"], hidden["id"]]
    assert await verdict(bob, "GET", f"/api/v1/accounts/{ada.id}/in_collections") == 403


async def test_whoever_is_in_one_takes_themselves_out_for_good(town: Town) -> None:
    ada = await join(town)
    bob, cleo = await findable(town, 2)
    made = await collect(ada, bob, cleo)
    item = made["items"][0]["id"]
    path = f"{ALL}/{made['id']}/items"

    assert await verdict(cleo, "POST", f"{path}/{item}/revoke") == 403
    assert await bob.post(f"{path}/{item}/revoke") == {}

    assert await members(ada, made["id"]) == [cleo.id]
    assert await verdict(ada, "POST", path, json={"account_id": bob.id}) == 403
    assert await verdict(bob, "POST", f"{path}/{item}/revoke") == 404


async def test_a_block_takes_people_out_of_collections_at_once(town: Town) -> None:
    ada = await join(town)
    bob, cleo = await findable(town, 2)
    made = await collect(ada, bob, cleo)

    await bob.to(ada, "block")

    assert await members(ada, made["id"]) == [cleo.id]
    assert await verdict(ada, "POST", f"{ALL}/{made['id']}/items", json={"account_id": bob.id}) == 403
    await ada.to(cleo, "block")
    assert await members(ada, made["id"]) == []
    assert await verdict(cleo, "GET", f"{ALL}/{made['id']}") == 404


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"name": " "}, "Name can't be blank"),
        ({"name": "a" * 41}, "Name is too long (maximum is 40 characters)"),
        ({"description": "a" * 101}, "Description is too long (maximum is 100 characters)"),
        ({"language": "klingon"}, "Language is not a language we know"),
        ({"tag_name": "no tag"}, "Tag is invalid"),
        ({"account_ids": [str(id) for id in range(1, 27)]}, "Accounts has too many entries (maximum is 25)"),
    ],
)
async def test_what_cannot_be_is_refused(town: Town, sent: dict[str, Any], words: str) -> None:
    ada = await join(town)

    answer = await ada.call("POST", ALL, json={"name": "Friends"} | sent)

    assert (answer.status_code, answer.json()["error"]["error"]) == (422, f"Validation failed: {words}")
    assert (await ada.get(f"/api/v1/accounts/{ada.id}/collections"))["collections"] == []


async def test_who_does_not_want_to_be_found_is_in_none_and_nobody_makes_too_many(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    assert await verdict(ada, "POST", ALL, json={"name": "x", "account_ids": [bob.id]}) == 403
    assert await verdict(ada, "POST", ALL, json={"name": "x", "account_ids": ["1"]}) == 404
    for _ in range(10):
        made = await collect(ada)

    eleventh = await ada.call("POST", ALL, json={"name": "x"})

    assert (eleventh.status_code, "maximum number" in eleventh.text) == (422, True)
    missing = await ada.call("POST", f"{ALL}/{made['id']}/items", json={})
    assert (missing.status_code, missing.json()["error"]) == (422, "`account_id` parameter is missing")


async def told(member: Member, type: str) -> list[dict[str, Any]]:
    """What somebody was told of a type, one by one and in groups."""
    found: list[dict[str, Any]] = await member.get("/api/v1/notifications", params={"types[]": type})
    grouped = (await member.get("/api/v2/notifications", params={"types[]": type}))["notification_groups"]
    assert [one["collection"] for one in grouped] == [one["collection"] for one in found]
    assert [(one["type"], one["group_key"]) for one in grouped] == [(one["type"], one["group_key"]) for one in found]
    return found


async def test_whoever_is_put_into_a_collection_is_told_and_of_its_changes(town: Town) -> None:
    ada = await join(town)
    bob, cleo = await findable(town, 2)
    await bob.to(ada, "follow")
    await cleo.to(ada, "follow")
    async with listen(bob, "user/notification") as events:
        made = await collect(ada, bob, ada)
        name, heard = await events.next()
    path = f"{ALL}/{made['id']}"
    [one] = await told(bob, "added_to_collection")
    assert (name, heard["type"], heard["collection"]) == ("notification", "added_to_collection", one["collection"])
    check(one["collection"], COLLECTION)
    assert (one["collection"]["id"], one["account"]["id"], one["group_key"]) == (
        made["id"],
        ada.id,
        f"ungrouped-{one['id']}",
    )
    assert await told(ada, "added_to_collection") == []

    item = (await ada.post(f"{path}/items", json={"account_id": cleo.id}))["collection_item"]
    await ada.patch(path, json={"name": "Pals"})
    await ada.patch(path, json={"name": "Buddies"})
    await ada.patch(path, json={"name": "Buddies"})
    await settle(town)
    for member in (bob, cleo):
        [changed] = await told(member, "collection_update")
        assert changed["collection"]["name"] == "Buddies"
    assert await told(ada, "collection_update") == []

    await ada.delete(f"{path}/items/{item['id']}")
    assert (await told(cleo, "added_to_collection"), await told(cleo, "collection_update")) == ([], [])
    await ada.delete(path)
    assert (await told(bob, "added_to_collection"), await told(bob, "collection_update")) == ([], [])


async def test_what_is_wrong_is_said_one_level_deeper(town: Town) -> None:
    ada = await join(town)

    refused = await ada.call("POST", ALL, json={"name": "", "description": "x" * 101})

    assert refused.status_code == 422
    assert refused.json() == {
        "error": {
            "error": "Validation failed: Name can't be blank, Description is too long (maximum is 100 characters)",
            "details": {
                "name": [{"error": "ERR_BLANK", "description": "can't be blank"}],
                "description": [{"error": "ERR_TOO_LONG", "description": "is too long (maximum is 100 characters)"}],
            },
        }
    }
    missing = await ada.call("POST", f"{ALL}/{(await collect(ada))['id']}/items", json={})
    assert (missing.status_code, missing.json()) == (422, {"error": "`account_id` parameter is missing"})


async def test_lists_link_on_and_early_paths_are_deprecated(town: Town) -> None:
    ada = await join(town)
    [bob] = await findable(town, 1)
    for _ in range(3):
        await collect(ada, bob)
    for member, path in (
        (ada, f"/api/v1/accounts/{ada.id}/collections"),
        (bob, f"/api/v1/accounts/{bob.id}/in_collections"),
    ):
        first = await member.call("GET", path, params={"limit": 2})
        second = await member.call("GET", path, params={"limit": 2, "offset": 2})
        assert [len(one.json()["collections"]) for one in (first, second)] == [2, 1]
        url = f"{town.base_url}{path}?limit=2"
        assert (first.headers["link"], second.headers["link"]) == (
            f'<{url}&offset=2>; rel="next"',
            f'<{url}&offset=0>; rel="prev"',
        )
        early = await member.call("GET", path.replace("/v1/", "/v1_alpha/"))
        assert (early.headers["deprecation"], early.headers["cache-control"]) == ("@1781049600", "private, no-store")
        assert early.json() == (await member.call("GET", path)).json()
        assert "deprecation" not in first.headers


async def test_a_collection_is_found_by_its_address(town: Town) -> None:
    ada, eve = await join_all(town, 2)
    made = await collect(ada)

    async def found(viewer: Member, q: str, **more: str) -> list[dict[str, Any]]:
        shown: list[dict[str, Any]] = (await viewer.get("/api/v2/search", params={"q": q} | more))["collections"]
        return shown

    assert await found(eve, made["uri"]) == [made]
    assert await found(eve, made["uri"], type="accounts") == []
    assert await found(eve, f"{made['uri']}1") == await found(eve, f"{made['uri']}/x") == []
    await ada.to(eve, "block")
    assert await found(eve, made["uri"]) == []

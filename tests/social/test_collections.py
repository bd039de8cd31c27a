"""Collections: accounts that somebody shows together."""

from __future__ import annotations

from typing import Any

import pytest

from tests.social.members import Member, join, join_all
from tests.social.shapes import ACCOUNT, OneOf, check, maybe
from tests.social.staff import verdict
from tests.town import Town

ALL = "/api/v1/collections"
ITEM = {
    "id": "id",
    "created_at": "moment",
    "account_id": "id",
    "state": OneOf("pending", "accepted", "rejected", "revoked"),
}
COLLECTION = {
    "id": "id", "uri": "url", "url": maybe("url"), "account_id": "id", "name": "text", "description": "text",
    "language": maybe("text"), "local": "bool", "sensitive": "bool", "discoverable": "bool",
    "tag": maybe({"name": "text", "url": "url"}), "item_count": "int", "items": [ITEM], "created_at": "moment",
    "updated_at": "moment",
}  # fmt: skip


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

    assert (answer.status_code, answer.json()["error"]) == (422, f"Validation failed: {words}")
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

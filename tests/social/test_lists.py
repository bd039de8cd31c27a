"""Lists: who may be on them, and what is read on them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.social.members import Member, join_all
from tests.social.posts import arrive, home, ids, post, settle, walk
from tests.social.shapes import ACCOUNT, check, entity
from tests.town import Town

LIST = entity("List")


async def new_list(member: Member, title: str = "Friends", **sent: Any) -> str:
    return str((await member.post("/api/v1/lists", json={"title": title, **sent}))["id"])


async def put_on(member: Member, list_id: str, *others: Member) -> None:
    sent = {"account_ids": [other.id for other in others]}
    assert await member.post(f"/api/v1/lists/{list_id}/accounts", json=sent) == {}


async def on_list(member: Member, list_id: str) -> list[str]:
    return await ids(member, f"/api/v1/timelines/list/{list_id}")


async def test_a_list_is_made_changed_and_deleted(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    made = await ada.post("/api/v1/lists", data={"title": "  Friends "})
    check(made, LIST)
    assert made | {"id": ""} == {"id": "", "title": "Friends", "replies_policy": "list", "exclusive": False}
    path = f"/api/v1/lists/{made['id']}"
    assert await ada.get(path) == made
    assert await ada.get("/api/v1/lists") == [made]
    changed = await ada.does("PUT", path, json={"title": "All", "replies_policy": "none", "exclusive": True})
    assert changed == made | {"title": "All", "replies_policy": "none", "exclusive": True}
    assert await ada.patch(path, json={"exclusive": False}) == changed | {"exclusive": False}
    for method in ("GET", "PUT", "DELETE"):
        assert (await bob.call(method, path, json={"title": "Mine"})).status_code == 404
    assert await ada.delete(path) == {}
    assert (await ada.call("GET", path)).status_code == 404
    assert (await ada.call("GET", f"/api/v1/timelines/list/{made['id']}")).status_code == 404
    assert await ada.get("/api/v1/lists") == []


async def test_what_cannot_be_is_refused(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    refusals: list[tuple[dict[str, Any], str]] = [
        ({}, "Validation failed: Title can't be blank"),
        ({"title": " "}, "Validation failed: Title can't be blank"),
        ({"title": "x" * 257}, "Validation failed: Title is too long (maximum is 256 characters)"),
        ({"title": "x", "replies_policy": "some"}, "'some' is not a valid replies_policy"),
    ]
    for sent, words in refusals:
        answer = await ada.call("POST", "/api/v1/lists", json=sent)
        assert (answer.status_code, answer.json()["error"]) == (422, words)
    first = await new_list(ada)
    for number in range(49):
        await new_list(ada, f"List {number}")
    answer = await ada.call("POST", "/api/v1/lists", json={"title": "One more"})
    assert answer.status_code == 422
    assert answer.json()["error"] == "Validation failed: You have reached the maximum number of lists"
    path = f"/api/v1/lists/{first}/accounts"
    answer = await ada.call("POST", path, json={"account_ids": [bob.id]})
    assert (answer.status_code, answer.json()["error"]) == (
        422,
        "Validation failed: Account must be a followed account",
    )
    assert (await ada.call("POST", path, json={"account_ids": ["1"]})).status_code == 404
    assert (await ada.call("POST", path, json={"account_ids": ["nobody"]})).status_code == 404
    await ada.to(bob, "follow")
    await put_on(ada, first, bob, ada)
    answer = await ada.call("POST", path, json={"account_ids": [bob.id]})
    assert (answer.status_code, answer.json()["error"]) == (422, "Validation failed: Account is already on the list")
    assert await ada.delete(path, params={"account_ids[]": [bob.id, "1"]}) == {}
    assert [one["id"] for one in await ada.get(path)] == [ada.id]


async def test_so_many_are_put_on_a_list_or_taken_off_at_once_and_no_more(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    await ada.to(bob, "follow")
    path = f"/api/v1/lists/{await new_list(ada)}/accounts"
    many = [bob.id, *(str(number) for number in range(1, 201))]

    for method in ("POST", "DELETE"):
        answer = await ada.call(method, path, json={"account_ids": many})
        assert (answer.status_code, answer.json()["error"]) == (
            422,
            "Validation failed: Account ids has too many elements (maximum is 200)",
        )
    assert await ada.delete(path, json={"account_ids": many[:200]}) == {}


async def test_members_are_walked_and_named(town: Town) -> None:
    ada, *others = await join_all(town, 4)
    list_id, other_list = await new_list(ada), await new_list(ada, "Others")
    for other in others:
        await ada.to(other, "follow")
    await put_on(ada, list_id, *others)
    await put_on(ada, other_list, others[0])
    path = f"/api/v1/lists/{list_id}/accounts"
    everybody = await ada.get(path, params={"limit": "0"})
    check(everybody, [ACCOUNT])
    wanted = sorted((other.id for other in others), key=int, reverse=True)
    assert [one["id"] for one in everybody] == wanted
    assert [id for page in await walk(ada, f"{path}?limit=2") for id in page] == wanted
    found = await ada.get(f"/api/v1/accounts/{others[0].id}/lists")
    assert sorted(one["id"] for one in found) == sorted([list_id, other_list])
    assert await ada.get(f"/api/v1/accounts/{ada.id}/lists") == []
    assert (await ada.call("GET", "/api/v1/accounts/1/lists")).status_code == 404
    await ada.to(others[0], "unfollow")
    await settle(town)
    assert await ada.get(f"/api/v1/accounts/{others[0].id}/lists") == []


@pytest.mark.parametrize("policy", ["followed", "list", "none"])
async def test_replies_on_a_list_are_as_its_policy_says(town: Town, policy: str) -> None:
    ada, member, followed, stranger = await join_all(town, 4)
    for other in (member, followed):
        await ada.to(other, "follow")
    list_id = await new_list(ada, replies_policy=policy)
    await put_on(ada, list_id, member)
    await arrive(ada)
    targets = {"owner": ada, "member": member, "followed": followed, "stranger": stranger}
    replies: dict[str, str] = {}
    for name, target in targets.items():
        parent = await post(target, f"by the {name}")
        replies[name] = (await post(member, "and so?", in_reply_to_id=parent["id"]))["id"]
    plain = (await post(member, "no reply"))["id"]
    await settle(town)
    wanted = {"followed": {"owner", "member", "followed"}, "list": {"owner", "member"}, "none": {"owner", "member"}}
    shown = set(await on_list(ada, list_id))
    assert {name for name, id in replies.items() if id in shown} == wanted[policy]
    assert plain in shown


async def test_a_list_is_filled_when_somebody_joins_and_emptied_when_they_leave(town: Town) -> None:
    ada, bob, cat = await join_all(town, 3)
    await ada.to(bob, "follow")
    await ada.to(cat, "follow")
    by_bob, by_cat = (await post(bob))["id"], (await post(cat))["id"]
    await arrive(ada)
    list_id = await new_list(ada)
    await put_on(ada, list_id, bob, cat)
    await settle(town)
    assert await on_list(ada, list_id) == [by_cat, by_bob]
    await ada.delete(f"/api/v1/lists/{list_id}/accounts", json={"account_ids": [bob.id]})
    await settle(town)
    assert await on_list(ada, list_id) == [by_cat]
    assert await home(ada) == [by_cat, by_bob]


async def test_an_exclusive_list_keeps_its_members_from_home(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    await ada.to(bob, "follow")
    before = (await post(bob, "before"))["id"]
    await arrive(ada)
    list_id = await new_list(ada, exclusive=True)
    await put_on(ada, list_id, bob)
    await settle(town)
    after = (await post(bob, "after"))["id"]
    await settle(town)
    assert (await on_list(ada, list_id), await home(ada)) == ([after, before], [])
    await ada.patch(f"/api/v1/lists/{list_id}", json={"exclusive": False})
    await settle(town)
    assert await home(ada) == [after, before]
    await ada.patch(f"/api/v1/lists/{list_id}", json={"exclusive": True})
    await settle(town)
    assert await home(ada) == []
    await ada.delete(f"/api/v1/lists/{list_id}")
    await settle(town)
    assert await home(ada) == [after, before]

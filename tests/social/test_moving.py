"""Moving from one account here to another, and what has to be right for it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from kith.base.errors import Invalid
from kith.social.accounts import store as accounts
from kith.social.ids import AccountId
from kith.social.moving.service import move_out
from tests.social.members import Member, join, set_state, stranger, until
from tests.town import Town
from tests.web.browsing import Browser

ALIAS, MOVE = "/api/v1/accounts/alias", "/api/v1/accounts/move"


def password_of(member: Member) -> str:
    return f"correct horse {member.name}"


async def move(member: Member, to: str, **changes: Any) -> Any:
    return await member.call("POST", MOVE, json={"moved_to_uri": to, "password": password_of(member)} | changes)


async def test_followers_blocks_mutes_and_notes_go_along(town: Town) -> None:
    # given
    old, new, fan, foe, quiet = [await join(town) for _ in range(5)]
    await fan.to(old, "follow", reblogs=False)
    await foe.to(old, "block")
    await quiet.to(old, "mute", notifications=False)
    await fan.to(old, "note", comment="bakes well")
    await new.post(ALIAS, json={"also_known_as_uris": [old.me["uri"]]})

    # when
    answer = await move(old, new.me["uri"])

    # then
    assert answer.status_code == 202, answer.text
    assert answer.json()["moved"]["id"] == new.id
    await until(lambda: _is(fan, new, following=True))
    followed = await fan.sees(new)
    assert (followed["following"], followed["showing_reblogs"]) == (True, False)
    await until(lambda: _is(fan, old, following=False))
    await until(lambda: _is(quiet, new, muting=True))
    assert (await foe.sees(new))["blocking"] is True
    assert (await quiet.sees(new))["muting_notifications"] is False
    acct = old.name
    assert (await fan.sees(new))["note"].endswith("here were your previous notes about them:\nbakes well")
    assert (await foe.sees(new))["note"] == f"This user moved from {acct}, which you had blocked."
    shown = await fan.get(f"/api/v1/accounts/{old.id}")
    assert shown["moved"]["id"] == new.id
    refused = await old.call("POST", "/api/v1/statuses", json={"status": "still here"})
    assert (refused.status_code, refused.json()["error"]) == (403, "Your login is currently disabled")
    assert (await fan.call("POST", f"/api/v1/accounts/{old.id}/follow")).status_code == 403


async def test_whoever_moves_stays_on_lists(town: Town) -> None:
    # given
    old, new, fan, other = [await join(town) for _ in range(4)]
    for one in (old, new):
        await fan.to(one, "follow")
    await other.to(old, "follow")
    await new.patch("/api/v1/accounts/update_credentials", json={"locked": True})
    both = [(await fan.post("/api/v1/lists", json={"title": title}))["id"] for title in ("Bakers", "Friends")]
    asking = (await other.post("/api/v1/lists", json={"title": "Bakers"}))["id"]
    await fan.post(f"/api/v1/lists/{both[0]}/accounts", json={"account_ids": [old.id]})
    await fan.post(f"/api/v1/lists/{both[1]}/accounts", json={"account_ids": [old.id, new.id]})
    await other.post(f"/api/v1/lists/{asking}/accounts", json={"account_ids": [old.id]})
    await new.post(ALIAS, json={"also_known_as_uris": [old.me["uri"]]})

    # when
    assert (await move(old, new.me["uri"])).status_code == 202
    await until(lambda: _is(fan, old, following=False))
    await until(lambda: _is(other, old, following=False))

    # then
    for member, id in ((fan, both[0]), (fan, both[1]), (other, asking)):
        assert [one["id"] for one in await member.get(f"/api/v1/lists/{id}/accounts")] == [new.id]
    await new.post(f"/api/v1/follow_requests/{other.id}/reject")
    assert await other.get(f"/api/v1/lists/{asking}/accounts") == []


async def _is(member: Member, other: Member, **claims: bool) -> bool:
    seen = await member.sees(other)
    return all(seen[name] is value for name, value in claims.items())


async def test_a_move_that_is_not_right_changes_nothing(town: Town) -> None:
    ada, other = await join(town), await join(town)
    no_alias = await move(ada, other.me["uri"])
    assert (no_alias.status_code, list(no_alias.json()["details"])) == (422, ["moved_to_uri"])
    await other.post(ALIAS, json={"also_known_as_uris": [ada.me["uri"]]})
    for to, changes, field in (
        (other.me["uri"], {"password": "wrong"}, "password"),
        (other.me["uri"], {"password": ""}, "password"),
        ("", {}, "moved_to_uri"),
        (ada.me["uri"], {}, "moved_to_uri"),
        (f"{town.base_url}/users/nobody_at_all", {}, "moved_to_uri"),
        ("http://192.0.2.1/users/x", {}, "moved_to_uri"),
        ("what?", {}, "moved_to_uri"),
    ):
        answer = await move(ada, to, **changes)
        assert (answer.status_code, list(answer.json()["details"])) == (422, [field]), answer.text
    assert "moved" not in await ada.refreshed()


async def test_nobody_moves_twice_in_a_month(town: Town) -> None:
    ada, other = await join(town), await join(town)
    await other.post(ALIAS, json={"also_known_as_uris": [ada.me["uri"]]})
    await set_state(town, ada.id, lambda work: {"moved_at": work.now - timedelta(days=29)})

    answer = await move(ada, other.me["uri"])

    assert answer.status_code == 422
    assert "moved recently" in answer.json()["error"]
    await set_state(town, ada.id, lambda work: {"moved_at": work.now - timedelta(days=31)})
    assert (await move(ada, other.me["uri"])).status_code == 202


async def test_nor_by_coming_back_while_another_server_is_asked(town: Town) -> None:
    """A move that was begun before another one was made, and is done once that was taken back."""
    ada, other = await join(town), await join(town)
    await other.post(ALIAS, json={"also_known_as_uris": [ada.me["uri"]]})
    async with town.house() as house, house.works.begin() as work:
        before = await accounts.find(work.db, AccountId(int(ada.id)))
    await set_state(town, ada.id, lambda work: {"moved_at": work.now})

    async with town.house() as house:
        with pytest.raises(Invalid) as refused:
            async with house.works.begin() as work:
                assert before is not None
                await move_out(work, before, uri=other.me["uri"], password=password_of(ada))

    assert "moved recently" in refused.value.fields[""][0]
    assert "moved" not in await ada.refreshed()


async def test_aliases_are_accounts_that_there_are(town: Town) -> None:
    ada, other = await join(town), await join(town)
    known = await stranger(town)

    named = await ada.post(ALIAS, json={"also_known_as_uris": [f"@{other.name}@127.0.0.1:{town.port}"]})
    assert named["source"]["also_known_as_uris"] == [other.me["uri"]]
    for wrong in ([ada.me["uri"]], ["https://192.0.2.1/users/x"], ["nonsense"], [f"a{n}@b.example" for n in range(21)]):
        answer = await ada.call("POST", ALIAS, json={"also_known_as_uris": wrong})
        assert (answer.status_code, list(answer.json()["details"])) == (422, ["also_known_as_uris"])
    assert (await ada.refreshed())["source"]["also_known_as_uris"] == [other.me["uri"]]
    document = await town.http.get(ada.me["uri"], headers={"Accept": "application/activity+json"})
    assert document.json()["alsoKnownAs"] == [other.me["uri"]]
    assert known.uri not in document.text
    emptied = await ada.post(ALIAS, json={"also_known_as_uris": []})
    assert emptied["source"]["also_known_as_uris"] == []


@pytest.mark.parametrize("path", [ALIAS, MOVE])
async def test_strangers_cannot(town: Town, path: str) -> None:
    assert (await town.http.post(path, json={})).status_code == 401


async def test_people_move_and_come_back_by_the_page(town: Town) -> None:
    # given
    old, new, fan = await join(town), await join(town), await join(town)
    await fan.to(old, "follow")
    browser, other = Browser(town), Browser(town)
    await browser.sign_in(old.name, password_of(old), "?next=/settings/moving")
    await other.sign_in(new.name, password_of(new), "?next=/settings/moving")

    # when
    await browser.press("/move", target=new.me["uri"], password=password_of(old))
    assert browser.page.status_code == 400
    assert "does not name yours as an alias yet" in browser.page.text
    await other.press("/aliases", aliases="nobody at all")
    assert "No such account could be found." in other.page.text
    await other.press("/aliases", aliases=old.me["uri"])
    assert "Saved." in other.page.text
    await browser.press("/move", target=new.me["uri"], password="wrong")
    assert "Invalid password" in browser.page.text
    await browser.press("/move", target=f"@{new.name}@127.0.0.1:{town.port}", password=password_of(old))

    # then
    assert "You have moved" in browser.page.text
    await until(lambda: _is(fan, new, following=True))
    await browser.press("/cancel")
    assert "Move to another account" in browser.page.text
    assert "moved" not in await fan.get(f"/api/v1/accounts/{old.id}")
    await until(lambda: _may_post(old))
    await browser.close()
    await other.close()


async def _may_post(member: Member) -> bool:
    return (await member.call("POST", "/api/v1/statuses", json={"status": "Back"})).status_code == 200

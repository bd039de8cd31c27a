"""What the team does to accounts, to whom, and back; strikes and appeals."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import bindparam, update

from kith.base.db import Instant, command
from kith.social.moderation.tables import deletions, strikes
from kith.social.moderation.tasks import DELETE_DATA, DeleteData
from tests.conftest import TownBuilder
from tests.identity.flow_browser import Browser
from tests.identity.records import API, owner_of, results
from tests.social.members import Member, join, join_all, stranger, until
from tests.social.posts import post, settle
from tests.social.samples import image_file
from tests.social.shapes import OneOf, check, entity
from tests.social.staff import employ, employ_as, verdict
from tests.social.test_reports import report
from tests.social.test_roles import ADMIN_ACCOUNT
from tests.social.tokens import new_app
from tests.town import Town

ACCOUNTS = "/api/v1/admin/accounts"
APPEALS = "/api/v1/admin/appeals"
WARNING = entity("AccountWarning")
ADMIN_APPEAL = entity("AdminAppeal")
_make_older = command(update(strikes).values(created_at=bindparam("at", type_=Instant())))
_make_due = command(update(deletions).values(due_at=bindparam("at", type_=Instant())))


async def act(by: Member, on: Any, type: str, **sent: Any) -> int:
    return await verdict(by, "POST", f"{ACCOUNTS}/{on.id}/action", json={"type": type, **sent})


async def back(by: Member, on: Any, verb: str) -> int:
    return await verdict(by, "POST", f"{ACCOUNTS}/{on.id}/{verb}")


async def test_limiting_marking_and_disabling_and_back(town: Town) -> None:
    mod, (ada, bob) = await employ(town, "moderator"), await join_all(town, 2)
    picture = await bob.post("/api/v2/media", files={"file": ("a.png", image_file("PNG"), "image/png")})
    posted = await post(bob, "look", media_ids=[picture["id"]])
    path = f"/api/v1/statuses/{posted['id']}"
    assert (await ada.get(path))["sensitive"] is False

    assert await act(mod, bob, "silence", text="too loud") == 200
    assert (await ada.get(f"/api/v1/accounts/{bob.id}"))["limited"] is True
    assert (await post(bob, "hello"))["visibility"] == "unlisted"
    assert await act(mod, bob, "sensitive") == 200
    assert (await ada.get(path))["sensitive"] is True
    seen = await mod.get(f"{ACCOUNTS}/{bob.id}")
    check(seen, ADMIN_ACCOUNT)
    assert (seen["silenced"], seen["sensitized"], seen["disabled"], seen["suspended"]) == (True, True, False, False)
    assert (await back(mod, bob, "unsilence"), await back(mod, bob, "unsensitive")) == (200, 200)
    assert "limited" not in await ada.get(f"/api/v1/accounts/{bob.id}")
    assert (await ada.get(path))["sensitive"] is False

    assert await act(mod, bob, "disable") == 200
    for _ in range(2):  # before and after their sessions have ended
        refused = await bob.call("GET", "/api/v1/timelines/home")
        assert (refused.status_code, refused.json()["error"]) == (403, "Your login is currently disabled")
        await settle(town)
    assert (await ada.get(f"/api/v1/accounts/{bob.id}"))["id"] == bob.id
    assert await back(mod, bob, "enable") == 200
    await settle(town)
    assert await verdict(bob, "GET", "/api/v1/timelines/home") == 200  # no phone has to sign in again
    assert (await mod.get(f"{ACCOUNTS}/{bob.id}"))["disabled"] is False


async def test_who_may_act_on_whom(town: Town) -> None:
    """The ladder, as a table."""
    owner = await employ(town, "owner")
    people = {
        "owner": owner,
        "admin": await employ(town, "administrator"),
        "mod": await employ(town, "moderator"),
        "other mod": await employ(town, "moderator"),
        "user": await employ(town, "user"),
        "reports only": await employ_as(town, owner, 3, "manage_reports"),
        "dashboard": await employ_as(town, owner, 50, "view_dashboard"),
    }
    ranks = {"owner": 1000, "admin": 100, "mod": 10, "other mod": 10, "user": -1, "reports only": 3, "dashboard": 50}
    allowed = {"owner", "admin", "mod", "other mod", "reports only"}
    for by, actor in people.items():
        for on, target in people.items():
            expected = 200 if by in allowed and ranks[by] > ranks[on] else 403
            assert await act(actor, target, "none", text="careful") == expected, (by, on)
    assert await verdict(people["mod"], "POST", f"{ACCOUNTS}/{people['admin'].id}/unsilence") == 403
    assert await verdict(people["reports only"], "POST", f"{ACCOUNTS}/{people['user'].id}/unsilence") == 403
    assert await verdict(people["mod"], "DELETE", f"{ACCOUNTS}/{people['user'].id}") == 403
    plain = await join(town)  # without the scope
    assert await verdict(plain, "POST", f"{ACCOUNTS}/{plain.id}/action", json={"type": "none"}) == 403


async def test_a_suspension_hides_everything_and_ends_every_way_in(town: Town) -> None:
    mod, ada = await employ(town, "moderator"), await join(town)
    person = await town.sign_up()
    bob = await employ(town, "user")
    browser = Browser(town)
    await browser.sign_in(person)
    gil = Member(town, bob.token)
    await gil.refreshed()
    await ada.to(bob, "follow")
    picture = await bob.post("/api/v2/media", files={"file": ("a.png", image_file("PNG"), "image/png")})
    posted = await post(bob, "find me #suspended", media_ids=[picture["id"]])
    file = posted["media_attachments"][0]["url"].removeprefix(town.base_url)
    await settle(town)
    assert posted["id"] in [one["id"] for one in await ada.get("/api/v1/timelines/home")]
    assert (await town.http.get(file)).status_code == 200

    assert await act(mod, bob, "suspend") == 200

    refusal = await bob.call("GET", "/api/v1/timelines/home")
    assert (refusal.status_code, refusal.json()["error"]) == (403, "Your login is currently disabled")
    assert posted["id"] not in [one["id"] for one in await ada.get("/api/v1/timelines/home")]
    assert await verdict(ada, "GET", f"/api/v1/statuses/{posted['id']}") == 404
    assert await ada.get(f"/api/v1/accounts/{bob.id}/statuses") == []
    assert (await ada.get("/api/v2/search", params={"q": bob.name}))["accounts"] == []
    assert (await ada.get("/api/v1/timelines/tag/suspended")) == []
    assert (await town.http.get(file)).status_code == 404
    shown = await ada.get(f"/api/v1/accounts/{bob.id}")
    assert (shown["suspended"], shown["display_name"], shown["note"]) == (True, "", "")
    refused = await town.http.get("/api/v2/core/users/me/", auth=(bob.name, f"correct horse {bob.name}"))
    assert refused.status_code == 401

    assert await back(mod, bob, "unsuspend") == 200
    assert await back(mod, bob, "unsuspend") == 403
    assert await verdict(bob, "GET", "/api/v1/timelines/home") == 200  # no phone has to sign in again
    assert posted["id"] in [one["id"] for one in await ada.get("/api/v1/timelines/home")]
    assert (await town.http.get(file)).status_code == 200
    assert (await mod.get(f"{ACCOUNTS}/{bob.id}"))["disabled"] is False


async def test_the_data_of_a_suspended_account_goes_after_thirty_days(new_town: TownBuilder) -> None:
    town = await new_town()
    admin, (ada, bob, eve) = await employ(town, "administrator"), await join_all(town, 3)
    await ada.to(bob, "follow")
    posted = await post(bob, "soon gone")
    assert await verdict(admin, "DELETE", f"{ACCOUNTS}/{eve.id}") == 403  # not suspended
    await act(admin, bob, "suspend")
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(_make_due, at=work.now - timedelta(minutes=1))
        work.enqueue(DELETE_DATA, DeleteData())
    await settle(town)

    await until(lambda: _is(ada, f"/api/v1/accounts/{bob.id}", 410))
    assert await verdict(ada, "GET", f"/api/v1/statuses/{posted['id']}") == 404
    told = await ada.get("/api/v1/notifications", params={"types[]": "severed_relationships"})
    assert [one["event"]["following_count"] for one in told] == [1]
    check(
        told[0]["event"],
        {
            "id": "id",
            "type": OneOf("account_suspension"),
            "purged": "bool",
            "target_name": "text",
            "created_at": "moment",
            "followers_count": "int",
            "following_count": "int",
        },
    )
    assert (await ada.refreshed())["following_count"] == 0

    await act(admin, eve, "suspend")
    assert await admin.delete(f"{ACCOUNTS}/{eve.id}") == {}
    await until(lambda: _is(ada, f"/api/v1/accounts/{eve.id}", 410))


async def _is(member: Member, path: str, status: int) -> bool:
    return await verdict(member, "GET", path) == status


async def test_a_strike_is_told_and_an_appeal_undoes_it(new_town: TownBuilder) -> None:
    town = await new_town()
    admin, mod, (ada, bob) = (
        await employ(town, "administrator"),
        await employ(town, "moderator"),
        await join_all(town, 2),
    )
    preset = await admin.post("/api/v1/admin/warning_presets", json={"title": "spam", "text": "Do not advertise."})
    made = await report(ada, bob)
    await report(ada, bob, comment="again")

    sent = {"text": "Really.", "warning_preset_id": preset["id"], "report_id": made["id"]}
    assert await act(mod, bob, "silence", **sent) == 200

    assert await mod.get("/api/v1/admin/reports", params={"target_account_id": bob.id}) == []  # all resolved
    [strike] = await bob.get("/api/v1/strikes")
    check(strike, WARNING)
    assert (strike["action"], strike["text"]) == ("silence", "Do not advertise.\n\nReally.")
    [told] = await bob.get("/api/v1/notifications", params={"types[]": "moderation_warning"})
    assert (told["moderation_warning"], told["account"]["id"]) == (strike, bob.id)
    await until(lambda: _is_mailed(town, "was limited"))

    path = f"/api/v1/strikes/{strike['id']}/appeal"
    assert await verdict(ada, "POST", path, json={"text": "x"}) == 404
    assert await verdict(bob, "POST", path, json={"text": "x" * 2001}) == 422
    assert (await bob.post(path, json={"text": "it was not me"}))["appeal"] == {
        "text": "it was not me",
        "state": "pending",
    }
    assert await verdict(bob, "POST", path, json={"text": "again"}) == 422
    assert await verdict(mod, "GET", APPEALS) == 403
    [appeal] = await admin.get(APPEALS, params={"state": "pending"})
    check(appeal, ADMIN_APPEAL)
    decided = await admin.post(f"{APPEALS}/{appeal['id']}/approve")
    assert (decided["state"], decided["decided_by_account_id"]) == ("approved", admin.id)
    assert await verdict(admin, "POST", f"{APPEALS}/{appeal['id']}/reject") == 403
    assert "limited" not in await ada.get(f"/api/v1/accounts/{bob.id}")


async def test_nobody_decides_about_their_own_strike_or_that_of_an_equal(new_town: TownBuilder) -> None:
    town = await new_town()
    owner = await employ(town, "owner")
    eve, mel = [await employ_as(town, owner, 50, "manage_appeals", "manage_reports") for _ in range(2)]
    ada = await join(town)
    for target in (eve, ada):
        assert await act(owner, target, "sensitive", text="Mind what you show.") == 200
        [strike] = await target.get("/api/v1/strikes")
        await target.post(f"/api/v1/strikes/{strike['id']}/appeal", json={"text": "it was fine"})
    pending = await owner.get(APPEALS, params={"state": "pending"})
    about = {one["strike"]["target_account"]["id"]: one["id"] for one in pending}

    for by in (eve, mel):
        for act_on in ("approve", "reject"):
            assert await verdict(by, "POST", f"{APPEALS}/{about[eve.id]}/{act_on}") == 403

    assert len(await owner.get(APPEALS, params={"state": "pending"})) == 2
    assert (await mel.post(f"{APPEALS}/{about[ada.id]}/approve"))["state"] == "approved"
    assert (await owner.post(f"{APPEALS}/{about[eve.id]}/reject"))["state"] == "rejected"


async def _is_mailed(town: Town, text: str) -> bool:
    return any(text.encode() in mail.as_bytes() for mail in town.mails())


async def test_whoever_is_shut_out_appeals_by_the_key_in_their_mail(new_town: TownBuilder) -> None:
    town = await new_town()
    admin, bob = await employ(town, "administrator"), await join(town)
    await act(admin, bob, "suspend")
    await until(lambda: _is_mailed(town, "/appeal/"))
    [mail] = [mail for mail in town.mails() if "/appeal/" in str(mail.get_body(("plain",)))]
    text = mail.get_body(("plain",))
    assert text is not None
    said = text.get_content()
    strike_id, key = said.partition("/appeal/")[2].split()[0].split("/")
    assert (await town.http.get(f"/appeal/{strike_id}/{key}")).status_code == 200

    wrong = await town.http.post("/api/v1/appeals", json={"strike_id": strike_id, "key": "x", "text": "please"})
    right = await town.http.post("/api/v1/appeals", json={"strike_id": strike_id, "key": key, "text": "please"})

    assert (wrong.status_code, right.status_code) == (404, 200)
    [appeal] = await admin.get(APPEALS)
    await admin.post(f"{APPEALS}/{appeal['id']}/approve")
    assert (await admin.get(f"{ACCOUNTS}/{bob.id}"))["suspended"] is False


async def test_an_appeal_has_twenty_days(new_town: TownBuilder) -> None:
    town = await new_town()
    mod, bob = await employ(town, "moderator"), await join(town)
    await act(mod, bob, "none", text="careful")
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(_make_older, at=work.now - timedelta(days=21))
    [strike] = await bob.get("/api/v1/strikes")

    late = await bob.call("POST", f"/api/v1/strikes/{strike['id']}/appeal", json={"text": "late"})

    assert (late.status_code, "the time for it is over" in late.json()["error"]) == (422, True)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"type": "explode"}, 422),
        ({}, 422),
        ({"type": "none", "report_id": "5"}, 404),
        ({"type": "none", "warning_preset_id": "5"}, 404),
        ({"type": "none", "text": "x" * 10_001}, 422),
    ],
)
async def test_what_cannot_be_done_to_an_account(town: Town, sent: dict[str, Any], status: int) -> None:
    mod, bob = await employ(town, "moderator"), await join(town)

    assert await verdict(mod, "POST", f"{ACCOUNTS}/{bob.id}/action", json=sent) == status
    assert await bob.get("/api/v1/strikes") == []


async def test_strangers_are_limited_and_suspended_but_not_disabled(town: Town) -> None:
    mod, ada, far = await employ(town, "moderator"), await join(town), await stranger(town)

    assert await act(mod, far, "disable") == 422
    assert await act(mod, far, "silence") == 200
    assert (await ada.get(f"/api/v1/accounts/{far.id}"))["limited"] is True
    assert await act(mod, far, "suspend") == 200
    check(await mod.get(f"{ACCOUNTS}/{far.id}"), ADMIN_ACCOUNT)
    assert await back(mod, far, "unsuspend") == 200


async def test_those_who_wait_are_let_in_or_turned_down(new_town: TownBuilder) -> None:
    town = await new_town(registrations="approval", confirm_email="off")
    mod = await employ(town, "moderator")
    app = await new_app(town, "read write")
    headers = {"Authorization": f"Bearer {await app.token('read write')}"}
    for name in ("first", "second"):
        sent = {
            "username": name,
            "email": f"{name}@example.org",
            "password": "correct horse",
            "agreement": True,
            "locale": "en",
            "reason": "I like it",
        }
        assert (await town.http.post("/api/v1/accounts", json=sent, headers=headers)).status_code == 200
    await settle(town)

    waiting = {one["username"]: one for one in await mod.get(ACCOUNTS, params={"pending": "true"})}
    check(list(waiting.values()), [ADMIN_ACCOUNT])
    assert waiting["first"]["invite_request"] == "I like it"
    assert (await mod.post(f"{ACCOUNTS}/{waiting['first']['id']}/approve"))["approved"] is True
    assert await verdict(mod, "POST", f"{ACCOUNTS}/{waiting['first']['id']}/approve") == 403
    assert await verdict(mod, "POST", f"{ACCOUNTS}/{waiting['first']['id']}/reject") == 403
    assert await mod.post(f"{ACCOUNTS}/{waiting['second']['id']}/reject") == {}
    assert await mod.get(ACCOUNTS, params={"pending": "true"}) == []


async def test_every_act_leaves_an_event(town: Town) -> None:
    owner, bob = await employ(town, "owner"), await join(town)
    for type in ("none", "sensitive", "silence", "disable", "suspend"):
        await act(owner, bob, type)
    await back(owner, bob, "unsuspend")

    answer = await town.http.get(
        "/api/v2/audit/events/", params={"limit": 100}, auth=(owner.name, f"correct horse {owner.name}")
    )

    found = [one["action"] for one in answer.json()["results"] if bob.name in str(one["context"])]
    wanted = {
        "warn_account",
        "sensitive_account",
        "silence_account",
        "disable_account",
        "suspend_account",
        "unsuspend_account",
    }
    assert wanted <= set(found)


async def test_the_team_deletes_posts_and_marks_them_as_sensitive(new_town: TownBuilder) -> None:
    town = await new_town()
    mod, admin, (ada, bob) = await employ(town, "moderator"), await employ(town, "owner"), await join_all(town, 2)
    picture = await bob.post("/api/v2/media", files={"file": ("a.png", image_file("PNG"), "image/png")})
    shown = await post(bob, "look", media_ids=[picture["id"]])
    bad, fine, hers = await post(bob, "bad"), await post(bob, "fine"), await post(ada, "hers")
    made = await report(ada, bob, status_ids=[bad["id"]])
    other = await report(ada, bob)

    delete, mark = "delete_statuses", "mark_statuses_as_sensitive"
    wrong = [
        await act(ada, bob, delete, status_ids=[fine["id"]]),
        await act(mod, bob, delete, status_ids=[hers["id"]]),
        await act(mod, bob, delete),
        await act(mod, bob, mark, status_ids=[fine["id"]]),
        await act(mod, admin, delete, status_ids=["1"]),
        await act(mod, bob, delete, status_ids=["1"] * 101),
    ]
    assert wrong == [403, 404, 422, 422, 403, 422]
    assert await act(mod, bob, delete, report_id=made["id"], text="be kind") == 200
    assert await act(mod, bob, mark, status_ids=[shown["id"], fine["id"]]) == 200

    seen = [await verdict(ada, "GET", f"/api/v1/statuses/{one['id']}") for one in (bad, fine, hers, shown)]
    marked = await ada.get(f"/api/v1/statuses/{shown['id']}")
    history = await ada.get(f"/api/v1/statuses/{shown['id']}/history")
    strikes = await bob.get("/api/v1/strikes")
    check(strikes, [WARNING])
    assert seen == [404, 200, 200, 200]
    assert (marked["sensitive"], [one["sensitive"] for one in history]) == (True, [False, True])
    assert {one["action"]: one["status_ids"] for one in strikes} == {delete: [bad["id"]], mark: [shown["id"]]}
    reports = [await mod.get(f"/api/v1/admin/reports/{one['id']}") for one in (made, other)]
    assert [one["action_taken"] for one in reports] == [True, False], "only the one that it is about"

    [strike] = [one for one in strikes if one["action"] == mark]
    await bob.post(f"/api/v1/strikes/{strike['id']}/appeal", json={"text": "it is a flower"})
    [appeal] = await admin.get(APPEALS)
    await admin.post(f"{APPEALS}/{appeal['id']}/approve")
    assert (await ada.get(f"/api/v1/statuses/{shown['id']}"))["sensitive"] is False


@pytest.mark.parametrize("way", ["disabled", "locked"])
async def test_whoever_was_disabled_or_locked_while_suspended_stays_so(town: Town, way: str) -> None:
    owner, mod, bob = await owner_of(town), await employ(town, "moderator"), await join(town)
    assert await act(mod, bob, "suspend") == 200
    [found] = await results(owner, "/core/users/", username=bob.name)
    place = f"{API}/core/users/{found['pk']}/"
    if way == "locked":
        answer = await owner.call("POST", f"{place}lockdown/", json={"reason": "somebody else has it"})
    else:
        answer = await owner.call("PATCH", place, json={"is_active": False})
    assert answer.is_success, answer.text

    assert await back(mod, bob, "unsuspend") == 200

    assert (await owner.get(place)).json()["is_active"] is False
    assert "suspended" not in await mod.get(f"/api/v1/accounts/{bob.id}")

"""Reports: who is told, what can be reported, and how the team deals with them."""

from __future__ import annotations

from typing import Any

import pytest

from kith.base.limits import Limiter
from kith.identity.users import store as users
from kith.social.moderation.api import REPORTS as RULE_OF_REPORTS
from tests.conftest import TownBuilder
from tests.social.members import Member, join, join_all, stranger, until
from tests.social.posts import post, settle
from tests.social.shapes import STATUS, check, entity
from tests.social.staff import employ, employ_as, verdict
from tests.social.tokens import new_app
from tests.town import Town

REPORTS = "/api/v1/reports"
ADMIN = "/api/v1/admin/reports"
NOTES = "/api/v1/admin/report_notes"
REPORT = entity("Report")
ADMIN_REPORT = entity("AdminReport") | {"statuses": [STATUS]}
NOTE = entity("ReportNote")


async def report(by: Member, about: Any, **sent: Any) -> dict[str, Any]:
    return dict(await by.post(REPORTS, json={"account_id": str(about.id), **sent}))


async def test_who_has_left_the_team_reads_of_no_report(new_town: TownBuilder) -> None:
    town = await new_town()
    owner, ada, bob = await employ(town, "owner"), await join(town), await join(town)
    helper = await employ_as(town, owner, 5, "manage_reports")
    made = await report(ada, bob, comment="he is rude")
    await settle(town)
    told = await helper.get("/api/v1/notifications")
    assert [one["report"]["id"] for one in told if one["type"] == "admin.report"] == [made["id"]]
    assert made["id"] in (await helper.call("GET", "/api/v2/notifications")).text
    path = f"/api/v1/notifications/{told[0]['id']}"

    await owner.post(f"/api/v1/admin/accounts/{helper.id}/role", json={"role_id": "-99"})

    assert await helper.get("/api/v1/notifications") == []
    grouped = (await helper.call("GET", "/api/v2/notifications")).json()
    assert (grouped["notification_groups"], "he is rude" in str(grouped)) == ([], False)
    assert await verdict(helper, "GET", path) == 404
    assert ada.name not in str(grouped)


async def add_rule(town: Town, text: str = "be kind") -> str:
    await town.kith("instance", "rules", "add", text)
    return str((await town.http.get("/api/v1/instance/rules")).json()[-1]["id"])


async def test_every_moderator_and_administrator_hears_of_it_in_one_thread(new_town: TownBuilder) -> None:
    town = await new_town()
    ada, bob, eve = await join_all(town, 3)
    team = [await employ(town, role) for role in ("moderator", "administrator", "owner")]
    await team[0].to(ada, "block")  # the team's business reaches them all the same

    first = await report(ada, bob, comment="he is rude")
    second = await report(eve, bob, comment="indeed", category="spam")
    third = await report(ada, eve)
    await settle(town)

    check(first, REPORT)
    await until(lambda: _has_mails(town, 9))
    to_mod = [mail for mail in town.mails() if mail["to"] == f"{team[0].name}@example.org"]
    threads = {str(mail["references"] or mail["message-id"]) for mail in to_mod}
    assert len(to_mod) == 3
    assert len(threads) == 2
    answers = [mail for mail in to_mod if mail["in-reply-to"]]
    assert [str(mail["in-reply-to"]) for mail in answers] == [f"<report-{first['id']}@127.0.0.1>"]
    assert str(answers[0]["in-reply-to"]) in {str(mail["message-id"]) for mail in to_mod}
    assert b"indeed" in answers[0].as_bytes()
    for one in team:
        told = await one.get("/api/v1/notifications", params={"types[]": "admin.report"})
        assert {two["report"]["id"] for two in told} == {first["id"], second["id"], third["id"]}
        assert told[0]["account"]["id"] == ada.id
    assert [one["type"] for one in await bob.get("/api/v1/notifications")] == []

    await team[0].post(f"{ADMIN}/{first['id']}/resolve")
    await team[0].post(f"{ADMIN}/{second['id']}/resolve")
    fourth = await report(ada, bob)
    await until(lambda: _has_mails(town, 12))
    assert f"<report-{fourth['id']}@127.0.0.1>" in {str(mail["message-id"]) for mail in town.mails()}


async def test_each_of_the_team_can_do_without_mails_about_reports(new_town: TownBuilder) -> None:
    town = await new_town()
    ada, bob = await join_all(town, 2)
    mod, admin = await employ(town, "moderator"), await employ(town, "administrator")
    emails = "/api/v1/notifications/emails"

    before = await mod.get(emails)
    await mod.does("PATCH", emails, json={"report": False})
    after = await mod.does("PATCH", emails, json={"favourite": True})
    await report(ada, bob, comment="he is rude")
    await mod.does("PATCH", emails, json={"report": True})
    await report(ada, bob, comment="he still is")
    await until(lambda: _has_mails(town, 3))

    assert (before["report"], after["report"], after["favourite"]) == (True, False, True)
    receivers = [str(mail["to"]) for mail in town.mails() if "report about" in str(mail["subject"])]
    assert sorted(receivers) == sorted(f"{one.name}@example.org" for one in (admin, admin, mod))
    assert len(await mod.get("/api/v1/notifications", params={"types[]": "admin.report"})) == 2


async def _has_mails(town: Town, count: int) -> bool:
    return len([mail for mail in town.mails() if "report about" in str(mail["subject"])]) >= count


async def test_posts_must_be_of_the_reported_and_seen_by_the_reporter(town: Town) -> None:
    ada, bob, eve = await join_all(town, 3)
    mod = await employ(town, "moderator")
    open_one, gone = await post(bob, "public"), await post(bob, "gone soon")
    secret = await post(bob, f"hush @{eve.name}", visibility="direct")
    other = await post(eve, "mine")
    await bob.delete(f"/api/v1/statuses/{gone['id']}")

    for wrong in (secret["id"], other["id"], "1", "x"):
        assert await verdict(ada, "POST", REPORTS, json={"account_id": bob.id, "status_ids": [wrong]}) == 404
    made = await report(ada, bob, status_ids=[open_one["id"], gone["id"]])
    by_eve = await report(eve, bob, status_ids=[secret["id"]])

    assert made["status_ids"] == [open_one["id"], gone["id"]]
    seen = await mod.get(f"{ADMIN}/{by_eve['id']}")
    check(seen, ADMIN_REPORT)
    assert [one["id"] for one in seen["statuses"]] == [secret["id"]]  # reported, so the team sees it
    assert await verdict(ada, "POST", REPORTS, json={"account_id": "12345"}) == 404
    assert [one["id"] for one in await ada.get(REPORTS)] == [made["id"]]


@pytest.mark.parametrize(
    ("sent", "complaint"),
    [
        ({"comment": "x" * 1001}, "Comment is too long (maximum is 1000 characters)"),
        ({"category": "odd"}, "Category is not included in the list"),
        ({"rule_ids": ["77"]}, "Rule ids does not reference valid rules"),
        ({"status_ids": [str(n) for n in range(1, 300)]}, "Status ids is too long (maximum is 200 entries)"),
    ],
)
async def test_what_cannot_be_reported_so(town: Town, sent: dict[str, Any], complaint: str) -> None:
    ada, bob = await join_all(town, 2)

    answer = await ada.call("POST", REPORTS, json={"account_id": bob.id, **sent})

    assert (answer.status_code, answer.json()["error"]) == (422, f"Validation failed: {complaint}")
    assert await ada.get(REPORTS) == []


async def test_collections_must_be_of_the_reported_and_things_are_named_once(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    his = (await bob.post("/api/v1/collections", json={"name": "rude"}))["collection"]["id"]
    hers = (await ada.post("/api/v1/collections", json={"name": "kind"}))["collection"]["id"]
    said = (await post(bob, "twice"))["id"]

    made = await report(ada, bob, collection_ids=[his, his], status_ids=[said, said], category="")

    assert (made["collection_ids"], made["status_ids"], made["category"]) == ([his], [said], "other")
    for wrong in (hers, "12345"):
        sent = {"account_id": bob.id, "collection_ids": [his, wrong]}
        assert await verdict(ada, "POST", REPORTS, json=sent) == 404
    assert [one["id"] for one in await ada.get(REPORTS)] == [made["id"]]


async def test_rules_make_it_a_violation_and_forwarding_is_for_strangers(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    elsewhere = await stranger(town)
    rule = await add_rule(town)

    broken = await report(ada, bob, rule_ids=[rule], category="other", forward=True)
    far = await report(ada, elsewhere, forward=True, forward_to_domains=["elsewhere.example"])

    assert (broken["category"], broken["rule_ids"], broken["forwarded"]) == ("violation", [rule], False)
    assert far["forwarded"] is True
    mod = await employ(town, "moderator")
    assert (await mod.get(f"{ADMIN}/{broken['id']}"))["rules"][0]["id"] == rule
    changed = await mod.does("PUT", f"{ADMIN}/{broken['id']}", json={"category": "spam"})
    assert (changed["category"], changed["rules"]) == ("spam", [])
    refused = await mod.call("PUT", f"{ADMIN}/{broken['id']}", json={"category": "spam", "rule_ids": [rule]})
    assert refused.json()["error"] == "Validation failed: Rule ids must be blank"


async def test_the_team_assigns_resolves_reopens_and_takes_notes(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    mod = await employ(town, "moderator")
    made = await report(ada, bob)
    path = f"{ADMIN}/{made['id']}"

    taken = await mod.post(f"{path}/assign_to_self")
    check(taken, ADMIN_REPORT)
    assert taken["assigned_account"]["id"] == mod.id
    assert (await mod.post(f"{path}/unassign"))["assigned_account"] is None
    resolved = await mod.post(f"{path}/resolve")
    assert (resolved["action_taken"], resolved["action_taken_by_account"]["id"]) == (True, mod.id)
    params = {"target_account_id": bob.id}
    assert await mod.get(ADMIN, params=params) == []
    assert [one["id"] for one in await mod.get(ADMIN, params=params | {"resolved": "true"})] == [made["id"]]
    assert (await mod.post(f"{path}/reopen"))["action_taken_at"] is None
    both = params | {"resolved": "1", "unresolved": "1", "account_id": ada.id}
    check(await mod.get(ADMIN, params=both), [ADMIN_REPORT])

    note = await mod.post(NOTES, json={"report_id": made["id"], "content": "watch him"})
    check(note, NOTE)
    assert await mod.get(NOTES, params={"report_id": made["id"]}) == [note]
    assert await verdict(mod, "POST", NOTES, json={"report_id": made["id"], "content": " "}) == 422
    assert await mod.delete(f"{NOTES}/{note['id']}") == {}
    assert await mod.get(NOTES, params={"report_id": made["id"]}) == []


async def test_who_is_reported_does_not_deal_with_it_nor_does_anybody_below_them(town: Town) -> None:
    """Nor do they learn who has made it; and addresses are for those who manage users."""
    ada, owner = await join(town), await employ(town, "owner")
    mod, clerk = await employ(town, "moderator"), await employ_as(town, owner, 5, "manage_reports")
    other = await employ_as(town, owner, 4, "manage_reports")
    about = {one.id: await report(ada, one) for one in (mod, clerk, owner)}
    ways = ("assign_to_self", "resolve", "reopen")

    async def can(who: Member, target: Member) -> set[int]:
        path = f"{ADMIN}/{about[target.id]['id']}"
        said = {await verdict(who, "POST", f"{path}/{one}") for one in ways}
        note = {"report_id": about[target.id]["id"], "content": "well"}
        return said | {await verdict(who, "POST", NOTES, json=note)}

    assert [await can(clerk, one) for one in (clerk, mod, owner)] == [{404}, {403}, {403}]
    assert [await can(one, clerk) for one in (mod, other)] == [{200}, {403}]
    assert await can(owner, owner) == {200}
    seen = {one["id"] for one in await clerk.get(ADMIN, params={"limit": 200})}
    assert seen & {one["id"] for one in about.values()} == {about[mod.id]["id"], about[owner.id]["id"]}
    assert await verdict(clerk, "GET", f"{ADMIN}/{about[clerk.id]['id']}") == 404
    [shown] = [one for one in await clerk.get(ADMIN, params={"limit": 200}) if one["id"] == about[mod.id]["id"]]
    [whole] = [one for one in await mod.get(ADMIN, params={"limit": 200}) if one["id"] == about[clerk.id]["id"]]
    heard = {one["report"]["id"] for one in await mod.get("/api/v1/notifications", params={"types[]": "admin.report"})}
    assert heard & {one["id"] for one in about.values()} == {about[clerk.id]["id"], about[owner.id]["id"]}
    assert (shown["account"]["email"], shown["account"]["ips"], shown["account"]["ip"]) == ("", [], None)
    assert whole["account"]["email"] == f"{ada.me['username']}@example.org"


async def test_reports_are_for_the_team_alone(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    made, user = await report(ada, bob), await employ(town, "user")

    for path in (ADMIN, f"{ADMIN}/{made['id']}", f"{NOTES}?report_id={made['id']}"):
        answer = await user.call("GET", path)
        assert (answer.status_code, answer.json()["error"]) == (403, "This action is not allowed")
        assert (await bob.call("GET", path)).json()["error"] == "This action is outside the authorized scopes"


async def test_a_day_has_room_for_400_reports(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on")
    ada, bob = await join_all(town, 2)
    async with town.house() as house, house.works.begin() as work:
        user_id = await _user_id(work, ada.name)
        for _ in range(400):
            await house.find(Limiter).spend_strictly(RULE_OF_REPORTS, str(user_id))

    assert await verdict(ada, "POST", REPORTS, json={"account_id": bob.id}) == 429


async def _user_id(work: Any, name: str) -> int:
    user = await users.find(work.db, name)
    assert user is not None
    return user.id


async def test_who_signs_up_is_told_to_the_team(new_town: TownBuilder) -> None:
    town = await new_town(confirm_email="off")
    mod = await employ(town, "moderator")
    app = await new_app(town, "read write")
    sent = {
        "username": "newcomer",
        "email": "new@example.org",
        "password": "correct horse",
        "agreement": True,
        "locale": "en",
    }
    headers = {"Authorization": f"Bearer {await app.token('read write')}"}
    answer = await town.http.post("/api/v1/accounts", json=sent, headers=headers)
    assert answer.status_code == 200, answer.text
    await join(town)  # made by an operator
    await settle(town)

    told = await mod.get("/api/v1/notifications")
    assert [(one["type"], one["account"]["username"]) for one in told] == [("admin.sign_up", "newcomer")]


async def test_the_team_is_told_of_every_report_about_somebody(new_town: TownBuilder) -> None:
    town = await new_town()
    mod = await employ(town, "moderator")
    ada, bob, eve = [await join(town) for _ in range(3)]

    async def told() -> int:
        await settle(town)
        return len(await mod.get("/api/v1/notifications", params={"types[]": "admin.report"}))

    first = await report(ada, eve)
    assert await told() == 1
    await report(bob, eve)
    assert await told() == 2
    await mod.post(f"/api/v1/admin/reports/{first['id']}/resolve")
    await report(bob, eve)
    assert await told() == 3

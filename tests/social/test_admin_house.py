"""What the team writes and sets: rules, pages, webhooks, invitations, and what it has done."""

from __future__ import annotations

import hashlib
import hmac
import json
import uuid
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from sqlalchemy import and_, bindparam, select, update

from kith.base import mailing
from kith.base.db import UID, Instant, command, query
from kith.base.jobs import JobKind
from kith.base.jobs import store as job_store
from kith.base.jobs.tables import DEAD, READY, jobs
from kith.base.mail import Mail
from kith.base.mailing import SEND_MAIL
from kith.base.sealing import is_sealed
from kith.identity.stages.invitations import invitations
from kith.identity.stages.kinds.email import SEND as SEND_STAGE_MAIL
from kith.identity.stages.kinds.email import StageMail
from tests.conftest import TownBuilder
from tests.modes import sized
from tests.social.garbage import social_routes
from tests.social.members import Member, join, until
from tests.social.posts import post, settle
from tests.social.shapes import check, entity
from tests.social.staff import employ, employ_as, verdict
from tests.social.test_reports import report
from tests.social.test_roles import ADMIN_ACCOUNT
from tests.social.tokens import new_app
from tests.town import Town

ADMIN = "/api/v1/admin"
_expire = command(
    update(invitations)
    .where(invitations.c.invite_uuid == bindparam("id", type_=UID()))
    .values(expires=bindparam("at", type_=Instant()))
)
RULE = entity("StaffRule")
HOOK = entity("Webhook")
INVITE = entity("Invite")
EVENT = entity("AuditEvent")


_deliveries = and_(jobs.c.kind == "webhooks.deliver", jobs.c.attempts > 0, jobs.c.state == READY)
_put_off = query(select(jobs.c.id).where(_deliveries), int)
_at_once = command(update(jobs).where(_deliveries).values(run_at=bindparam("now", type_=Instant())))

_fail_waiting = command(update(jobs).where(jobs.c.key == "waits").values(state=DEAD, error=bindparam("why")))


# What others see there is what everybody sees: test_trends.
OPEN = {f"{ADMIN}/trends/{kind}" for kind in ("tags", "links", "statuses")}


def admin_routes() -> list[tuple[str, str]]:
    return [(route.method, route.path) for route in social_routes() if "/admin/" in route.path]


async def test_every_route_of_the_team_is_closed_to_everybody_else(town: Town) -> None:
    """No token, a token without the scope, and a scope without the role."""
    member, user = await join(town), await employ(town, "user")
    assert len(admin_routes()) >= 80
    for method, path in admin_routes():
        if path in OPEN:
            continue
        url = path.replace("{id}", "1")
        bare = await town.http.request(method, url)
        narrow = await member.call(method, url)
        unfit = await user.call(method, url)
        assert bare.status_code == 401, (method, path)
        told = [(one.status_code, one.json()["error"]) for one in (narrow, unfit)]
        assert told == [
            (403, "This action is outside the authorized scopes"),
            (403, "This action is not allowed"),
        ], (method, path)


async def test_every_route_of_the_team_takes_nonsense_calmly(new_town: TownBuilder) -> None:
    town = await new_town()
    owner = await employ(town, "owner")
    bodies: list[Any] = [
        None,
        {},
        [],
        "x",
        7,
        {"keys": 5},
        {"domain": ["x"]},
        {"type": {}},
        {"text": "\0"},
        {"role_id": "x"},
    ]
    bodies += [
        {"ip": "\x00", "severity": "no_access"},
        {"events": {"a": 1}},
        {"account_id": 2**70},
        {"name": "x" * 70_000},
    ]
    wrong: list[str] = []

    step = sized(3, 1)  # each body is sent to each route, though not to each place of it
    for method, path in admin_routes():
        for turn, place in enumerate(("1", "x", "-99", "9" * 30, "%00", "..%2f")):
            url = path.replace("{id}", place)
            sent = bodies[turn % step :: step] if "{id}" in path else bodies
            for body in sent if method != "GET" else [None]:
                answer = await owner.call(method, url + "?limit=x&max_id=-1&min_id=a&offset=-5", json=body)
                if answer.status_code >= 500 or ("error" not in answer.text and answer.status_code >= 400):
                    wrong.append(f"{method} {url} {body!r}: {answer.status_code} {answer.text[:200]}")
            if "{id}" not in path:
                break

    assert wrong == []


async def test_rules_are_written_changed_and_taken_away(town: Town) -> None:
    admin = await employ(town, "administrator")

    made = await admin.post(f"{ADMIN}/rules", json={"text": "Be kind", "hint": "always", "priority": 7})
    check(made, RULE)
    changed = await admin.does("PUT", f"{ADMIN}/rules/{made['id']}", json={"text": "Be kinder"})

    assert (changed["text"], changed["hint"], changed["priority"]) == ("Be kinder", "always", 7)
    assert changed in await admin.get(f"{ADMIN}/rules")
    public = (await town.http.get("/api/v1/instance/rules")).json()
    assert "Be kinder" in [one["text"] for one in public]
    assert await admin.delete(f"{ADMIN}/rules/{made['id']}") == {}
    assert await verdict(admin, "GET", f"{ADMIN}/rules/{made['id']}") == 404
    for sent in ({}, {"text": " "}, {"text": "x" * 301}, {"text": "x", "priority": -1}):
        assert await verdict(admin, "POST", f"{ADMIN}/rules", json=sent) == 422


async def test_pages_are_written_and_settings_seen(town: Town) -> None:
    admin = await employ(town, "administrator")

    told = await admin.does("PUT", f"{ADMIN}/settings", json={"privacy_policy": "We keep little."})

    assert "We keep little." in told["privacy_policy"]
    assert told["registrations"] in ("open", "approval", "closed")
    assert await admin.get(f"{ADMIN}/settings") == told
    assert "We keep little." in (await town.http.get("/api/v1/instance/privacy_policy")).json()["content"]
    assert await admin.patch(f"{ADMIN}/settings", json=told) == told  # sent back as it came
    refused = await admin.call("PUT", f"{ADMIN}/settings", json={"title": " ", "privacy_policy": "Nothing."})
    assert (refused.status_code, set(refused.json()["details"])) == (422, {"title"})
    assert await admin.get(f"{ADMIN}/settings") == told
    await admin.does("PUT", f"{ADMIN}/settings", json={"privacy_policy": ""})
    assert (await admin.get(f"{ADMIN}/settings"))["privacy_policy"] == ""


class Receiver:
    """Somebody's server that is told, and refuses the first time."""

    def __init__(self) -> None:
        self.heard: list[tuple[dict[str, Any], str, bytes]] = []
        self.refusals = 1

    async def take(self, request: web.Request) -> web.Response:
        body = await request.read()
        if self.refusals:
            self.refusals -= 1
            return web.Response(status=503)
        self.heard.append((json.loads(body), request.headers["X-Hub-Signature"], body))
        return web.Response()

    def events(self) -> set[str]:
        return {told["event"] for told, _, _ in self.heard}


async def test_webhooks_are_told_with_a_signature_and_tried_again(new_town: TownBuilder) -> None:
    receiver = Receiver()
    app = web.Application()
    app.router.add_post("/hook", receiver.take)
    async with TestServer(app) as server:
        town = await new_town(private_hosts="127.0.0.1")
        admin, (ada, bob) = await employ(town, "administrator"), (await join(town), await join(town))
        events = ["report.created", "report.updated", "status.created", "account.created", "account.updated"]
        hook = await admin.post(f"{ADMIN}/webhooks", json={"url": str(server.make_url("/hook")), "events": events})
        check(hook, HOOK)

        made = await report(ada, bob)
        await admin.post(f"{ADMIN}/reports/{made['id']}/resolve")
        posted = await post(ada, "to be told")
        await join(town)
        await until(lambda: _is_put_off(town))
        async with town.house() as house, house.works.begin() as work:
            await work.db.run(_at_once, now=work.now)
        await until(lambda: _heard(receiver, {"report.created", "report.updated", "status.created", "account.created"}))

        for _, signature, body in receiver.heard:
            expected = hmac.new(hook["secret"].encode(), body, hashlib.sha256).hexdigest()
            assert signature == f"sha256={expected}"
        told = {one["event"]: one for one, _, _ in receiver.heard}
        assert told["status.created"]["object"]["id"] == posted["id"]
        assert told["report.updated"]["object"]["id"] == made["id"]
        check(await admin.get(f"{ADMIN}/webhooks"), [HOOK])
        seen = await admin.get(f"{ADMIN}/webhooks/{hook['id']}")
        assert "secret" not in seen
        assert (await admin.post(f"{ADMIN}/webhooks/{hook['id']}/rotate_secret"))["secret"] != hook["secret"]
        off = await admin.does("PUT", f"{ADMIN}/webhooks/{hook['id']}", json={"enabled": False})
        assert off["enabled"] is False
        assert await admin.delete(f"{ADMIN}/webhooks/{hook['id']}") == {}
        events = [line for line in town.log().splitlines() if "_webhook" in line and "event_uuid" in line]
        assert len(events) == 4
        assert all("127.0.0.1" in line and "/hook" not in line for line in events), "who knows it all may use it"


async def test_a_webhook_is_told_what_whoever_set_it_up_may_see(new_town: TownBuilder) -> None:
    """And of posts only those that everybody may see."""
    receiver = Receiver()
    receiver.refusals = 0
    app = web.Application()
    app.router.add_post("/{name}", receiver.take)
    async with TestServer(app) as server:
        town = await new_town(private_hosts="127.0.0.1")
        owner, ada = await employ(town, "owner"), await join(town)
        clerk = await employ_as(town, owner, 5, "manage_webhooks")
        chief = await employ_as(town, owner, 6, "manage_webhooks", "manage_users", "manage_reports")
        of_posts = {"url": str(server.make_url("/posts")), "events": ["status.created"]}
        of_people = {"url": str(server.make_url("/people")), "events": ["account.updated", "report.created"]}
        for event in ("account.created", "account.approved", "account.updated", "report.created", "report.updated"):
            refused = await clerk.call("POST", f"{ADMIN}/webhooks", json=of_people | {"events": [event]})
            assert (refused.status_code, list(refused.json()["details"])) == (422, ["events"])
        posts = await clerk.post(f"{ADMIN}/webhooks", json=of_posts)
        people = await chief.post(f"{ADMIN}/webhooks", json=of_people)
        item = f"{ADMIN}/webhooks/{people['id']}"
        for sent in ({"url": str(server.make_url("/mine"))}, {"events": ["status.created"]}, {"enabled": True}):
            assert await verdict(clerk, "PATCH", item, json=sent) == 422
        assert await verdict(clerk, "POST", f"{item}/rotate_secret") == 422
        assert (
            await verdict(clerk, "PATCH", f"{ADMIN}/webhooks/{posts['id']}", json={"events": ["report.created"]}) == 422
        )

        await ada.does("PATCH", "/api/v1/accounts/update_credentials", json={"display_name": "Told"})
        await until(lambda: _heard(receiver, {"account.updated"}))
        role = (await owner.get(f"{ADMIN}/accounts/{chief.id}"))["role"]
        await owner.does("PATCH", f"{ADMIN}/roles/{role['id']}", json={"permissions_as_keys": ["manage_webhooks"]})
        receiver.heard.clear()
        await report(ada, clerk)
        for visibility in ("direct", "private", "unlisted", "public"):
            await post(ada, f"said {visibility}", visibility=visibility)
        await until(lambda: _has_heard_posts(receiver, 2))
        await settle(town)

        said = [told["object"]["visibility"] for told, _, _ in receiver.heard]
        assert sorted(said) == ["public", "unlisted"]
        assert receiver.events() == {"status.created"}
        assert (await clerk.does("PATCH", item, json={"enabled": False}))["enabled"] is False


async def test_nobody_is_told_by_their_own_webhook_who_has_reported_them(new_town: TownBuilder) -> None:
    receiver = Receiver()
    receiver.refusals = 0
    app = web.Application()
    app.router.add_post("/{name}", receiver.take)
    async with TestServer(app) as server:
        town = await new_town(private_hosts="127.0.0.1")
        owner, ada, bob = await employ(town, "owner"), await join(town), await join(town)
        chief = await employ_as(town, owner, 6, "manage_webhooks", "manage_reports")
        events = {"url": str(server.make_url("/hook")), "events": ["report.created"]}
        await chief.post(f"{ADMIN}/webhooks", json=events)

        about_them, about_another = await report(ada, chief), await report(ada, bob)
        await until(lambda: _has_heard_posts(receiver, 1))
        await settle(town)

    assert [told["object"]["id"] for told, _, _ in receiver.heard] == [about_another["id"]]
    assert about_them["id"] != about_another["id"]


async def _has_heard_posts(receiver: Receiver, count: int) -> bool:
    return len(receiver.heard) >= count


async def _is_put_off(town: Town) -> bool:
    async with town.house() as house, house.works.begin() as work:
        return bool(await work.db.all(_put_off))


async def _heard(receiver: Receiver, wanted: set[str]) -> bool:
    return wanted <= receiver.events()


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"url": "ftp://x", "events": ["report.created"]},
        {"url": "https://x.example", "events": []},
        {"url": "https://x.example", "events": ["odd"]},
        {"url": "https://" + "x" * 3000, "events": ["report.created"]},
    ],
)
async def test_what_is_no_webhook(town: Town, sent: dict[str, Any]) -> None:
    admin = await employ(town, "administrator")

    assert await verdict(admin, "POST", f"{ADMIN}/webhooks", json=sent) == 422


async def _look_at_invites(town: Town, admin: Member, code: str, *, gone: str) -> None:
    """Apps are told what they need; people are led on."""
    asking = {"Accept": "application/json"}
    told = await town.http.get(f"/invite/{code}", headers=asking)
    api = f"{town.base_url}/api/v2/instance"
    assert (told.status_code, told.json()) == (200, {"invite_code": code, "instance_api_url": api})
    for unknown in (gone, "odd", str(uuid.uuid4())):
        answer = await town.http.get(f"/invite/{unknown}", headers=asking)
        assert (answer.status_code, answer.json()) == (404, {"error": "Record not found"})
        assert (await town.http.get(f"/invite/{unknown}")).status_code == 404
    led = await town.http.get(f"/invite/{code}", follow_redirects=False)
    assert (led.status_code, led.headers["location"].endswith(f"/enrollment/?itoken={code}")) == (302, True)
    short = await admin.post(f"{ADMIN}/invites", json={"expires_in": 3600})
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(_expire, id=short["code"], at=work.now)
    late = await town.http.get(f"/invite/{short['code']}", headers=asking)
    assert (late.status_code, late.json()) == (401, {"error": "This invite is not valid"})


async def test_an_invitation_lets_somebody_in_where_sign_up_is_closed(new_town: TownBuilder) -> None:
    town = await new_town(registrations="closed", confirm_email="off")
    admin = await employ(town, "administrator")
    made = await admin.post(f"{ADMIN}/invites", json={"expires_in": 3600})
    check(made, INVITE)
    app = await new_app(town, "read write")
    headers = {"Authorization": f"Bearer {await app.token('read write')}"}
    sent = {
        "username": "visitor",
        "email": "guest@example.org",
        "password": "correct horse",
        "agreement": True,
        "locale": "en",
    }

    closed = await town.http.post("/api/v1/accounts", json=sent, headers=headers)
    let_in = await town.http.post("/api/v1/accounts", json=sent | {"invite_code": made["code"]}, headers=headers)

    assert (closed.status_code, let_in.status_code) == (403, 200), let_in.text
    await settle(town)
    assert await verdict(admin, "GET", f"{ADMIN}/invites/{made['id']}") == 404  # it was for one
    [guest] = await admin.get("/api/v2/admin/accounts", params={"invited_by": admin.id})
    check(guest, ADMIN_ACCOUNT)
    assert (guest["username"], guest["invited_by_account_id"]) == ("visitor", admin.id)
    [by_name] = await admin.get("/api/v1/admin/accounts", params={"username": "visitor"})
    assert guest["created_by_application_id"] == by_name["created_by_application_id"]
    for other_host in (guest["id"], "nobody"):
        assert await admin.get("/api/v2/admin/accounts", params={"invited_by": other_host}) == []
    assert "invited_by_account_id" not in await admin.get(f"{ADMIN}/accounts/{admin.id}")
    other = await admin.post(f"{ADMIN}/invites", json={"single_use": False})
    assert await admin.get(f"{ADMIN}/invites/{other['id']}") == other
    await _look_at_invites(town, admin, other["code"], gone=made["code"])
    assert other["id"] in [one["id"] for one in await admin.get(f"{ADMIN}/invites")]
    assert await admin.delete(f"{ADMIN}/invites/{other['id']}") == {}
    assert await verdict(admin, "DELETE", f"{ADMIN}/invites/{other['id']}") == 404
    assert await verdict(admin, "POST", f"{ADMIN}/invites", json={"expires_in": -1}) == 422


async def test_what_the_team_did_can_be_looked_up(town: Town) -> None:
    admin, mod = await employ(town, "administrator"), await employ(town, "moderator")
    bob: Member = await join(town)
    await mod.post(f"{ADMIN}/accounts/{bob.id}/action", json={"type": "silence", "text": "because"})

    found = await admin.get(f"{ADMIN}/audit", params={"username": mod.name})

    check(found, [EVENT])
    assert [one["action"] for one in found] == ["silence_account"]
    assert found[0]["context"]["target"] == {"id": bob.id, "acct": bob.name}
    assert await admin.get(f"{ADMIN}/audit", params={"username": mod.name, "action": "suspend_account"}) == []
    assert await admin.get(f"{ADMIN}/audit", params={"username": mod.name, "offset": "1"}) == []
    first = await admin.call("GET", f"{ADMIN}/audit", params={"username": mod.name, "limit": "1"})
    assert f'{ADMIN}/audit?username={mod.name}&limit=1&offset=1>; rel="next"' in first.headers["link"]


async def test_whoever_sees_jobs_reads_no_mail_of_others(town: Town) -> None:
    """Neither what a job was given nor, in errors, links and mailboxes; mails are kept sealed."""
    owner = await employ(town, "owner")
    clerk = await employ_as(town, owner, 5, "view_devops")
    mail = Mail(to="ada@example.org", subject="Recovery", text="https://kith.example/flows/x/?flow_token=the-key")
    mails: list[tuple[JobKind[Any], msgspec.Struct]] = [
        (SEND_MAIL, mail),
        (SEND_STAGE_MAIL, StageMail(stage_uuid=str(uuid.uuid4()), mail=mail)),
    ]
    error = "MailRefused: 550 <ada@example.org> unknown, see https://kith.example/flows/x/?flow_token=the-key"
    async with town.house() as house, house.works.begin() as work:
        for kind, payload in mails:
            work.enqueue(kind, payload, at=work.now + timedelta(hours=1), key="waits")
    async with town.house() as house, house.works.begin() as work:
        kept = [job for job in await job_store.listed(work.db, state=READY, kind=None, most=500) if job.key == "waits"]
        await work.db.run(_fail_waiting, why=error)

    told = (await clerk.call("GET", f"{ADMIN}/jobs?state=dead")).text

    assert [is_sealed(job.payload) for job in kept] == [True, True]
    assert all(f'"id":"{job.id}"' in told for job in kept)
    assert "MailRefused: 550 <…@example.org> unknown, see https://kith.example/…" in told
    assert not any(word in told for word in ("the-key", "flow_token", "ada@", kept[0].payload))
    for job in kept:
        await owner.delete(f"{ADMIN}/jobs/{job.id}")


async def test_a_mail_that_an_earlier_version_kept_is_sent(town: Town) -> None:
    mail = Mail(to="kept@example.org", subject="Kept in clear", text="Tea")
    async with town.house() as house, house.works.begin() as work:
        row = job_store.row_for(SEND_MAIL, mail, id=work.new_id(), at=work.now, now=work.now, key=None)
        await work.db.run(job_store.add, **row)
        mailing.post(work, msgspec.structs.replace(mail, subject="Kept sealed"))

    async def came() -> bool:
        return {"Kept in clear", "Kept sealed"} <= {str(one["Subject"]) for one in town.mails()}

    await until(came)

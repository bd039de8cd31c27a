"""What happens to whoever has just come in, and who may come in while the team is away."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from sqlalchemy import bindparam, select, update

from kith.base.db import Instant, command, query
from kith.base.jobs.tables import jobs
from kith.identity.providers.oauth2.tables import oauth_tokens
from kith.identity.sessions.tables import sessions
from kith.identity.users.tables import users
from kith.social.moderation.tasks import WatchTeam, watch_team
from kith.social.registration.tasks import WELCOME_AFTER
from tests.conftest import TownBuilder
from tests.identity.records import API, make, make_binding, make_stage, results
from tests.social.members import Member, until
from tests.social.staff import employ, employ_as
from tests.social.tokens import new_app
from tests.town import Town

INVITES, SETTINGS = "/api/v1/admin/invites", "/api/v1/admin/settings"
_at = bindparam("at", type_=Instant())
_welcomes = query(select(jobs.c.run_at).where(jobs.c.kind == "registration.welcome"), datetime)
_hurry = command(update(jobs).where(jobs.c.kind == "registration.welcome").values(run_at=_at))
_founded = command(update(users).values(created_at=_at))
_visits = command(update(sessions).values(last_used_at=_at))
_uses = command(update(oauth_tokens).values(created_at=_at, last_used_at=_at))


async def ask(town: Town, name: str, **more: Any) -> httpx.Response:
    app = await new_app(town, "read write follow")
    headers = {"Authorization": f"Bearer {await app.token('write')}"}
    sent = {
        "username": name,
        "email": f"{name}@example.org",
        "password": "correct horse",
        "agreement": True,
        "locale": "de",
    }
    return await town.http.post("/api/v1/accounts", json=sent | more, headers=headers)


async def come_in(town: Town, name: str, **more: Any) -> Member:
    answer = await ask(town, name, **more)
    assert answer.status_code == 200, answer.text
    return Member(town, answer.json()["access_token"])


async def test_an_invited_person_follows_and_waits_only_where_nobody_vouches_for_them(new_town: TownBuilder) -> None:
    town = await new_town(registrations="approval", confirm_email="off")
    owner = await employ(town, "owner")
    host = await employ_as(town, owner, 5, "manage_invites")
    by_owner = await owner.post(INVITES, json={"autofollow": True})
    plain = await owner.post(INVITES, json={})
    by_host = await host.post(INVITES, json={"autofollow": True, "single_use": False})

    ada = await come_in(town, "ada", invite_code=by_owner["code"])
    eve = await come_in(town, "eve", invite_code=plain["code"])
    unexplained = await ask(town, "bob", invite_code=by_host["code"])
    bob = await come_in(town, "bob", invite_code=by_host["code"], reason="the host knows me")
    waits = await bob.call("GET", "/api/v1/accounts/verify_credentials")
    await until(lambda: _follows(ada, owner))
    await owner.post(f"/api/v1/admin/accounts/{await _pending(owner)}/approve")
    await until(lambda: _follows(bob, host))

    assert (by_owner["autofollow"], plain["autofollow"]) == (True, False)
    assert unexplained.json()["details"]["reason"][0]["error"] == "ERR_BLANK"
    assert (waits.status_code, waits.json()) == (403, {"error": "Your login is currently pending approval"})
    assert not await _follows(eve, owner)
    assert not await _follows(bob, owner)

    await owner.post(f"/api/v1/admin/accounts/{host.id}/action", json={"type": "suspend"})
    over = await town.http.get(f"/invite/{by_host['code']}", headers={"Accept": "application/json"})
    assert over.status_code == 404
    left_alone = await ask(town, "carl", invite_code=by_host["code"])
    assert left_alone.json()["details"]["reason"][0]["error"] == "ERR_BLANK", "it is no invitation any more"


async def _follows(member: Member, other: Member) -> bool:
    return bool((await member.sees(other))["following"])


async def _pending(owner: Member) -> str:
    found: list[dict[str, Any]] = []

    async def is_listed() -> bool:
        found[:] = await owner.get("/api/v2/admin/accounts", params={"status": "pending"})
        return bool(found)

    await until(is_listed)
    [waiting] = found
    return str(waiting["id"])


async def test_a_welcome_is_mailed_an_hour_after_somebody_came_in(new_town: TownBuilder) -> None:
    town = await new_town(confirm_email="off", title="Our place")
    await employ(town, "owner")  # made by the operator, and not welcomed
    began_at = datetime.now(UTC)
    ada = await come_in(town, "ada")

    async def is_planned() -> bool:
        async with town.house() as house, house.works.begin() as work:
            return bool(await work.db.all(_welcomes))

    await until(is_planned)
    async with town.house() as house, house.works.begin() as work:
        [due_at] = await work.db.all(_welcomes)
        await work.db.run(_hurry, at=work.now)
    assert due_at >= began_at + WELCOME_AFTER == began_at + timedelta(hours=1)

    async def is_mailed() -> bool:
        return bool(town.mails())

    await until(is_mailed)
    [mail] = town.mails()
    body = mail.get_body(("plain",))
    assert body is not None
    text = body.get_content()
    handle = f"@ada@{town.base_url.removeprefix('http://')}"
    assert (mail["To"], mail["Subject"]) == ("ada@example.org", "Willkommen bei Our place")
    assert handle in text
    assert f"{town.base_url}/settings/profile" in text
    assert (await ada.refreshed())["username"] == "ada"


async def test_newcomers_wait_for_approval_while_the_team_is_away(new_town: TownBuilder) -> None:
    town = await new_town(confirm_email="off")
    owner = await employ(town, "owner")

    async def look_after(founded: timedelta, seen: timedelta) -> int:
        async with town.house() as house, house.works.begin() as work:
            await work.db.run(_founded, at=work.now - founded)
            for statement in (_visits, _uses):
                await work.db.run(statement, at=work.now - seen)
        async with town.house() as house, house.works.begin() as work:
            await watch_team(work, WatchTeam())
        return (await ask(town, f"n{founded.days}_{seen.days}")).status_code

    async def is_told() -> bool:
        told = (await town.http.get("/api/v2/instance")).json()["registrations"]
        asks = (await town.http.get("/api/v1/instance")).json()["approval_required"]
        return bool(told["approval_required"] and told["reason_required"] and asks)

    async def is_mailed() -> bool:
        return any("need approval" in mail["Subject"] for mail in town.mails())

    week = timedelta(days=8)
    assert await look_after(timedelta(days=1), timedelta(days=1)) == 200
    assert await look_after(timedelta(days=30), week - timedelta(hours=1)) == 200
    assert await look_after(week - timedelta(hours=1), week + timedelta(days=1)) == 200, "the house is new"
    assert await look_after(timedelta(days=31), week + timedelta(hours=1)) == 422, "a reason is asked for"

    await until(is_told)
    await until(is_mailed)
    [mail] = [one for one in town.mails() if "need approval" in one["Subject"]]
    shown = await owner.get(SETTINGS)
    unchanged = await owner.does("PUT", SETTINGS, json={"registrations": "approval"})
    refused = await owner.call("PUT", SETTINGS, json={"registrations": "ajar"})
    closed = await owner.does("PUT", SETTINGS, json={"registrations": "closed"})
    assert (await ask(town, "too_late")).status_code == 403
    reopened = await owner.does("PUT", SETTINGS, json={"registrations": "open"})
    assert mail["To"] == f"{owner.name}@example.org"
    told = [answer["registrations"] for answer in (shown, unchanged, closed, reopened)]
    assert told == ["approval", "approval", "closed", "open"]
    assert refused.status_code == 422
    assert (await ask(town, "late")).status_code == 200
    assert "what the settings say" in await town.kith("instance", "reopen")


async def test_what_an_app_cannot_ask_is_asked_in_a_browser(new_town: TownBuilder) -> None:
    """A flow that asks for a captcha, a consent or an answer of its own asks everybody for it."""
    town = await new_town(registrations="open", confirm_email="off")
    owner = await town.owner()
    [flow] = await results(owner, "/flows/instances/", slug="default-enrollment-flow")
    question = await make(
        owner, "/stages/prompt/prompts/", name="shoes", field_key="attributes.shoes", label="Shoes", type="number",
        placeholder="42", required=True, order=1,
    )  # fmt: skip
    stages = [
        await make_stage(owner, "captcha", public_key="pow", private_key="none"),
        await make_stage(owner, "consent", mode="always_require"),
        await make_stage(owner, "prompt/stages", fields=[question["pk"]]),
    ]
    for stage in stages:
        binding = await make_binding(owner, flow, stage, order=-1)
        refused = await ask(town, "robin")
        assert (refused.status_code, "in a browser" in refused.text) == (422, True), refused.text
        gone = await owner.call("DELETE", f"{API}/flows/bindings/{binding['pk']}/")
        assert gone.status_code == 204, gone.text

    await owner.call("PATCH", f"{API}/stages/prompt/prompts/{question['pk']}/", json={"required": False})
    await make_binding(owner, flow, stages[2], order=-1)
    await come_in(town, "ada")

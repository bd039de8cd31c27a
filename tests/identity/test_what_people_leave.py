"""What somebody made under their own right, after they were locked, deleted, or got a new password.

The table says of each thing whether it still works; docs/decisions/0039-what-vanishes-refuses.md says why.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from sqlalchemy import bindparam, select, update

from kith.base.db import Instant, command, query
from kith.identity.consents import store as consents
from kith.identity.providers.oauth2.tables import devices
from kith.identity.sources import store as sources
from kith.identity.sources.reach import reach_of
from kith.social.statuses.service import schedule
from kith.social.statuses.tables import scheduled
from tests.identity.flow_browser import Browser
from tests.identity.records import API, grant, make, new_name, owner_of, results
from tests.identity.relying_party import RelyingParty, make_party, signed_in
from tests.identity.test_oauth_device import REGISTRAR, answer_page, dcr_token, poll, register, start
from tests.identity.test_oidc_registration import managed
from tests.town import Person, Town

RIGHTS = (
    REGISTRAR,
    "stages.add_invitation",
    "core.add_user",
    "sources.add_scimsource",
    "providers.change_oauth2provider",
)
STAYS, ENDS = True, False
#                       locked  deleted  new password
TABLE: dict[str, tuple[bool, bool, bool]] = {
    "session":            (ENDS, ENDS, ENDS),
    "API token":          (ENDS, ENDS, STAYS),
    "app password":       (ENDS, ENDS, STAYS),
    "application":        (ENDS, ENDS, ENDS),
    "app":                (ENDS, ENDS, ENDS),
    "device code":        (ENDS, ENDS, ENDS),
    "consent":            (ENDS, ENDS, STAYS),
    "invitation":         (ENDS, ENDS, STAYS),
    "registered client":  (ENDS, ENDS, STAYS),
    "registration token": (ENDS, ENDS, ENDS),
    "scheduled post":     (ENDS, ENDS, STAYS),
    "registration of an app": (STAYS, STAYS, STAYS),
}  # fmt: skip

Works = Callable[[], Awaitable[bool]]
_forget_polls = command(update(devices).values(polled_at=None))
_due = command(
    update(scheduled).where(scheduled.c.id == bindparam("post")).values(scheduled_at=bindparam("at", type_=Instant()))
)
_planned = query(select(scheduled.c.id).where(scheduled.c.id == bindparam("post")), int)


class Leaver(msgspec.Struct):
    """Somebody who makes things, with the browser they are signed in with; somebody else, who uses what they made."""

    town: Town
    owner: Person
    person: Person
    browser: Browser
    pk: int

    async def opens(self, key: str) -> bool:
        answer = await self.town.http.get(f"{API}/core/users/me/", headers={"Authorization": f"Bearer {key}"})
        return answer.status_code == 200


async def session(one: Leaver) -> Works:
    async def works() -> bool:
        return await one.browser.who() is not None

    return works


async def api_token(one: Leaver) -> Works:
    made = await make(one.owner, "/core/tokens/", identifier=new_name("t"), user=one.pk, intent="api")

    async def works() -> bool:
        return await one.opens(made["key"])

    return works


async def app_password(one: Leaver) -> Works:
    made = await make(one.owner, "/core/tokens/", identifier=new_name("a"), user=one.pk, intent="app_password")

    async def works() -> bool:
        person = Person(one.town.http, one.person.username, made["key"])
        return (await person.get(f"{API}/core/users/me/")).status_code == 200

    return works


async def application(one: Leaver) -> Works:
    party = await make_party(one.town, one.owner)
    tokens = await party.tokens(one.browser)

    async def works() -> bool:
        opens = (await party.userinfo(tokens["access_token"])).status_code == 200
        return opens or (await party.refresh(tokens["refresh_token"])).status_code == 200

    return works


async def new_app(one: Leaver) -> dict[str, Any]:
    app = {"client_name": "a", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob", "scopes": "read write"}
    made: dict[str, Any] = (await one.town.http.post("/api/v1/apps", data=app)).json()
    return made


async def token_of_app(one: Leaver) -> str:
    made = await new_app(one)
    asked = {name: made[name] for name in ("client_id", "client_secret")} | {
        "grant_type": "password", "username": one.person.username, "password": one.person.password,
        "scope": "read write",
    }  # fmt: skip
    return str((await one.town.http.post("/oauth/token", data=asked)).json()["access_token"])


async def app(one: Leaver) -> Works:
    bearer = {"Authorization": f"Bearer {await token_of_app(one)}"}

    async def works() -> bool:
        answer = await one.town.http.get("/api/v1/accounts/verify_credentials", headers=bearer)
        return answer.status_code == 200

    assert await works()
    return works


async def registration_of_app(one: Leaver) -> Works:
    made = await new_app(one)

    async def works() -> bool:
        asked = {name: made[name] for name in ("client_id", "client_secret")} | {"grant_type": "client_credentials"}
        return (await one.town.http.post("/oauth/token", data=asked)).status_code == 200

    return works


async def device_code(one: Leaver) -> Works:
    party = await make_party(one.town, one.owner)
    started = await start(party)
    assert (await answer_page(one.browser, started["user_code"], "allow")).status_code == 200

    async def works() -> bool:
        async with one.town.house() as house, house.works.begin() as work:
            await work.db.run(_forget_polls)
        return (await poll(party, started)).status_code == 200

    return works


async def consent(one: Leaver) -> Works:
    [flow] = await results(one.owner, "/flows/instances/", slug="default-provider-authorization-explicit-consent")
    party = await make_party(one.town, one.owner, require_consent=True, authorization_flow=flow["pk"])
    await party.tokens(one.browser)

    async def works() -> bool:
        async with one.town.house() as house, house.works.begin() as work:
            return await consents.find(work.db, one.pk, party.application["pk"], work.now) is not None

    return works


async def invitation(one: Leaver) -> Works:
    made = await make(one.person, "/stages/invitation/invitations/", name=new_name("i"), single_use=False)

    async def works() -> bool:
        return (await one.owner.get(f"{API}/stages/invitation/invitations/{made['pk']}/")).status_code == 200

    return works


async def registered(one: Leaver) -> tuple[RelyingParty, dict[str, Any]]:
    party = await make_party(one.town, one.owner)
    told = (await register(party, await dcr_token(one.owner, one.person), scope="openid")).json()
    return RelyingParty(one.town, told, party.application), told


async def registered_client(one: Leaver) -> Works:
    client, _ = await registered(one)
    _, visitor = await signed_in(one.town)
    await client.tokens(visitor, scope="openid")

    async def works() -> bool:
        return "code=" in (await client.authorize(visitor, scope="openid")).headers.get("location", "")

    return works


async def registration_token(one: Leaver) -> Works:
    _, told = await registered(one)

    async def works() -> bool:
        where, bearer = managed(told)
        return (await one.town.http.get(where, headers=bearer)).status_code == 200

    return works


async def scheduled_post(one: Leaver) -> Works:
    async with one.town.house() as house, house.works.begin() as work:
        at = work.now + timedelta(hours=1)
    bearer = {"Authorization": f"Bearer {await token_of_app(one)}"}
    sent = {"status": new_name("later"), "scheduled_at": at.isoformat()}
    answer = await one.town.http.post("/api/v1/statuses", json=sent, headers=bearer)
    post = int(answer.json()["id"])
    [account] = [(await one.town.http.get("/api/v1/accounts/lookup", params={"acct": one.person.username})).json()]

    async def works() -> bool:
        """Whether it is posted when its time comes."""
        async with one.town.house() as house, house.works.begin() as work:
            if await work.db.one(_planned, post=post) is None:
                return False
            await work.db.run(_due, post=post, at=work.now)
            payload = schedule.Publish(id=post, account_id=int(account["id"]), at=work.now)  # type: ignore[arg-type]
            await schedule.publish(work, payload)
        shown = await one.town.http.get(f"/api/v1/accounts/{account['id']}/statuses")
        return shown.status_code == 200 and sent["status"] in shown.text

    return works


MAKERS: dict[str, Callable[[Leaver], Awaitable[Works]]] = {
    "session": session, "API token": api_token, "app password": app_password, "application": application, "app": app,
    "device code": device_code, "consent": consent, "invitation": invitation, "registered client": registered_client,
    "registration token": registration_token, "scheduled post": scheduled_post,
    "registration of an app": registration_of_app,
}  # fmt: skip


async def locked(one: Leaver) -> None:
    answer = await one.owner.call(
        "POST", f"{API}/core/users/{one.pk}/lockdown/", json={"reason": "a rogue", "notify": False}
    )
    assert answer.status_code == 200, answer.text


async def deleted(one: Leaver) -> None:
    assert (await one.owner.call("DELETE", f"{API}/core/users/{one.pk}/")).status_code == 204


async def new_password(one: Leaver) -> None:
    path = f"{API}/core/users/{one.pk}/set_password/"
    assert (await one.owner.call("POST", path, json={"password": "an entirely new one"})).status_code == 204


async def leaver(town: Town) -> Leaver:
    owner = await owner_of(town)
    person, browser = await signed_in(town)
    await grant(owner, person, *RIGHTS)
    [found] = await results(owner, "/core/users/", username=person.username)
    return Leaver(town, owner, person, browser, found["pk"])


@pytest.mark.both_databases
@pytest.mark.parametrize(("column", "event"), [*enumerate((locked, deleted, new_password))])
async def test_what_becomes_of_what_somebody_made(
    town: Town, column: int, event: Callable[[Leaver], Awaitable[None]]
) -> None:
    one = await leaver(town)
    made = {name: await MAKERS[name](one) for name in TABLE}

    await event(one)

    found = {name: await works() for name, works in made.items()}
    assert found == {name: row[column] for name, row in TABLE.items()}


async def test_whoever_is_locked_vouches_for_no_source(town: Town) -> None:
    """A source does what its setter may do now: nothing to anybody who has rights."""
    one, admin = await leaver(town), await town.sign_up(role="administrator")
    made = await make(admin, "/sources/scim/", name=new_name("s"), slug=new_name("s"))
    [setter] = await results(one.owner, "/core/users/", username=admin.username)

    async def reaches() -> bool:
        async with town.house() as house, house.works.begin() as work:
            source = await sources.find_source_by_id(work.db, made["pk"])
            assert source is not None
            return await (await reach_of(work, source)).holds_person(work, one.pk)

    assert await reaches()
    await locked(msgspec.structs.replace(one, pk=setter["pk"]))
    assert not await reaches()

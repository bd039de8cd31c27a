"""Owners see the server as somebody else: loud, for a reason, and without touching what guards the account."""

from __future__ import annotations

import re
import uuid
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest

from kith.identity.users import service
from kith.identity.users import store as users
from tests.identity.records import make, make_binding, make_flow, make_stage, owner_of, person_who_may
from tests.social.members import until
from tests.social.streams import Events
from tests.town import Person, Town
from tests.town.plain import PLAIN
from tests.web.ageing import age, session_of
from tests.web.browsing import Browser
from tests.web.conftest import NewBrowser

FORM = "/settings/impersonate"
HERE = "/settings/security"
NO = "This is not available while you are viewing as another person"


async def pk_of(person: Person) -> int:
    found: int = (await person.get("/api/v2/core/users/me/")).json()["pk"]
    return found


def token(browser: Browser) -> dict[str, str]:
    return {"X-CSRF-Token": browser.cookie("kith_csrf") or ""}


async def as_somebody(town: Town, browser: Browser, target: Person, reason: str = "They asked for help") -> Person:
    """An owner who sees the town as `target`."""
    owner = await town.owner()
    await browser.sign_in(owner.username, owner.password)
    await browser.open(FORM)
    await browser.submit(username=target.username, reason=reason)
    assert browser.path == "/", browser.page.text
    return owner


async def who(browser: Browser) -> str | None:
    answer = await browser.http.get("/api/v2/core/users/me/")
    return str(answer.json()["user"]["username"]) if answer.status_code == 200 else None


async def events(owner: Person, **query: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await owner.get("/api/v2/audit/events/", params=query)).json()["results"]
    return found


async def test_an_owner_sees_every_page_as_somebody_else_and_ends_it_with_one_click(
    town: Town, new_browser: NewBrowser
) -> None:
    browser, hers = new_browser(), new_browser()
    ada = await town.sign_up()
    await hers.sign_in(ada.username, ada.password)
    owner = await as_somebody(town, browser, ada, "Ticket <7>")
    key = browser.cookie("kith_session")
    banner = f"You are {owner.username} and are viewing this server as {ada.username}."

    for path in ("/", HERE, "/flows/-/default/invalidation/", "/nothing/here", "/flows/default-password-change/"):
        page = await browser.open(path)
        assert banner in page.text, path
        assert 'action="/settings/impersonate/end"' in page.text, path
    assert await who(browser) == ada.username
    assert f"You are signed in as {ada.username}." in (await browser.open(HERE)).text

    theirs = (await hers.open(HERE)).text
    assert f"{owner.username}, viewing as you" in theirs
    assert "Somebody started viewing this server as you" in theirs
    assert "Ticket &lt;7&gt;" in theirs
    assert f"by {owner.username}" in theirs
    assert banner not in theirs

    csrf = {"csrf": browser.cookie("kith_csrf") or ""}
    assert (await browser.http.post(f"{FORM}/end", data={"csrf": "x.y"})).status_code == 403
    ended = await browser.http.post(f"{FORM}/end", data=csrf, follow_redirects=True)
    assert banner not in ended.text
    assert await who(browser) == owner.username
    assert browser.cookie("kith_session") != key
    stale = await town.http.get("/api/v2/core/users/me/", headers={"Cookie": f"kith_session={key}"})
    assert stale.status_code == 401
    assert "as you" not in re.sub("as you<", "", (await hers.open(HERE)).text.split('id="trail"')[0])

    started, over = [
        (await events(owner, username=ada.username, action=f"impersonation_{what}"))[0] for what in ("started", "ended")
    ]
    assert started["context"]["reason"] == "Ticket <7>"
    for one in (started, over):
        assert one["context"]["original_user"] == {"pk": await pk_of(owner), "username": owner.username}


async def test_the_same_by_the_api(town: Town, browser: Browser) -> None:
    ada, owner = await town.sign_up(), await town.owner()
    path = f"/api/v2/core/users/{await pk_of(ada)}/impersonate/"
    await browser.sign_in(owner.username, owner.password)
    before = browser.cookie("kith_session")

    by_password = await owner.call("POST", path, json={"reason": "why not"})
    assert by_password.status_code == 403
    assert (await browser.http.post(path, json={"reason": "no token"})).status_code == 403
    for body in ({}, {"reason": " "}, {"reason": 7}, {"reason": "x" * 501}):
        refused = await browser.http.post(path, json=body, headers=token(browser))
        assert refused.status_code == 400, body
        assert "reason" in refused.json()
    nobody = await browser.http.post(
        "/api/v2/core/users/99999999/impersonate/", json={"reason": "x"}, headers=token(browser)
    )
    assert nobody.status_code == 404
    assert await who(browser) == owner.username

    done = await browser.http.post(path, json={"reason": "help"}, headers=token(browser))
    assert done.status_code == 204
    assert "HttpOnly" in done.headers["set-cookie"]
    assert browser.cookie("kith_session") != before
    assert await who(browser) == ada.username
    again = await browser.http.post(path, json={"reason": "help"}, headers=token(browser))
    assert again.status_code == 403

    for headers in ({}, {"Sec-Fetch-Site": "cross-site"} | token(browser)):
        opened = await browser.http.get("/api/v2/core/users/impersonate_end/", headers=headers)
        assert (opened.status_code, await who(browser)) == (403, ada.username), "to open an address changes nothing"
    for method in ("GET", "POST"):
        ended = await browser.http.request(method, "/api/v2/core/users/impersonate_end/", headers=token(browser))
        assert ended.status_code == 204
        assert await who(browser) == owner.username
    assert (await events(owner, username=ada.username, action="impersonation_ended"))[1:] == []


@pytest.mark.parametrize("role", ["user", "moderator", "administrator"])
async def test_only_owners_may(town: Town, browser: Browser, role: Any) -> None:
    person, ada = await town.sign_up(role=role), await town.sign_up()
    await browser.sign_in(person.username, person.password)

    assert (await browser.open(FORM)).status_code == 403
    assert FORM not in (await browser.open(HERE)).text
    form = {"csrf": browser.cookie("kith_csrf") or "", "username": ada.username, "reason": "because"}
    assert (await browser.http.post(FORM, data=form)).status_code == 403
    path = f"/api/v2/core/users/{await pk_of(ada)}/impersonate/"
    assert (await browser.http.post(path, json={"reason": "x"}, headers=token(browser))).status_code == 403
    assert await who(browser) == person.username


async def test_nobody_becomes_an_equal_themselves_or_somebody_who_is_not_there(town: Town, browser: Browser) -> None:
    owner = await town.owner()
    equals = [await town.owner(), await town.sign_up(role="administrator"), await town.sign_up()]
    group = await make(owner, "/core/groups/", name=uuid.uuid4().hex, is_superuser=True)
    await owner.call("PATCH", f"/api/v2/core/users/{await pk_of(equals[2])}/", json={"groups": [group["pk"]]})
    disabled = await town.sign_up()
    await owner.call("PATCH", f"/api/v2/core/users/{await pk_of(disabled)}/", json={"is_active": False})
    await browser.sign_in(owner.username, owner.password)

    for username, status, words in (
        *((equal.username, 403, "the same permissions as you") for equal in equals),
        (owner.username, 400, "This is your own account."),
        (disabled.username, 400, "This account is disabled."),
        ("nobody-at-all", 400, "There is no user with this name."),
    ):
        await browser.open(FORM)
        page = await browser.submit(username=username, reason="because")
        assert page.status_code == status, username
        assert words in page.text
    await browser.open(FORM)
    assert "Please give a reason." in (await browser.submit(username=equals[2].username, reason="")).text
    assert await who(browser) == owner.username


async def test_what_guards_the_account_is_closed_meanwhile(town: Town, browser: Browser) -> None:
    ada = await town.sign_up()
    await browser.sign_in(ada.username, ada.password)
    await browser.open(HERE)
    await browser.press("/app-passwords", description="mail")
    await browser.open(HERE)
    actions = [form.action for form in browser.forms()]
    await browser.press("/sessions/end-all")
    owner = await as_somebody(town, browser, ada)
    form = {"csrf": browser.cookie("kith_csrf") or "", "description": "x", "scopes": "api", "name": "x"}

    for action in {*actions, f"{HERE}/factors/x/remove", f"{HERE}/consents/x/withdraw", FORM}:
        refused = await browser.http.post(action, data=form)
        assert refused.status_code == 403, action
        assert NO in refused.text, action
    for slug in (
        "password-change",
        "authenticator-totp-setup",
        "authenticator-static-setup",
        "authenticator-webauthn-setup",
        "recovery-flow",
        "unenrollment-flow",
    ):
        for path in (f"/flows/default-{slug}/", f"/api/v2/flows/executor/default-{slug}/"):
            assert (await browser.http.get(path)).status_code == 403, path
            posted = await browser.http.post(path, json={"component": "password"}, headers=token(browser))
            assert posted.status_code == 403, path
    shown = await browser.open(HERE)
    assert [one.action for one in browser.forms() if one.action.startswith(HERE)] == []
    assert "cannot change anything while you are viewing as another person" in shown.text

    pk = await pk_of(ada)
    for method, path, body in (
        ("POST", f"/core/users/{pk}/set_password/", {"password": "mine now 123"}),
        ("PATCH", f"/core/users/{pk}/", {"password": "mine now 123"}),
        ("POST", "/core/tokens/", {"identifier": "mine"}),
        ("DELETE", f"/core/users/{pk}/", None),
    ):
        refused = await browser.http.request(method, f"/api/v2{path}", json=body, headers=token(browser))
        assert refused.status_code == 403, path
        assert refused.json()["detail"] == NO
    assert (await ada.get("/api/v2/core/users/me/")).status_code == 200
    assert await who(browser) == ada.username
    assert len(await events(owner, username=ada.username, action="password_set")) == 0


async def test_stages_that_change_the_account_are_closed_in_any_flow(town: Town, browser: Browser) -> None:
    owner, ada = await owner_of(town), await town.sign_up()
    flows = {}
    for kind, fields in (
        ("user_write", {}),
        ("user_delete", {}),
        ("consent", {"mode": "permanent"}),
        ("otp_static", {}),
        ("user_login", {}),
    ):
        flow = await make_flow(owner, "authorization")
        await make_binding(owner, flow, await make_stage(owner, kind, **fields))
        flows[kind] = flow["slug"]
    await as_somebody(town, browser, ada)

    for kind, slug in flows.items():
        page = await browser.open(f"/flows/{slug}/")
        assert page.status_code == 403, kind
        assert NO in page.text, kind
    assert await who(browser) == ada.username


async def test_secrets_stay_hidden_from_somebody_elses_eyes(town: Town, new_browser: NewBrowser) -> None:
    owner = await owner_of(town)
    keeper = await person_who_may(
        town,
        owner,
        "core.view_secret",
        "providers.view_oauth2provider",
        "providers.change_oauth2provider",
        "crypto.view_certificatekeypair_key",
    )
    flow = await make_flow(owner, "authorization")
    fields = {"client_type": "confidential", "authorization_grant_type": "authorization-code"}
    fields |= {"redirect_uris": "https://a.example/", "client_secret": "deep secret"}
    made = await make(owner, "/providers/oauth/", name=uuid.uuid4().hex, authorization_flow=flow["pk"], **fields)
    path = f"/api/v2/providers/oauth/{made['pk']}/"
    hers, eyes = new_browser(), new_browser()
    await hers.sign_in(keeper.username, keeper.password)
    await as_somebody(town, eyes, keeper)

    own, theirs = await hers.http.get(path), await eyes.http.get(path)

    assert own.status_code == theirs.status_code == 200
    assert "deep secret" in own.text
    assert "deep secret" not in theirs.text


async def test_events_name_who_was_behind_it_and_messages_wait_for_their_owner(
    town: Town, new_browser: NewBrowser
) -> None:
    browser, hers = new_browser(), new_browser()
    ada = await town.sign_up()
    await hers.sign_in(ada.username, ada.password)  # leaves her a message, which she does not read yet
    owner = await as_somebody(town, browser, ada)
    assert "Successfully logged in!" not in (await browser.open(HERE)).text
    assert (await browser.http.get("/api/v2/core/applications/")).status_code == 403

    [denied] = await events(owner, username=owner.username, action="permission_denied")
    assert denied["user"] == await pk_of(owner)
    assert denied["context"]["on_behalf_of"] == {"pk": await pk_of(ada), "username": ada.username}
    assert await events(owner, username=ada.username, action="permission_denied") == []

    await browser.open("/flows/-/default/invalidation/")
    await browser.submit()
    assert await who(browser) is None
    [logout] = await events(owner, username=owner.username, action="logout")
    assert logout["context"]["on_behalf_of"]["username"] == ada.username
    assert len(await events(owner, username=ada.username, action="impersonation_ended")) == 1
    assert await who(hers) == ada.username


async def demote(town: Town, owner: Person, _hers: Browser) -> None:
    async with town.house() as house, house.works.begin() as work:
        user = await users.find(work.db, owner.username)
        assert user is not None
        await service.set_role(work, user, "administrator")


async def disable(town: Town, owner: Person, _hers: Browser) -> None:
    other = await owner_of(town)
    await other.call("PATCH", f"/api/v2/core/users/{await pk_of(owner)}/", json={"is_active": False})


async def delete(town: Town, owner: Person, _hers: Browser) -> None:
    other = await owner_of(town)
    assert (await other.call("DELETE", f"/api/v2/core/users/{await pk_of(owner)}/")).status_code == 204


async def change_password(town: Town, owner: Person, _hers: Browser) -> None:
    other = await owner_of(town)
    body = {"password": "another one 77"}
    await other.call("POST", f"/api/v2/core/users/{await pk_of(owner)}/set_password/", json=body)


async def end_by_target(_town: Town, owner: Person, hers: Browser) -> None:
    page = await hers.open(HERE)
    found = re.search(rf'{owner.username}, viewing as you.*?action="([^"]+/end)"', page.text, re.DOTALL)
    assert found is not None
    await hers.press(found[1])


@pytest.mark.parametrize("happens", [demote, disable, delete, change_password, end_by_target])
async def test_it_is_over_at_once_when_the_ground_for_it_is(
    town: Town, new_browser: NewBrowser, happens: Callable[[Town, Person, Browser], Awaitable[None]]
) -> None:
    browser, hers = new_browser(), new_browser()
    ada = await town.sign_up()
    await hers.sign_in(ada.username, ada.password)
    owner = await as_somebody(town, browser, ada)
    await owner_of(town)
    assert await who(browser) == ada.username

    await happens(town, owner, hers)

    assert await who(browser) is None
    assert (await browser.http.get(HERE)).status_code == 303
    assert await who(hers) == ada.username
    assert len(await events(await owner_of(town), username=ada.username, action="impersonation_ended")) == 1


async def test_its_end_is_in_the_trail_of_the_person_seen_also_when_the_browser_stays_away(
    town: Town, browser: Browser, new_browser: NewBrowser
) -> None:
    ada = await town.sign_up()
    owner = await as_somebody(town, browser, ada)

    await disable(town, owner, new_browser())

    other = await owner_of(town)

    async def is_told() -> bool:
        return len(await events(other, username=ada.username, action="impersonation_ended")) == 1

    await until(is_told)


async def test_it_does_not_make_a_session_longer_or_younger(town: Town, browser: Browser) -> None:
    ada, owner = await town.sign_up(), await town.owner()
    await browser.sign_in(owner.username, owner.password)
    await age(town, browser, timedelta(days=3))
    before = await session_of(town, browser)
    await browser.open(FORM)
    await browser.submit(username=ada.username, reason="help")
    during = await session_of(town, browser)
    csrf = {"csrf": browser.cookie("kith_csrf") or ""}
    await browser.http.post(f"{FORM}/end", data=csrf)
    after = await session_of(town, browser)

    assert before is not None
    assert during is not None
    assert after is not None
    assert len({before.session_uuid, during.session_uuid, after.session_uuid}) == 3
    assert len({before.key_hash, during.key_hash, after.key_hash}) == 3
    assert before.created_at == during.created_at == after.created_at
    assert during.expires_at == after.expires_at
    assert (after.auth_method, after.by_id) == ("password", None)


async def test_the_language_of_the_one_who_is_seen_is_left_alone(town: Town, browser: Browser) -> None:
    ada = await town.sign_up()
    await as_somebody(town, browser, ada)
    form = {"csrf": browser.cookie("kith_csrf") or "", "language": "de", "next": "/"}

    page = await browser.http.post("/settings/language", data=form, follow_redirects=True)

    assert "und siehst diesen Server als" in page.text
    attributes: dict[str, Any] = (await ada.get("/api/v2/core/users/me/")).json()["attributes"]
    assert "settings" not in attributes


async def test_what_was_opened_in_it_is_over_too(town: Town, browser: Browser) -> None:
    """Also where the browser never asks again, which would end it."""
    ada = await town.sign_up()
    owner = await as_somebody(town, browser, ada)
    await owner_of(town)
    seen = {"Cookie": f"kith_session={browser.cookie('kith_session')}", "Sec-Fetch-Site": "same-origin"}
    async with (
        httpx.AsyncClient(base_url=town.base_url, verify=PLAIN, timeout=60) as http,
        http.stream("GET", "/api/v1/streaming/user", headers=seen) as response,
    ):
        events = Events(response)
        assert response.status_code == 200
        assert await events.line() == ":)"

        await demote(town, owner, browser)

        assert await events.ended()

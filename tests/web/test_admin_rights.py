"""Roles, invitations, tokens and sign-in methods in the console, and who finds the console at all."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from kith.identity.factors import service as factors
from kith.identity.users import store as users
from tests.social.members import join, until
from tests.social.staff import employ, employ_as
from tests.town import Person, Town
from tests.web.browsing import Browser
from tests.web.conftest import NewBrowser

ROLES, IDENTITY_ROLES = "/api/v1/admin/roles", "/api/v2/rbac/roles/"
TOKENS, INVITATIONS = "/api/v2/core/tokens/", "/api/v2/stages/invitation/invitations/"


async def enter(town: Town, browser: Browser) -> Person:
    owner = await town.owner()
    await browser.sign_in(owner.username, owner.password)
    return owner


async def send(browser: Browser, path: str, **fields: Any) -> int:
    """A form with lists, which `press` does not know."""
    form = {"csrf": browser.cookie("kith_csrf") or "", **fields}
    browser.page = await browser.http.post(path, data=form, follow_redirects=True)
    return browser.page.status_code


async def id_of(owner: Person, name: str) -> int:
    return int((await owner.get(f"/api/v2/core/users/?username={name}")).json()["results"][0]["pk"])


async def give_rights(owner: Person, name: str, *permissions: str) -> str:
    made = await owner.call("POST", IDENTITY_ROLES, json={"name": f"for {name}", "permissions": list(permissions)})
    assert made.status_code == 201, made.text
    role = str(made.json()["pk"])
    path = f"/api/v2/core/users/{await id_of(owner, name)}/"
    assert (await owner.call("PATCH", path, json={"roles": [role]})).status_code == 200
    return role


async def test_whoever_may_open_anything_is_led_to_the_console(town: Town, new_browser: NewBrowser) -> None:
    owner, boss = await town.owner(), await employ(town, "owner")
    clerk, member = await town.sign_up(), await town.sign_up()
    await give_rights(owner, clerk.username, "core.view_group")
    herald = await employ_as(town, boss, 3, "manage_announcements")
    odd = await town.sign_up()
    await give_rights(owner, odd.username, "core.view_secret")
    for person, sees, not_sees in (
        (clerk, ["/admin/groups"], ["/admin/people", "/admin/announcements", "/admin/tokens", "/admin/jobs"]),
        (herald.name, ["/admin/announcements"], ["/admin/groups", "/admin/roles"]),
        (odd, ["It works through the API."], ["/admin/people", "/admin/groups"]),
    ):
        browser = new_browser()
        name = person if isinstance(person, str) else person.username
        await browser.sign_in(name, f"correct horse {name}")
        for path in ("/home", "/menu"):
            assert 'href="/admin"' in (await browser.open(path)).text, (name, path)
        page = await browser.open("/admin")
        assert page.status_code == 200
        assert [words for words in sees if words not in page.text] == []
        assert [words for words in not_sees if f'"{words}"' in page.text] == []
        for words in not_sees:
            assert (await browser.open(words)).status_code == 404
    browser = new_browser()
    await browser.sign_in(member.username, member.password)
    assert 'href="/admin"' not in (await browser.open("/home")).text
    assert (await browser.open("/admin")).status_code == 404


async def test_roles_of_the_community_are_made_changed_and_deleted(town: Town, browser: Browser) -> None:
    boss = await employ(town, "owner")
    await browser.sign_in(boss.name, f"correct horse {boss.name}")
    assert "Make announcements" in (await browser.open("/admin/roles/community/new")).text
    values = {"name": "Herald", "color": "#C0392B", "position": "7", "highlighted": "true"}
    ticked = {"permissions_as_keys[]": ["manage_announcements", "manage_rules"]}
    assert await send(browser, "/admin/roles/community/new", **values, **ticked) == 200
    assert browser.path == "/admin/roles"
    [made] = [one for one in await boss.get(ROLES) if one["name"] == "Herald"]
    assert (made["color"], made["position"], made["highlighted"]) == ("#c0392b", 7, True)
    assert made["permissions_as_keys"] == ["manage_rules", "manage_announcements"]

    place = f"/admin/roles/community/{made['id']}"
    ada = await join(town)
    await boss.post(f"/api/v1/admin/accounts/{ada.id}/role", json={"role_id": made["id"]})
    assert f"@{ada.name}" in (await browser.open(place)).text
    assert await send(browser, place, **values | {"name": "", "color": "red"}, **ticked) == 422
    assert "Please fill this in." in browser.page.text
    assert (
        await send(browser, place, **values | {"name": "Crier"}, **{"permissions_as_keys[]": ["manage_rules"]}) == 200
    )
    assert (await boss.get(f"{ROLES}/{made['id']}"))["permissions_as_keys"] == ["manage_rules"]
    assert await send(browser, place, _delete="true") == 200
    assert "Crier" not in [one["name"] for one in await boss.get(ROLES)]

    page = (await browser.open("/admin/roles/community/-99")).text
    assert "Invite people" in page
    assert "Make announcements" not in page


async def test_nobody_puts_more_into_a_role_than_they_have(town: Town, new_browser: NewBrowser) -> None:
    boss = await employ(town, "owner")
    keeper = await employ_as(town, boss, 20, "manage_roles", "manage_rules")
    browser = new_browser()
    await browser.sign_in(keeper.name, f"correct horse {keeper.name}")
    sent = {"name": "Too much", "position": "5", "permissions_as_keys[]": ["manage_users", "manage_rules"]}
    assert await send(browser, "/admin/roles/community/new", **sent) == 422
    assert "cannot include permissions your current role does not possess" in browser.page.text
    assert 'id="f-permissions-error"' in browser.page.text
    assert re.search(r'value="manage_users" checked', browser.page.text)
    assert await send(browser, "/admin/roles/community/new", **sent | {"position": "50"}) == 422
    assert 'id="f-position-error"' in browser.page.text
    assert "Too much" not in [one["name"] for one in await boss.get(ROLES)]
    assert (await browser.open("/admin/roles/identity/new")).status_code == 404
    csrf = browser.cookie("kith_csrf")
    browser.http.cookies.delete("kith_csrf")
    assert await send(browser, "/admin/roles/community/new", **sent, csrf="x") == 403
    assert csrf


async def test_roles_of_the_identity_half_are_ticked_by_kind(town: Town, browser: Browser) -> None:
    owner = await enter(town, browser)
    sent = {"name": "Librarian", "permissions[]": ["core.view_user", "core.view_group", "core.lockdown_user"]}
    assert await send(browser, "/admin/roles/identity/new", **sent) == 200
    [role] = (await owner.get(f"{IDENTITY_ROLES}?name=Librarian")).json()["results"]
    place = f"/admin/roles/identity/{role['pk']}"
    path = f"{IDENTITY_ROLES}{role['pk']}/"
    odd = [*role["permissions"], "elsewhere.do_things"]
    await owner.call("PATCH", path, json={"permissions": odd})

    page = (await browser.open(f"{place}?search=token")).text
    assert "core.add_token" in page
    assert "core.view_user" not in page
    sent = {"name": "Librarian", "search": "token", "permissions[]": ["core.view_token"]}
    assert await send(browser, place, **sent) == 200
    kept = set((await owner.get(path)).json()["permissions"])
    assert kept == {*odd, "core.view_token"}
    page = (await browser.open(place)).text
    assert re.search(r'value="core.view_token" checked', page)
    assert re.search(r'value="elsewhere.do_things" checked', page)
    assert (
        await send(browser, place, **{"name": "Librarian", "others[]": [""], "permissions[]": ["core.view_user"]})
        == 200
    )
    assert (await owner.get(path)).json()["permissions"] == ["core.view_user"]
    assert await send(browser, place, name="") == 400
    assert 'id="f-name-error"' in browser.page.text

    reader = await town.sign_up()
    assert await send(browser, f"{place}/people", username="nobody_at_all") == 400
    assert "There is no user with this name." in browser.page.text
    assert await send(browser, f"{place}/people", username=reader.username) == 200
    assert f"@{reader.username}</a>" in browser.page.text
    assert (await reader.get("/api/v2/core/users/")).status_code == 200
    assert await send(browser, f"{place}/people", username=reader.username, _take="true") == 200
    assert (await reader.get("/api/v2/core/users/")).status_code == 403
    assert await send(browser, place, _delete="true") == 200
    assert (await owner.get(path)).status_code == 404


async def test_nobody_gives_away_more_rights_than_they_have(town: Town, new_browser: NewBrowser) -> None:
    owner, clerk, friend = await town.owner(), await town.sign_up(), await town.sign_up()
    own = ("rbac.view_role", "rbac.add_role", "rbac.change_role", "core.view_user", "core.change_user")
    await give_rights(owner, clerk.username, *own)
    mighty = await give_rights(owner, friend.username, "core.delete_user")
    await owner.call("PATCH", f"/api/v2/core/users/{await id_of(owner, friend.username)}/", json={"roles": []})
    browser = new_browser()
    await browser.sign_in(clerk.username, clerk.password)
    sent = {"name": "Sly", "permissions[]": ["core.view_user", "core.delete_user"]}
    assert await send(browser, "/admin/roles/identity/new", **sent) == 400
    assert "A role cannot grant what you may not do yourself." in browser.page.text
    assert (await owner.get(f"{IDENTITY_ROLES}?name=Sly")).json()["results"] == []
    assert await send(browser, f"/admin/roles/identity/{mighty}/people", username=friend.username) == 400
    assert "A role that grants more than you have cannot be assigned by you." in browser.page.text
    assert (await browser.open("/admin/roles/community/new")).status_code == 404


async def test_invitations_of_both_halves_are_seen_made_and_ended(town: Town, new_browser: NewBrowser) -> None:
    browser = new_browser()
    owner = await enter(town, browser)
    member = await employ(town, "moderator")
    own = new_browser()
    await own.sign_in(member.name, f"correct horse {member.name}")
    await own.open("/settings/invites")
    await own.press("/settings/invites", max_uses="5")
    page = (await browser.open("/admin/invitations")).text
    assert f"@{member.name}" in page
    assert "used by 0 of 5" in page

    flows = (await owner.get("/api/v2/flows/instances/?designation=enrollment")).json()["results"]
    until_day = (datetime.now(UTC) + timedelta(days=3)).date().isoformat()
    sent = {"name": "for-bob", "flow": flows[0]["pk"], "expires": until_day, "single_use": "true"}
    sent |= {"data_email": "bob@example.org", "key_1": "department", "value_1": "Tea", "key_2": "empty"}
    assert await send(browser, "/admin/invitations", **sent) == 200
    [made] = (await owner.get(f"{INVITATIONS}?name=for-bob")).json()["results"]
    assert made["fixed_data"] == {"email": "bob@example.org", "department": "Tea"}
    assert (made["single_use"], made["flow"], made["expires"][:10]) == (True, flows[0]["pk"], until_day)
    link = f"{town.base_url}/flows/{flows[0]['slug']}/?itoken={made['pk']}"
    assert link in browser.page.text
    assert "given beforehand: email, department" in browser.page.text
    assert made["pk"] in (await browser.open("/admin/invitations?search=for-b")).text
    assert made["pk"] not in (await browser.open("/admin/invitations?search=100%25")).text

    assert await send(browser, "/admin/invitations", name="no slug!") == 400
    assert 'id="f-name-error"' in browser.page.text
    assert await send(browser, "/admin/invitations", name="late", expires="2001-01-01") == 400
    assert 'id="f-expires-error"' in browser.page.text
    await browser.open("/admin/invitations?search=for-bob")
    await browser.press(f"{made['pk']}/end")
    assert (await owner.get(f"{INVITATIONS}{made['pk']}/")).status_code == 404

    community = await employ(town, "owner")
    inviter = await employ_as(town, community, 4, "manage_invites")
    other = new_browser()
    await other.sign_in(inviter.name, f"correct horse {inviter.name}")
    assert "Given beforehand" not in (await other.open("/admin/invitations/new")).text
    assert await send(other, "/admin/invitations", name="simple", expires=until_day) == 200
    [line] = re.findall(r"/invite/([0-9a-f-]{36})</code>(?:(?!</li>).)*@" + inviter.name, other.page.text, re.DOTALL)
    assert (await town.http.get(f"/invite/{line}")).status_code == 302
    await other.press(f"{line}/end")
    assert (await town.http.get(f"/invite/{line}")).status_code == 404


async def test_tokens_are_seen_made_shown_once_and_revoked(town: Town, new_browser: NewBrowser) -> None:
    browser = new_browser()
    owner = await enter(town, browser)
    ada = await town.sign_up()
    sent = {"username": ada.username, "intent": "api", "description": "Nightly <report>", "scopes": "api"}
    assert await send(browser, "/admin/tokens", **sent) == 201
    [key] = re.findall(r'<code class="key">([^<]+)</code>', browser.page.text)
    me = await town.http.get("/api/v2/core/users/me/", headers={"Authorization": f"Bearer {key}"})
    assert me.json()["username"] == ada.username
    page = (await browser.open(f"/admin/tokens?search=Nightly&user={ada.username}")).text
    assert "Nightly &lt;report&gt;" in page
    assert key not in page
    assert "without an end" in page
    assert "There is no token." not in (await browser.open("/admin/tokens")).text
    assert "Nothing was found." in (await browser.open("/admin/tokens?user=nobody_at_all")).text

    wrong = sent | {"username": "nobody_at_all", "description": "", "scopes": "apl", "expires": "2001-01-01"}
    assert await send(browser, "/admin/tokens", **wrong) == 400
    for field in ("username", "description", "expires"):
        assert f'id="f-{field}-error"' in browser.page.text
    assert await send(browser, "/admin/tokens", **sent | {"scopes": "apl"}) == 400
    assert 'id="f-scopes-error"' in browser.page.text
    [token] = (await owner.get(f"{TOKENS}?user={await id_of(owner, ada.username)}")).json()["results"]
    await browser.open(f"/admin/tokens?user={ada.username}")
    await browser.press(f"{token['pk']}/revoke")
    me = await town.http.get("/api/v2/core/users/me/", headers={"Authorization": f"Bearer {key}"})
    assert me.status_code == 401

    clerk = await town.sign_up()
    await give_rights(owner, clerk.username, "core.view_token", "core.view_user")
    other = new_browser()
    await other.sign_in(clerk.username, clerk.password)
    assert "Whose it is" not in (await other.open("/admin/tokens/new")).text
    assert await send(other, "/admin/tokens", **sent) == 400
    assert "You may only make tokens for yourself." in other.page.text
    assert await send(other, "/admin/tokens", **sent | {"username": "", "intent": "app_password"}) == 201
    assert await send(other, "/admin/tokens", **sent | {"username": owner.username}) == 400


async def add_codes(town: Town, name: str) -> None:
    async with town.house() as house, house.works.begin() as work:
        user = await users.find(work.db, name)
        assert user is not None
        await factors.add_codes(work, user, ["one", "two"], "Paper in the safe")


async def test_the_team_removes_a_lost_sign_in_method(town: Town, new_browser: NewBrowser) -> None:
    owner, ada, boss = await town.owner(), await town.sign_up(), await town.owner()
    browser, own = new_browser(), new_browser()
    await browser.sign_in(owner.username, owner.password)
    await own.sign_in(ada.username, ada.password)
    await add_codes(town, ada.username)
    await add_codes(town, boss.username)
    id = await id_of(owner, ada.username)
    [listed] = (await owner.get(f"/api/v2/authenticators/admin/all/?user={id}")).json()
    assert (listed["type"], listed["name"], listed["user"]) == ("static", "Paper in the safe", id)
    path = f"/api/v2/authenticators/admin/static/{listed['pk']}/"

    clerk = await town.sign_up()
    await give_rights(owner, clerk.username, "core.view_user", "audit.view_event")
    assert (await clerk.call("DELETE", path)).status_code == 403
    other = new_browser()
    await other.sign_in(clerk.username, clerk.password)
    page = (await other.open(f"/admin/people/{id}/signins")).text
    assert "Paper in the safe" in page
    assert "/authenticators/admin/" not in page
    helper = await town.sign_up()
    await give_rights(owner, helper.username, "core.view_user", "core.remove_user_factor")
    [above] = (await owner.get(f"/api/v2/authenticators/admin/all/?user={await id_of(owner, boss.username)}")).json()
    assert (await helper.call("DELETE", f"/api/v2/authenticators/admin/static/{above['pk']}/")).status_code == 403
    assert (await owner.call("DELETE", path.replace("static", "totp"))).status_code == 404

    await browser.open(f"/admin/people/{id}/signins")
    assert "They are signed out everywhere, and told by mail." in browser.page.text
    await browser.press(f"/static/{listed['pk']}/")
    assert browser.path == f"/admin/people/{id}/signins"
    assert "Paper in the safe" not in browser.page.text
    assert (await owner.get(f"/api/v2/authenticators/admin/all/?user={id}")).json() == []
    assert not await own.is_signed_in()
    assert await browser.is_signed_in()
    [event] = (await owner.get("/api/v2/audit/events/?app=core.factors&action=model_deleted")).json()["results"]
    assert event["context"]["user"]["username"] == ada.username
    assert event["user"] == await id_of(owner, owner.username)

    async def is_told() -> bool:
        return any(
            mail["To"] == f"{ada.username}@example.org" and "Paper in the safe. You are signed out" in words_of(mail)
            for mail in town.mails()
        )

    await until(is_told)


def words_of(mail: Any) -> str:
    return str(mail.get_body(("plain",)).get_content())

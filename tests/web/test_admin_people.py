"""The console's list of people, and what is done to several of them at once."""

from __future__ import annotations

import re

import pytest

from tests.conftest import TownBuilder
from tests.social.members import join
from tests.social.posts import settle
from tests.social.staff import employ
from tests.town import Person, Town
from tests.web.browsing import Browser

BACK = "urn:ietf:wg:oauth:2.0:oob"


async def enter(town: Town, browser: Browser) -> Person:
    owner = await town.owner()
    await browser.sign_in(owner.username, owner.password)
    return owner


async def id_of(owner: Person, name: str) -> int:
    found = (await owner.get(f"/api/v2/core/users/?username={name}")).json()["results"]
    return int(found[0]["pk"])


def listed(page: str) -> list[str]:
    """The user names in the list, in its order."""
    return re.findall(r'<th scope="row">.*?@([\w.-]+)</span>', page)


async def choose(browser: Browser, ids: list[int], action: str, **more: str) -> str:
    """Tick these people, and ask for this to be done to them."""
    token = browser.cookie("kith_csrf") or ""
    form = {"csrf": token, "next": "/admin/people", "action": action, "ids[]": [str(id) for id in ids], **more}
    browser.page = await browser.http.post("/admin/people/bulk", data=form)
    return browser.page.text


async def test_people_are_found_by_name_state_role_and_time(town: Town, browser: Browser) -> None:
    owner = await enter(town, browser)
    for name in ("zoe_adams", "zoe_brown", "zoe_clark"):
        await town.sign_up(name)
    await town.sign_up("zoe_mod", role="moderator")
    brown = await id_of(owner, "zoe_brown")
    await owner.call("PATCH", f"/api/v2/core/users/{brown}/", json={"is_active": False})

    for query, names in (
        ("search=zoe", ["zoe_adams", "zoe_brown", "zoe_clark", "zoe_mod"]),
        ("search=zoe&order=-username", ["zoe_mod", "zoe_clark", "zoe_brown", "zoe_adams"]),
        ("search=zoe+clark", ["zoe_clark"]),
        ("search=ZOE_CL", ["zoe_clark"]),
        ("search=zo", ["zoe_adams", "zoe_brown", "zoe_clark", "zoe_mod"]),
        ("search=oe", []),
        ("search=zoe_adams@example.org", ["zoe_adams"]),
        ("search=zoe&state=disabled", ["zoe_brown"]),
        ("search=zoe&state=active", ["zoe_adams", "zoe_clark", "zoe_mod"]),
        ("search=zoe&state=suspended", []),
        ("search=zoe&role=1", ["zoe_mod"]),
        ("search=zoe&role=-99", ["zoe_adams", "zoe_brown", "zoe_clark"]),
        ("search=zoe&seen=30", []),
        ("search=zoe&seen=-30", ["zoe_adams", "zoe_brown", "zoe_clark", "zoe_mod"]),
        ("search=zoe&type=service_account", []),
        ("search=%25", []),
        (
            "search=zoe&state=nonsense&role=x&seen=y&order=z&offset=-1",
            ["zoe_adams", "zoe_brown", "zoe_clark", "zoe_mod"],
        ),
    ):
        page = await browser.open(f"/admin/people?{query}")
        assert page.status_code == 200
        assert listed(page.text) == names, query
    assert "Nobody fits." in (await browser.open("/admin/people?search=nobody_at_all")).text
    assert owner.username in listed((await browser.open(f"/admin/people?search={owner.username}&seen=1")).text)


async def test_the_list_of_the_many_is_walked_as_that_of_the_few_is_sorted(
    town: Town, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both ways to the same list."""
    from kith.social.admin import people  # noqa: PLC0415 - its bound is what this is about

    for name in ("way_a", "way_b", "way_c"):
        await town.sign_up(name)
    asked = [
        people.PeopleQuery(search="way", order="-joined"),
        people.PeopleQuery(search="way_", state="active", order="email"),
        people.PeopleQuery(search="wa", seen=-7),
        people.PeopleQuery(search="WAY_ example", order="-username"),
        people.PeopleQuery(search="way_ wa ample.org", state="active", order="seen"),
    ]
    async with town.house() as house:
        for one in asked:
            async with house.works.begin() as work:
                few = await people.find_people(work, one, offset=0, most=2)
                monkeypatch.setattr(people, "FEW", 1)
                many = await people.find_people(work, one, offset=0, most=2)
                monkeypatch.undo()
            assert (few.count, many.count, few.more) == (3, None, True)
            assert [line.username for line in few.lines] == [line.username for line in many.lines]


async def test_what_is_done_to_several_is_rehearsed_first(town: Town, browser: Browser) -> None:
    owner = await enter(town, browser)
    names = ["bulk_one", "bulk_two"]
    for name in names:
        await town.sign_up(name)
    ids = [await id_of(owner, name) for name in (*names, owner.username)]

    page = await choose(browser, ids, "delete")
    assert "This is a rehearsal: nothing has changed yet. It would be done to 2 people." in page
    assert "You cannot delete yourself." in page
    assert len((await owner.get("/api/v2/core/users/?search=bulk_")).json()["results"]) == 2

    ids = ids[:2]
    assert "It would be done to 2 people." in await choose(browser, ids, "disable")
    assert all(one["is_active"] for one in (await owner.get("/api/v2/core/users/?search=bulk_")).json()["results"])
    assert "Done for 2 people." in await choose(browser, ids, "disable", confirm="true")
    found = (await owner.get("/api/v2/core/users/?search=bulk_")).json()["results"]
    assert [one["is_active"] for one in found] == [False, False]
    assert "Is so already; nothing changes." in await choose(browser, ids, "disable")
    assert "Nobody was chosen." in await choose(browser, [], "disable")


async def test_of_apps_only_what_ends_for_good_is_said_to_end(town: Town, browser: Browser) -> None:
    owner = await enter(town, browser)
    ada = await join(town)
    id = await id_of(owner, ada.name)
    assert ada.token

    for action in ("disable", "suspend"):
        page = await choose(browser, [id], action)
        assert "apps are refused" in page
        assert ("token ends" in page, "loses access" in page) == (False, False)
    for action in ("lockdown", "delete"):
        page = await choose(browser, [id], action, reason="Phone lost")
        assert "loses access" in page


async def test_to_one_person_only_is_offered_what_would_change_something(town: Town, browser: Browser) -> None:
    owner = await enter(town, browser)
    id = await id_of(owner, (await town.sign_up()).username)

    async def offered() -> set[str]:
        page = (await browser.open(f"/admin/people/{id}")).text
        return set(
            re.findall(r'<option value="([a-z_]+)"', page.partition('name="action"')[2].partition("</select>")[0])
        )

    assert {"disable", "silence", "suspend", "delete"} <= await offered()
    assert not {"approve", "reject", "enable", "unsilence", "unsuspend"} & await offered()
    await choose(browser, [id], "disable", confirm="true")
    assert "enable" in await offered()
    assert "disable" not in await offered()


async def test_a_superuser_makes_a_link_for_whoever_cannot_get_in(town: Town, browser: Browser) -> None:
    owner = await enter(town, browser)
    ada = await town.sign_up()
    helper, boss = await town.sign_up(role="moderator"), await town.sign_up(role="administrator")
    id = await id_of(owner, ada.username)
    await browser.open(f"/admin/people/{id}")
    page = (await browser.press(f"/admin/people/{id}/recovery")).text
    [path] = re.findall(r"<code[^>]*>http://[^/]+(/recovery/[^<]+)</code>", page)

    there = Browser(town)
    await there.open(path)
    await there.submit()
    assert await there.is_signed_in()
    assert (await there.open(path)).status_code == 404
    assert f"@{ada.username}" in (await there.open("/home")).text
    await there.close()
    owners = await id_of(owner, owner.username)
    for who, whose, status in ((ada, id, 403), (helper, id, 403), (boss, owners, 403), (boss, id, 200)):
        answer = await who.call("POST", f"/api/v2/core/users/{whose}/recovery/")
        assert answer.status_code == status, (who.username, answer.text)
    for method, way in (("POST", "set_password/"), ("PATCH", "")):
        link = (await owner.call("POST", f"/api/v2/core/users/{id}/recovery/")).json()["link"]
        new = {"password": f"an entirely new one {way}"}
        assert (await owner.call(method, f"/api/v2/core/users/{id}/{way}", json=new)).status_code < 300
        assert (await town.http.get(link)).status_code == 404
    await owner.call("PATCH", f"/api/v2/core/users/{id}/", json={"is_active": False})
    assert (await owner.call("POST", f"/api/v2/core/users/{id}/recovery/")).status_code == 409
    assert "Make a link to sign in" not in (await browser.open(f"/admin/people/{id}")).text


async def test_what_must_be_said_is_asked_for(town: Town, browser: Browser) -> None:
    owner = await enter(town, browser)
    await town.sign_up("bulk_three")
    person = await id_of(owner, "bulk_three")
    group = (await owner.call("POST", "/api/v2/core/groups/", json={"name": "Choir"})).json()["pk"]

    assert "See what will happen" in await choose(browser, [person], "join", confirm="true")
    assert "It would be done to 1 person." in await choose(browser, [person], "join", group=group)
    await choose(browser, [person], "join", group=group, confirm="true")
    assert (await owner.get(f"/api/v2/core/groups/{group}/")).json()["user_set"] == [person]

    await choose(browser, [person], "suspend", confirm="true", reason="Spam")
    assert listed((await browser.open("/admin/people?search=bulk_three&state=suspended")).text) == ["bulk_three"]


async def test_each_page_is_for_those_whose_role_permits_it(town: Town, browser: Browser) -> None:
    owner = await town.owner()
    moderator = await town.sign_up(role="moderator")
    await browser.sign_in(moderator.username, moderator.password)
    assert (await browser.open("/admin/people")).status_code == 200
    assert "Limit</option>" in browser.page.text
    assert "Delete for good</option>" not in browser.page.text
    person = await id_of(owner, moderator.username)
    await choose(browser, [person], "delete", confirm="true")
    assert browser.page.status_code == 404
    page = await browser.open("/admin")
    assert 'href="/admin/people"' in page.text
    assert 'href="/admin/records/core/applications"' not in page.text
    for path in ("/admin/records/core/users", "/admin/records/core/applications/new", "/admin/kinds/policies"):
        assert (await browser.open(path)).status_code == 404


async def test_a_right_in_the_identity_half_opens_the_console_that_far(town: Town, browser: Browser) -> None:
    owner, helper = await town.owner(), await town.sign_up()
    await browser.sign_in(helper.username, helper.password)
    nowhere = await browser.open("/admin/nowhere")
    refused = await browser.open("/admin/people")
    assert (refused.status_code, nowhere.status_code) == (404, 404)
    role = await owner.call("POST", "/api/v2/rbac/roles/", json={"name": "Readers", "permissions": ["core.view_user"]})
    person = await id_of(owner, helper.username)
    given = await owner.call("PATCH", f"/api/v2/core/users/{person}/", json={"roles": [role.json()["pk"]]})
    assert given.status_code == 200, given.text

    page = await browser.open("/admin/people?search=" + helper.username)
    assert listed(page.text) == [helper.username]
    assert "See what will happen" not in page.text
    assert (await browser.open("/admin/people?origin=remote")).status_code == 404


async def test_a_person_has_a_page_with_everything_of_both_halves(town: Town, browser: Browser) -> None:
    owner = await enter(town, browser)
    person = await town.sign_up("whole_person")
    other = Browser(town)
    await other.sign_in(person.username, person.password)
    id = await id_of(owner, "whole_person")
    await owner.call("POST", "/api/v2/core/groups/", json={"name": "Orchestra", "user_set": [id]})

    for tab, words in (
        ("", "whole_person@example.org"),
        ("/signins", "Where they are signed in"),
        ("/access", "Orchestra"),
        ("/posts", "Nobody has reported them."),
        ("/audit", ">Signed in</a>"),
    ):
        page = await browser.open(f"/admin/people/{id}{tab}")
        assert page.status_code == 200, (tab, page.text)
        assert words in page.text, tab
    for path in (f"/admin/people/{id}/nothing", "/admin/people/99999999", "/admin/people/x"):
        assert (await browser.open(path)).status_code == 404

    await browser.open(f"/admin/people/{id}/signins")
    await browser.press("/", _method="DELETE")
    assert not await other.is_signed_in()
    assert "They are signed in nowhere." in browser.page.text
    await browser.open(f"/admin/people/{id}")
    assert 'value="suspend"' in browser.page.text
    assert all(f'value="{one}"' not in browser.page.text for one in ("approve", "enable", "unsilence", "unsuspend"))
    await browser.press("/action", type="none", text="Please be kind")
    assert "Please be kind" in (await browser.open(f"/admin/people/{id}/posts")).text
    await browser.open(f"/admin/people/{id}")
    await browser.press("/set_password/", password="a whole new tune 7")
    assert browser.page.status_code == 200
    await other.sign_in(person.username, "a whole new tune 7")
    assert await other.is_signed_in()
    await other.close()


async def test_the_dashboard_shows_real_figures_and_what_is_left_to_do(new_town: TownBuilder) -> None:
    town = await new_town()
    browser = Browser(town)
    owner = await enter(town, browser)
    page = (await browser.open("/admin")).text
    assert re.search(r"Sign-ins <strong>[1-9]", page)
    assert "Deliveries waiting" in page
    assert re.search(r'aria-label="Disk in use: the most of each day, at most [1-9][^"]+B"><rect', page)
    assert '<a href="/admin/applications/new">Connect a first application</a>' in page
    made = await owner.call("POST", "/api/v2/core/applications/", json={"name": "Wiki", "slug": "wiki"})
    assert made.status_code == 201, made.text
    assert "I make backups of it" in page
    await browser.press("/admin/settings")
    assert browser.path == "/admin"

    page = (await browser.open("/admin")).text
    assert "I make backups of it" not in page
    assert "Connect a first application <span" in page
    assert "Back up database, keys and media <span" in page
    assert "Let the server send e-mail <span" not in page
    moderator, other = await town.sign_up(role="moderator"), Browser(town)
    await other.sign_in(moderator.username, moderator.password)
    page = (await other.open("/admin")).text
    assert "People active" in page
    assert "First steps" not in page
    assert "Deliveries waiting" not in page
    await other.close()
    await browser.close()


async def test_members_of_a_group_come_and_go(town: Town, browser: Browser) -> None:
    owner = await enter(town, browser)
    await town.sign_up("singer")
    group = (await owner.call("POST", "/api/v2/core/groups/", json={"name": "Singers"})).json()["pk"]
    assert ">Singers</a>" in (await browser.open("/admin/groups")).text
    assert "Nobody is in this group yet." in (await browser.open(f"/admin/groups/{group}")).text

    await browser.press("/members", username="nobody_at_all")
    assert browser.page.status_code == 400
    assert "There is no user with this name." in browser.page.text
    await browser.press("/members", username="@singer", until="2999-12-31")
    assert ">@singer</a>" in browser.page.text
    assert 'datetime="2999-12-31T23:59:59' in browser.page.text
    await browser.press("/remove_user/")
    assert "Nobody is in this group yet." in browser.page.text
    assert (await browser.open("/admin/groups/nowhere")).status_code == 404


async def test_whoever_waits_is_listed_before_their_address_is_confirmed(new_town: TownBuilder) -> None:
    town = await new_town(registrations="approval")
    app = (
        await town.http.post("/api/v1/apps", data={"client_name": "a", "redirect_uris": BACK, "scopes": "write"})
    ).json()
    client = {name: app[name] for name in ("client_id", "client_secret")}
    form = {"grant_type": "client_credentials", **client, "scope": "write"}
    token = (await town.http.post("/oauth/token", data=form)).json()["access_token"]
    person = {"username": "zoe", "email": "zoe@example.org", "password": "a good long one", "reason": "please"}
    made = await town.http.post(
        "/api/v1/accounts",
        json={**person, "agreement": True, "locale": "en"},
        headers={"Authorization": f"Bearer {token}"},
    )
    assert made.status_code == 200, made.text
    await settle(town)
    staff = await employ(town, "moderator")
    browser = Browser(town)
    await enter(town, browser)
    page = (await browser.open("/admin/people?state=pending")).text
    await browser.close()

    for path in ("/api/v1/admin/accounts?pending=true", "/api/v2/admin/accounts?status=pending"):
        [listed_there] = await staff.get(path)
        assert (listed_there["username"], listed_there["confirmed"], listed_there["approved"]) == ("zoe", False, False)
    assert listed(page) == ["zoe"]
    assert "Address not confirmed</span>" in page

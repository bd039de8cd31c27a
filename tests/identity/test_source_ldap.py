"""A directory as a source, against Debian's slapd with StartTLS."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import bindparam, update

from kith.base.db import command
from kith.identity.sources.family import sources
from kith.identity.sources.ldap.directory import Directories
from kith.identity.sources.ldap.entries import decoded, dn_key, escaped_value, is_disabled, read_entry, read_sid
from kith.identity.users import store as users
from kith.identity.users.service import set_role
from tests.identity.flow_browser import SIGN_IN, Browser, errors
from tests.identity.records import API, make, new_name, owner_of, results
from tests.identity.slapd import ADMIN, ADMIN_PASSWORD, BASE, Slapd, group, person, running
from tests.town import Person, Town, build_town
from tests.town.town import Engine

_SET_UP_BY = command(update(sources).where(sources.c.pbm_uuid == bindparam("pk")).values(set_up_by=bindparam("by")))
_ENABLE = command(update(sources).where(sources.c.pbm_uuid == bindparam("pk")).values(enabled=True))
PEOPLE = [person("ada", "first secret"), person("bob", "second secret"), person("eve", "third secret")]
GROUPS = [group("crew", ["ada", "bob"]), group("captains", ["ada"])]


@pytest.fixture(scope="module")
async def here(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    async with build_town(engine, tmp_path_factory.mktemp("here"), private_hosts="127.0.0.1") as built:
        yield built


@pytest.fixture
async def slapd(tmp_path: Path) -> AsyncIterator[Slapd]:
    async with running(tmp_path / "slapd", [*PEOPLE, *GROUPS]) as started:
        yield started


async def make_directory(town: Town, slapd: Slapd, prefix: str, **fields: Any) -> dict[str, Any]:
    """A source whose people get a prefix, since tests share the server."""
    owner = await owner_of(town)
    pair = await make(owner, "/crypto/certificatekeypairs/", name=new_name("ca"), certificate_data=slapd.ca)
    mappings = [
        ("username", f'return "{prefix}" + ldap.get("uid")'),
        ("name", 'return ldap.get("cn")'),
        ("email", f'return "{prefix}" + ldap.get("mail")'),
        ("attributes.title", 'return ldap.get("title")'),
    ]
    made = [
        await make(owner, "/propertymappings/ldap/", name=new_name("m"), expression=expression, object_field=field)
        for field, expression in mappings
    ]
    given: dict[str, Any] = {
        "name": new_name("directory"),
        "slug": new_name("directory"),
        "server_uri": slapd.uri,
        "bind_cn": ADMIN,
        "bind_password": ADMIN_PASSWORD,
        "start_tls": True,
        "peer_certificate": pair["pk"],
        "base_dn": BASE,
        "additional_user_dn": "ou=people",
        "additional_group_dn": "ou=groups",
        "user_object_filter": "(objectClass=inetOrgPerson)",
        "group_object_filter": "(objectClass=groupOfNames)",
        "object_uniqueness_field": "entryUUID",
        "property_mappings": [one["pk"] for one in made],
        "enabled": True,
    }
    return await make(owner, "/sources/ldap/", **given | fields)


async def status(town: Town, source: dict[str, Any]) -> dict[str, Any]:
    answer = await (await owner_of(town)).get(f"{API}/sources/ldap/{source['pk']}/sync/status/")
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


async def copied(town: Town, source: dict[str, Any], after: str | None = None) -> dict[str, Any]:
    """Wait until a run that began after another one has ended."""
    async with asyncio.timeout(60):
        while True:
            told = await status(town, source)
            progress = told["progress"]
            if progress and progress["finished"] and progress["started"] != after:
                return told
            await asyncio.sleep(0.05)


async def copy_again(town: Town, source: dict[str, Any]) -> dict[str, Any]:
    before = (await status(town, source))["progress"]["started"]
    answer = await (await owner_of(town)).call("POST", f"{API}/sources/ldap/{source['pk']}/sync/")
    assert answer.status_code == 202, answer.text
    return await copied(town, source, before)


async def user_named(town: Town, username: str) -> dict[str, Any]:
    [found] = await results(await owner_of(town), "/core/users/", username=username)
    return found


async def groups_of(town: Town, user: dict[str, Any]) -> set[str]:
    listed = await results(await owner_of(town), "/core/groups/")
    return {one["name"] for one in listed if one["pk"] in user["groups"]}


async def test_a_save_copies_people_and_groups(here: Town, slapd: Slapd) -> None:
    source = await make_directory(here, slapd, "a-")

    told = await copied(here, source)

    assert told["last_sync_status"] == "successful", told
    assert told["progress"]["users"] == {"create": 3, "update": 0, "delete": 0}
    assert told["progress"]["groups"] == {"create": 2, "update": 0, "delete": 0}
    ada = await user_named(here, "a-ada")
    assert (ada["name"], ada["email"]) == ("Ada Example", "a-ada@directory.example")
    assert ada["attributes"]["distinguishedName"] == f"uid=ada,ou=people,{BASE}"
    assert ada["attributes"]["ldap_uniq"]
    assert ada["path"] == f"sources/{source['slug']}"
    assert await groups_of(here, ada) == {"crew", "captains"}
    assert await groups_of(here, await user_named(here, "a-bob")) == {"crew"}
    connections = await results(await owner_of(here), "/sources/user_connections/ldap/", user=ada["pk"])
    assert [one["identifier"] for one in connections] == [ada["attributes"]["ldap_uniq"]]
    await forget(here, source)


async def forget(town: Town, source: dict[str, Any]) -> None:
    """Groups have names that the next directory uses too."""
    owner = await owner_of(town)
    await owner.call("DELETE", f"{API}/sources/ldap/{source['pk']}/")
    for one in await results(owner, "/core/groups/"):
        if one["name"] in ("crew", "captains"):
            await owner.call("DELETE", f"{API}/core/groups/{one['pk']}/")


async def test_a_rehearsal_says_what_would_change_and_changes_nothing(here: Town, slapd: Slapd) -> None:
    owner = await owner_of(here)
    source = await make_directory(here, slapd, "r-", enabled=False, delete_not_found_objects=True)
    place = f"{API}/sources/ldap/{source['pk']}/sync/"

    first = await owner.call("POST", place, json={"rehearse": True})
    refused = await owner.call("POST", place)
    nobody = await results(owner, "/core/users/", username="r-ada")
    await owner.call("PATCH", f"{API}/sources/ldap/{source['pk']}/", json={"enabled": True})
    await copied(here, source)
    slapd.change(f"dn: uid=ada,ou=people,{BASE}\nchangetype: modify\nreplace: cn\ncn: Ada Lovelace\n")
    slapd.change(f"dn: uid=eve,ou=people,{BASE}\nchangetype: delete\n")
    second = await owner.call("POST", place, json={"rehearse": True})

    assert first.status_code == 200, first.text
    assert first.json()["users"] == {"create": 3, "update": 0, "delete": 0}
    assert first.json()["groups"] == {"create": 2, "update": 0, "delete": 0}
    assert refused.status_code == 400
    assert nobody == []
    assert second.json()["users"] == {"create": 0, "update": 1, "delete": 1}
    assert (await user_named(here, "r-ada"))["name"] == "Ada Example"
    await forget(here, source)


async def test_who_is_disabled_there_is_out_at_once_and_in_again_when_enabled(here: Town, slapd: Slapd) -> None:
    source = await make_directory(here, slapd, "d-", sync_groups=False)
    await copied(here, source)
    ada, eve = Browser(here), Browser(here)
    await sign_in(ada, "d-ada", "first secret")
    await sign_in(eve, "d-eve", "third secret")
    place = f"dn: uid=ada,ou=people,{BASE}\nchangetype: modify\nreplace: userAccountControl\n"

    slapd.change(f"{place}userAccountControl: 514\n")
    await copy_again(here, source)
    disabled = await user_named(here, "d-ada")
    refused = await sign_in(Browser(here), "d-ada", "first secret")
    others = (await ada.who(), await eve.who())
    slapd.change(f"{place}userAccountControl: 512\n")
    await copy_again(here, source)
    again = Browser(here)
    await sign_in(again, "d-ada", "first secret")

    assert disabled["is_active"] is False
    assert refused["component"] == "access-denied"
    assert others == (None, "d-eve")
    assert await again.who() == "d-ada"
    await forget(here, source)


async def test_who_was_disabled_here_stays_so(here: Town, slapd: Slapd) -> None:
    source = await make_directory(here, slapd, "h-", sync_groups=False)
    await copied(here, source)
    user = await user_named(here, "h-bob")

    await (await owner_of(here)).call("PATCH", f"{API}/core/users/{user['pk']}/", json={"is_active": False})
    await copy_again(here, source)

    assert (await user_named(here, "h-bob"))["is_active"] is False
    await forget(here, source)


async def test_changes_and_people_who_are_gone(here: Town, slapd: Slapd) -> None:
    source = await make_directory(here, slapd, "c-", delete_not_found_objects=True)
    await copied(here, source)
    ada, bob = Browser(here), Browser(here)
    await sign_in(ada, "c-ada", "first secret")
    await sign_in(bob, "c-bob", "second secret")
    assert (await ada.who(), await bob.who()) == ("c-ada", "c-bob")

    slapd.change(f"dn: uid=ada,ou=people,{BASE}\nchangetype: modify\nadd: title\ntitle: Countess\n")
    slapd.change(f"dn: uid=bob,ou=people,{BASE}\nchangetype: delete\n")
    slapd.change(f"dn: cn=captains,ou=groups,{BASE}\nchangetype: delete\n")
    slapd.change(
        f"dn: cn=crew,ou=groups,{BASE}\nchangetype: modify\nreplace: member\nmember: uid=eve,ou=people,{BASE}\n"
    )
    told = await copy_again(here, source)

    assert told["progress"]["users"] == {"create": 0, "update": 1, "delete": 1}
    assert told["progress"]["groups"]["delete"] == 1
    assert (await user_named(here, "c-ada"))["attributes"]["title"] == "Countess"
    assert await groups_of(here, await user_named(here, "c-ada")) == set()
    assert await groups_of(here, await user_named(here, "c-eve")) == {"crew"}
    assert await results(await owner_of(here), "/core/users/", username="c-bob") == []
    assert (await ada.who(), await bob.who()) == ("c-ada", None)
    await forget(here, source)


async def test_whoever_cannot_be_copied_any_more_stays_and_is_disabled_all_the_same(here: Town, slapd: Slapd) -> None:
    source = await make_directory(here, slapd, "l-", delete_not_found_objects=True)
    await copied(here, source)

    slapd.change(f"dn: uid=ada,ou=people,{BASE}\nchangetype: modrdn\nnewrdn: uid=ada (left)\ndeleteoldrdn: 1\n")
    slapd.change(f"dn: cn=captains,ou=groups,{BASE}\nchangetype: modrdn\nnewrdn: cn={'x' * 90}\ndeleteoldrdn: 1\n")
    place = f"{API}/sources/ldap/{source['pk']}/sync/"
    rehearsal = (await (await owner_of(here)).call("POST", place, json={"rehearse": True})).json()
    kept = (await copy_again(here, source))["progress"]
    there = await user_named(here, "l-ada")
    place = f"dn: uid=ada (left),ou=people,{BASE}\nchangetype: modify\nreplace: userAccountControl\n"
    slapd.change(f"{place}userAccountControl: 514\n")
    await copy_again(here, source)

    assert [one["users"]["delete"] for one in (rehearsal, kept)] == [0, 0]
    assert [one["groups"]["delete"] for one in (rehearsal, kept)] == [0, 0]
    assert there["is_active"] is True
    assert (await user_named(here, "l-ada"))["is_active"] is False
    await forget(here, source)


async def test_a_directory_reaches_nobody_above_its_setter_and_deletes_nothing_it_has_not_made(
    here: Town, slapd: Slapd
) -> None:
    """Somebody with rights, one of the same name who was here before, and a group with rights."""
    owner = await owner_of(here)
    source = await make_directory(
        here, slapd, "reach-", delete_not_found_objects=True, user_matching_mode="username_link", enabled=False
    )
    root = await make(owner, "/core/users/", username="reach-ada", name="Root", email="root@example.org")
    plain = await make(owner, "/core/users/", username="reach-eve", name="Plain")
    async with here.house() as house, house.works.begin() as work:
        await set_role(work, await users.get(work.db, root["pk"]), "administrator")
        await work.db.run(_SET_UP_BY, pk=source["pk"], by=None)
        await work.db.run(_ENABLE, pk=source["pk"])
    told = await copy_now(here, source)
    bob = await user_named(here, "reach-bob")
    await set_roles(owner, bob, "core.delete_user")
    [crew] = await results(owner, "/core/groups/", name="crew")
    role = await make(owner, "/rbac/roles/", name=new_name("r"), permissions=["core.delete_user"])
    assert (
        await owner.call("PATCH", f"{API}/core/groups/{crew['pk']}/", json={"roles": [role["pk"]]})
    ).status_code == 200

    slapd.change(f"dn: uid=bob,ou=people,{BASE}\nchangetype: modify\nreplace: mail\nmail: evil@example.org\n")
    slapd.change(f"dn: uid=eve,ou=people,{BASE}\nchangetype: delete\n")
    slapd.change(f"dn: cn=crew,ou=groups,{BASE}\nchangetype: delete\n")
    again = await copy_again(here, source)

    notes = " ".join((*told["notes"], *again["notes"]))
    assert "reach-ada: may do more than whoever set this source up" in notes, notes
    for before in (root, bob, plain):
        after = (await owner.get(f"{API}/core/users/{before['pk']}/")).json()
        if before is not plain:
            assert (after["name"], after["email"]) == (before["name"], before["email"])
        assert after["is_active"] is True
    assert again["progress"]["users"]["delete"] == 0
    assert (await owner.get(f"{API}/core/groups/{crew['pk']}/")).status_code == 200
    assert again["progress"]["groups"]["delete"] == 0

    # Whoever is superuser and saves it, has set it up.
    saved = await owner.call("PATCH", f"{API}/sources/ldap/{source['pk']}/", json={"sni": True})
    assert saved.status_code == 200, saved.text
    await copied(here, source, again["progress"]["started"])
    assert (await user_named(here, "reach-bob"))["email"] == "reach-evil@example.org"
    await forget(here, source)


async def set_roles(owner: Person, user: dict[str, Any], *permissions: str) -> None:
    role = await make(owner, "/rbac/roles/", name=new_name("r"), permissions=list(permissions))
    answer = await owner.call("PATCH", f"{API}/core/users/{user['pk']}/", json={"roles": [role["pk"]]})
    assert answer.status_code == 200, answer.text


async def copy_now(town: Town, source: dict[str, Any]) -> dict[str, Any]:
    answer = await (await owner_of(town)).call("POST", f"{API}/sources/ldap/{source['pk']}/sync/")
    assert answer.status_code == 202, answer.text
    return await copied(town, source)


async def sign_in(browser: Browser, name: str, password: str) -> dict[str, Any]:
    await browser.see(SIGN_IN)
    await browser.answer(SIGN_IN, component="identification", uid_field=name)
    return await browser.answer(SIGN_IN, component="password", password=password)


async def test_people_sign_in_with_the_password_of_the_directory(here: Town, slapd: Slapd) -> None:
    source = await make_directory(here, slapd, "s-", sync_groups=False, password_login_update_internal_password=True)
    await copied(here, source)
    right, wrong, empty, other = Browser(here), Browser(here), Browser(here), Browser(here)

    await sign_in(right, "s-ada", "first secret")
    refused = await sign_in(wrong, "s-ada", "second secret")
    blank = await sign_in(empty, "s-ada", "")
    star = await sign_in(other, "*", "first secret")  # nothing in a name is a filter

    assert await right.who() == "s-ada"
    assert errors(refused) == ["Invalid password"]
    assert errors(blank) == ["This field may not be blank."]
    assert errors(star) == ["Invalid password"]
    for browser in (wrong, empty, other):
        assert await browser.who() is None
    await forget(here, source)


async def test_a_new_password_is_written_back_and_one_that_is_refused_is_not_set(here: Town, slapd: Slapd) -> None:
    source = await make_directory(here, slapd, "w-", sync_groups=False, sync_users_password=True)
    await copied(here, source)
    owner, user = await owner_of(here), await user_named(here, "w-bob")
    place, dn = f"{API}/core/users/{user['pk']}/set_password/", f"uid=bob,ou=people,{BASE}"

    done = await owner.call("POST", place, json={"password": "a much better secret"})
    knows = slapd.is_password(dn, "a much better secret")
    slapd.stop()
    away = await owner.call("POST", place, json={"password": "another good secret"})

    assert done.status_code == 204, done.text
    assert knows
    assert away.status_code == 400
    assert "directory" in away.json()["password"][0]
    browser = Browser(here)
    await sign_in(browser, "w-bob", "a much better secret")
    assert await browser.who() == "w-bob"
    await forget(here, source)


async def test_nobody_names_the_entry_whose_password_is_tried_or_set(here: Town, slapd: Slapd) -> None:
    """Attributes can be changed by whoever may change people; the name of the entry is the directory's word."""
    source = await make_directory(here, slapd, "dn-", sync_groups=False, sync_users_password=True)
    await copied(here, source)
    owner, bob = await owner_of(here), await user_named(here, "dn-bob")
    place, others = f"{API}/core/users/{bob['pk']}/", f"uid=ada,ou=people,{BASE}"
    attributes = {**bob["attributes"], "distinguishedName": others.replace(",", ", ", 1)}  # nobody has this spelling
    assert (await owner.call("PATCH", place, json={"attributes": attributes})).status_code == 200
    browser = Browser(here)

    await sign_in(browser, "dn-bob", "first secret")
    done = await owner.call("POST", f"{place}set_password/", json={"password": "a much better secret"})

    assert await browser.who() is None
    assert done.status_code == 204, done.text
    assert slapd.is_password(others, "first secret")
    assert slapd.is_password(f"uid=bob,ou=people,{BASE}", "a much better secret")
    await forget(here, source)


async def test_a_password_of_a_blueprint_is_written_back(here: Town, slapd: Slapd) -> None:
    source = await make_directory(here, slapd, "bp-", sync_groups=False, sync_users_password=True)
    await copied(here, source)
    owner, dn = await owner_of(here), f"uid=bob,ou=people,{BASE}"

    def blueprint(password: str, more: str = "") -> str:
        attrs = f"{{password: {password}}}"
        return f"entries:\n- {{model: core.user, identifiers: {{username: bp-bob}}, attrs: {attrs}{more}}}\n"

    async def imported(content: str) -> httpx.Response:
        return await owner.call("POST", f"{API}/managed/blueprints/import/", json={"content": content})

    # what is not set here is not set there: an entry that only makes records, a condition, a mistake further down
    kept = await imported(blueprint("never a good secret", ", state: created"))
    unmet = await imported(blueprint("never a good secret", ", conditions: [false]"))
    wrong = await imported(blueprint("never a good secret") + "- {model: core.group, identifiers: {nonsense: 1}}\n")
    never = slapd.is_password(dn, "never a good secret")
    done = await imported(blueprint("a blueprint's own secret"))
    knows = slapd.is_password(dn, "a blueprint's own secret")
    slapd.stop()
    away = await imported(blueprint("another good secret"))

    assert [one.json()["success"] for one in (kept, unmet, wrong, done, away)] == [True, True, False, True, False]
    assert not never
    assert knows
    assert "directory" in away.text
    browser = Browser(here)
    await sign_in(browser, "bp-bob", "a blueprint's own secret")
    assert await browser.who() == "bp-bob"
    await forget(here, source)


async def test_without_the_certificate_nothing_is_said(here: Town, slapd: Slapd) -> None:
    """StartTLS comes before the bind, and a server that cannot prove itself is not told the password."""
    source = await make_directory(here, slapd, "t-", peer_certificate=None)

    told = await copied(here, source)

    assert told["last_sync_status"] == "error"
    assert "certificate" in told["notes"][-1].lower()
    await forget(here, source)


async def test_a_name_that_is_taken_is_left_out_and_said(here: Town, slapd: Slapd) -> None:
    await here.sign_up("n-ada")
    source = await make_directory(here, slapd, "n-", sync_groups=False)

    told = await copied(here, source)

    assert told["progress"]["users"]["create"] == 2
    assert any("n-ada" in note for note in told["notes"])
    assert "ldap_uniq" not in (await user_named(here, "n-ada"))["attributes"]
    await forget(here, source)


async def test_what_somebody_is_called_here_is_no_address_of_a_directory_and_the_other_way_round(
    here: Town, slapd: Slapd
) -> None:
    owner = await owner_of(here)
    source = await make_directory(here, slapd, "u-", enabled=False)
    upn = await make(
        owner, "/propertymappings/ldap/", name=new_name("upn"), object_field="attributes.upn",
        expression='return "U-" + ldap.get("uid") + "@corp.example"',
    )  # fmt: skip
    await make(owner, "/core/users/", username=new_name("n"), name="Owner", email="u-ada@corp.example")
    await make(owner, "/core/users/", username="u-bob@directory.example", name="Namesake")
    changed = {"enabled": True, "property_mappings": [*source["property_mappings"], upn["pk"]]}
    await owner.call("PATCH", f"{API}/sources/ldap/{source['pk']}/", json=changed)
    await copied(here, source)
    slapd.change(
        f"dn: uid=eve,ou=people,{BASE}\nchangetype: modify\nreplace: mail\nmail: bob@directory.example\n-\n"
        "replace: title\ntitle: Baroness\n"
    )
    told = await copy_again(here, source)

    found = [await user_named(here, f"u-{name}") for name in ("ada", "bob", "eve")]
    assert [one["attributes"].get("upn") for one in found] == [None, "U-bob@corp.example", "U-eve@corp.example"]
    assert [one["email"] for one in found] == ["u-ada@directory.example", "", "u-eve@directory.example"]
    assert found[2]["attributes"]["title"] == "Baroness"
    assert any("u-ada: U-ada@corp.example" in one for one in told["notes"]), told
    await forget(here, source)


async def test_whoever_the_directory_forgets_by_mistake_stays(here: Town, slapd: Slapd) -> None:
    """A filter that finds nobody is a mistake, and not the end of everybody."""
    source = await make_directory(here, slapd, "m-", sync_groups=False, delete_not_found_objects=True)
    await copied(here, source)
    before = (await status(here, source))["progress"]["started"]

    await (await owner_of(here)).call(
        "PATCH", f"{API}/sources/ldap/{source['pk']}/", json={"user_object_filter": "(uid=nobody)"}
    )
    told = await copied(here, source, before)

    assert told["progress"]["users"]["delete"] == 0
    assert await user_named(here, "m-ada")
    await forget(here, source)


async def test_a_copy_that_is_killed_is_finished_after_the_next_start(engine: Engine, tmp_path: Path) -> None:
    many = [person(f"p{number:04}") for number in range(1200)]
    async with (
        running(tmp_path / "slapd", many) as slapd,
        build_town(engine, tmp_path / "town", private_hosts="127.0.0.1") as town,
    ):
        source = await make_directory(town, slapd, "k-", property_mappings=[], sync_groups=False)
        async with asyncio.timeout(60):
            while not ((await status(town, source))["progress"] or {}).get("read", {}).get("users"):
                await asyncio.sleep(0.01)
        await town.kill()
        await town.start()

        async with asyncio.timeout(120):
            while (await status(town, source))["last_sync_status"] != "successful":
                await asyncio.sleep(0.1)

        connections = await (await owner_of(town)).get(f"{API}/sources/user_connections/ldap/")
        assert connections.json()["count"] == len(many)


async def test_who_may_copy_a_directory(here: Town, slapd: Slapd) -> None:
    source = await make_directory(here, slapd, "p-", enabled=False)
    stranger: Person = await here.sign_up()

    answer = await stranger.call("POST", f"{API}/sources/ldap/{source['pk']}/sync/", json={"rehearse": True})

    assert answer.status_code == 403
    await forget(here, source)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("uid=Ada, ou=People , DC=example", "uid=ada,ou=people,dc=example"),
        (r"cn=Smith\, Ann,dc=e", r"cn=smith\, ann,dc=e"),
        ("cn=a=b,dc=e", "cn=a=b,dc=e"),
        ("", ""),
    ],
)
def test_names_of_entries_are_compared_in_a_normal_form(given: str, wanted: str) -> None:
    assert dn_key(given) == wanted


@pytest.mark.parametrize(
    ("given", "wanted"),
    [("ada", "ada"), ("*", r"\2a"), ("a)(uid=*", r"a\29\28uid=\2a"), ("a\\b\0", r"a\5cb\00"), ("é", r"\c3\a9")],
)
def test_values_in_filters_are_escaped(given: str, wanted: str) -> None:
    assert escaped_value(given) == wanted


def test_identifiers_of_active_directory_are_read() -> None:
    sid = bytes.fromhex("010500000000000515000000a065cf7e784b9b5fe77c8770091c0100")

    assert read_sid(sid) == "S-1-5-21-2127521184-1604012920-1887927527-72713"
    assert decoded("objectSid", sid) == read_sid(sid)
    assert read_sid(b"short") == b"short".hex()


@pytest.mark.parametrize(
    ("attributes", "wanted"),
    [
        ({"userAccountControl": [b"514"]}, True),
        ({"userAccountControl": [b"512"]}, False),
        ({"nsAccountLock": [b"TRUE"]}, True),
        ({"pwdAccountLockedTime": [b"000001010000Z"]}, True),
        ({"pwdAccountLockedTime": [b"20261116170000Z"]}, False),
        ({}, False),
    ],
)
def test_who_is_disabled(attributes: dict[str, list[bytes]], wanted: bool) -> None:
    assert is_disabled(read_entry("uid=a", attributes)) is wanted


async def test_a_directory_that_hangs_keeps_only_its_own_people_waiting() -> None:
    directories, released = Directories(), threading.Event()
    try:
        hanging = [asyncio.create_task(directories.ask("slow", released.wait, 60)) for _ in range(30)]
        await asyncio.sleep(0.1)

        async with asyncio.timeout(10):
            assert [await directories.ask("quick", str, number) for number in range(5)] == ["0", "1", "2", "3", "4"]
        assert not any(task.done() for task in hanging)
    finally:
        released.set()
        assert await asyncio.gather(*hanging) == [True] * 30
        directories.close()

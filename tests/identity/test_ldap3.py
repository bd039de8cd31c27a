"""The LDAP server, with a client library in Python: as web applications ask it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.identity.ldap_client import BASE, LdapTown, name_of
from tests.identity.ldap_library import (
    MODIFY_REPLACE,
    Bound,
    Connection,
    escape_filter_chars,
    escape_rdn,
    found_by,
)
from tests.identity.records import API, make
from tests.town import Person, build_town
from tests.town.ports import ReservedPort
from tests.town.town import Engine


@pytest.fixture(scope="module")
async def ldap(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LdapTown]:
    with ReservedPort() as plain, ReservedPort() as encrypted:
        folder, here = tmp_path_factory.mktemp("ldap3"), "127.0.0.1"
        async with build_town(
            engine, folder, ldap_bind=f"{here}:{plain.number}", ldaps_bind=f"{here}:{encrypted.number}"
        ) as town:
            found = LdapTown(town, plain, encrypted)
            await found.furnish(await town.sign_up("boss", role="owner"))
            yield found


@pytest.fixture
def boss(ldap: LdapTown) -> Person:
    return Person(ldap.town.http, "boss", "correct horse boss")


@pytest.fixture
async def ada(ldap: LdapTown) -> Person:
    return await ldap.town.sign_up()


@pytest.mark.parametrize("tls", ["", "start", "all"])
async def test_who_binds_is_told_who_they_are(ldap: LdapTown, ada: Person, tls: str) -> None:
    who = await Bound(ldap, ada, tls=tls).do(lambda one: one.extend.standard.who_am_i())
    assert who == f"dn:{name_of(ada)}"


async def test_a_wrong_password_is_refused_and_reads_nothing(ldap: LdapTown, ada: Person) -> None:
    def tried(one: Connection) -> tuple[str, list[Any]]:
        refused = one.result["description"]
        one.search(BASE, "(objectClass=*)")
        return refused, [entry for entry in one.response or [] if entry["type"] == "searchResEntry"]

    assert await Bound(ldap, ada, "wrong").do(tried) == ("invalidCredentials", [])


async def test_the_server_says_what_it_can_and_what_there_is(ldap: LdapTown, boss: Person, ada: Person) -> None:
    """The library reads the root and the schema as it connects, and asks for no name that is not in it."""
    sent = {"name": "badge", "object_field": "badgeNumber", "expression": "return str(user.pk)"}
    mapping = await make(boss, "/propertymappings/ldap/", **sent)
    await boss.call("PATCH", f"{API}/providers/ldap/{ldap.provider}/", json={"property_mappings": [mapping["pk"]]})

    def told(one: Connection) -> tuple[Any, Any, set[str]]:
        return one.server.info, one.server.schema, set(one.server.schema.attribute_types)

    info, schema, attributes = await Bound(ldap, None).do(told)
    assert info.naming_contexts == [BASE]
    assert info.supported_ldap_versions == ["3"]
    assert "inetOrgPerson" in schema.object_classes
    assert {"uid", "mail", "memberOf", "member", "objectClasses", "namingContexts"} <= attributes
    asked = {"attributes": ["badgeNumber", "entryUUID"]}
    found = await Bound(ldap, ada).do(lambda one: found_by(one, f"(uid={ada.username})", **asked))
    assert set(found[name_of(ada)]) == {"badgeNumber", "entryUUID"}


async def test_an_application_finds_people_and_lets_them_in(ldap: LdapTown, boss: Person, ada: Person) -> None:
    """The usual way: search for the name with rights of its own, then bind as what was found."""
    asked = f"(&(objectClass=person)(|(uid={ada.username})(mail={ada.username})))"
    found = await Bound(ldap, boss).do(lambda one: found_by(one, asked, attributes=["uid", "mail", "cn"]))
    [dn] = found
    assert dn == name_of(ada)
    assert found[dn]["mail"] == [f"{ada.username}@example.org"]
    assert set(found[dn]) == {"uid", "mail", "cn"}, "what was asked for, and no more"
    assert await Bound(ldap, ada).do(lambda one: one.bound)


async def test_pages_of_the_library_hold_everybody_once(ldap: LdapTown, boss: Person) -> None:
    names = {(await ldap.town.sign_up()).username for _ in range(3)}

    def walked(one: Connection) -> list[str]:
        pages = one.extend.standard.paged_search(
            BASE, "(objectClass=person)", attributes=["uid"], paged_size=2, generator=True
        )
        return [entry["attributes"]["uid"][0] for entry in pages if entry["type"] == "searchResEntry"]

    told = await Bound(ldap, boss).do(walked)
    assert len(told) == len(set(told))
    assert names < set(told)


async def test_a_group_decides_as_applications_ask_it(ldap: LdapTown, boss: Person, ada: Person) -> None:
    [user] = (await boss.get(f"{API}/core/users/", params={"username": ada.username})).json()["results"]
    name = f"Crew (of, {ada.username})"
    await make(boss, "/core/groups/", name=name, user_set=[user["pk"]])
    group = f"cn={escape_rdn(name)},ou=groups,{BASE}"
    asked = f"(&(cn={escape_filter_chars(name)})(member={escape_filter_chars(name_of(ada))}))"
    assert list(await Bound(ldap, boss).do(lambda one: found_by(one, asked))) == [group]
    is_in = await Bound(ldap, boss).do(lambda one: one.compare(group, "member", name_of(ada)))
    assert is_in
    inward = f"(&(uid={ada.username})(memberOf={escape_filter_chars(group)}))"
    assert list(await Bound(ldap, boss).do(lambda one: found_by(one, inward))) == [name_of(ada)]


async def test_what_would_change_something_is_refused(ldap: LdapTown, boss: Person, ada: Person) -> None:
    def tried(one: Connection) -> list[str]:
        tries: list[tuple[str, tuple[Any, ...]]] = [
            ("modify", (name_of(ada), {"mail": [(MODIFY_REPLACE, ["x@example.org"])]})),
            ("add", (f"cn=new,ou=users,{BASE}", ["person"], {"sn": "new", "cn": "new"})),
            ("delete", (name_of(ada),)),
            ("modify_dn", (name_of(ada), "cn=other")),
        ]
        said = []
        for verb, words in tries:
            getattr(one, verb)(*words)
            said.append(one.result["description"])
        return said

    assert set(await Bound(ldap, boss).do(tried)) == {"unwillingToPerform"}
    assert await Bound(ldap, ada).do(lambda one: one.bound)


async def test_a_new_password_counts_for_the_next_bind(ldap: LdapTown, boss: Person, ada: Person) -> None:
    [user] = (await boss.get(f"{API}/core/users/", params={"username": ada.username})).json()["results"]
    assert await Bound(ldap, ada).do(lambda one: one.bound)
    changed = await boss.call(
        "POST", f"{API}/core/users/{user['pk']}/set_password/", json={"password": "an entirely new one"}
    )
    assert changed.status_code == 204, changed.text
    assert not await Bound(ldap, ada).do(lambda one: one.bound)
    assert await Bound(ldap, ada, "an entirely new one").do(lambda one: one.bound)

"""The LDAP server, with Debian's own client: who may bind, what they find, and what ends at once."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import bindparam, update

from kith.base.db import command
from kith.identity.distinguished_names import escape, join, read_name
from kith.identity.groups.tables import groups
from kith.identity.ldap_server.ber import BerError, encode, encode_integer
from kith.identity.ldap_server.entries import EntryLookup, LdapEntry
from kith.identity.ldap_server.filters import (
    And,
    AtLeast,
    Equal,
    Not,
    Or,
    Present,
    SearchFilter,
    Substring,
    Undefined,
    candidates,
    holds,
)
from kith.identity.ldap_server.messages import BindRequest, read_message
from tests.identity.ldap_client import BASE, LdapTown, name_of
from tests.identity.records import API, make, new_name
from tests.identity.test_addresses import call
from tests.identity.test_endings import MEMBERS_AGE, PERSON_AGES, let_pass
from tests.identity.test_flows_run import set_up_codes, signed_in
from tests.town import Person, build_town
from tests.town.ports import ReservedPort
from tests.town.town import Engine


@pytest.fixture(scope="module")
async def ldap(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LdapTown]:
    with ReservedPort() as plain, ReservedPort() as encrypted:
        folder, here = tmp_path_factory.mktemp("ldap"), "127.0.0.1"
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


async def id_of(boss: Person, who: Person) -> int:
    found = await boss.get(f"{API}/core/users/", params={"username": who.username})
    return int(found.json()["results"][0]["pk"])


async def test_the_root_is_read_without_a_bind_and_nothing_else_is(ldap: LdapTown) -> None:
    root = await ldap.run("ldapsearch", "-LLL", "-s", "base", "-b", "", "*", "+")
    tree = await ldap.search(None)

    assert f"namingContexts: {BASE}" in root.out
    assert "supportedExtension: 1.3.6.1.4.1.1466.20037" in root.out
    assert (tree.code, tree.out) == (50, "")


@pytest.mark.parametrize("tls", ["", "start", "all"])
async def test_who_binds_is_told_who_they_are(ldap: LdapTown, ada: Person, tls: str) -> None:
    said = await ldap.whoami(ada, tls)

    assert (said.code, said.out.strip()) == (0, f"dn:{name_of(ada)}"), said.error


async def test_whoever_encrypts_at_once_is_heard(ldap: LdapTown, ada: Person) -> None:
    """Their first message is there before the server has turned to the connection."""
    for _ in range(3):
        os.kill(ldap.town.pid, signal.SIGSTOP)
        asked = asyncio.create_task(ldap.whoami(ada, "all"))
        await asyncio.sleep(0.2)
        os.kill(ldap.town.pid, signal.SIGCONT)
        said = await asked
        assert said.code == 0, said.error


async def test_what_proves_nothing_is_refused(ldap: LdapTown, ada: Person) -> None:
    wrong, nobody, empty = (Person(ldap.town.http, name, word) for name, word in ((ada.username, "x"), ("nobody", "x"), (ada.username, "")))  # fmt: skip

    assert [(await ldap.whoami(one)).code for one in (wrong, nobody)] == [49, 49]
    assert (await ldap.whoami(empty)).code == 53
    elsewhere = await ldap.run("ldapwhoami", "-D", f"cn={ada.username},ou=users,dc=elsewhere", "-w", ada.password)
    assert elsewhere.code == 49


async def test_an_address_stands_for_nobody_in_the_tree(ldap: LdapTown, boss: Person, ada: Person) -> None:
    """Not for its owner, and above all not for somebody who is called like it."""
    address, theirs = f"{ada.username}@example.org", "the namesake's one"
    key = (
        await ldap.town.kith("tokens", "create", ada.username, "--intent", "app_password", "--scopes", "api")
    ).strip()
    owner = [await ldap.whoami(Person(ldap.town.http, address, word)) for word in (ada.password, key)]
    made = await make(boss, "/core/users/", username=new_name("n"), name="N", password=theirs)
    await call(ldap.town, made["pk"], address)

    after = [await ldap.whoami(Person(ldap.town.http, address, word)) for word in (ada.password, key)]
    namesake = await ldap.whoami(Person(ldap.town.http, address, theirs))

    assert [one.code for one in (*owner, *after)] == [49] * 4
    assert namesake.out.strip() == f"dn:cn={address},ou=users,{BASE}"
    assert (await ldap.whoami(Person(ldap.town.http, ada.username, key))).code == 0


_RENAME = command(update(groups).where(groups.c.group_uuid == bindparam("group")).values(name=bindparam("called")))


async def test_groups_of_one_name_are_in_the_tree_no_more_than_one_is_the_other(
    ldap: LdapTown, boss: Person, ada: Person
) -> None:
    """Such names are refused now. From before there may be some."""
    bob = await ldap.town.sign_up()
    name = new_name("Staff of")
    members = [await id_of(boss, one) for one in (ada, bob)]
    first, second = [
        await make(boss, "/core/groups/", name=name + more, user_set=[one])
        for more, one in zip(("", " too"), members, strict=True)
    ]
    place = f"cn={name},ou=groups,{BASE}"
    alone = (await ldap.search(boss, f"(memberOf={place})", "memberOf")).entries

    async with ldap.town.house() as house, house.works.begin() as work:
        await work.db.run(_RENAME, group=second["pk"], called=name.upper().replace(" ", "  "))
    async with asyncio.timeout(60):
        while found := (await ldap.search(boss, f"(memberOf={place})", "memberOf")).entries:
            assert set(found) <= {name_of(ada), name_of(bob)}
            await asyncio.sleep(0.2)
    person = (await ldap.search(boss, f"(cn={bob.username})", "memberOf")).entries[name_of(bob)]
    groups_there = (await ldap.search(boss, "(objectClass=groupOfNames)", "cn")).entries
    one = await ldap.run("ldapsearch", "-LLL", "-b", place, "-s", "base", who=boss)

    assert set(alone) == {name_of(ada)}
    assert "memberOf" not in person
    assert not {dn for dn in groups_there if name.lower().split()[-1] in dn.lower()}
    assert one.code == 32
    renamed = await boss.call("PATCH", f"{API}/core/groups/{first['pk']}/", json={"name": f"{name}!"})
    assert renamed.status_code == 200, renamed.text


async def test_members_find_themselves_and_whoever_may_see_people_finds_everybody(
    ldap: LdapTown, boss: Person, ada: Person
) -> None:
    bob = await ldap.town.sign_up()
    both = [await id_of(boss, one) for one in (ada, bob)]
    await make(boss, "/core/groups/", name=f"Friends, of {ada.username}", user_set=both)

    mine = (await ldap.search(ada)).entries
    every = (await ldap.search(boss)).entries

    friends = f"cn=Friends\\, of {ada.username},ou=groups,{BASE}"
    units = {BASE, f"ou=users,{BASE}", f"ou=groups,{BASE}"}
    assert set(mine) == units | {name_of(ada), friends}
    assert mine[friends]["member"] == [name_of(ada)]
    assert {name_of(ada), name_of(bob), name_of(boss), friends} < set(every)
    assert every[friends]["member"] == [name_of(ada), name_of(bob)]
    assert every[name_of(ada)]["memberOf"] == [friends]
    assert every[name_of(ada)]["mail"] == [f"{ada.username}@example.org"]
    assert every[name_of(ada)]["uid"] == [ada.username]
    assert "userPassword" not in every[name_of(ada)]


async def test_filters_find_what_they_mean(ldap: LdapTown, boss: Person, ada: Person) -> None:
    me, name = name_of(ada), ada.username
    number = (await ldap.search(boss, f"(uid={name})")).entries[me]["uidNumber"][0]
    for asked in (
        f"(cn={name.upper()})",
        f"(mail={name}@example.org)",
        f"(&(objectClass=inetOrgPerson)(|(uid={name})(mail={name}))(!(cn=boss)))",
        f"(uidNumber={number})",
        f"(&(sAMAccountName={name})(objectClass=user))",
        f"(&(uid={name[:7]}*{name[-3:]})(uid=*{name[2:6]}*)(uidNumber>={number})(uidNumber<={number}))",
        f"(entryDN={name_of(ada).replace(',', ' , ')})",
    ):
        assert list((await ldap.search(boss, asked)).entries) == [me], asked
    for asked in (
        f"(&(objectClass=group)(cn={name}))",
        "(uid=nobody)",
        "(userPassword=*)",
        "(!(|(uid=*)(ou=*)(dc=*)(cn=*)))",
    ):
        assert (await ldap.search(boss, asked)).entries == {}, asked


async def test_an_address_is_told_only_where_it_is_theirs(ldap: LdapTown, boss: Person, ada: Person) -> None:
    """Attributes come from directories, files and people: programs that sign in by address believe none of them."""
    theirs = dict.fromkeys(("mail", "Email", "rfc822Mailbox", "userPrincipalName"), "boss@example.org")
    path = f"{API}/core/users/{await id_of(boss, ada)}/"
    sent = await boss.call("PATCH", path, json={"attributes": theirs | {"departmentNumber": "7"}})
    assert sent.status_code == 200, sent.text

    found = (await ldap.search(boss, f"(uid={ada.username})")).entries[name_of(ada)]

    told = {name: values for name, values in found.items() if "boss@example.org" in values}
    assert (told, found["mail"], found["departmentNumber"]) == ({}, [f"{ada.username}@example.org"], ["7"])
    for name in theirs:
        assert name_of(ada) not in (await ldap.search(boss, f"({name}=boss@example.org)")).entries, name


async def test_where_a_search_begins_and_how_deep_it_goes(ldap: LdapTown, boss: Person, ada: Person) -> None:
    async def found(base: str, scope: str) -> set[str]:
        return set((await ldap.search(boss, "(objectClass=*)", "dn", "-s", scope, base=base)).entries)

    users, groups = f"ou=users,{BASE}", f"ou=groups,{BASE}"
    assert await found(BASE, "base") == {BASE}
    assert await found(BASE, "one") == {users, groups}
    assert await found(users, "base") == {users}
    assert name_of(ada) in await found(users, "one")
    assert users not in await found(users, "one")
    assert await found(name_of(ada), "base") == await found(name_of(ada), "sub") == {name_of(ada)}
    assert await found(name_of(ada), "one") == set()
    assert (await ldap.search(boss, base=f"cn=nobody,ou=users,{BASE}")).code == 32
    assert (await ldap.search(boss, base="dc=elsewhere")).code == 32


async def test_pages_hold_everything_once(ldap: LdapTown, boss: Person, ada: Person) -> None:
    whole = list((await ldap.search(boss, "(objectClass=*)", "dn")).entries)
    said = await ldap.search(boss, "(objectClass=*)", "dn", "-E", "pr=2/noprompt")
    limited = await ldap.search(boss, "(objectClass=*)", "dn", "-z", "2")

    assert name_of(ada) in whole
    assert [line[4:] for line in said.out.splitlines() if line.startswith("dn: ")] == whole
    assert (limited.code, len(limited.entries)) == (4, 2)


async def test_a_policy_decides_who_comes_in(ldap: LdapTown, boss: Person, ada: Person) -> None:
    bob = await ldap.town.sign_up()
    bound = {"target": ldap.application, "user": await id_of(boss, bob), "order": 0, "negate": True}
    made = await boss.call("POST", f"{API}/policies/bindings/", json=bound)
    assert made.status_code == 201, made.text
    try:
        refused, let_in = await ldap.whoami(bob), await ldap.whoami(ada)
    finally:
        await boss.call("DELETE", f"{API}/policies/bindings/{made.json()['pk']}/")

    assert refused.code == 50
    code = refused.error.rpartition("(")[2].partition(")")[0]
    assert "application Old software" in await ldap.town.kith("why", code)
    assert let_in.code == 0


async def test_a_new_password_and_a_disabled_person_count_at_once(ldap: LdapTown, boss: Person, ada: Person) -> None:
    pk = await id_of(boss, ada)
    assert (await ldap.whoami(ada)).code == 0
    await boss.call("POST", f"{API}/core/users/{pk}/set_password/", json={"password": "another horse entirely"})
    renewed = Person(ldap.town.http, ada.username, "another horse entirely")
    assert [(await ldap.whoami(one)).code for one in (ada, renewed)] == [49, 0]

    await boss.call("PATCH", f"{API}/core/users/{pk}/", json={"is_active": False})
    assert (await ldap.whoami(renewed)).code == 49
    assert name_of(ada) not in (await ldap.search(boss)).entries


async def test_what_has_ended_is_not_found_although_nobody_has_noticed(
    ldap: LdapTown, boss: Person, ada: Person
) -> None:
    group = await make(boss, "/core/groups/", name=f"Guests of {ada.username}", user_set=[await id_of(boss, ada)])
    guests = f"cn={group['name']},ou=groups,{BASE}"
    assert (await ldap.search(boss)).entries[name_of(ada)]["memberOf"] == [guests]

    await let_pass(ldap.town, MEMBERS_AGE, group["pk"])
    every = (await ldap.search(boss)).entries
    assert "memberOf" not in every[name_of(ada)]
    assert "member" not in every[guests]
    assert guests not in (await ldap.search(ada)).entries

    await let_pass(ldap.town, PERSON_AGES, await id_of(boss, ada))
    assert (await ldap.whoami(ada)).code == 49
    assert name_of(ada) not in (await ldap.search(boss)).entries


async def test_with_a_second_factor_the_password_needs_a_code(ldap: LdapTown, ada: Person) -> None:
    codes = await set_up_codes(await signed_in(ldap.town, ada))
    with_code = Person(ldap.town.http, ada.username, f"{ada.password};{codes[0]}")
    other_code = Person(ldap.town.http, ada.username, f"{ada.password};{codes[1]}")
    wrong = Person(ldap.town.http, ada.username, f"wrong;{codes[1]}")

    assert (await ldap.whoami(ada)).code == 49
    assert (await ldap.whoami(wrong)).code == 49
    assert [(await ldap.whoami(one)).code for one in (with_code, other_code, with_code)] == [0, 0, 49]


async def test_an_app_password_opens_and_a_token_for_the_api_does_not(
    ldap: LdapTown, boss: Person, ada: Person
) -> None:
    async def key(intent: str) -> Person:
        words = ("tokens", "create", ada.username, "--intent", intent, "--scopes", "api")
        return Person(ldap.town.http, ada.username, (await ldap.town.kith(*words)).strip())

    assert (await ldap.whoami(await key("app_password"))).code == 0
    assert (await ldap.whoami(await key("api"))).code == 49


async def test_nothing_is_written_there(ldap: LdapTown, boss: Person, ada: Person) -> None:
    deleted = await ldap.run("ldapdelete", name_of(ada), who=boss)
    changed = await ldap.run("ldappasswd", "-s", "something", name_of(ada), who=boss)

    assert deleted.code == 53
    assert "not known here" in changed.out
    assert (await ldap.whoami(ada)).code == 0


async def test_mappings_give_attributes(ldap: LdapTown, boss: Person, ada: Person) -> None:
    sent = {"name": "shoe size", "object_field": "shoeSize", "expression": "return [len(user.username), 'EU']"}
    mapping = (await boss.call("POST", f"{API}/propertymappings/ldap/", json=sent)).json()["pk"]
    broken = sent | {"name": "broken", "object_field": "broken", "expression": "return 1 / 0"}
    other = (await boss.call("POST", f"{API}/propertymappings/ldap/", json=broken)).json()["pk"]
    place = f"{API}/providers/ldap/{ldap.provider}/"
    await boss.call("PATCH", place, json={"property_mappings": [mapping, other]})
    try:
        found = (await ldap.search(boss, f"(uid={ada.username})")).entries[name_of(ada)]
    finally:
        await boss.call("PATCH", place, json={"property_mappings": []})

    assert found["shoeSize"] == [str(len(ada.username)), "EU"]
    assert "broken" not in found


async def test_what_gateways_sign_in_with_is_told_only_by_a_mapping(ldap: LdapTown, boss: Person, ada: Person) -> None:
    """A member would read the password that their group shares, and could come in beside the gateway."""
    name = f"wiki-{ada.username.replace('_', '-')}"
    await make(
        boss, "/providers/applicationgateway/", name=name, internal_host="http://inside.example",
        external_host=f"https://{name}.example.org", basic_auth_enabled=True, basic_auth_user_attribute="wikiUser",
        basic_auth_password_attribute="wikiWord",
    )  # fmt: skip
    own = {"wikiUser": "svc", "wikiWord": "shared", "WIKIword": "shared", "desk": "3"}
    await make(boss, "/core/groups/", name=name, user_set=[await id_of(boss, ada)], attributes=own)
    await boss.call("PATCH", f"{API}/core/users/{await id_of(boss, ada)}/", json={"attributes": own})
    group = f"cn={name},ou=groups,{BASE}"
    for person in (ada, boss):
        for asked in (f"(|(uid={ada.username})(cn={name}))", "(objectClass=*)"):
            found = (await ldap.search(person, asked)).entries
            for entry in (found[name_of(ada)], found[group]):
                told = {one.lower() for one in entry}
                assert ("desk" in told, told & {"wikiword", "wikiuser"}) == (True, set())
        assert not {group, name_of(ada)} & set((await ldap.search(person, "(wikiWord=shared)")).entries)
    sent = {"name": name, "object_field": "wikiUser", "expression": "return user.attributes.get('wikiUser')"}
    mapping = await make(boss, "/propertymappings/ldap/", **sent)
    place = f"{API}/providers/ldap/{ldap.provider}/"
    await boss.call("PATCH", place, json={"property_mappings": [mapping["pk"]]})
    try:
        found = (await ldap.search(boss, f"(uid={ada.username})")).entries
    finally:
        await boss.call("PATCH", place, json={"property_mappings": []})
    assert found[name_of(ada)]["wikiUser"] == ["svc"]


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x30\x84\xff\xff\xff\xff",
        b"\x30\x80",
        encode(0x30, encode_integer(1) + encode(0x63, b"\x04\x00" * 3)),
        encode(0x30, encode_integer(1) + encode(0x60, encode_integer(3) + encode(4, b"x" * 5000) + encode(0x80, b""))),
        encode(0x30, b"x" * 20_000),
    ],
)
async def test_what_is_no_ldap_ends_the_connection(ldap: LdapTown, sent: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", ldap.plain)
    writer.write(sent)
    answer = await asyncio.wait_for(reader.read(), 30)
    writer.close()

    assert b"1.3.6.1.4.1.1466.20036" in answer  # the notice of disconnection


# Bytes, names and filters


@given(st.binary(max_size=200))
def test_no_bytes_whatever_break_the_reader(data: bytes) -> None:
    for one in (data, encode(0x30, data), encode(0x30, encode_integer(1) + data)):
        with contextlib.suppress(BerError):
            read_message(one)


@given(st.text(max_size=50), st.text(max_size=50).filter(lambda text: "\0" not in text))
def test_a_bind_is_read_as_it_was_written(name: str, password: str) -> None:
    body = encode_integer(3) + encode(4, name.encode()) + encode(0x80, password.encode())
    read = read_message(encode(0x30, encode_integer(7) + encode(0x60, body)))

    assert read.id == 7
    assert read.request == BindRequest(3, name, password)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40))
def test_whatever_stands_in_a_name_comes_out_of_it(value: str) -> None:
    name = read_name(join("cn", value, BASE))

    assert name is not None
    assert name[0] == ("cn", " ".join(value.casefold().split()))
    assert name[1:] == (("dc", "example"), ("dc", "org"))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ()),
        ("CN=Ada , OU = Users,DC=x", (("cn", "ada"), ("ou", "users"), ("dc", "x"))),
        (r"cn=a\2Cb\, c\c3\a4,dc=x", (("cn", "a,b, cä"), ("dc", "x"))),
        ('cn="a,b",dc=x', (("cn", "a,b"), ("dc", "x"))),
        ("2.5.4.3=a,dc=x", (("cn", "a"), ("dc", "x"))),
        ("cn", None),
        ("cn=a,", None),
        ("cn=a+sn=b,dc=x", None),
        ("cn=#0401,dc=x", None),
        (r"cn=\zz", None),
        ("cn=" + "x" * 5000, None),
    ],
)
def test_names_are_read(text: str, parts: object) -> None:
    assert read_name(text) == parts


def test_what_would_end_a_value_is_escaped() -> None:
    assert escape(' a,b+"c"\\<d>;#') == '\\ a\\,b\\+\\"c\\"\\\\\\<d\\>\\;#'
    assert escape("#a ") == "\\#a\\ "


_ENTRY: dict[str, list[str]] = {"uid": ["Ada"], "n": ["7", "10"], "empty": []}


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (Equal("uid", "ada"), True),
        (Equal("uid", "bob"), False),
        (Present("uid"), True),
        (Present("empty"), False),
        (Undefined(), None),
        (Not(Undefined()), None),
        (And((Equal("uid", "ada"), Undefined())), None),
        (And((Equal("uid", "bob"), Undefined())), False),
        (Or((Equal("uid", "ada"), Undefined())), True),
        (Or((Equal("uid", "bob"), Undefined())), None),
        (And(()), True),
        (Or(()), False),
        (AtLeast("n", "9"), True),
        (AtLeast("n", "11"), False),
        (Substring("uid", "a", ("d",), "a"), True),
        (Substring("uid", "ad", (), "da"), False),
    ],
)
def test_filters_are_asked_of_entries(asked: SearchFilter, answer: bool | None) -> None:
    assert holds(asked, EntryLookup(LdapEntry("", _ENTRY))) is answer


def test_what_must_hold_is_looked_up_where_it_can_be() -> None:
    keys = frozenset({"uid", "mail"})
    ada, bob, other = Equal("uid", "ada"), Equal("mail", "bob"), Equal("sn", "x")

    assert candidates(And((other, ada)), keys) == frozenset({("uid", "ada")})
    assert candidates(Or((ada, bob)), keys) == frozenset({("uid", "ada"), ("mail", "bob")})
    assert candidates(Or((ada, other)), keys) is None
    assert candidates(Not(ada), keys) is None

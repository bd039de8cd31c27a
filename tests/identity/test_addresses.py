"""Whose an address is: whoever has proven it, and nobody who only says so."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kith.base.mail import MailRefused, checked_address
from kith.identity.users import store as users
from kith.identity.users.names import complain_email, email_key, typed_key, username_key
from tests.conftest import TownBuilder
from tests.identity.flow_browser import SIGN_IN, Browser, errors, link_in_mail
from tests.identity.records import API, make, make_stage, new_name, owner_of, results
from tests.identity.relying_party import make_party
from tests.identity.test_flows_run import RECOVERY, flow_of, questions
from tests.identity.test_signups import PASSWORD, SIGN_UP, answers, person, sign_up, words_to
from tests.town import Person, Town


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("Ada@Example.ORG", "ada@example.org"),
        ("  ada@example.org ", "ada@example.org"),
        ("ada@bücher.example", "ada@xn--bcher-kva.example"),
        ("ada@BÜCHER.example.", "ada@xn--bcher-kva.example"),
        ("ada@ｂücher.example", "ada@xn--bcher-kva.example"),
        ("Straße@example.org", "straße@example.org"),
        ("STRAẞE@example.org", "straße@example.org"),
        ("e\u0301@example.org", "\u00c9@example.org"),
    ],
)
def test_one_address_is_one_however_it_is_written(written: str, same: str) -> None:
    assert email_key(written) == email_key(same) == email_key(email_key(written))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ceo@weiß.example", "ceo@weiss.example"),
        ("ceo@βόλος.example", "ceo@βόλοσ.example"),
        ("straße@example.org", "strasse@example.org"),
        ("ａｄａ@example.org", "ada@example.org"),
        ("\u212aate@example.org", "kate@example.org"),
        ("ﬁ@example.org", "fi@example.org"),
    ],
)
def test_letters_that_only_look_or_sound_alike_are_other_mailboxes(one: str, other: str) -> None:
    assert email_key(one) != email_key(other)


_hosts = st.text(alphabet="aßẞsςσe\u0301é字x-.\u200d。", min_size=1, max_size=12)


@given(st.lists(_hosts, min_size=2, max_size=2))
def test_addresses_that_count_as_one_get_their_mail_in_one_place(hosts: list[str]) -> None:
    one, other = (f"ada@{host}.example" for host in hosts)
    if complain_email(one) is None and complain_email(other) is None and email_key(one) == email_key(other):
        assert _mailed(one) == _mailed(other)


def _mailed(address: str) -> str | None:
    try:
        return checked_address(address).lower()
    except MailRefused:
        return None


@pytest.mark.parametrize(
    ("written", "same"),
    [("Ada", "ada"), (" ada ", "ada"), ("ＡＤＡ", "ada"), ("Ada@Example.org", "ada@example.org"), ("ﬁ", "fi")],
)
def test_one_name_is_counted_as_one(written: str, same: str) -> None:
    assert typed_key(written) == typed_key(same)


async def come_in(town: Town, typed: str, password: str) -> str | None:
    """Who comes in at the page for signing in with this."""
    browser = Browser(town)
    await browser.sign_in(Person(town.http, typed, password))
    return await browser.who()


async def call(town: Town, user_id: int, name: str) -> None:
    """Give a name that is not given any more where it is somebody's address."""
    async with town.house() as house, house.works.begin() as work:
        await users.write(work.db, user_id, {"username": name, "username_key": username_key(name)}, work.now)


async def record_of(owner: Person, username: str) -> dict[str, Any]:
    [found] = await results(owner, "/core/users/", username=username)
    return found


# Somebody else's address


async def test_a_sign_up_with_somebodys_address_keeps_its_owner_in(town: Town) -> None:
    owner, ada = await owner_of(town), await town.sign_up()
    address = f"{ada.username}@example.org"
    free = new_name("free")

    eve = new_name("eve")
    told = await sign_up(town, eve, email=address.upper())
    usual = await sign_up(town, free)

    same = {"component", "response_errors"}
    assert {name: told.get(name) for name in same} == {name: usual.get(name) for name in same}
    assert await come_in(town, address, ada.password) == ada.username
    await words_to(town, address, "Somebody entered this e-mail address as their own")
    assert await record_of(owner, eve) | {"email_verified": False} == await record_of(owner, eve)
    assert not any("flow_token=" in str(mail) for mail in town.mails() if mail["To"] == address)
    browser = Browser(town)
    await browser.see(RECOVERY)
    await browser.answer(RECOVERY, component="identification", uid_field=address)
    await link_in_mail(town, address)
    [mail] = [one for one in town.mails() if one["To"] == address and "flow_token=" in str(one)]
    assert ada.username in str(mail)


async def test_nobody_is_called_like_an_address_by_choice(town: Town) -> None:
    owner, ada = await owner_of(town), await town.sign_up()
    address = f"{ada.username}@example.org"
    wrong = await sign_up(town, address, email="free@example.org")
    text = await make(
        owner,
        "/stages/prompt/prompts/",
        name=new_name("q"),
        field_key="username",
        label="Name",
        type="text",
        placeholder="Name",
    )
    form = await make(owner, "/stages/prompt/stages/", name=new_name("form"), fields=[text["pk"]])
    write = await make_stage(owner, "user_write", user_creation_mode="always_create", user_type="external")
    slug = (await flow_of(owner, "enrollment", form, await questions(owner), write))["slug"]
    browser = Browser(town)
    await browser.see(slug)
    custom = await browser.answer(slug, component="prompt", username=address)

    assert errors(wrong) == errors(custom) == ["A user name cannot contain @."]
    assert await results(owner, "/core/users/", username=address) == []


async def test_a_name_that_looks_like_an_address_never_stands_for_its_owner(town: Town) -> None:
    owner, ada = await owner_of(town), await town.sign_up()
    address, lonely = f"{ada.username}@example.org", f"{new_name('name')}@example.org"
    for name in (address, lonely):
        made = await make(owner, "/core/users/", username=new_name("n"), name="N", password="the namesake's one")
        await call(town, made["pk"], name)

    assert await come_in(town, address, ada.password) == ada.username
    assert await come_in(town, address, "the namesake's one") is None
    assert await come_in(town, lonely.upper(), "the namesake's one") == lonely
    mine = await town.http.get(f"{API}/core/users/me/", auth=(address, ada.password))
    theirs = await town.http.get(f"{API}/core/users/me/", auth=(address, "the namesake's one"))
    alone = await town.http.get(f"{API}/core/users/me/", auth=(lonely, "the namesake's one"))
    assert (mine.status_code, theirs.status_code, alone.status_code) == (200, 401, 200)
    assert mine.json()["username"] == ada.username


# Who proves it has it


async def test_of_two_who_gave_one_address_the_first_to_prove_it_has_it(town: Town) -> None:
    owner = await owner_of(town)
    first, second, address = new_name("first"), new_name("second"), f"{new_name('both')}@example.org"
    for name in (first, second):
        told = await sign_up(town, name, email=address)
        assert told["component"] == "email"
        assert await come_in(town, address, PASSWORD) is None
    await link_in_mail(town, address, more_than=1)
    keys = [
        str(body.get_content()).partition("flow_token=")[2].split()[0]
        for body in (mail.get_body(("plain",)) for mail in town.mails() if mail["To"] == address)
        if body is not None
    ]

    browser, late = Browser(town), Browser(town)
    await browser.follow(SIGN_UP, keys[1])
    refused = await late.follow(SIGN_UP, keys[0])

    assert (await browser.who(), await late.who()) == (second, None)
    assert refused["component"] == "access-denied"
    assert await come_in(town, address, PASSWORD) == second
    proven = [(await record_of(owner, name))["email_verified"] for name in (first, second)]
    assert proven == [False, True]


async def test_at_once_only_one_proves_an_address(town: Town) -> None:
    owner, address = await owner_of(town), f"{new_name('many')}@example.org"
    names = [new_name("one") for _ in range(4)]
    for name in names:
        await town.kith("users", "create", name, "--email", address, "--password", PASSWORD)

    confirmed = await asyncio.gather(*(_confirm(town, name) for name in names))

    assert sorted(confirmed) == [False, False, False, True]
    proven = [(await record_of(owner, name))["email_verified"] for name in names]
    assert proven == confirmed
    assert "is the confirmed e-mail address of another account" in await town.kith(
        "users", "confirm", names[confirmed.index(False)], expect=1
    )


async def _confirm(town: Town, name: str) -> bool:
    from kith.identity.signups import service  # noqa: PLC0415
    from kith.identity.users import store  # noqa: PLC0415

    async with town.house() as house, house.works.begin() as work:
        user = await store.find(work.db, name)
        assert user is not None
        return await service.confirm(work, user)


async def test_who_sets_addresses_is_told_when_one_is_somebodys(town: Town) -> None:
    owner, ada, bob = await owner_of(town), await town.sign_up(), await town.sign_up()
    unproven = new_name("unproven")
    await town.kith("users", "create", unproven, "--email", f"{unproven}@example.org", "--password", PASSWORD)
    theirs = await record_of(owner, bob.username)
    path = f"{API}/core/users/{theirs['pk']}/"

    for address in (f"{ada.username}@example.org", f"{ada.username.upper()}@EXAMPLE.ORG."):
        changed = await owner.call("PATCH", path, json={"email": address.rstrip("."), "name": "Changed"})
        made = await owner.call(
            "POST",
            f"{API}/core/users/",
            json={
                "username": new_name("u"),
                "name": "N",
                "email": address.rstrip("."),
            },
        )
        assert (changed.status_code, made.status_code) == (400, 400)
        assert changed.json() == made.json() == {"email": ["This address belongs to another account."]}
    assert await record_of(owner, bob.username) == theirs
    twice = await town.kith(
        "users",
        "create",
        new_name("u"),
        "--email",
        f"{ada.username}@example.org",
        "--password",
        PASSWORD,
        "--confirmed",
        expect=1,
    )
    assert "belongs to another account" in twice
    taken = await owner.call("PATCH", path, json={"email": f"{unproven}@example.org", "email_verified": False})
    assert taken.status_code == 200, taken.text
    assert taken.json()["email_verified"] is True
    refused = await town.kith("users", "confirm", unproven, expect=1)
    assert "another account" in refused
    kept = await owner.call("PATCH", path, json={"email": f"{unproven.upper()}@example.org"})
    assert kept.json()["email_verified"] is True


async def test_an_address_that_is_only_sent_along_is_not_proven_by_it(town: Town) -> None:
    owner, name = await owner_of(town), new_name("unproven")
    await town.kith("users", "create", name, "--email", f"{name}@example.org", "--password", PASSWORD)
    found = await record_of(owner, name)

    put = await owner.call("PUT", f"{API}/core/users/{found['pk']}/", json=found | {"name": "Other"})

    assert put.status_code == 200, put.text
    assert put.json()["email_verified"] is False


async def test_a_new_address_that_is_somebodys_changes_nothing_and_tells_nothing(town: Town) -> None:
    owner, ada, eve = await owner_of(town), await town.sign_up(), await town.sign_up()
    field = await make(
        owner,
        "/stages/prompt/prompts/",
        name=new_name("q"),
        field_key="email",
        label="E-mail",
        type="email",
        placeholder="E-mail",
    )
    form = await make(owner, "/stages/prompt/stages/", name=new_name("form"), fields=[field["pk"]])
    write = await make_stage(owner, "user_write", user_creation_mode="never_create")
    slug = (await flow_of(owner, "stage_setup", form, write))["slug"]
    browser = Browser(town)
    await browser.sign_in(eve)
    before = await record_of(owner, eve.username)

    told = []
    for address in (f"{ada.username}@example.org", f"{new_name('free')}@example.org"):
        await browser.see(slug)
        told.append(await browser.answer(slug, component="prompt", email=address))

    assert [one["component"] for one in told] == ["redirect"] * 2
    assert await record_of(owner, eve.username) == before
    await words_to(town, f"{ada.username}@example.org", "Somebody entered this e-mail address as their own")


# Where nothing is confirmed


async def test_where_nothing_is_confirmed_an_address_counts_and_is_not_verified(new_town: TownBuilder) -> None:
    town = await new_town(confirm_email="off")
    owner, ada = await town.owner(), new_name("ada")
    address = f"{ada}@example.org"
    party = await make_party(town, owner)

    first = await sign_up(town, ada)
    eve = new_name("eve")
    second = await sign_up(town, eve, email=address)

    assert first["component"] == second["component"] == "redirect"
    assert await come_in(town, address, PASSWORD) == ada
    claims = {}
    for name in (ada, eve):
        browser = Browser(town)
        await browser.sign_in(person(town, name))
        tokens = await party.tokens(browser)
        claims[name] = (await party.userinfo(tokens["access_token"])).json()
    assert (claims[ada]["email"], claims[ada]["email_verified"]) == (address, False)
    assert not {"email", "email_verified"} & {name for name, value in claims[eve].items() if value}
    assert (await record_of(owner, ada))["email_verified"] is False
    found = await make(
        owner,
        "/policies/expression/",
        name=new_name("p"),
        expression=(
            f'return ak_user_by(email="{address}").username == "{ada}" and not ak_user_by(email="{address}").email_verified'
        ),
    )
    tried = await owner.call(
        "POST",
        f"{API}/policies/all/{found['pk']}/test/",
        json={
            "user": (await record_of(owner, ada))["pk"],
        },
    )
    assert tried.json()["passing"] is True, tried.text

    # Whoever proves it later has it.
    made = await owner.call("POST", f"{API}/core/users/", json={"username": "real", "name": "R", "email": address})
    assert made.status_code == 201, made.text
    assert await come_in(town, address, PASSWORD) is None
    assert await come_in(town, ada, PASSWORD) == ada


async def test_a_link_in_the_recovery_mail_proves_an_address(new_town: TownBuilder) -> None:
    town = await new_town(confirm_email="off")
    owner, ada = await town.owner(), new_name("ada")
    await sign_up(town, ada)
    browser = Browser(town)

    await browser.see(RECOVERY)
    await browser.answer(RECOVERY, component="identification", uid_field=f"{ada}@example.org")
    await browser.follow(RECOVERY, await link_in_mail(town, f"{ada}@example.org"))

    assert (await record_of(owner, ada))["email_verified"] is True


async def test_no_recovery_mail_goes_where_nobody_has_proven_anything(town: Town) -> None:
    name, ada = new_name("unproven"), await town.sign_up()
    await town.kith("users", "create", name, "--email", f"{name}@example.org", "--password", PASSWORD)

    shown = []
    for typed in (name, f"{name}@example.org", new_name("nobody"), ada.username):
        browser = Browser(town)
        await browser.see(RECOVERY)
        told = await browser.answer(RECOVERY, component="identification", uid_field=typed)
        shown.append({name: value for name, value in told.items() if name != "pending_user"})

    assert all(one == shown[0] for one in shown)
    await link_in_mail(town, f"{ada.username}@example.org")  # the last one: jobs are done in their order
    assert [mail for mail in town.mails() if mail["To"] == f"{name}@example.org"] == []


async def test_mails_to_one_address_have_an_end(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on")
    address = f"{new_name('victim')}@example.org"

    for n in range(12):
        await sign_up(town, new_name(f"n{n}"), email=address)
    await sign_up(town, "last")
    await link_in_mail(town, "last@example.org")

    assert len([mail for mail in town.mails() if mail["To"] == address]) == 10


# What is said at sign-in stays the same for all


async def test_what_is_told_at_sign_in_does_not_depend_on_who_there_is(town: Town) -> None:
    ada, name = await town.sign_up(), new_name("unproven")
    await town.kith("users", "create", name, "--email", f"{name}@example.org", "--password", PASSWORD)
    shown = []
    for typed in (
        ada.username,
        f"{ada.username}@example.org",
        name,
        f"{name}@example.org",
        new_name("x"),
        "x@y.example",
    ):
        browser = Browser(town)
        await browser.see(SIGN_IN)
        asked = await browser.answer(SIGN_IN, component="identification", uid_field=typed)
        told = await browser.answer(SIGN_IN, component="password", password="not this one")
        shown.append([{name: value for name, value in one.items() if name != "pending_user"} for one in (asked, told)])
        assert asked["pending_user"] == told["pending_user"] == typed
    assert all(one == shown[0] for one in shown)


async def test_a_sign_up_form_says_nothing_about_addresses(town: Town) -> None:
    ada = await town.sign_up()
    browser = Browser(town)
    await browser.see(SIGN_UP)

    told = await browser.answer(SIGN_UP, **answers(ada.username, email=f"{ada.username}@example.org"))

    assert set(told["response_errors"]) == {"username"}  # names are public; addresses are not


async def test_an_address_at_a_domain_that_looks_alike_is_confirmed_by_itself(new_town: TownBuilder) -> None:
    town = await new_town(registrations="open", confirm_email="on")
    owner, name = await owner_of(town), new_name("mallory").replace("-", "_")
    browser = Browser(town)
    await browser.see(SIGN_UP)
    await browser.answer(SIGN_UP, **answers(name, email="ceo@weiß.example"))
    await browser.follow(SIGN_UP, await link_in_mail(town, "ceo@xn--wei-7ka.example"))
    mine = Browser(town)
    await mine.sign_in(person(town, name))
    await mine.http.get("/settings/security")
    form = {"csrf": mine.http.cookies["kith_csrf"], "email": "ceo@weiss.example", "current_password": PASSWORD}

    await mine.http.post("/settings/security/email", data=form)

    party = await make_party(town, owner)
    tokens = await party.tokens(mine, scope="openid email profile")
    told = (await party.userinfo(tokens["access_token"])).json()
    assert told["email"] == "ceo@weiß.example"
    assert "ceo@weiss.example" in [mail["To"] for mail in town.mails()]

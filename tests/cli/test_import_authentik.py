"""An authentik server moves in, from its database and from its export."""

from __future__ import annotations

import base64
import csv
from pathlib import Path

import pyotp
import pytest
from sqlalchemy import select

from kith.app import open_house
from kith.base.db import query
from kith.base.errors import Invalid
from kith.base.settings import load
from kith.cli.imports.authentik import import_steps
from kith.cli.imports.authentik.database import read_database
from kith.cli.imports.authentik.export import read_export
from kith.cli.imports.authentik.expressions import complaint_about, translated
from kith.cli.imports.authentik.records import AuthentikServer as OldServer
from kith.cli.imports.progress import Progress
from kith.cli.imports.running import open_run
from kith.identity.users import store
from kith.identity.users.tables import users
from tests.cli.authentik_server import (
    APP_PASSWORD,
    CLIENT_ID,
    CLIENT_SECRET,
    INSTALL_ID,
    PASSWORD,
    TOTP_KEY,
    AuthentikServer,
    subject_of,
)
from tests.cli.running import database, kith
from tests.conftest import TownBuilder
from tests.identity.flow_browser import SIGN_IN, Browser
from tests.identity.records import results
from tests.town import Person, Town, postgres
from tests.town.nursery import Done

TAKEN = {
    "certificates": 1, "groups": 3, "people": 3, "mappings": 1, "flows": 1, "policies": 1, "sources": 1, "prompts": 1,
    "stages": 5, "stage_bindings": 1, "providers": 4, "applications": 6,
}  # fmt: skip
_people = query(
    select(users.c.username, users.c.is_active, users.c.email, users.c.subject).order_by(users.c.username), tuple
)


async def walk(town: Town, server: OldServer, *, rehearse: bool = False, until: str = "") -> dict[str, int]:
    """The import in this process, up to a step; what was taken."""
    options = {"with_scim": False}
    async with (
        open_house(load(town.environment), connections=2) as house,
        open_run(house.works, "authentik", server.name, options, Progress(), rehearse=rehearse) as importing,
    ):
        async for step in import_steps(importing, server):
            if step.name == until:
                break
            await importing.do(step)
        if not until:
            await importing.finish()
        return {name: many for name, many in importing.taken.items() if many}


def taken(done: Done) -> dict[str, int]:
    assert done.code == bool(done.json["left_out"]), done.complained
    return {name: many for name, many in done.json["taken"].items() if many}


def report(done: Done) -> set[tuple[str, str, str]]:
    with Path(done.json["report"]).open(encoding="utf-8") as file:
        return {(row["what"], row["row"], row["why"]) for row in csv.DictReader(file)}


async def test_an_authentik_server_moves_in_from_its_database(new_town: TownBuilder, tmp_path: Path) -> None:
    # given
    town, old = await new_town(start=False), AuthentikServer()
    file, name = str(old.dump(tmp_path / "authentik.sql")), f"authentik_{town.port}"
    source = file if load(town.environment).is_sqlite else await postgres.create_database(name)

    # when
    try:
        if source != file:
            await old.create(source)
        rehearsed = await walk(town, await read_database(file, Progress()), rehearse=True)
        done = await kith(town, "import", "authentik", source, "--json")
    finally:
        if source != file:
            await postgres.drop_database(name)
    again = await walk(town, await read_database(file, Progress()))
    await town.start()

    # then
    more = {"policy_bindings": 5, "authenticators": 2, "tokens": 1, "connections": 1}
    assert taken(done) == rehearsed == TAKEN | more
    assert again == {}
    ada = Person(town.http, "ada", APP_PASSWORD)  # one of the old server
    await _see_people(ada)
    await _see_applications(town, ada, old)
    await _sign_in(town)
    assert not town.mails()
    left = report(done)
    assert {row[:2] for row in left if row[0] != "fields"} == {
        ("people", "eve"),
        ("people", "no such name!"),
        ("providers", "Remote desktops"),
        ("applications", "desktops"),
        ("flows", "default-authentication-flow"),
        ("flows", "default-provider-authorization-implicit-consent"),
        ("stages", "default-authentication-login"),
        ("policies", "asks-outside"),
        ("policy_bindings", "secret: no such name!"),
    }
    assert ("policies", "asks-outside", "its expression: it imports requests, which is not here") in left


async def _see_people(ada: Person) -> None:
    found = {one["username"]: one for one in await results(ada, "/core/users/")}
    assert set(found) >= {"ada", "bob", "eve"}
    assert (found["ada"]["date_joined"][:10], found["ada"]["attributes"]) == ("2021-03-04", {"shoe": 42})
    assert found["ada"]["is_superuser"]  # by a group of hers
    assert found["ada"]["uid"] == subject_of(7)
    assert not found["bob"]["is_active"]
    assert [found["ada"]["email"], found["eve"]["email"]] == ["ada@example.org", ""]
    groups = {one["name"]: one for one in await results(ada, "/core/groups/")}
    assert groups["Tenors"]["parent"] == groups["Choir"]["pk"]
    assert found["bob"]["groups"] == [groups["Tenors"]["pk"]]


async def _see_applications(town: Town, ada: Person, old: AuthentikServer) -> None:
    [wiki] = await results(ada, f"/providers/openid/?client_id={CLIENT_ID}")
    assert wiki["redirect_uri_matching"] == "regex"
    assert wiki["redirect_uris"] == [
        r"https://wiki\.example\.org/callback",
        r"https://[a-z]+\.wiki\.example\.org/callback",
    ]
    assert (wiki["signing_key"], wiki["property_mappings"]) == (old.id("cert"), [old.id("Teams")])
    answer = await town.http.post(
        "/application/o/token/", data={"grant_type": "client_credentials"}, auth=(CLIENT_ID, CLIENT_SECRET)
    )
    assert answer.json().get("error") != "invalid_client", answer.text
    bindings = {one["target"]: one for one in await results(ada, "/policies/bindings/")}
    applications = {one["slug"]: one for one in await results(ada, "/core/applications/")}
    assert bindings[applications["wiki"]["pk"]]["group"] == old.id("choir")
    assert bindings[applications["hr"]["pk"]]["policy"] == old.id("only-choir")
    # what decided and could not come refuses, except where a stage would be passed over by that
    refusals = {one["pk"]: one["name"] for one in await results(ada, "/policies/dummy/")}
    for slug, name in (("desktops", "asks-outside"), ("secret", "authentik-import-left-out")):
        bound = bindings[applications[slug]["pk"]]
        assert (refusals[bound["policy"]], bound["negate"]) == (name, False)
    [step] = [one for one in await results(ada, "/flows/bindings/") if one["pk"] == old.id("welcome-step")]
    assert bindings[step["pbm_uuid"]]["negate"]


async def _sign_in(town: Town) -> None:
    """With the password and the authenticator app that she has; from then on the hash is one of ours."""
    browser = Browser(town)
    asked = await browser.sign_in(Person(town.http, "ada", PASSWORD))
    assert asked["component"] == "otpvalidate", asked
    code = pyotp.TOTP(base64.b32encode(bytes.fromhex(TOTP_KEY)).decode()).now()
    await browser.answer(SIGN_IN, component="otpvalidate", code=code)
    assert await browser.who() == "ada"
    async with database(town) as db:
        found = await store.find(db, "ada")
    assert found is not None
    assert (found.password or "").startswith("$argon2id$")
    assert found.subject == subject_of(7)


async def test_its_export_goes_on_where_it_was_interrupted(new_town: TownBuilder, tmp_path: Path) -> None:
    # given an import that stopped after some steps
    town, old = await new_town(start=False), AuthentikServer()
    file = old.export(tmp_path / "authentik.yaml")
    server = read_export(file, INSTALL_ID)
    await walk(town, server, until="stages")

    # when
    done = await kith(town, "import", "authentik", str(file), "--install-id", INSTALL_ID, "--json")

    # then
    assert done.json["resumed"]
    assert taken(done) == TAKEN | {"policy_bindings": 4}
    async with database(town) as db:
        assert await db.all(_people) == [
            ("ada", True, "ada@example.org", subject_of(7)),
            ("bob", False, "bob@example.org", subject_of(8)),
            ("eve", True, "", subject_of(9)),
        ]
    left = report(done)
    assert {row[:2] for row in left if row[0] in ("people", "others", "policy_bindings")} == {
        ("people", "(everybody)"),
        ("people", "eve"),
        ("people", "no such name!"),
        ("others", "providers_rac.racprovider: Remote desktops"),
        ("policy_bindings", f"{old.id('welcome-step-target')}: asks-outside"),
        ("policy_bindings", "secret: no such name!"),
    }
    # what was told before it was interrupted is told once
    assert len([row for row in _lines(done) if row.startswith('policies,asks-outside,"its expression')]) == 1


def _lines(done: Done) -> list[str]:
    return Path(done.json["report"]).read_text("utf-8").splitlines()


@pytest.mark.parametrize(
    ("expression", "complaint"),
    [
        ("return request.user.ak_groups.filter(name='a b').exists()", None),
        ("return {'groups': [g.name for g in user.groups.all()]}", None),
        ("import re\nreturn re.match('a', user.email)", None),
        ("def f(x):\n    return x\nreturn f(client_ip)", None),
        ("return ak_client_ip in ip_network('10.0.0.0/8')", None),
        ("from authentik.core.models import User\nreturn True", "imports authentik.core.models"),
        ("return user.group_attributes(request)", "group_attributes"),
        ("return User.objects.count()", "uses User|objects"),
        ("return requests.get('x')", "uses requests"),
        ("return open('/etc/passwd')", "uses open"),
        ("return (", "cannot be read"),
        ("(" * 5000, "cannot be read"),
    ],
)
def test_expressions_are_taken_if_all_they_use_is_here(expression: str, complaint: str | None) -> None:
    found = complaint_about(translated(expression))
    assert (found is None) if complaint is None else any(one in str(found) for one in complaint.split("|"))


async def test_what_is_no_authentik_server_is_refused(tmp_path: Path) -> None:
    (tmp_path / "dump.sql").write_text("COPY public.accounts (id) FROM stdin;\n1\n\\.\n")
    with pytest.raises(Invalid, match="this is no authentik database"):
        await read_database(str(tmp_path / "dump.sql"), Progress())
    (tmp_path / "list.yaml").write_text("- 1")
    with pytest.raises(Invalid, match="a blueprint is a mapping"):
        read_export(tmp_path / "list.yaml", "")

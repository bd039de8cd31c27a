"""A Mastodon server moves in. Whoever follows from elsewhere notices nothing: tests/federation/test_moved_in.py."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pyotp
import pytest
from sqlalchemy import select

from kith.base.db import query
from kith.base.errors import Invalid
from kith.cli.imports.mastodon.move import Move
from kith.cli.imports.mastodon.rails import Secrets
from kith.cli.imports.mastodon.sources import Dump, source_for
from kith.cli.imports.mastodon.staging import Staging
from kith.cli.imports.mastodon.steps import steps
from kith.cli.imports.mastodon.touched import choose
from kith.cli.imports.progress import Progress
from kith.cli.imports.running import open_run
from kith.identity.users import store as users
from kith.social.accounts.tables import accounts
from kith.social.files.former import key_of_former
from kith.social.statuses.tables import statuses
from tests.cli.mastodon_server import KEYS, PASSWORD, PNG, RELEASES, TOKEN, TOTP_SECRET, MastodonServer
from tests.cli.running import database
from tests.conftest import TownBuilder
from tests.identity.flow_browser import SIGN_IN, Browser
from tests.social.members import Member
from tests.town import Person, Town, postgres
from tests.town.nursery import Done, run

ACTIVITY = {"Accept": "application/activity+json"}


async def bring(town: Town, source: str, *words: str, keys: bool = True) -> Done:
    """It exits with 1 where rows were left out."""
    environment = town.environment | (KEYS if keys else {})
    done = await run("import", "mastodon", source, *words, "--json", environment=environment)
    assert done.code == (bool(done.json["left_out"]) if done.said else 1), done.complained
    return done


@pytest.mark.parametrize("release", RELEASES)
async def test_a_mastodon_server_moves_in(new_town: TownBuilder, tmp_path: Path, release: str) -> None:
    town = await new_town(start=False)
    old = MastodonServer(release, town.base_url)
    media = str(old.write_media(tmp_path / "system"))
    database = f"mastodon_{town.port}" if release == "4.5" else ""
    if database:
        source = await postgres.create_database(database)
        await old.create(source)
    else:
        source = str(old.dump(tmp_path / ("mastodon.sql.gz" if release == "4.3" else "mastodon.sql")))
    try:
        rehearsed = await bring(town, source, "--media", media, "--rehearse") if release == "4.3" else None
        done = await bring(town, source, "--media", media)
    finally:
        if database:
            await postgres.drop_database(database)
    assert rehearsed is None or rehearsed.json["taken"] == done.json["taken"]
    assert not list((town.folder / "imports").glob("*.sqlite*"))
    await town.start()

    ada = Member(town, TOKEN)
    ada.me = await ada.get("/api/v1/accounts/verify_credentials")
    await _see_people(town, old, ada)
    await _see_posts(old, ada)
    await _see_relations(old, ada)
    await _see_documents(town, old)
    await _sign_in(town)
    said = [mail["Subject"] for mail in town.mails()]
    assert [subject for subject in said if not subject.startswith("New trends")] == []  # which may be found by now
    left = {(row["what"], row["row"]) for row in _report(done)}
    assert left == {
        ("statuses", str(old.ids["boost_of_gone"])),
        ("tags", "ｍaths"),
        ("tags", "12"),
        ("authenticator_apps", "bob"),
        ("scheduled_statuses", next(row["row"] for row in _report(done) if row["what"] == "scheduled_statuses")),
    }


def _report(done: Done) -> list[dict[str, str]]:
    with Path(done.json["report"]).open(newline="") as file:
        return list(csv.DictReader(file))


async def _see_people(town: Town, old: MastodonServer, ada: Member) -> None:
    me = ada.me
    assert (me["id"], me["username"], me["display_name"], me["locked"]) == ("1", "ada", "Ada", True)
    assert (me["role"]["name"], me["source"]["privacy"]) == ("Owner", "unlisted")
    assert (me["statuses_count"], me["followers_count"]) == (4, 2)
    assert "/tags/maths" in me["note"]
    assert (await town.http.get(me["avatar"])).content == PNG
    eve = await ada.get("/api/v1/accounts/lookup", params={"acct": "eve@far.example"})
    assert (eve["id"], eve["note"]) == (str(old.ids["eve"]), "<p>Hello</p>")
    assert (await ada.call("GET", "/api/v1/accounts/lookup", params={"acct": "newt"})).status_code == 404


async def _see_posts(old: MastodonServer, ada: Member) -> None:
    first = await ada.get(f"/api/v1/statuses/{old.ids['first']}")
    assert first["created_at"].startswith(f"{old.ago(days=50):%Y-%m-%dT%H:%M:%S}")
    assert first["uri"] == f"{old.base_url}/users/ada/statuses/{old.ids['first']}"
    assert {one["acct"] for one in first["mentions"]} == {"bob", "eve@far.example"}
    assert f'href="{old.base_url}/@bob"' in first["content"]
    assert [tag["name"] for tag in first["tags"]] == ["maths"]
    assert (first["replies_count"], first["reblogs_count"], first["favourites_count"]) == (1, 2, 3)
    assert first["application"] == {"name": "Tusky", "website": "https://tusky.example"}
    [picture] = first["media_attachments"]
    assert (picture["id"], picture["description"]) == (str(old.ids["picture"]), "A tab\there")
    assert (await ada.town.http.get(picture["url"])).content == PNG
    for path in old.media:
        assert (await ada.town.http.get(f"/system/{path}", follow_redirects=True)).content == PNG, path
    thread = await ada.get(f"/api/v1/statuses/{old.ids['first']}/context")
    assert [one["id"] for one in thread["descendants"]] == [str(old.ids["reply"])]
    boost = await ada.get(f"/api/v1/statuses/{old.ids['boost']}")
    assert boost["reblog"]["content"] == "<p>From <b>far</b></p>"
    assert boost["reblog"]["favourited"]
    poll = (await ada.get(f"/api/v1/statuses/{old.ids['poll']}"))["poll"]
    assert [one["title"] for one in poll["options"]] == ["Tea, please", "Cof\\fee"]
    assert (poll["own_votes"], poll["expired"]) == ([0], True)
    history = await ada.get(f"/api/v1/statuses/{old.ids['edited']}/history")
    assert [one["content"] for one in history] == ["<p>first thoughts</p>", "<p>second thoughts</p>"]
    for name, is_there in (("fresh", True), ("old", False), ("gone", False), ("noise", True)):
        answer = await ada.call("GET", f"/api/v1/statuses/{old.ids[name]}")
        assert answer.status_code == (200 if is_there else 404), name
    found = await ada.get("/api/v2/search", params={"q": "second thoughts", "type": "statuses"})
    assert [one["id"] for one in found["statuses"]] == [str(old.ids["edited"])]
    hen, egg = (str(old.ids[name]) for name in ("hen", "egg"))
    around = await ada.get(f"/api/v1/statuses/{hen}/context")
    assert {kind: [one["id"] for one in around[kind]] for kind in around} == {"ancestors": [egg], "descendants": []}
    assert "javascript" not in (await ada.get(f"/api/v1/statuses/{egg}"))["url"]
    [talk] = await ada.get("/api/v1/conversations")
    assert talk["last_status"]["content"].endswith("psst</p>")
    if old.is_numbered:
        quote = await ada.get(f"/api/v1/statuses/{old.ids['quote']}")
        assert quote["quote"]["quoted_status"]["id"] == str(old.ids["first"])
    new = await ada.post("/api/v1/statuses", json={"status": "still here"})
    assert int(new["id"]) > max(old.ids.values())


async def _see_relations(old: MastodonServer, ada: Member) -> None:
    ids = [str(old.ids[name]) for name in ("bob", "eve", "mel")]
    bob, eve, mel = await ada.get("/api/v1/accounts/relationships", params={"id[]": ids})
    assert (bob["following"], bob["followed_by"], bob["note"]) == (True, True, "owes me tea")
    assert (eve["following"], eve["showing_reblogs"], eve["languages"]) == (True, False, ["de"])
    assert (mel["followed_by"], mel["muting"], mel["muting_notifications"]) == (True, True, False)
    [friends] = await ada.get("/api/v1/lists")
    assert (friends["title"], friends["replies_policy"], friends["exclusive"]) == ("Friends", "followed", True)
    members = await ada.get(f"/api/v1/lists/{friends['id']}/accounts")
    assert [one["acct"] for one in members] == ["bob"]
    [filter] = await ada.get("/api/v2/filters")
    assert (filter["filter_action"], filter["keywords"][0]["keyword"]) == ("hide", "the end")
    assert (await ada.get("/api/v1/domain_blocks")) == ["bad.example"]
    assert [one["id"] for one in await ada.get("/api/v1/bookmarks")] == [str(old.ids["reply"])]
    assert [one["name"] for one in await ada.get("/api/v1/followed_tags")] == ["Maths"]
    assert (await ada.get("/api/v1/markers", params={"timeline[]": "home"}))["home"]["version"] == 3
    assert [one["shortcode"] for one in await ada.get("/api/v1/custom_emojis")] == ["tea"]
    instance: Any = await ada.get("/api/v2/instance")
    assert (instance["title"], instance["rules"][0]["text"]) == ("Ada's place", "Be kind")


async def _see_documents(town: Town, old: MastodonServer) -> None:
    """Everybody is found where they were, with the keys they had."""
    for name in ("ada", "bob"):
        answer = await town.http.get(old.actor(name), headers=ACTIVITY)
        actor = answer.json()
        assert (actor["id"], actor["inbox"]) == (old.actor(name), f"{old.actor(name)}/inbox")
        assert actor["publicKey"] == {
            "id": f"{old.actor(name)}#main-key",
            "owner": old.actor(name),
            "publicKeyPem": old.public_key,
        }
        for resource in (f"acct:{name}@{town.base_url.removeprefix('http://')}", old.actor(name)):
            finger = (await town.http.get("/.well-known/webfinger", params={"resource": resource})).json()
            assert old.actor(name) in {link.get("href") for link in finger["links"]}
    note = (await town.http.get(f"{old.actor('bob')}/statuses/{old.ids['reply']}", headers=ACTIVITY)).json()
    assert (note["id"], note["attributedTo"]) == (f"{old.actor('bob')}/statuses/{old.ids['reply']}", old.actor("bob"))
    for path in ("outbox", "followers", "collections/featured"):
        assert (await town.http.get(f"{old.actor('bob')}/{path}", headers=ACTIVITY)).status_code == 200
    server = (await town.http.get("/actor", headers=ACTIVITY)).json()
    assert server["publicKey"]["publicKeyPem"] == old.public_key


async def _sign_in(town: Town) -> None:
    """The old password is right, and its hash is one of ours from then on; the authenticator app goes on too."""
    browser, before = Browser(town), await _hash_of(town, "bob")
    asked = await browser.sign_in(Person(town.http, "bob", PASSWORD))
    assert asked["component"] == "otpvalidate", asked
    code = pyotp.TOTP(TOTP_SECRET).now()
    await browser.answer(SIGN_IN, component="otpvalidate", code=code)
    assert await browser.who() == "bob"
    assert before.startswith("$2a$04$")
    assert (await _hash_of(town, "bob")).startswith("$argon2id$")
    assert (await _hash_of(town, "ada")).startswith("$2a$04$")


async def _hash_of(town: Town, name: str) -> str:
    async with database(town) as db:
        found = await users.find_typed(db, name)
    assert found is not None
    return found.password or ""


async def test_an_import_that_was_interrupted_goes_on_where_it_stopped(new_town: TownBuilder, tmp_path: Path) -> None:
    town = await new_town(start=False)
    old = MastodonServer("4.5", town.base_url)
    source, staged = old.dump(tmp_path / "mastodon.sql"), town.folder / "imports"
    async with town.house() as house, open_run(
        house.works, "mastodon", str(source), {"all": False, "recent_days": 30}, Progress(), rehearse=False
    ) as begun:  # fmt: skip
        staging = Staging(staged / f"mastodon-{begun.row.id}.sqlite")
        await staging.fill(Dump(source), lambda _table, _bytes: None)
        choose(staging, everything=False, recent_days=30, now=begun.row.started_at)
        move = Move(
            staging=staging, settings=house.settings, secrets=Secrets(), media=None, started_at=begun.row.started_at
        )
        for one in steps(move):
            await begun.do(one)
            if one.name == "statuses":
                break
        staging.close()

    done = await bring(town, str(source), keys=False)
    refused = [await bring(town, str(source)) for _ in range(2)]

    assert (done.json["resumed"], done.json["rehearsal"]) == (True, False)
    assert (done.json["taken"]["accounts"], done.json["taken"]["boosts"]) == (3, 1)
    assert ("authenticator_apps", "bob") in {(row["what"], row["row"]) for row in _report(done)}
    assert all("move into a new, empty server" in one.complained for one in refused)
    async with database(town) as db:
        assert [len(await db.all(one)) for one in (_accounts, _statuses)] == [6, 12]


_accounts = query(select(accounts.c.id), int)
_statuses = query(select(statuses.c.id), int)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (b"PGDMP and more", "pg_restore -f"),
        (b"SELECT 1;\n", "this is no Mastodon database"),
        (b"COPY public.users (id) FROM stdin;\n1\n", "the dump is not whole"),
        (b"COPY public.users (id, email) FROM stdin;\n1\n\\.\n", "has 1 values for 2 columns"),
        (b"COPY public.users (id) FROM stdin;\n\xe9\n\\.\n", "a row is not UTF-8 text"),
    ],
)
async def test_what_is_no_dump_is_refused(tmp_path: Path, words: bytes, complaint: str) -> None:
    file, staging = tmp_path / "dump.sql", Staging(tmp_path / "staging.sqlite")
    file.write_bytes(words)
    with pytest.raises(Invalid, match=complaint):
        await staging.fill(Dump(file), lambda _table, _bytes: None)
    staging.delete()


_DUMP = b"-- PostgreSQL database dump\n\nCOPY public.users (id) FROM stdin;\n" + b"1\n" * 10_000 + b"\\.\n"


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (gzip.compress(_DUMP)[:-9], "is cut off or damaged"),
        (gzip.compress(_DUMP)[:60], "is cut off or damaged"),
        (gzip.compress(_DUMP)[:-8] + b"\0" * 8, "is cut off or damaged"),
        (gzip.compress(_DUMP), "does not end as dumps end"),
        (_DUMP[:200], "ends in the middle of the table users"),
        (b"SET client_encoding = 'LATIN1';\n" + _DUMP, "pg_dump --encoding=UTF8"),
    ],
)
async def test_a_dump_that_is_not_whole_is_refused_in_words(
    town: Town, tmp_path: Path, data: bytes, complaint: str
) -> None:
    file = tmp_path / ("dump.sql.gz" if data.startswith(b"\x1f") else "dump.sql")
    file.write_bytes(data)
    for kind in ("mastodon", "authentik"):
        done = await run("import", kind, str(file), environment=town.environment)
        assert (done.code, done.said) == (1, ""), kind
        assert complaint in done.complained
        assert len(done.complained.splitlines()) == 1


@pytest.mark.parametrize(
    "path",
    ["", "x", "media_attachments/files/001/original/a.png", "accounts/avatars/000/000/001/original/../a.png",
     "accounts/avatars/000/000/001/huge/a.png", "accounts/keys/000/000/001/original/a.png"],
)  # fmt: skip
def test_no_other_old_address_leads_anywhere(path: str) -> None:
    assert key_of_former(path) is None


def test_what_is_read_for_a_rehearsal_has_no_name_and_ends_with_it(tmp_path: Path) -> None:
    staging = Staging(tmp_path / "staged.sqlite", lasts=False)
    assert list(tmp_path.iterdir()) == []
    staging.run("CREATE TABLE keys (pem TEXT)")
    staging.run("INSERT INTO keys VALUES ('secret')")
    assert staging.one("SELECT pem FROM keys") == "secret"
    staging.delete()


def test_a_source_is_known_again_without_its_secrets() -> None:
    url = "postgresql://user:hunter2@db/mastodon?password=hunter2&sslpassword=hunter2&host=/run/pg&sslmode=require"
    assert source_for(url).name == "postgresql://db:/mastodon?host=%2Frun%2Fpg"


async def test_a_role_that_is_only_called_owner_makes_no_owner(new_town: TownBuilder, tmp_path: Path) -> None:
    """Whoever may make roles there names them as they like."""
    town = await new_town(start=False)
    old = MastodonServer("4.3", town.base_url)
    [gardener] = [role for role in old.tables["user_roles"] if role["name"] == "Gardener"]
    few = {"Owner": 0, "Admin": 1 << 14, "Moderator": 1 << 4}
    for number, (name, permissions) in enumerate(few.items(), gardener["id"]):
        old.tables["user_roles"].append(gardener | {"id": 100 + number, "name": name, "permissions": permissions})
    bob, newt = (next(user for user in old.tables["users"] if user["id"] == id) for id in (2, 3))
    bob["role_id"], newt["role_id"] = (100 + gardener["id"] + place for place in (0, 1))
    await bring(town, str(old.dump(tmp_path / "mastodon.sql")))

    shown = json.loads(await town.kith("users", "list", "--json"))
    assert {one["username"]: one["role"] for one in shown} == {"ada": "owner", "bob": "user", "newt": "user"}
    roles = json.loads(await town.kith("roles", "list", "--json"))
    named_so = [one["permissions"] for one in roles if one["name"] in few and not one["is_shipped"]]
    assert sorted(map(int, named_so)) == sorted(few.values())

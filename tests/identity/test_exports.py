"""People, grants and events as CSV files."""

from __future__ import annotations

import asyncio
import base64
import csv
import io
import socket
import uuid
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kith.base.db import command, insert_into
from kith.identity.audit.tables import events
from kith.identity.rest.exporting import LOOK_SECONDS, PAGE, cell, lines_of
from tests.identity.records import API, make, new_name, owner_of, person_who_may, results
from tests.identity.relying_party import make_party, signed_in
from tests.town import Person, Town

_insert_event = command(insert_into(events))


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


async def exported(person: Person, path: str, **query: Any) -> list[dict[str, str]]:
    answer = await person.get(f"{API}{path}export/", params=query, headers={"Accept": "text/csv"})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"].startswith('attachment; filename="')
    assert "content-length" not in answer.headers  # it comes as it is made
    return read(answer.text)


async def test_people_are_exported_as_the_list_is_filtered(town: Town, ada: Person) -> None:
    word = new_name("zz").replace("-", "")
    group = await make(ada, "/core/groups/", name=f"+{word}", parent=None, user_set=[])
    tricky = '=HYPERLINK("http://x.example","a,b")\n2'
    made = await make(
        ada,
        "/core/users/",
        username=f"{word}a",
        name=tricky.replace("\n", " "),
        groups=[group["pk"]],
        attributes={"a": 1},
    )
    await make(ada, "/core/users/", username=f"{word}b", name="Bob", is_active=False)
    both = await exported(ada, "/core/users/", search=word)
    assert [one["username"] for one in both] == [f"{word}a", f"{word}b"]
    first = both[0]
    assert first["pk"] == str(made["pk"])
    assert first["name"] == "'" + tricky.replace("\n", " ")
    assert first["groups"] == f"'+{word}"
    assert (first["is_active"], first["attributes"]) == ("true", '{"a":1}')
    assert "password" not in first
    assert [one["username"] for one in await exported(ada, "/core/users/", search=word, is_active="false")] == [
        f"{word}b"
    ]
    assert await exported(ada, "/core/users/", search="nobody-has-this") == []

    wrong = await ada.get(f"{API}/audit/events/export/", params={"created__gte": "yesterday"})
    assert (wrong.status_code, list(wrong.json())) == (400, ["created__gte"])
    [written, *_] = await results(ada, "/audit/events/", action="data_export", ordering="-created")
    assert written["username"] == ada.username
    assert "filters" in written["context"]


async def test_an_export_takes_the_right_of_the_list(town: Town, ada: Person) -> None:
    bob = await town.sign_up()
    for path in ("/core/users/", "/audit/events/", "/core/grants/"):
        assert (await bob.get(f"{API}{path}export/")).status_code == 403
        assert (await town.http.get(f"{API}{path}export/")).status_code == 401
        assert (await ada.get(f"{API}{path}export/", headers={"Accept": "image/png"})).status_code == 406
    reader = await person_who_may(town, ada, "core.view_user")
    assert await exported(reader, "/core/users/", username=reader.username)
    refused = await reader.get(f"{API}/core/grants/export/")
    assert refused.json()["permission"] == "core.view_application"


async def test_every_event_is_there_once_in_order_whatever_the_number(town: Town, ada: Person) -> None:
    """More than two pages, all of the same moment but for the last."""
    app, number = new_name("flood"), PAGE * 2 + 7
    async with town.house() as house, house.works.begin() as work:
        await work.db.begin()
        row = {
            "user_id": None, "username": "", "action": "custom_flood", "app": app, "context": {"n": "@x"},
            "client_ip": None, "created_at": work.now, "expires_at": work.now,
        }  # fmt: skip
        ids = [str(uuid.uuid4()) for _ in range(number)]
        await work.db.many(_insert_event, [row | {"event_uuid": id} for id in ids])
    found = await exported(ada, "/audit/events/", app=app)
    assert [one["event_uuid"] for one in found] == sorted(ids)
    assert found[0]["context"] == '{"n":"@x"}'


async def test_an_export_ends_with_the_right_to_it(town: Town, ada: Person) -> None:
    """However slowly somebody reads, they get nothing of what is read after that."""
    app, reader = new_name("slow"), await person_who_may(town, ada, "audit.view_event")
    async with town.house() as house, house.works.begin() as work:  # more than the buffers between two programs hold
        await work.db.begin()
        row = {
            "user_id": None, "username": "", "action": "custom_slow", "app": app, "context": {"n": "x" * 3000},
            "client_ip": None, "created_at": work.now, "expires_at": work.now,
        }  # fmt: skip
        await work.db.many(_insert_event, [row | {"event_uuid": str(uuid.uuid4())} for _ in range(PAGE * 12)])
    pair = base64.b64encode(f"{reader.username}:{reader.password}".encode()).decode()
    line = f"GET {API}/audit/events/export/?app={app} HTTP/1.1\r\nHost: {town.base_url[7:]}\r\nAuthorization: Basic {pair}\r\n"
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
    raw.setblocking(False)
    await asyncio.get_running_loop().sock_connect(raw, ("127.0.0.1", town.port))
    incoming, outgoing = await asyncio.open_connection(sock=raw, limit=65_536)
    outgoing.write(f"{line}Accept: text/csv\r\nConnection: close\r\n\r\n".encode())

    begun = await incoming.readuntil(b"\r\n\r\n")
    [found] = await results(ada, "/core/users/", username=reader.username)
    assert (await ada.call("PATCH", f"{API}/core/users/{found['pk']}/", json={"roles": []})).status_code == 200
    await asyncio.sleep(LOOK_SECONDS + 0.2)
    rest = b""
    with suppress(ConnectionError):
        while piece := await incoming.read(1 << 20):
            rest = rest[-100:] + piece
    outgoing.close()

    assert begun.startswith(b"HTTP/1.1 200")
    assert not rest.endswith(b"\r\n0\r\n\r\n")


async def test_grants_say_who_may_enter_and_what_was_allowed(town: Town, ada: Person) -> None:
    party = await make_party(town, ada)
    person, browser = await signed_in(town)
    await party.tokens(browser)
    [record] = await results(ada, "/core/users/", username=person.username)
    before = await exported(ada, "/core/grants/", application=party.slug)
    assert [(one["kind"], one["via"], one["username"]) for one in before if one["kind"] == "may_enter"] == [
        ("may_enter", "everybody", "")
    ]
    assert {one["kind"] for one in before if one["username"] == person.username} >= {"connected"}

    upper = await make(ada, "/core/groups/", name=new_name("g"), parent=None, user_set=[])
    await make(ada, "/core/groups/", name=new_name("g"), parent=upper["pk"], user_set=[record["pk"]])
    policy = await make(ada, "/policies/dummy/", name=new_name("p"), result=True, wait_min=0, wait_max=0)
    target = party.application["pk"]
    await make(ada, "/policies/bindings/", group=upper["pk"], target=target, order=0)
    await make(ada, "/policies/bindings/", policy=policy["pk"], target=target, order=1, negate=True)
    found = await exported(ada, "/core/grants/", application=party.slug)
    entries = [(one["username"], one["via"], one["negated"]) for one in found if one["kind"] == "may_enter"]
    assert entries == [(person.username, f"group {upper['name']}", "false"), ("", f"policy {policy['name']}", "true")]
    mine = await exported(ada, "/core/grants/", user=record["pk"])
    assert {one["username"] for one in mine} <= {"", person.username}
    assert (await ada.get(f"{API}/core/grants/export/", params={"user": "x", "application": "nope"})).json().keys() == {
        "user", "application"
    }  # fmt: skip


async def test_grants_end_with_what_they_are_by(town: Town, ada: Person) -> None:
    name = new_name("a")
    app = await make(ada, "/core/applications/", name=name, slug=name)
    person = await town.sign_up()
    [record] = await results(ada, "/core/users/", username=person.username)
    until = (datetime.now(UTC) + timedelta(seconds=2)).isoformat()
    await make(ada, "/policies/bindings/", user=record["pk"], target=app["pk"], order=0, expires=until)
    [entry] = await exported(ada, "/core/grants/", application=name)
    assert (entry["username"], entry["via"], entry["expires"][:19]) == (person.username, "user", until[:19])
    async with asyncio.timeout(60):
        while await exported(ada, "/core/grants/", application=name):
            await asyncio.sleep(0.5)


async def test_by_command(town: Town, ada: Person, tmp_path: Path) -> None:
    said = await town.kith("export", "people", "--filter", f"username={ada.username}")
    assert [one["username"] for one in read(said)] == [ada.username]
    file = tmp_path / "events.csv"
    await town.kith("export", "events", "--filter", "action=data_export", "--output", str(file))
    assert "command line" in {one["username"] for one in read(file.read_text())}
    assert file.stat().st_mode & 0o077 == 0
    assert "already there" in await town.kith("export", "grants", "--output", str(file), expect=1)
    assert "NAME=VALUE" in await town.kith("export", "grants", "--filter", "user", expect=1)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, ""),
        (True, "true"),
        (-3, "-3"),
        ("-3", "'-3"),
        ("=1+1", "'=1+1"),
        (" =1+1", "' =1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\tx", "'\tx"),
        ("a=b", "a=b"),
        (["-a", "b"], "'-a; b"),
        ({"a": [1]}, '{"a":[1]}'),
        (datetime(2026, 1, 1, tzinfo=UTC), "2026-01-01T00:00:00+00:00"),
    ],
)
def test_no_cell_is_a_formula(value: Any, shown: str) -> None:
    assert cell(value) == shown


@given(st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=2, max_size=2), max_size=5))
def test_what_is_written_can_be_read(rows: list[list[str]]) -> None:
    again = list(csv.reader(io.StringIO(lines_of(rows).decode(), newline="")))
    assert again == [[cell(one) for one in row] for row in rows]
    assert not any(one.lstrip()[:1] in ("=", "+", "-", "@") for row in again for one in row)

"""CSV files of whom one follows, mutes and blocks: written, read, and imported by jobs."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kith.base.errors import Malformed
from kith.base.limits import Limiter
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.directory import Directory
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId
from kith.social.lists import store as lists
from kith.social.relationships import store as relationships
from kith.social.relationships.tables import Follow, Mute
from kith.social.search.elsewhere import Elsewhere, FoundElsewhere
from kith.social.transfers import clearing, held, store
from kith.social.transfers.formats import KINDS, MOST_BYTES, read_rows, write_rows
from kith.social.transfers.held import RecordPlace
from kith.social.transfers.looking_up import OF_SITE, LookedUp, look_up
from kith.social.transfers.tables import Import, ImportRow
from kith.social.transfers.tasks import ImportStep, take_step
from tests.social.members import Member, join, join_all, stranger, strangers, until
from tests.social.posts import post
from tests.social.staff import employ
from tests.social.test_lists import new_list
from tests.town import Town
from tests.web.browsing import Browser


@pytest.mark.parametrize(
    ("kind", "text", "rows"),
    [
        (
            "following",
            'Account address,Show boosts,Notify on new posts,Languages\nann@a.example,false,true,"de, en"\n',
            [{"acct": "ann@a.example", "reblogs": False, "notify": True, "languages": ["de", "en"]}],
        ),
        ("following", "@ann@A.example\nann@a.EXAMPLE\n", [{"acct": "ann@a.example"}]),
        ("muting", "Account address\nann@a.example\n", [{"acct": "ann@a.example"}]),
        ("blocking", "\ufeffann\r\n\r\nnot a name\r\n", [{"acct": "ann"}]),
        ("domain_blocking", "#domain,#severity\nLoud.example,suspend\n", [{"domain": "loud.example"}]),
        ("lists", "Friends,ann@a.example\n,bob@a.example\n", [{"acct": "ann@a.example", "list": "Friends"}]),
        ("bookmarks", "https://a.example/1\njavascript:alert(1)\n", [{"uri": "https://a.example/1"}]),
    ],
)
def test_files_are_read_with_and_without_names_of_columns(kind: str, text: str, rows: list[dict[str, Any]]) -> None:
    assert read_rows(kind, text.encode()) == rows


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b'"open', b"a b c\n", b"x" * (MOST_BYTES + 1), b"a@b.example\n\0", b"\n" * 50_000]
)
def test_other_files_are_refused_with_words(content: bytes) -> None:
    with pytest.raises(Malformed):
        read_rows("following", content)


@given(st.sampled_from(KINDS), st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(kind: str, content: bytes) -> None:
    try:
        rows = read_rows(kind, content)
    except Malformed:
        return
    assert rows


@given(st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=5, unique=True))
def test_names_of_lists_come_back(titles: list[str]) -> None:
    written = write_rows("lists", [[title, "ann@a.example"] for title in titles])
    wanted = {title.strip() for title in titles if title.strip()}
    try:
        found = {row["list"] for row in read_rows("lists", written)}
    except Malformed:
        found = set()
    assert {name.lower() for name in found} <= {name.lower() for name in wanted}


@pytest.fixture
async def browser(town: Town) -> Any:
    made = Browser(town)
    yield made
    await made.close()


async def signed_in(town: Town, browser: Browser) -> Member:
    member = await join(town)
    await browser.sign_in(member.name, f"correct horse {member.name}")
    return member


async def send(browser: Browser, kind: str, text: str, mode: str = "merge") -> str:
    await browser.open("/settings/import")
    token = browser.cookie("kith_csrf") or ""
    files = {"file": ("mine.csv", text.encode(), "text/csv")}
    answer = await browser.http.post(
        "/settings/import",
        data={"csrf": token, "kind": kind, "mode": mode},
        files=files,
        follow_redirects=True,
    )

    async def is_done() -> bool:
        return "being imported</span>" not in (await browser.open("/settings/import")).text

    if answer.status_code == 200:
        await until(is_done)
    return answer.text


async def download(browser: Browser, name: str) -> str:
    answer = await browser.http.get(f"/settings/exports/{name}.csv")
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}.csv"'
    return answer.text


async def test_what_one_exports_somebody_else_imports(town: Town, browser: Browser) -> None:
    ada, bob, cleo = await signed_in(town, browser), await join(town), await join(town)
    said = await post(bob, "Keep me")
    await ada.post(f"/api/v1/accounts/{bob.id}/follow", json={"reblogs": False})
    await ada.to(cleo, "block")
    await ada.post("/api/v1/domain_blocks", json={"domain": "loud.example"})
    await ada.post(f"/api/v1/statuses/{said['id']}/bookmark")
    made = await ada.post("/api/v1/lists", json={"title": "Friends, old"})
    await ada.post(f"/api/v1/lists/{made['id']}/accounts", json={"account_ids": [bob.id]})
    host = town.base_url.partition("://")[2]
    files = {
        name: await download(browser, name) for name in ("follows", "blocks", "domain_blocks", "bookmarks", "lists")
    }
    assert files["follows"] == (
        f"Account address,Show boosts,Notify on new posts,Languages\n{bob.name}@{host},false,false,\n"
    )
    assert files["lists"] == f'"Friends, old",{bob.name}@{host}\n'
    assert (await browser.http.get("/settings/exports/passwords.csv")).status_code == 404

    other = Browser(town)
    dora = await signed_in(town, other)
    for name, kind in (("follows", "following"), ("blocks", "blocking"), ("domain_blocks", "domain_blocking"),
                       ("bookmarks", "bookmarks"), ("lists", "lists")):  # fmt: skip
        await send(other, kind, files[name])
    seen = await dora.sees(bob)
    assert (seen["following"], seen["showing_reblogs"]) == (True, False)
    assert (await dora.sees(cleo))["blocking"]
    assert await dora.get("/api/v1/domain_blocks") == ["loud.example"]
    assert [one["id"] for one in await dora.get("/api/v1/bookmarks")] == [said["id"]]
    [there] = await dora.get("/api/v1/lists")
    assert there["title"] == "Friends, old"
    assert [one["id"] for one in await dora.get(f"/api/v1/lists/{there['id']}/accounts")] == [bob.id]
    await other.close()


async def test_what_cannot_be_done_stays_behind_and_what_is_not_named_is_replaced(town: Town, browser: Browser) -> None:
    ada, bob, cleo = await signed_in(town, browser), await join(town), await join(town)
    await ada.to(bob, "follow")
    await send(browser, "following", f"{cleo.name}\nnobody-of-that-name\n{ada.name}\n", mode="overwrite")

    assert "1 of 3 imported" in browser.page.text
    [failures] = re.findall(r'href="(/settings/imports/\d+/failures.csv)"', browser.page.text)
    told = (await browser.http.get(failures)).text.splitlines()
    assert [line.split(",")[0] for line in told[1:]] == ["nobody-of-that-name", ada.name]
    assert not (await ada.sees(bob))["following"]
    assert (await ada.sees(cleo))["following"]
    other = Browser(town)
    await signed_in(town, other)
    assert (await other.http.get(failures)).status_code == 404
    await other.close()


TITLES = ("Kept", "Full", "Elsewhere")


async def _crowd(town: Town, member: Member) -> tuple[list[Account], dict[str, int]]:
    """Many whom a member mutes and has on each of three lists, and the ids of these."""
    me = AccountId(int(member.id))
    people = await strangers(town, 250, "crowd.example")
    ids = {title: int(await new_list(member, title)) for title in TITLES}
    async with town.house() as house, house.works.begin() as work:
        for one in people:
            row = Follow(work.new_id(), me, one.id, True, False, None, None, work.now)
            await relationships.add_follow(work.db, row)
            await relationships.save_mute(work.db, Mute(work.new_id(), me, one.id, True, None, work.now))
            for title in TITLES:
                await lists.add(work.db, ids[title], one.id, id=work.new_id())
    return people, ids


async def test_from_lists_all_that_a_file_does_not_name_is_taken(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    people, ids = await _crowd(town, ada)
    rows = [f"Kept,{one.username}@{one.domain}" for one in people[:3]]
    last = f"Full,{people[-1].username.upper()}@{people[-1].domain}"

    await send(browser, "lists", "\n".join([*rows, last]), mode="overwrite")

    assert {one["title"] for one in await ada.get("/api/v1/lists")} == {"Kept", "Full"}
    for title, left in (("Kept", people[:3]), ("Full", people[-1:])):
        found = await ada.get(f"/api/v1/lists/{ids[title]}/accounts?limit=0")
        assert {one["id"] for one in found} == {str(one.id) for one in left}


@pytest.mark.parametrize(("kind", "taken"), [("lists", [0, 100, 100, 47, 100, 100, 49]), ("muting", [100, 100, 49])])
async def test_a_step_takes_so_much_away_and_goes_on_where_it_was(
    town: Town, monkeypatch: pytest.MonkeyPatch, kind: str, taken: list[int]
) -> None:
    ada = await join(town)
    people, _ = await _crowd(town, ada)
    monkeypatch.setattr(held, "PAGE", 120)
    monkeypatch.setattr(clearing, "PAGE", 2)
    named = [("Kept", one) for one in people[-3:]] + [("Full", people[-1])]
    rows = [{"acct": f"{one.username}@{one.domain}", "list": title} for title, one in named]
    if kind == "muting":
        rows = [{"acct": rows[0]["acct"]}]

    steps = await _cleared(town, ada, kind, rows)

    assert steps == taken


async def _cleared(town: Town, member: Member, kind: str, rows: list[dict[str, Any]]) -> list[int]:
    """How many each step has taken away until nothing was left of what a file does not name."""
    steps: list[int] = []
    async with town.house() as house:
        async with house.works.begin() as work:
            actor = await accounts.find(work.db, AccountId(int(member.id)))
            assert actor is not None
            new = Import(
                id=work.new_id(), account_id=actor.id, kind=kind, overwrite=True, filename="mine.csv",
                state="clearing", total=len(rows), done=0, failed=0, created_at=work.now, finished_at=None,
            )  # fmt: skip
            await store.insert(work.db, new, [{"id": work.new_id(), "data": row} for row in rows])
        place: RecordPlace | None = RecordPlace()
        while place is not None:
            async with house.works.begin() as work:
                surplus = await clearing.find_surplus(work, new, place)
                assert not work.db.is_writing
                await clearing.take_away(work, actor, kind, surplus)
            steps.append(len(surplus.things))
            place = surplus.place
        async with house.works.begin() as work:
            await store.set_state(work.db, new.id, "finished", work.now)
    return steps


class _Elsewhere:
    """Knows everybody at `known`, and nobody else. Remembers who was asked for."""

    def __init__(self, known: Account) -> None:
        self.known = known
        self.asked: list[str] = []
        self.limiter: Limiter | None = None

    async def find(self, work: Work, username: str, domain: str) -> Account | None:
        self.asked.append(f"{username}@{domain}")
        return self.known if domain == self.known.domain else None

    async def find_at(self, work: Work, address: str) -> Account | None:
        return None

    async def opened(self, work: Work, account_id: AccountId) -> None:
        self.asked.append(str(account_id))

    async def look_up(self, work: Work, address: str) -> FoundElsewhere | None:
        self.asked.append(address)
        return None


async def _looked_up(
    town: Town, me: AccountId, elsewhere: _Elsewhere, kind: str, rows: list[dict[str, Any]]
) -> LookedUp:
    async with town.house() as house:
        services = house.works.services
        services[Directory] = services[Elsewhere] = elsewhere
        services[Limiter] = elsewhere.limiter = elsewhere.limiter or Limiter(house.works.database)
        async with house.works.begin() as work:
            of = Import(1, me, kind, False, "", "running", len(rows), 0, 0, work.now, None)
            return await look_up(work, of, [ImportRow(n, data) for n, data in enumerate(rows)], {})


async def test_a_host_that_knows_nobody_is_not_asked_for_a_whole_file(town: Town) -> None:
    known = await stranger(town, "open.example")
    me = AccountId(int((await join(town)).id))
    asked = _Elsewhere(known)
    rows = [{"acct": f"nobody{n}@silent.example"} for n in range(40)]
    found = [{"acct": f"somebody{n}@open.example"} for n in range(3)]

    told = await _looked_up(town, me, asked, "following", [*rows[:19], *found, *rows[19:]])

    assert asked.asked == [row["acct"] for row in [*rows[:19], *found, rows[19]]]
    assert [id for id, who in told.found.items() if who] == [19, 20, 21]
    assert (len(told.found), told.misses, told.wait) == (43, {"silent.example": 20}, 0)

    # when
    asked.asked.clear()
    uris = [{"uri": f"https://silent.example/?q={n}"} for n in range(30)]
    await _looked_up(town, me, asked, "bookmarks", uris)

    # then
    assert asked.asked == [row["uri"] for row in uris[:20]]


async def test_an_import_asks_so_often_and_waits(town: Town) -> None:
    left = OF_SITE.seconds - time.time() % OF_SITE.seconds
    if left < 15:  # what is counted should not be cut in two
        await asyncio.sleep(left)
    known = await stranger(town, "open.example")
    ada, bob = [AccountId(int(one.id)) for one in await join_all(town, 2)]
    asked = _Elsewhere(known)
    rows = [{"acct": f"somebody{n}@open.example"} for n in range(310)]

    told = await _looked_up(town, ada, asked, "following", rows)

    assert (len(asked.asked), list(told.found)) == (300, list(range(300)))
    assert 0 < told.wait <= 300
    assert (await _looked_up(town, bob, asked, "following", [{"acct": "me@deep.er.open.example"}])).found == {}
    assert (await _looked_up(town, bob, asked, "following", [{"acct": f"{known.acct}"}])).found == {0: known.id}
    many = [{"acct": f"somebody@{n}.example"} for n in range(400)]
    assert len((await _looked_up(town, ada, asked, "following", many)).found) == 300
    assert len((await _looked_up(town, bob, asked, "following", many)).found) == 400


async def test_what_is_no_such_file_is_refused_and_changes_nothing(town: Town, browser: Browser) -> None:
    await signed_in(town, browser)
    assert "is not a CSV file" in await send(browser, "following", '"never closed')
    assert "Please choose what is in the file" in await send(browser, "passwords", "a@b.example")
    assert "You have not imported anything lately" in (await browser.open("/settings/import")).text


async def test_an_import_ends_when_its_owner_is_shut_out(town: Town) -> None:
    """Disabled or locked down: nothing goes on in their name, neither what a file brings nor what it takes away."""
    owner, ada, bob, cy = await employ(town, "owner"), *await join_all(town, 3)
    await ada.to(bob, "follow")
    for state in ("running", "clearing"):
        async with town.house() as house, house.works.begin() as work:
            new = Import(
                id=work.new_id(), account_id=AccountId(int(ada.id)), kind="following", overwrite=state == "clearing",
                filename="", state=state, total=1, done=0, failed=0, created_at=work.now, finished_at=None,
            )  # fmt: skip
            await store.insert(work.db, new, [{"id": work.new_id(), "data": {"acct": cy.name}}])
        await owner.post(f"/api/v1/admin/accounts/{ada.id}/action", json={"type": "disable"})
        async with town.house() as house, house.works.begin() as work:
            await take_step(work, ImportStep(new.id))
            kept = await store.find(work.db, new.id)
        assert kept is not None
        assert kept.state == "finished"
        await owner.post(f"/api/v1/admin/accounts/{ada.id}/enable")
        assert (await ada.sees(bob))["following"]
        assert not (await ada.sees(cy))["following"]

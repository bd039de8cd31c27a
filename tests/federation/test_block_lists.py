"""Lists of servers to block: read, rehearsed, acted upon, refreshed within limits, and given up again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kith.federation.block_lists.csv_lists import BadBlockList, ListedServer, read_list, write_blocks
from kith.federation.block_lists.planning import BlockListPlan, PlannedChange, fingerprint, planned, why_held
from kith.federation.block_lists.tables import BlockListEntry
from kith.federation.block_lists.tasks import LOOK_AT_LIST, LookAtList
from kith.social.admission.tables import ServerBlock
from tests.conftest import TownBuilder
from tests.federation.remote_server import RemoteServer
from tests.federation.test_gate import AT
from tests.social.members import Member, join, stranger
from tests.social.posts import settle
from tests.social.shapes import check, entity
from tests.social.staff import employ, verdict
from tests.social.test_admission import knit
from tests.town import Town

ADMIN = "/api/v1/admin"
LISTS = f"{ADMIN}/block_lists"
HEADS = "#domain,#severity,#reject_media,#reject_reports,#public_comment,#obfuscate"
LIST = entity("BlockList")


@pytest.mark.parametrize(
    ("text", "servers", "refused"),
    [
        (f"{HEADS}\nBad.example,silence,true,false,spam,true\n", [ListedServer("bad.example", "silence", True, False, True, "spam")], 0),
        ("domain,severity\na.example,suspend\nb.example,noop\n", [ListedServer("a.example"), ListedServer("b.example", "noop")], 0),
        ("\ufeff#domain\r\na.example\r\n", [ListedServer("a.example")], 0),
        ("b.example\na.example\n\n", [ListedServer("a.example"), ListedServer("b.example")], 0),
        ("*.a.example\n", [ListedServer("a.example")], 0),
        (f'{HEADS}\na.example,suspend,,,"one, two",\n', [ListedServer("a.example", public_comment="one, two")], 0),
        (f"{HEADS}\na.example,silence\na.example,suspend\na.example,noop\n", [ListedServer("a.example")], 0),
        (f"{HEADS}\na*****e,suspend\nb.example,banish\nc.example\n", [ListedServer("c.example")], 2),
        ("", [], 0),
        (f"{HEADS}\n", [], 0),
    ],
)  # fmt: skip
def test_reading_a_list(text: str, servers: list[ListedServer], refused: int) -> None:
    found = read_list(text.encode())
    assert (list(found.servers), found.refused) == (servers, refused)


@pytest.mark.parametrize(
    "raw", [b"\xff\xfe", b"<!doctype html>\n<p>Not here</p>", b"a.example\n" * 20_001, b"x" * (5 << 20), b'"' + b"y" * 200_000]
)  # fmt: skip
def test_what_is_no_list(raw: bytes) -> None:
    with pytest.raises(BadBlockList):
        read_list(raw)


@given(st.binary(max_size=400))
def test_anything_is_read_or_refused(raw: bytes) -> None:
    try:
        found = read_list(raw)
    except BadBlockList:
        return
    assert len({one.domain for one in found.servers}) == len(found.servers)


def made(domain: str, severity: str = "suspend", id: int = 1) -> ServerBlock:
    return ServerBlock(id, domain, severity, False, False, False, None, None, AT)


def entry(list_id: int, domain: str, severity: str = "suspend", *, block: ServerBlock) -> BlockListEntry:
    return BlockListEntry(list_id, domain, severity, False, False, False, None, block.id, fingerprint(block))


def plan(servers: list[ListedServer], blocks: list[ServerBlock], entries: list[BlockListEntry]) -> BlockListPlan:
    return planned(1, servers, blocks, entries, lambda domain: domain == "us.example")


ONE = ListedServer("a.example")
MILD = ListedServer("a.example", "silence")


@pytest.mark.parametrize(
    ("servers", "blocks", "entries", "expected"),
    [
        ([ONE], [], [], BlockListPlan(added=(PlannedChange(ONE),))),
        ([ListedServer("us.example")], [], [], BlockListPlan(own=("us.example",))),
        # what was made by hand stays
        ([ONE], [made("a.example", "silence")], [], BlockListPlan(kept=("a.example",))),
        # a block of the domain above is enough
        ([ListedServer("x.a.example", "silence")], [made("a.example")], [], BlockListPlan(covered=("x.a.example",))),
        # what is there already
        ([ONE], [made("a.example")], [entry(1, "a.example", block=made("a.example"))], BlockListPlan()),
        # a list that has changed its mind
        ([MILD], [made("a.example")], [entry(1, "a.example", block=made("a.example"))], BlockListPlan(changed=(PlannedChange(MILD, 1),))),
        ([], [made("a.example")], [entry(1, "a.example", block=made("a.example"))], BlockListPlan(removed=(PlannedChange(ONE, 1),))),
        # somebody has changed the block by hand since: it is theirs now
        ([], [made("a.example", "silence")], [entry(1, "a.example", block=made("a.example"))], BlockListPlan(dropped=("a.example",))),
        ([ONE], [made("a.example", "noop")], [entry(1, "a.example", block=made("a.example"))], BlockListPlan(kept=("a.example",))),
        # somebody has lifted it by hand: it is made again only because the list still wants it
        ([ONE], [], [entry(1, "a.example", block=made("a.example"))], BlockListPlan(added=(PlannedChange(ONE),))),
        # another list wants it, too
        ([ONE], [made("a.example")], [entry(2, "a.example", block=made("a.example"))], BlockListPlan(adopted=(PlannedChange(ONE, 1),))),
        ([MILD], [made("a.example")], [entry(2, "a.example", block=made("a.example"))], BlockListPlan(adopted=(PlannedChange(MILD, 1),))),
        ([], [made("a.example")], [entry(1, "a.example", block=made("a.example")), entry(2, "a.example", block=made("a.example"))], BlockListPlan(dropped=("a.example",))),
    ],
)  # fmt: skip
def test_what_a_list_changes(
    servers: list[ListedServer], blocks: list[ServerBlock], entries: list[BlockListEntry], expected: BlockListPlan
) -> None:
    assert plan(servers, blocks, entries) == expected


@pytest.mark.parametrize(
    ("added", "removed", "entries", "severed", "is_held"),
    [
        (1, 0, 50, 0, False),
        (100, 0, 0, 0, False),
        (101, 0, 50, 0, True),
        (300, 0, 700, 0, False),
        (0, 10, 12, 0, False),
        (0, 11, 12, 0, True),
        (0, 300, 1000, 0, True),
        (1, 0, 50, 51, True),
    ],
)
def test_large_changes_are_held(added: int, removed: int, entries: int, severed: int, is_held: bool) -> None:
    change = PlannedChange(ONE, 1)
    assert (
        why_held(BlockListPlan(added=(change,) * added, removed=(change,) * removed), entries, severed) is not None
    ) is is_held


def test_what_is_written_can_be_read() -> None:
    block = ServerBlock(1, "a.example", "silence", True, False, True, "private", "so, what?", AT)
    assert read_list(write_blocks([block])).servers == (
        ListedServer("a.example", "silence", True, False, True, "so, what?"),
    )


# With a server


async def blocks(admin: Member) -> dict[str, str]:
    return {one["domain"]: one["severity"] for one in await admin.get(f"{ADMIN}/domain_blocks")}


async def look(town: Town, list_id: str) -> None:
    async with town.house() as house, house.works.begin() as work:
        work.enqueue(LOOK_AT_LIST, LookAtList(list_id=int(list_id)))
    await settle(town)


def listed(remote: RemoteServer, *lines: str) -> str:
    return remote.serves("/list.csv", "\n".join([HEADS, *lines]).encode(), type="text/csv")


async def test_a_list_is_rehearsed_before_it_acts_and_taken_back_when_it_goes(
    new_town: TownBuilder, remote: RemoteServer
) -> None:
    town = await new_town(private_hosts=remote.domain)
    own = town.base_url.removeprefix("http://")
    admin, ada, far = await employ(town, "administrator"), await join(town), await stranger(town, "bad.example")
    await knit(town, int(ada.id), far.id)
    url = listed(remote, "bad.example,suspend,,,spam,", "loud.example,silence,true", f"{own},suspend")

    made = await admin.post(LISTS, json={"url": url})
    check(made, LIST)
    shown = await admin.post(f"{LISTS}/{made['id']}/rehearse")
    check(shown["block_list"], LIST)
    assert [(one["domain"], one["severity"]) for one in shown["added"]] == [
        ("bad.example", "suspend"),
        ("loud.example", "silence"),
    ]
    assert (shown["severed_follows_count"], shown["refused"]) == (1, [own])
    assert await blocks(admin) == {}
    await look(town, made["id"])  # nobody has agreed yet
    assert await blocks(admin) == {}

    wrong = await admin.call("POST", f"{LISTS}/{made['id']}/apply", json={"digest": "0" * 64})
    assert wrong.status_code == 409
    await admin.post(f"{LISTS}/{made['id']}/apply", json={"digest": shown["block_list"]["digest"]})
    await settle(town)
    assert await blocks(admin) == {"bad.example": "suspend", "loud.example": "silence"}
    [now] = await admin.get(LISTS)
    assert (now["state"], now["domains_count"], now["waiting"]) == ("active", 3, False)
    assert "suspended" in await ada.get(f"/api/v1/accounts/{far.id}")

    assert await admin.delete(f"{LISTS}/{made['id']}") == {}
    await settle(town)
    assert await blocks(admin) == {}
    assert await admin.get(LISTS) == []
    assert "suspended" not in await ada.get(f"/api/v1/accounts/{far.id}")


async def test_small_changes_of_a_list_are_followed_and_large_ones_held(
    new_town: TownBuilder, remote: RemoteServer
) -> None:
    town = await new_town(private_hosts=remote.domain)
    admin = await employ(town, "administrator")
    many = [f"s{number}.example,silence" for number in range(30)]
    url = listed(remote, *many)
    await town.kith("federation", "subscriptions", "add", url, "--apply")
    await settle(town)
    assert len(await blocks(admin)) == 30
    [made] = await admin.get(LISTS)
    by_hand = await admin.post(f"{ADMIN}/domain_blocks", json={"domain": "hand.example"})

    listed(remote, *many[1:], "s31.example,suspend")
    remote._answers["/list.csv"].pop(0)
    await look(town, made["id"])
    now = await blocks(admin)
    assert ("s0.example" in now, now["s31.example"], now["hand.example"]) == (False, "suspend", "silence")

    listed(remote, "s1.example,silence", "hand.example,suspend")
    remote._answers["/list.csv"].pop(0)
    await look(town, made["id"])
    assert await blocks(admin) == now
    [held] = await admin.get(LISTS)
    assert (held["state"], held["reason"], held["waiting"]) == ("held", "it would lift 29 of 30 blocks", True)
    await admin.post(f"{LISTS}/{made['id']}/apply", json={"digest": held["digest"]})
    await settle(town)
    assert await blocks(admin) == {"s1.example": "silence", "hand.example": "silence"}
    assert by_hand["severity"] == "silence"

    remote.serves("/list.csv", status=500)
    remote._answers["/list.csv"].pop(0)
    await look(town, made["id"])
    [failed] = await admin.get(LISTS)
    assert (failed["error"], len(await blocks(admin))) == ("is of a server that answered 500", 2)
    await town.kith("federation", "subscriptions", "remove", url, "--keep-blocks")
    assert (await admin.get(LISTS), len(await blocks(admin))) == ([], 2)


async def test_a_list_whose_lines_exclude_each_other_comes_to_an_end(
    new_town: TownBuilder, remote: RemoteServer
) -> None:
    town = await new_town(private_hosts=remote.domain)
    admin = await employ(town, "administrator")
    lines = [
        line
        for number in range(30)
        for line in (
            f"n{number}.example:8080,suspend", f"z.n{number}.example,noop", f"z.n{number}.example:8080,silence",
            f"z.n{number}.example:8080x,silence",
        )
    ]  # fmt: skip
    url = listed(remote, *lines, "last.example,suspend")
    await town.kith("federation", "subscriptions", "add", url, "--apply")

    await settle(town)

    found = await blocks(admin)
    assert (found["last.example"], found["n29.example:8080"], found["z.n29.example"]) == ("suspend", "suspend", "noop")
    [now] = await admin.get(LISTS)
    assert (now["state"], now["waiting"]) == ("active", False)


async def test_lists_come_and_go_as_files(new_town: TownBuilder) -> None:
    town = await new_town()
    admin, ada = await employ(town, "administrator"), await join(town)
    await admin.post(f"{ADMIN}/domain_blocks", json={"domain": "a.example", "public_comment": "so, what?"})

    exported = await admin.call("GET", f"{ADMIN}/domain_blocks/export.csv")
    assert exported.headers["content-type"] == "text/csv; charset=utf-8"
    assert exported.text == f'{HEADS}\na.example,silence,false,false,"so, what?",false\n'
    sent: dict[str, Any] = {"data": f"{HEADS}\na.example,suspend\nb.example,suspend\n"}
    shown = await admin.post(f"{ADMIN}/domain_blocks/import", json=sent)
    assert ([one["domain"] for one in shown["added"]], shown["kept"], shown["applied"]) == (
        ["b.example"],
        ["a.example"],
        False,
    )
    assert list(await blocks(admin)) == ["a.example"]
    await admin.post(f"{ADMIN}/domain_blocks/import", json=sent | {"apply": True})
    await settle(town)
    assert await blocks(admin) == {"b.example": "suspend", "a.example": "silence"}

    assert await admin.post(f"{ADMIN}/domain_allows/import", json={"data": "#domain\nc.example\n"}) == {
        "added": ["c.example"]
    }
    allows = await admin.call("GET", f"{ADMIN}/domain_allows/export.csv")
    assert allows.text == "#domain\nc.example\n"
    bad = await admin.call("POST", f"{ADMIN}/domain_blocks/import", json={"data": "<p>no</p>"})
    assert bad.status_code == 422
    for path in (LISTS, f"{ADMIN}/domain_blocks/export.csv"):
        assert await verdict(ada, "GET", path) == 403


async def test_what_is_wrong_with_a_list_is_told_in_the_language_of_whoever_asks(town: Town) -> None:
    admin, words = await employ(town, "administrator"), {"Accept-Language": "de"}
    answer = await admin.call("POST", "/api/v1/admin/domain_blocks/import", json={"data": "<p>no</p>"}, headers=words)

    assert answer.status_code == 422, answer.text
    assert "Daten nennt in keiner Zeile einen Server" in answer.json()["error"], answer.text

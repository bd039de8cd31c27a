"""Who is let in: by the lists of the team, and by the operator's choice that only listed servers are."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from kith.base.work import Work, Works
from kith.federation.gate.rules import Lists
from kith.federation.gate.service import Gate
from kith.social.admission import servers
from kith.social.admission.marks import marks_for
from kith.social.admission.tables import NOT_LISTED, ServerBlock
from kith.social.remote_servers import names_above
from kith.social.staff import OPERATOR
from tests.conftest import TownBuilder
from tests.federation.schedules import hurry
from tests.social.members import Member, join, stranger, until
from tests.social.staff import employ
from tests.town import Town

ADMIN = "/api/v1/admin"
AT = datetime(2024, 1, 1, tzinfo=UTC)


def block(domain: str, severity: str = "suspend") -> ServerBlock:
    return ServerBlock(1, domain, severity, False, False, False, None, None, AT)


def lists(*blocks: ServerBlock, allowed: frozenset[str] | None = None) -> Lists:
    return Lists({one.domain: one for one in blocks}, allowed)


@pytest.mark.parametrize(
    ("kept", "domain", "admitted"),
    [
        (lists(), "a.example", True),
        (lists(block("a.example")), "a.example", False),
        (lists(block("a.example")), "A.Example", False),
        (lists(block("a.example")), "deep.a.example", False),
        (lists(block("a.example")), "nota.example", True),
        (lists(block("deep.a.example")), "a.example", True),
        (lists(block("a.example"), block("good.a.example", "silence")), "good.a.example", True),
        (lists(block("a.example"), block("good.a.example", "noop")), "very.good.a.example", True),
        (lists(block("a.example", "silence")), "a.example", True),
        (lists(block("127.0.0.1:8001")), "127.0.0.1:8001", False),
        (lists(block("127.0.0.1:8001")), "127.0.0.1:8002", True),
        (lists(block("127.0.0.1")), "127.0.0.1:8002", False),
        (lists(block("a.example")), "deep.A.example:8443", False),
        (lists(block("a.example"), block("a.example:8443", "silence")), "a.example:8443", True),
        (lists(allowed=frozenset({"a.example"})), "a.example:8443", False),
        (lists(allowed=frozenset()), "a.example", False),
        (lists(allowed=frozenset({"a.example"})), "a.example", True),
        (lists(allowed=frozenset({"a.example"})), "deep.a.example", False),
        (lists(block("a.example"), allowed=frozenset({"a.example"})), "a.example", False),
    ],
)
def test_who_is_let_in(kept: Lists, domain: str, admitted: bool) -> None:
    assert kept.admits(domain) is admitted


def test_names_above_a_name() -> None:
    assert list(names_above("A.b.example:80")) == [
        "a.b.example:80", "a.b.example", "b.example:80", "b.example", "example:80", "example",
    ]  # fmt: skip
    assert list(names_above("b.example")) == ["b.example", "example"]


async def admits(town: Town, domain: str) -> bool:
    async with town.house() as house:
        return await house.find(Gate).admits(domain)


async def test_the_gate_hears_of_changes_at_once(new_town: TownBuilder) -> None:
    town = await new_town()
    admin = await employ(town, "administrator")
    async with town.house() as house:
        gate = house.find(Gate)
        assert await gate.admits(house.settings.domain)
        assert await gate.admits("far.example")

        made = await admin.post(f"{ADMIN}/domain_blocks", json={"domain": "far.example", "severity": "suspend"})
        assert not await admits(town, "sub.far.example")
        async with house.works.begin() as work:
            await servers.block(work, OPERATOR, "near.example", servers.DomainBlockDraft(severity="suspend"))
        assert not await gate.admits("near.example")
        assert not await gate.admits("far.example")

        await admin.delete(f"{ADMIN}/domain_blocks/{made['id']}")
    assert await admits(town, "far.example")


class SlowGate(Gate):
    """One that is held up after it has read for the first time."""

    def __init__(self, works: Works) -> None:
        super().__init__(works)
        self.has_read, self.may_go_on = asyncio.Event(), asyncio.Event()

    async def _read(self, work: Work | None) -> Lists:
        found = await super()._read(work)
        if not self.has_read.is_set():
            self.has_read.set()
            await self.may_go_on.wait()
        return found


async def test_what_was_read_earlier_does_not_replace_what_was_read_later(new_town: TownBuilder) -> None:
    town = await new_town(start=False)
    async with town.house() as house:
        gate = SlowGate(house.works)
        slow = asyncio.create_task(gate.admits("far.example"))
        await gate.has_read.wait()
        async with town.house() as other, other.works.begin() as work:  # whose news does not come here
            await servers.block(work, OPERATOR, "far.example", servers.DomainBlockDraft(severity="suspend"))
        assert not await gate.admits("far.example")
        gate.may_go_on.set()
        await slow

        assert not await gate.admits("far.example")


async def is_suspended(member: Member, id: object) -> bool:
    return "suspended" in await member.get(f"/api/v1/accounts/{id}")


async def test_only_listed_servers_are_let_in_where_there_is_a_list(new_town: TownBuilder) -> None:
    town = await new_town()
    admin, ada = await employ(town, "administrator"), await join(town)
    far, listed = await stranger(town, "far.example"), await stranger(town, "listed.example")
    await admin.post(f"{ADMIN}/domain_allows", json={"domain": "listed.example"})
    assert (await town.http.get("/api/v2/instance")).json()["configuration"]["limited_federation"] is False

    await town.stop()
    town.change(federation="allow-list")
    await town.start()
    await hurry(town)
    await until(lambda: is_suspended(ada, far.id))

    assert (await town.http.get("/api/v2/instance")).json()["configuration"]["limited_federation"] is True
    assert not await is_suspended(ada, listed.id)
    assert not await admits(town, "far.example")
    assert await admits(town, "listed.example")
    async with town.house() as house, house.works.begin() as work:
        assert (await marks_for(work, "far.example")).suspended_at == NOT_LISTED
        assert (await marks_for(work, "listed.example")).suspended_at is None

    # listing a server brings its people back, taking it from the list hides them
    allow = await admin.post(f"{ADMIN}/domain_allows", json={"domain": "far.example"})
    assert not await is_suspended(ada, far.id)
    await admin.delete(f"{ADMIN}/domain_allows/{allow['id']}")
    assert await is_suspended(ada, far.id)
    # what a block did is lifted with it, and the list still holds
    made = await admin.post(f"{ADMIN}/domain_blocks", json={"domain": "far.example", "severity": "suspend"})
    await admin.delete(f"{ADMIN}/domain_blocks/{made['id']}")
    assert await is_suspended(ada, far.id)

    await town.stop()
    town.change(federation="open")
    await town.start()
    await hurry(town)

    async def is_back() -> bool:
        return not await is_suspended(ada, far.id)

    await until(is_back)


async def test_an_account_that_comes_after_a_block_has_its_marks(new_town: TownBuilder) -> None:
    town = await new_town()
    admin = await employ(town, "administrator")
    limited = await admin.post(f"{ADMIN}/domain_blocks", json={"domain": "limited.example", "reject_media": True})
    await admin.post(f"{ADMIN}/domain_blocks", json={"domain": "shut.example", "severity": "suspend"})

    async with town.house() as house, house.works.begin() as work:
        one, other = await marks_for(work, "deep.limited.example"), await marks_for(work, "shut.example")
        none = await marks_for(work, "other.example")

    assert (one.silenced_at is not None, one.suspended_at, one.pictures_rejected) == (True, None, True)
    assert (other.silenced_at, other.suspended_at is not None, other.pictures_rejected) == (None, True, True)
    assert (none.silenced_at, none.suspended_at, none.pictures_rejected) == (None, None, False)
    # such an account is let go with the block
    late = await stranger(town, "deep.limited.example", silenced_at=one.silenced_at)
    ada = await join(town)
    assert "limited" in await ada.get(f"/api/v1/accounts/{late.id}")
    await admin.delete(f"{ADMIN}/domain_blocks/{limited['id']}")
    assert "limited" not in await ada.get(f"/api/v1/accounts/{late.id}")

"""Other servers as the team lists them: page by page, by name and by how it goes with them."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

from kith.federation.delivery import store
from kith.federation.delivery.tables import DeliveryHost
from kith.federation.peers import every_peer
from tests.social.members import Member, stranger, strangers
from tests.social.staff import employ
from tests.town import Town

PATH = "/api/v1/admin/peers"


async def names(owner: Member, **asked: Any) -> list[str]:
    return [one["domain"] for one in (await owner.get(PATH, params=asked))["peers"]]


async def test_servers_are_listed_page_by_page_and_by_how_they_are(town: Town) -> None:
    owner, top = await employ(town, "owner"), f"t{uuid.uuid4().hex[:8]}.example"
    await strangers(town, 3, f"a.{top}")
    await stranger(town, f"a.{top}", actor_type="Application")
    await stranger(town, f"below.b.{top}")
    async with town.house() as house, house.works.begin() as work:
        past, soon = work.now - timedelta(hours=1), work.now + timedelta(hours=1)
        for host in (
            DeliveryHost(f"c.{top}", failures=2, failed_at=past, error="refused"),
            DeliveryHost(f"d.{top}", failures=9, paused_until=soon),
            DeliveryHost(f"e.{top}", failures=9, paused_until=past),
            DeliveryHost(f"f.{top}", failures=9, paused_until=soon, unavailable_since=past),
            DeliveryHost(f"g.{top}", is_slow=True),
            DeliveryHost(f"h_h.{top}", succeeded_at=past),
        ):
            await store.save_host(work.db, host)
    await owner.post("/api/v1/admin/domain_blocks", json={"domain": f"b.{top}", "severity": "silence"})

    everything = [f"{name}.{top}" for name in ("a", "b", "below.b", "c", "d", "e", "f", "g", "h_h")]
    told = await owner.get(PATH, params={"q": top.upper()})
    assert sorted(one["domain"] for one in told["peers"]) == sorted(everything)
    assert told["total"] == len(everything)
    assert told["known"] >= told["total"]
    by_name = {one["domain"]: one for one in told["peers"]}
    assert by_name[f"a.{top}"]["accounts"] == 3
    assert (by_name[f"below.b.{top}"]["block"], by_name[f"a.{top}"]["block"]) == ("silence", None)
    assert by_name[f"c.{top}"]["error"] == "refused"

    walked: list[str] = []
    for offset in range(0, len(everything) + 4, 4):
        walked += await names(owner, q=top, limit=4, offset=offset)
    assert walked == [one["domain"] for one in told["peers"]]

    for state, wanted in (
        ("ok", ["a", "b", "below.b", "h_h"]),
        ("slow", ["g"]),
        ("failing", ["c", "e"]),
        ("paused", ["d"]),
        ("unavailable", ["f"]),
        ("troubled", ["c", "d", "e", "f"]),
        ("blocked", ["b", "below.b"]),
        ("waiting", []),
        ("nonsense", []),
    ):
        found = await owner.get(PATH, params={"q": top, "state": state})
        shown = [one["domain"] for one in found["peers"]]
        assert sorted(shown) == [f"{name}.{top}" for name in wanted], state
        assert found["total"] == len(wanted), state
        if state in ("ok", "slow", "failing", "paused", "unavailable"):
            assert {one["state"] for one in found["peers"]} <= {state}
    assert await names(owner, q=f"h_h.{top}") == [f"h_h.{top}"]
    assert await names(owner, q=f"a_{top}") == []  # no sign stands for another


async def test_one_server_is_found_without_the_others(town: Town) -> None:
    owner, name = await employ(town, "owner"), f"one{uuid.uuid4().hex[:8]}.example"
    assert (await owner.call("GET", f"{PATH}/{name}")).status_code == 404
    await owner.post("/api/v1/admin/domain_blocks", json={"domain": name, "severity": "noop"})
    one = await owner.get(f"{PATH}/{name.upper()}")
    assert (one["domain"], one["block"], one["accounts"], one["delivery"]) == (name, "noop", 0, None)
    async with town.house() as house, house.works.begin() as work:
        await store.save_host(work.db, DeliveryHost(name, failures=1, failing_days=2))
    one = await owner.get(f"{PATH}/{name}")
    assert (one["state"], one["delivery"]["failing_days"]) == ("failing", 2)
    async with town.house() as house, house.works.begin() as work:
        assert name in [peer.domain for peer in await every_peer(work)]

"""What a clock that was ahead has written of people opens nothing for longer, and keeps nobody out for longer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from sqlalchemy import bindparam, select, update

from kith.base.db import Instant, command, query
from kith.federation.delivery import store as deliveries
from kith.federation.delivery.rules import LONGEST_PAUSE, pause_of
from kith.federation.delivery.tables import DeliveryHost
from kith.federation.delivery.tables import deliveries as delivery_rows
from kith.identity import reauthentication
from kith.identity.factors.service import wait_of
from kith.identity.factors.tables import Factor
from kith.identity.sessions.service import IDLE_LIFE, hash_key
from kith.identity.sessions.tables import LoginSession, sessions
from tests.identity.relying_party import signed_in
from tests.town import Town

NOW = datetime(2030, 5, 17, 12, tzinfo=UTC)
HOUR, YEAR = timedelta(hours=1), timedelta(days=365)
_hash: Any = bindparam("hash")
_session = query(select(sessions.c.created_at, sessions.c.expires_at).where(sessions.c.key_hash == _hash), tuple)
_set = command(
    update(sessions)
    .where(sessions.c.key_hash == _hash)
    .values({name: bindparam(f"new_{name}", type_=Instant()) for name in ("created_at", "last_used_at", "expires_at")})
)


async def test_a_session_lasts_no_longer_because_the_clock_was_ahead(town: Town) -> None:
    person, browser = await signed_in(town)
    key = hash_key(browser.http.cookies["kith_session"])
    async with town.house() as house, house.works.begin() as work:
        made_at, _ends = await work.db.one(_session, hash=key) or (work.now, work.now)
    ahead = {"new_last_used_at": made_at + YEAR, "new_expires_at": made_at + YEAR + IDLE_LIFE}

    async with town.house() as house, house.works.begin() as work:
        await work.db.run(_set, hash=key, new_created_at=made_at + YEAR, **ahead)
    assert await browser.who() is None, "begun next year"

    async with town.house() as house, house.works.begin() as work:
        await work.db.run(_set, hash=key, new_created_at=made_at, **ahead)
    assert await browser.who() == person.username, "used next year"
    async with town.house() as house, house.works.begin() as work:
        _, ends = await work.db.one(_session, hash=key) or (work.now, work.now)
        assert ends <= work.now + IDLE_LIFE


def _session_of(created_at: datetime) -> LoginSession:
    values: dict[str, Any] = dict.fromkeys(LoginSession.__struct_fields__)
    return LoginSession(**values | {"auth_method": "password", "created_at": created_at})


@pytest.mark.parametrize(
    ("ago", "is_fresh"),
    [
        (timedelta(0), True),
        (timedelta(minutes=14), True),
        (timedelta(minutes=16), False),
        (-HOUR, False),
        (-YEAR, False),
    ],
)
def test_whoever_signed_in_tomorrow_has_not_done_so_lately(ago: timedelta, is_fresh: bool) -> None:
    assert reauthentication.is_fresh(_session_of(NOW - ago), NOW) is is_fresh


@pytest.mark.parametrize(("ago", "waits"), [(timedelta(0), True), (-HOUR, False), (-YEAR, False), (HOUR, False)])
def test_a_wrong_code_of_next_year_keeps_nobody_waiting(ago: timedelta, waits: bool) -> None:
    values: dict[str, Any] = dict.fromkeys(Factor.__struct_fields__)
    factor = Factor(**values | {"failures": 5, "failed_at": NOW - ago})
    assert (wait_of(factor, 1.0, NOW) > 0) is waits


@pytest.mark.parametrize(
    ("until", "is_paused"),
    [(None, False), (-HOUR, False), (timedelta(minutes=1), True), (HOUR, True), (2 * HOUR, False), (YEAR, False)],
)
def test_no_host_is_left_alone_for_a_year(until: timedelta | None, is_paused: bool) -> None:
    host = msgspec.structs.replace(DeliveryHost("a.example"), paused_until=None if until is None else NOW + until)
    assert (pause_of(host, NOW) is not None) is is_paused


async def test_what_was_put_off_or_held_until_next_year_is_sent(town: Town) -> None:
    domain = "ahead.example"
    shown = select(delivery_rows.c.id, delivery_rows.c.next_at, delivery_rows.c.held_until)
    rows = query(shown.where(delivery_rows.c.domain == domain).order_by(delivery_rows.c.id), tuple)
    async with town.house() as house, house.works.begin() as work:
        now, outgoing = work.now, work.new_id()
        await deliveries.add_outgoing(
            work.db, id=outgoing, sender=None, activity="{}", with_previous_key=False, made_at=now
        )
        times = [(now + HOUR, now + HOUR / 4), (now + YEAR, None), (now, now + YEAR)]
        usual = {
            "outgoing_id": outgoing,
            "domain": domain,
            "inbox": f"https://{domain}/inbox",
            "sender": 0,
            "subject": 0,
        }
        usual |= {"headers": None, "attempts": 1, "retries": 16, "size": 2, "even_if_dead": False, "held_by": None}
        made = [usual | {"id": work.new_id(), "next_at": at, "held_until": held} for at, held in times]
        await deliveries.add_deliveries(work.db, made)
    async with town.house() as house, house.works.begin() as work:
        await deliveries.set_right(work.db, now=now, pause=LONGEST_PAUSE, held=HOUR)
        found = [(next_at, held) for _, next_at, held in await work.db.all(rows)]
        await deliveries.purge(work.db, domain)
    assert found == [times[0], (now, None), (now, None)]

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Boolean, and_, bindparam, case, delete, func, null, or_, select, text, tuple_, update

from kith.base.db import UID, Instant, Session, alias_of, any_of, any_row, command, insert_into, query, upsert
from kith.base.ids import id_at
from kith.federation.delivery.tables import DeliveryHost, DueDelivery, OutgoingActivity, deliveries, hosts, outgoing

# While an activity has failed no more often than this, later ones of the same sender to the same inbox wait for it.
WAITED_FOR = 3

_now = bindparam("now", type_=Instant())
_alone: Any = bindparam("alone", type_=Boolean())
_dead: Any = bindparam("dead", type_=Boolean())
_domain: Any = bindparam("domain")
_of_domain = deliveries.c.domain == _domain

_waiting = query(select(deliveries.c.domain, func.count()).group_by(deliveries.c.domain), tuple)
_waiting_for = query(
    select(deliveries.c.domain, func.count())
    .where(any_of(deliveries.c.domain, "domains"))
    .group_by(deliveries.c.domain),
    tuple,
)
_all_hosts = query(select(hosts).order_by(hosts.c.domain), DeliveryHost)
_add_outgoing = command(insert_into(outgoing))
_add_deliveries = command(insert_into(deliveries))
_outgoing = query(select(outgoing).where(any_of(outgoing.c.id, "ids")), OutgoingActivity)
_hosts = query(select(hosts).where(any_of(hosts.c.domain, "domains")), DeliveryHost)
_host_insert = upsert(hosts).values({column.name: bindparam(column.name, type_=column.type) for column in hosts.c})
_save_host = command(
    _host_insert.on_conflict_do_update(
        index_elements=["domain"],
        set_={column.name: _host_insert.excluded[column.name] for column in hosts.c if not column.primary_key},
    ).inline()
)

_is_free = or_(
    deliveries.c.held_until.is_(None),
    deliveries.c.held_until < _now,
    and_(_alone, deliveries.c.held_by != bindparam("me", type_=UID())),
)
_may_go = or_(deliveries.c.even_if_dead, ~_dead)
_earlier = alias_of(deliveries, "earlier")
_has_earlier = any_row(
    _earlier,
    and_(
        text("earlier.attempts > 0"),  # written out: the small index holds all of these
        _earlier.c.inbox == deliveries.c.inbox,
        _earlier.c.sender == deliveries.c.sender,
        _earlier.c.id < deliveries.c.id,
        or_(
            and_(_earlier.c.attempts <= WAITED_FOR, _earlier.c.next_at > _now),
            # However often it failed: what it began cannot be changed or taken back before.
            and_(
                _earlier.c.subject == deliveries.c.subject,
                deliveries.c.subject != 0,
                or_(_earlier.c.even_if_dead, ~_dead),
            ),
        ),
    ),
)
# What is on its way already, by whichever job: what the same senders have for the same inboxes waits for the answer.
_sent = alias_of(deliveries, "sent")
_on_its_way = select(_sent.c.inbox, _sent.c.sender).where(
    and_(
        _sent.c.domain == _domain,
        _sent.c.held_until >= _now,
        ~and_(_alone, _sent.c.held_by != bindparam("me", type_=UID())),
    )
)
_waits = tuple_(deliveries.c.inbox, deliveries.c.sender).in_(_on_its_way)
_due = (
    select(deliveries.c.id)
    .where(and_(_of_domain, deliveries.c.next_at <= _now, _is_free, _may_go, ~_has_earlier, ~_waits))
    .order_by(deliveries.c.next_at, deliveries.c.id)
    .limit(bindparam("most"))
    .with_for_update(skip_locked=True)
    .cte("due")
)
_claim = query(
    update(deliveries)
    .where(deliveries.c.id == _due.c.id)
    .values(held_by=bindparam("me", type_=UID()), held_until=bindparam("until", type_=Instant()))
    .returning(*(deliveries.c[name] for name in DueDelivery.__struct_fields__)),
    DueDelivery,
)
_not_before = case(
    (
        and_(
            deliveries.c.held_until > deliveries.c.next_at,
            ~and_(_alone, deliveries.c.held_by != bindparam("me", type_=UID())),
        ),
        deliveries.c.held_until,
    ),
    else_=deliveries.c.next_at,
)
_next_due = query(
    select(func.min(_not_before)).where(and_(_of_domain, _may_go, ~_has_earlier, or_(~_is_free, ~_waits))), datetime
)
_delete = command(delete(deliveries).where(any_of(deliveries.c.id, "ids")))
_put_off = command(
    update(deliveries)
    .where(deliveries.c.id == bindparam("delivery"))
    .values(
        attempts=bindparam("tried"), next_at=bindparam("again_at", type_=Instant()), held_by=null(), held_until=null()
    )
)
_mine = deliveries.c.held_by == bindparam("me", type_=UID())
_release = command(
    update(deliveries).where(and_(any_of(deliveries.c.id, "ids"), _mine)).values(held_by=null(), held_until=null())
)
_release_all = command(update(deliveries).where(_mine).values(held_by=null(), held_until=null()))
_hold = command(
    update(deliveries)
    .where(and_(any_of(deliveries.c.id, "ids"), _mine))
    .values(held_until=bindparam("until", type_=Instant()))
)
_purge = command(delete(deliveries).where(_of_domain))
_wake = command(update(deliveries).where(_of_domain).values(next_at=_now))
# What a process whose clock was ahead put off or held would wait for as long.
_any_far = query(
    select(deliveries.c.id)
    .where(
        or_(
            deliveries.c.next_at > bindparam("latest", type_=Instant()),
            deliveries.c.held_until > bindparam("latest_held", type_=Instant()),
        )
    )
    .limit(1),
    int,
)
_try_now = command(
    update(deliveries).where(deliveries.c.next_at > bindparam("latest", type_=Instant())).values(next_at=_now)
)
_let_go = command(
    update(deliveries)
    .where(deliveries.c.held_until > bindparam("latest", type_=Instant()))
    .values(held_by=null(), held_until=null())
)
_is_parked = any_row(hosts, and_(hosts.c.domain == deliveries.c.domain, hosts.c.unavailable_since.is_not(None)))
_behind = query(
    select(deliveries.c.domain)
    .where(
        and_(
            deliveries.c.next_at <= bindparam("before", type_=Instant()),
            or_(deliveries.c.held_until.is_(None), deliveries.c.held_until < _now),
            or_(deliveries.c.even_if_dead, ~_is_parked),
        )
    )
    .distinct()
    .limit(bindparam("most")),
    str,
)
_oldest = select(outgoing.c.id).where(outgoing.c.id < bindparam("below")).order_by(outgoing.c.id).limit(1000)
_give_up = command(delete(deliveries).where(deliveries.c.outgoing_id.in_(_oldest)))
_forget_oldest = command(delete(outgoing).where(outgoing.c.id.in_(_oldest)))
_forget_delivered = command(
    delete(outgoing).where(
        and_(any_of(outgoing.c.id, "ids"), ~any_row(deliveries, deliveries.c.outgoing_id == outgoing.c.id))
    )
)
_forget_hosts = command(
    delete(hosts).where(
        and_(
            hosts.c.succeeded_at < bindparam("before", type_=Instant()),
            or_(hosts.c.failed_at.is_(None), hosts.c.failed_at < bindparam("before", type_=Instant())),
            ~any_row(deliveries, deliveries.c.domain == hosts.c.domain),
        )
    )
)


async def add_outgoing(db: Session, **values: Any) -> None:
    await db.run(_add_outgoing, **values)


async def add_deliveries(db: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    await db.many(_add_deliveries, rows)


async def outgoing_of(db: Session, ids: Collection[int]) -> dict[int, OutgoingActivity]:
    return {one.id: one for one in await db.all(_outgoing, ids=list(ids))} if ids else {}


async def hosts_of(db: Session, domains: Sequence[str]) -> dict[str, DeliveryHost]:
    return {one.domain: one for one in await db.all(_hosts, domains=list(domains))}


async def host_of(db: Session, domain: str) -> DeliveryHost:
    return (await hosts_of(db, [domain])).get(domain) or DeliveryHost(domain)


async def save_host(db: Session, host: DeliveryHost) -> None:
    await db.run(_save_host, **{name: getattr(host, name) for name in DeliveryHost.__struct_fields__})


async def claim(
    db: Session, domain: str, *, me: str, alone: bool, dead: bool, most: int, now: datetime, until: datetime
) -> list[DueDelivery]:
    """Take what is due for a host, oldest first. `alone`: whoever else holds something is not alive any more.

    To a `dead` host only what is sent even then.
    """
    taken = await db.all(_claim, domain=domain, me=me, alone=alone, dead=dead, most=most, now=now, until=until)
    return sorted(taken, key=lambda one: one.id)


async def next_due(db: Session, domain: str, *, me: str, alone: bool, dead: bool, now: datetime) -> datetime | None:
    """When the next delivery to a host is due, or free again."""
    return await db.one(_next_due, domain=domain, me=me, alone=alone, dead=dead, now=now)


async def waiting(db: Session) -> dict[str, int]:
    """How many deliveries wait for each host."""
    return dict(await db.slow(_waiting))


async def waiting_for(db: Session, domains: Sequence[str]) -> dict[str, int]:
    """How many deliveries wait for each of these hosts."""
    return dict(await db.slow(_waiting_for, domains=list(domains)))


async def all_hosts(db: Session) -> list[DeliveryHost]:
    return await db.slow(_all_hosts)


async def finish(db: Session, ids: Sequence[int], outgoing_ids: Collection[int]) -> None:
    """And forget those of their activities that are on their way to nobody any more."""
    await db.run(_delete, ids=list(ids))
    await db.run(_forget_delivered, ids=sorted(outgoing_ids))


async def put_off(db: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    """`delivery`, `tried` so many times, `again_at`."""
    await db.many(_put_off, rows)


async def release(db: Session, ids: Sequence[int], me: str) -> None:
    """Give back what was not sent."""
    await db.run(_release, ids=list(ids), me=me)


async def hold(db: Session, ids: Sequence[int], me: str, until: datetime) -> None:
    """Those of them that are still held by `me`."""
    await db.run(_hold, ids=list(ids), me=me, until=until)


async def release_all(db: Session, me: str) -> int:
    """Looks at all there are: for the end of a process."""
    return await db.run(_release_all, me=me)


async def purge(db: Session, domain: str) -> int:
    return await db.run(_purge, domain=domain)


async def wake(db: Session, domain: str, now: datetime) -> int:
    """Everything that waits for a host is due now."""
    return await db.run(_wake, domain=domain, now=now)


async def set_right(db: Session, *, now: datetime, pause: timedelta, held: timedelta) -> None:
    """Make due what waits for longer than `pause`, and free what is held for longer than `held`."""
    if await db.slow(_any_far, latest=now + pause, latest_held=now + held):
        await db.run(_try_now, now=now, latest=now + pause)
        await db.run(_let_go, latest=now + held)


async def behind(db: Session, *, before: datetime, now: datetime, most: int) -> list[str]:
    """Hosts for which something was due before then, and nobody has taken it."""
    return await db.slow(_behind, before=before, now=now, most=most)


async def give_up(db: Session, before: datetime) -> int:
    """Forget activities that are older, and whatever is left of their deliveries: how many."""
    below = id_at(before)
    count = await db.run(_give_up, below=below)
    await db.run(_forget_oldest, below=below)
    return count


async def forget_hosts(db: Session, before: datetime) -> None:
    """Those to which nothing was sent since then."""
    await db.run(_forget_hosts, before=before)

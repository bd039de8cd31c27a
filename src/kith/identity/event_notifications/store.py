from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Integer, and_, bindparam, delete, false, or_, select, update

from kith.base.db import UID, Instant, Session, command, insert_into, query, upsert
from kith.identity.audit.tables import Event, events
from kith.identity.event_notifications.rules import rules
from kith.identity.event_notifications.tables import NotificationWindow, notifications, windows
from kith.identity.groups.tables import IS_MEMBER, groups, members
from kith.identity.mappings.family import mappings
from kith.identity.policies.bindings import bindings
from kith.identity.policies.kinds.event_matcher import event_matchers
from kith.identity.users.tables import User, is_active, users
from kith.identity.users.team import STAFF_ROLES


class BoundMatcher(msgspec.Struct):
    """A binding of a rule, and the action that its policy asks for if it is an event matcher that asks for one."""

    negate: bool
    failure_result: bool
    action: str | None


_bound = query(
    select(bindings.c.negate, bindings.c.failure_result, event_matchers.c.action)
    .select_from(
        rules.join(bindings, bindings.c.target == rules.c.pbm_uuid).outerjoin(
            event_matchers, event_matchers.c.policy_uuid == bindings.c.policy
        )
    )
    .where(bindings.c.enabled),
    BoundMatcher,
)
_rule_ids = query(select(rules.c.pbm_uuid).order_by(rules.c.name), str)
_event = query(select(events).where(events.c.event_uuid == bindparam("event", type_=UID())), Event)

# Who is told: members of the group and of those below it, the event's person, administrators.
_top = select(groups.c.group_uuid).where(groups.c.group_uuid == bindparam("group", type_=UID()))
_down = _top.cte("down", recursive=True)
_down = _down.union(select(groups.c.group_uuid).where(groups.c.parent == _down.c.group_uuid))
_might = select(groups.c.group_uuid).where(groups.c.is_superuser).cte("might", recursive=True)
_might = _might.union(select(groups.c.group_uuid).where(groups.c.parent == _might.c.group_uuid))


def _members_of(found: Any) -> Any:
    inside = and_(members.c.group_uuid.in_(select(found.c.group_uuid)), IS_MEMBER)
    return users.c.id.in_(select(members.c.user_id).where(inside))


def _recipients(*, administrators: bool) -> Any:
    staff = or_(users.c.role.in_(STAFF_ROLES), _members_of(_might)) if administrators else false()
    return query(
        select(users)
        .where(
            and_(
                users.c.id > bindparam("after"),
                is_active(),
                users.c.approved_at.is_not(None),
                or_(_members_of(_down), users.c.id == bindparam("person", type_=Integer()), staff),
            )
        )
        .order_by(users.c.id)
        .limit(bindparam("most")),
        User,
    )


_with_administrators, _without = _recipients(administrators=True), _recipients(administrators=False)

_insert = command(insert_into(notifications))
_see_all = command(
    update(notifications)
    .where(and_(notifications.c.user_id == bindparam("user"), ~notifications.c.seen))
    .values(seen=True, updated_at=bindparam("now", type_=Instant()))
)
_forget = command(delete(notifications).where(notifications.c.created_at < bindparam("before", type_=Instant())))

_new_window = upsert(windows).values(
    rule=bindparam("rule", type_=UID()),
    started_at=bindparam("now", type_=Instant()),
    sent=0,
    held=0,
    last_event=None,
)
# Writing to the row, though it changes nothing, keeps others from counting at the same time.
_open_window = query(
    _new_window.on_conflict_do_update(
        index_elements=[windows.c.rule], set_={"rule": _new_window.excluded.rule}
    ).returning(*windows.c),
    NotificationWindow,
)
_keep_window = command(
    update(windows)
    .where(windows.c.rule == bindparam("of", type_=UID()))
    .values(
        started_at=bindparam("began", type_=Instant()),
        sent=bindparam("now_sent"),
        held=bindparam("now_held"),
        last_event=bindparam("last", type_=UID()),
    )
)
_expression = query(
    select(mappings.c.name, mappings.c.expression).where(mappings.c.pm_uuid == bindparam("mapping", type_=UID())), tuple
)


async def bound_matchers(db: Session) -> list[BoundMatcher]:
    return await db.all(_bound)


async def rule_ids(db: Session) -> list[str]:
    return await db.all(_rule_ids)


async def find_event(db: Session, event_uuid: str) -> Event | None:
    return await db.one(_event, event=event_uuid)


async def recipients(
    db: Session, *, group: str | None, person: int | None, administrators: bool, after: int, most: int
) -> list[User]:
    """Those who are told and may sign in, by their ids, each once."""
    found = _with_administrators if administrators else _without
    return await db.all(found, group=group, person=person, after=after, most=most)


async def insert(db: Session, rows: Sequence[dict[str, Any]]) -> None:
    await db.many(_insert, list(rows))


async def see_all(db: Session, user_id: int, now: datetime) -> None:
    await db.run(_see_all, user=user_id, now=now)


async def delete_old(db: Session, before: datetime) -> None:
    await db.run(_forget, before=before)


async def open_window(db: Session, rule: str, now: datetime) -> NotificationWindow:
    found = await db.one(_open_window, rule=rule, now=now)
    assert found is not None  # noqa: S101 - made or found
    return found


async def keep_window(db: Session, window: NotificationWindow) -> None:
    await db.run(
        _keep_window,
        of=window.rule,
        began=window.started_at,
        now_sent=window.sent,
        now_held=window.held,
        last=window.last_event,
    )


async def find_expression(db: Session, mapping: str) -> tuple[str, str] | None:
    """The name and the expression of a mapping."""
    return await db.one(_expression, mapping=mapping)

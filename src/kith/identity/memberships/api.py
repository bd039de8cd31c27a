"""Actions beside /core/groups/: members one at a time, each until a moment or for good."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, func, select

from kith.base.db import UID, query
from kith.base.errors import Forbidden, Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.paging import OffsetPage, envelope, public_url
from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.groups import store
from kith.identity.groups.tables import IS_MEMBER, members
from kith.identity.memberships import service
from kith.identity.memberships.store import names_of
from kith.identity.rest import Action
from kith.identity.rest.answers import NOTHING, show_page
from kith.identity.rest.body import read_object
from kith.identity.rest.ends import PAST, is_later
from kith.identity.rest.fields import InvalidValue, Moment, missing, read_identifier, read_uuid
from kith.identity.rest.write_guard import judge_after, judge_membership, rights_before
from kith.identity.users.tables import users

OWN_END = "You may not lengthen your own membership."
_EXPIRES = Moment(name="expires", null=True)
_here = and_(members.c.group_uuid == bindparam("group", type_=UID()), IS_MEMBER)
_page = query(
    select(members.c.user_id, users.c.username, members.c.expires)
    .join(users, users.c.id == members.c.user_id)
    .where(_here)
    .order_by(users.c.username)
    .limit(bindparam("most"))
    .offset(bindparam("skip")),
    tuple,
)
_count = query(select(func.count()).select_from(members).where(_here), int)


async def list_members(exchange: Exchange, _caller: ApiCaller, id: str) -> Answer:
    """The members with the moments at which they cease to be, by name."""
    work, page = exchange.work, OffsetPage.read(exchange.query_string)
    group = await _group(work, id)
    count = await work.db.one(_count, group=group[0]) or 0
    rows = await work.db.all(_page, group=group[0], most=page.limit, skip=page.offset)
    found = [{"user": user, "username": name, "expires": _shown(expires)} for user, name, expires in rows]
    return show_page(envelope(public_url(work.settings.base_url, exchange.path), page, count, found))


def _shown(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat(timespec="microseconds").replace("+00:00", "Z")


async def add_user(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
    """Make somebody a member, until `expires` if it is given; whoever is one already gets the new end."""
    work, sent = exchange.work, await read_object(exchange)
    group, user_id = await _group(work, id), _person(sent)
    try:
        expires = _EXPIRES.read(sent.get("expires"))
    except InvalidValue as refused:
        raise Invalid(fields={"expires": [refused.complaint]}) from refused
    if expires is not None and expires <= work.now:
        raise Invalid(expires=PAST)
    await judge_membership(work, group[0], caller)
    await work.db.begin()
    if user_id == caller.id and caller.permissions is not None:
        await _keep_own_end(work, group[0], caller, expires)
    rights = await rights_before(work, "core.group", caller)
    await service.join(work, group, (user_id, await _username(work, user_id)), expires, caller)
    await judge_after(work, caller, rights)
    return NOTHING


async def _keep_own_end(work: Work, group_uuid: str, caller: ApiCaller, expires: datetime | None) -> None:
    held = await store.membership(work.db, group_uuid, caller.id)
    if held is not None and is_later(expires, held.expires):
        raise Forbidden(OWN_END, extra={"code": "permission_denied"})


async def remove_user(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
    work, sent = exchange.work, await read_object(exchange)
    group, user_id = await _group(work, id), _person(sent)
    await judge_membership(work, group[0], caller)
    await work.db.begin()
    await service.leave(work, group, (user_id, await _username(work, user_id)), caller)
    return NOTHING


async def _group(work: Work, id: str) -> tuple[str, str]:
    uuid = read_uuid(id)
    named = await names_of(work.db, [uuid], []) if uuid is not None else {}
    if uuid is None or uuid not in named:
        raise NotFound
    return uuid, named[uuid]


def _person(sent: dict[str, Any]) -> int:
    if sent.get("pk") is None:
        raise Invalid(pk="This field is required.")
    try:
        return int(read_identifier(sent["pk"], integer=True))
    except InvalidValue as refused:
        raise Invalid(fields={"pk": [refused.complaint]}) from refused


async def _username(work: Work, user_id: int) -> str:
    named = await names_of(work.db, [], [user_id])
    if user_id not in named:
        raise Invalid(fields={"pk": [missing(user_id).complaint]})
    return named[user_id]


ACTIONS = (
    Action(
        method="GET",
        path="/core/groups/{id}/members/",
        name="core_groups_members",
        handler=list_members,
        permission="core.view_group",
        answer="GroupMemberPage",
        summary="The members of a group, and until when they are.",
    ),
    Action(
        method="POST",
        path="/core/groups/{id}/add_user/",
        name="core_groups_add_user",
        handler=add_user,
        permission="core.change_group",
        status=204,
        body="GroupMemberAdded",
        summary="Make somebody a member, for good or until a moment.",
    ),
    Action(
        method="POST",
        path="/core/groups/{id}/remove_user/",
        name="core_groups_remove_user",
        handler=remove_user,
        permission="core.change_group",
        status=204,
        body="GroupMemberRemoved",
        summary="End somebody's membership.",
    ),
)

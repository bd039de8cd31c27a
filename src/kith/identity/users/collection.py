"""/core/users/: the people of this server."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Boolean as SQLBoolean
from sqlalchemy import bindparam, select

from kith.base.db import UID, any_of, first_end, query
from kith.base.errors import Conflict
from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.group_grants import complain_grant
from kith.identity.groups import store as groups
from kith.identity.groups.tables import IS_MEMBER, members
from kith.identity.groups.tables import groups as group_table
from kith.identity.lost_names import keep_names_of_people
from kith.identity.messages import service as messages
from kith.identity.reauthentication import FIELD, refuse_app_password, require_current_password
from kith.identity.rest import ListFilter, RecordDraft, Resource
from kith.identity.rest.ends import announce_end, complain_end, is_later
from kith.identity.rest.fields import (
    Boolean,
    Choice,
    Computed,
    Email,
    Input,
    Moment,
    Object,
    References,
    Text,
    read_uuid,
)
from kith.identity.rest.record import Record
from kith.identity.roles.store import permissions_in
from kith.identity.roles.tables import user_roles
from kith.identity.sessions.service import end_after_password
from kith.identity.users import address_ownership, former_names, store, team
from kith.identity.users.identifying_attributes import complain_upn
from kith.identity.users.names import MOST_IN_NAME, complain_email, complain_username, email_key, username_key
from kith.identity.users.password_copies import PasswordCopies
from kith.identity.users.passwords import Passwords
from kith.identity.users.privileges import may_give_address, refuse_if_above
from kith.identity.users.search import contains, contains_part
from kith.identity.users.service import (
    UserBarred,
    UserChanged,
    UserCreated,
    UserDeleted,
    complaints_of,
    record_password_set,
)
from kith.identity.users.tables import uid_of, users

FIELDS = (
    Text(
        name="username",
        required=True,
        most=150,
        pattern=r"[\w.@+-]+",
        refusal="Enter a valid username. This value may contain only letters, numbers, and @/./+/-/_ characters.",
    ),
    Text(name="name", required=True, most=MOST_IN_NAME),
    Email(name="email", default=""),
    Computed(name="email_verified", form={"type": "boolean"}),
    Boolean(
        name="is_active",
        default=True,
        help="False: no sign-in; sessions end, tokens are refused.",
    ),
    Moment(name="expires", null=True, default=None, help="From then on they are disabled."),
    Computed(name="is_superuser", form={"type": "boolean"}),
    References(
        name="groups",
        to="identity_groups.group_uuid",
        link=members,
        owner="user_id",
        other="group_uuid",
        ends="expires",
    ),
    References(name="roles", to="identity_roles.role_uuid", link=user_roles),
    Object(name="attributes", private=True, hides="providers.change_applicationgatewayprovider"),
    Moment(name="last_login", null=True, read_only=True, stored_as="last_login_at"),
    Moment(name="date_joined", read_only=True, stored_as="created_at"),
    Moment(name="password_change_date", null=True, read_only=True, stored_as="password_changed_at"),
    Text(name="uuid", read_only=True),
    Computed(name="uid", form={"type": "string"}),
    Text(name="path", default="users", most=500, pattern=r"[^/]+(/[^/]+)*", refusal="Enter a valid path."),
    Choice(name="type", default="internal", choices=("internal", "external", "service_account")),
    Input(name="password", blank=False),
    Input(name=FIELD, help="The caller's own password, where they change their own account and did not just sign in."),
)


class UserRecord(Record, kw_only=True):
    pk: int
    id: int
    username: str
    name: str
    email: str
    email_verified: bool = False
    is_active: bool
    expires: datetime | None = None
    is_superuser: bool = False
    groups: list[str] = msgspec.field(default_factory=list)
    roles: list[str] = msgspec.field(default_factory=list)
    attributes: dict[str, Any]
    last_login: datetime | None
    date_joined: datetime
    password_change_date: datetime | None
    uuid: str
    uid: str = ""
    path: str
    type: str
    last_updated: datetime


_GUARDING = ("username", "email")  # with the password: what somebody is let in by


async def ahead(draft: RecordDraft[UserRecord]) -> None:
    await _confirm(draft)
    await _take_password(draft)


async def check(draft: RecordDraft[UserRecord]) -> None:
    for name, complain in (("username", complain_username), ("email", complain_email)):
        complaint = complain(draft.values[name]) if name in draft.values else None
        if complaint is not None:
            draft.complain(name, complaint, complaint.code)
    draft.raise_complaints()
    await draft.work.db.begin()
    if "username" in draft.values:
        draft.columns["username_key"] = username_key(draft.now.username)
        await _check_called(draft)
    if draft.is_new:
        draft.columns |= {"uuid": str(uuid.uuid4()), "role": "user", "approved_at": draft.work.now}
        draft.columns["confirmed_at"] = draft.work.now
    await _take_address(draft)
    await _check_upn(draft)
    await _check_rights(draft)
    _take_end(draft)
    if draft.sets("is_active") and not draft.now.is_active:
        await _refuse_last(draft.work, draft.id, "disabled")
    if "is_active" in draft.values and not draft.now.is_active:
        draft.columns |= {"disabled_at": draft.work.now, "disabled_by": None}
    if draft.sets("expires") and draft.now.expires is not None and not draft.is_new:
        await _refuse_last(draft.work, draft.id, "given an end")


def _take_end(draft: RecordDraft[UserRecord]) -> None:
    """Whoever enables somebody whose end has passed lifts it."""
    complain_end(draft)
    before = draft.before.expires if draft.before is not None else None
    if before is not None and before <= draft.work.now and draft.values.get("is_active"):
        draft.values.setdefault("expires", None)


async def _confirm(draft: RecordDraft[UserRecord]) -> None:
    given = draft.values.pop(FIELD, None) or None
    if not draft.values.get("password") and not any(draft.sets(name) for name in _GUARDING):
        return
    if draft.id == draft.caller.id and not draft.is_new:
        await require_current_password(draft.work, draft.caller, given)
    elif draft.values.get("password") or not draft.is_new:
        refuse_app_password(draft.caller)


async def _take_password(draft: RecordDraft[UserRecord]) -> None:
    """Judged and hashed before the first write: nobody else waits for it."""
    password = draft.values.pop("password", None)
    if not password:
        return
    if not draft.is_new and draft.id != draft.caller.id and not draft.caller.may("core.reset_user_password"):
        draft.complain("password", "You do not have permission to reset passwords.", "permission_denied")
        return
    known = {name: str(draft.value(name) or "") for name in ("username", "name", "email")}
    for complaint in await complaints_of(draft.work, password, user_id=draft.id, known=known):
        draft.complain("password", complaint, complaint.code)
    if draft.complaints:
        return
    if not draft.is_new:
        user = await store.get(draft.work.db, draft.id)
        await draft.work.find(PasswordCopies).write(draft.work, user, password)  # type: ignore[type-abstract]
    draft.columns["password"] = await draft.work.find(Passwords).hash(password)
    draft.columns["password_changed_at"] = draft.work.now


async def _take_address(draft: RecordDraft[UserRecord]) -> None:
    """An address that a caller sets counts as confirmed; one that is only sent back unchanged stays as it was."""
    if "email" not in draft.values:
        return
    address: str = draft.now.email
    key, user_id = email_key(address), 0 if draft.is_new else draft.id
    draft.columns["email_key"] = key
    before = None if draft.is_new else await store.find_by_id(draft.work.db, user_id)
    if before is not None and before.email_key == key:
        return
    await address_ownership.hold(draft.work, address)
    if address and not await may_give_address(draft.work, draft.caller, address, user_id):
        draft.complain("email", address_ownership.TAKEN, "unique")
        return
    await store.release(draft.work.db, address, user_id=user_id)
    draft.columns["owned_email_key"] = key or None
    draft.columns["email_verified_at"] = draft.work.now if address else None
    if before is not None:
        draft.columns["confirmed_at"] = before.confirmed_at or draft.work.now


async def _check_called(draft: RecordDraft[UserRecord]) -> None:
    if draft.before is not None and username_key(draft.before.username) == username_key(draft.now.username):
        return
    complaint = await address_ownership.complain_called(
        draft.work, draft.now.username, None if draft.is_new else draft.id
    )
    if complaint is not None:
        draft.complain("username", complaint, "unique")
    if not draft.is_new:
        await former_names.keep(draft.work.db, draft.id)


async def _check_upn(draft: RecordDraft[UserRecord]) -> None:
    if not draft.sets("attributes"):
        return
    before = draft.before.attributes if draft.before is not None else {}
    after = draft.now.attributes
    complaint = await complain_upn(draft.work, before, after, None if draft.is_new else draft.id)
    if complaint is not None:
        draft.complain("attributes", complaint, complaint.code)


async def _check_rights(draft: RecordDraft[UserRecord]) -> None:
    caller = draft.caller
    if not draft.is_new:
        await refuse_if_above(draft.work, caller, draft.id, "change")
    if caller.permissions is None:
        return
    if draft.id == caller.id and draft.before is not None and is_later(draft.value("expires"), draft.before.expires):
        draft.complain("expires", "You may not lengthen the time of your own account.", "permission_denied")
    refused = await complain_grant(draft, draft.added("groups"))
    if refused is not None:
        draft.complain("groups", refused, "permission_denied")
    if draft.sets("roles") and not await permissions_in(draft.work.db, draft.now.roles) <= caller.permissions:
        draft.complain("roles", "A role that grants more than you have cannot be assigned by you.", "permission_denied")


async def _refuse_last(work: Work, user_id: int, done: str) -> None:
    if await team.is_last_superuser(work.db, user_id):
        raise Conflict(f"The last active superuser cannot be {done}.")


async def saved(draft: RecordDraft[UserRecord]) -> None:
    if not draft.is_new and "password" in draft.columns:
        by = draft.caller
        user = await store.get(draft.work.db, draft.id)
        await record_password_set(draft.work, user, by=by.id or None, by_name=by.username)
        await end_after_password(draft.work, draft.id)
        await tell_new_password(draft.work, by, draft.id)
    if not draft.is_new and draft.sets("is_active") and not draft.now.is_active:
        draft.work.announce(UserBarred(user_id=draft.id, at=draft.work.now))
    announce_end(draft)
    fact = UserCreated(user_id=draft.id) if draft.is_new else UserChanged(user_id=draft.id)
    draft.work.announce(fact)


async def tell_new_password(work: Work, by: ApiCaller, user_id: int) -> None:
    if user_id != by.id:
        await messages.leave(work, user_id, "An administrator has set a new password for you.", "warning")


async def removing(work: Work, record: UserRecord, caller: ApiCaller) -> None:
    if record.pk == caller.id:
        raise Conflict("You cannot delete yourself.")
    await refuse_if_above(work, caller, record.pk, "delete")
    await _refuse_last(work, record.pk, "deleted")
    await keep_names_of_people(work.db, [record.pk])
    await former_names.keep(work.db, record.pk)
    work.announce(UserDeleted(user_id=record.pk))


async def decorate(work: Work, records: list[UserRecord]) -> None:
    mighty = await groups.superuser_groups(work.db) if any(record.groups for record in records) else set()
    staff = set(await team.administrators(work.db, [record.pk for record in records]))
    proven = await store.verified(work.db, [record.pk for record in records])
    subjects = await store.subjects(work.db, [record.pk for record in records])
    for record in records:
        record.is_superuser = record.pk in staff or not mighty.isdisjoint(record.groups)
        record.email_verified = record.pk in proven
        record.is_active = record.is_active and not (record.expires is not None and record.expires <= work.now)
        record.uid = subjects.get(record.pk) or uid_of(record.uuid)


def _in_groups(column: Any, bind: str) -> Any:
    found = select(members.c.user_id).join(group_table, group_table.c.group_uuid == members.c.group_uuid)
    return users.c.id.in_(found.where(any_of(column, bind), IS_MEMBER))


_EXPORTED = (
    "pk", "username", "name", "email", "email_verified", "is_active", "is_superuser", "groups", "roles", "type", "path",
    "date_joined", "last_login", "password_change_date", "expires", "uuid", "attributes",
)  # fmt: skip

RESOURCE = Resource(
    path="/core/users/",
    name="User",
    record=UserRecord,
    key="id",
    table=users,
    fields=FIELDS,
    search=("username", "name", "email", "uuid"),
    contains=contains,
    contains_part=contains_part,
    order=("username",),
    exact=("username", "name", "email", "is_active", "path", "type"),
    filters=(
        ListFilter(
            name="groups_by_name",
            clause=_in_groups(group_table.c.name, "names"),
            read=str,
            bind="names",
            many=True,
        ),
        ListFilter(
            name="groups_by_pk",
            clause=_in_groups(group_table.c.group_uuid, "groups"),
            read=read_uuid,
            bind="groups",
            many=True,
        ),
        *(
            ListFilter(
                name=f"is_{name}",
                clause=column.is_not(None) == bindparam(name, type_=SQLBoolean()),
                read=Boolean(name=name).take,
                bind=name,
            )
            for name, column in (("approved", users.c.approved_at), ("confirmed", users.c.confirmed_at))
        ),
        ListFilter(name="uuid", clause=users.c.uuid == bindparam("uuid", type_=UID()), read=read_uuid, bind="uuid"),
    ),
    label="username",
    export=_EXPORTED,
    ahead=ahead,
    prepare=check,
    saved=saved,
    removing=removing,
    decorate=decorate,
    next_end=query(first_end(users.c.expires, members.c.expires), datetime),
)

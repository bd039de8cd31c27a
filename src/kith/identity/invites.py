"""Invitations, as the social half hands them out."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

import msgspec
from sqlalchemy import bindparam, delete, select

from kith.base.db import UID, command, insert_into, query
from kith.base.errors import NotFound
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.stages.invitations import invitations

MOST = 1000


class Invite(msgspec.Struct, frozen=True):
    id: str
    name: str
    single_use: bool
    expires_at: datetime | None
    created_at: datetime


_columns = [invitations.c[name] for name in ("invite_uuid", "name", "single_use", "expires", "created_at")]
_every = query(select(*_columns).order_by(invitations.c.created_at.desc()).limit(MOST), tuple)
_one = query(select(*_columns).where(invitations.c.invite_uuid == bindparam("id", type_=UID())), tuple)
_insert = command(insert_into(invitations))
_delete = command(delete(invitations).where(invitations.c.invite_uuid == bindparam("id", type_=UID())))


async def invites(work: Work) -> list[Invite]:
    """The newest first."""
    return [Invite(*row) for row in await work.db.all(_every)]


def _known(id: str) -> str:
    try:
        return str(uuid.UUID(id))
    except ValueError as error:
        raise NotFound from error


async def find_invite(work: Work, id: str) -> Invite:
    found = await work.db.one(_one, id=_known(id))
    if found is None:
        raise NotFound
    return Invite(*found)


async def invite(work: Work, by: int | None, *, name: str, expires_in: int | None, single_use: bool) -> Invite:
    until = None if expires_in is None else work.now + timedelta(seconds=expires_in)
    slug = "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in name.strip())[:50]
    made = Invite(str(uuid.uuid4()), slug, single_use, until, work.now)
    await work.db.run(
        _insert, invite_uuid=made.id, name=slug, expires=until, fixed_data={}, single_use=single_use, flow=None,
        created_by=by, created_at=work.now, updated_at=work.now,
    )  # fmt: skip
    context = {"invitation_uuid": made.id}
    await audit.record(work, "invitation_created", "stages.invitation", user_id=by, context=context)
    return made


async def withdraw_invite(work: Work, id: str) -> None:
    if not await work.db.run(_delete, id=_known(id)):
        raise NotFound

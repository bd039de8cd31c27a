"""Invitations, as the social half hands them out."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

import msgspec
from sqlalchemy import and_, bindparam, delete, select

from kith.base.db import UID, any_row, command, insert_into, query
from kith.base.errors import NotFound
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.stages.invitations import invitations, told_of_invitation
from kith.identity.users.tables import is_active, users

MOST = 1000


class Invite(msgspec.Struct, frozen=True):
    id: str
    name: str
    single_use: bool
    expires_at: datetime | None
    created_at: datetime
    autofollow: bool
    uses: int = 0
    max_uses: int | None = None

    def is_over(self, now: datetime) -> bool:
        """Its time has come, or as many have used it as may."""
        is_used_up = self.max_uses is not None and self.uses >= self.max_uses
        return is_used_up or (self.expires_at is not None and self.expires_at <= now)


_columns = [
    invitations.c[name]
    for name in ("invite_uuid", "name", "single_use", "expires", "created_at", "autofollow", "uses", "max_uses")
]
_every = query(select(*_columns).order_by(invitations.c.created_at.desc()).limit(MOST), tuple)
_by_id = query(
    select(*_columns).where(
        and_(
            invitations.c.invite_uuid == bindparam("id", type_=UID()),
            any_row(users, and_(users.c.id == invitations.c.created_by, is_active())),
        )
    ),
    tuple,
)
_of_user = query(
    select(*_columns)
    .where(invitations.c.created_by == bindparam("user"))
    .order_by(invitations.c.created_at.desc())
    .limit(MOST),
    tuple,
)
_insert = command(insert_into(invitations))
_delete = command(delete(invitations).where(invitations.c.invite_uuid == bindparam("id", type_=UID())))
_delete_own = command(
    delete(invitations).where(
        and_(invitations.c.invite_uuid == bindparam("id", type_=UID()), invitations.c.created_by == bindparam("user"))
    )
)


async def invites(work: Work) -> list[Invite]:
    """The newest first."""
    return [Invite(*row) for row in await work.db.all(_every)]


async def own_invites(work: Work, user_id: int) -> list[Invite]:
    """Those that somebody made, the newest first."""
    return [Invite(*row) for row in await work.db.all(_of_user, user=user_id)]


async def find_invite(work: Work, code: str) -> Invite | None:
    """Also one whose time is over, but none of somebody who may not come in any more."""
    known = _as_uuid(code)
    rows = [] if known is None else await work.db.all(_by_id, id=known)
    return Invite(*rows[0]) if rows else None


def _as_uuid(code: str) -> str | None:
    try:
        return str(uuid.UUID(code))
    except ValueError:
        return None


async def invite(
    work: Work,
    by: int | None,
    *,
    name: str,
    expires_in: int | None,
    single_use: bool,
    autofollow: bool = False,
    max_uses: int | None = None,
) -> Invite:
    """`autofollow`: whoever comes with it follows whoever made it. `max_uses`: so many may come with it; None: all."""
    until = None if expires_in is None else work.now + timedelta(seconds=expires_in)
    slug = "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in name.strip())[:50]
    made = Invite(str(uuid.uuid4()), slug, single_use, until, work.now, autofollow, 0, max_uses)
    await work.db.run(
        _insert,
        invite_uuid=made.id,
        name=slug,
        expires=until,
        fixed_data={},
        single_use=single_use,
        autofollow=autofollow,
        uses=0,
        max_uses=max_uses,
        flow=None,
        created_by=by,
        created_at=work.now,
        updated_at=work.now,
    )
    await audit.record(work, "invitation_created", "stages.invitation", user_id=by, context=told_of_invitation(made.id))
    return made


async def withdraw_invite(work: Work, id: str) -> None:
    known = _as_uuid(id)
    if known is None or not await work.db.run(_delete, id=known):
        raise NotFound


async def withdraw_own(work: Work, user_id: int, id: str) -> None:
    known = _as_uuid(id)
    if known is None or not await work.db.run(_delete_own, id=known, user=user_id):
        raise NotFound

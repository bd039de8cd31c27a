"""Connections between people here and what sources call them: made, ended, and what comes with them."""

from __future__ import annotations

from collections.abc import Sequence

from kith.base.errors import Conflict, NotFound, Unauthenticated
from kith.base.sealing import Sealer
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.flows.plan_context import PendingConnection
from kith.identity.messages import service as messages
from kith.identity.sessions import service as sessions
from kith.identity.sessions.tables import LoginSession
from kith.identity.sources import group_membership, store
from kith.identity.sources.store import LinkedSource, Source
from kith.identity.users import store as users
from kith.identity.users.tables import User

TOKEN_PLACE = "identity_source_user_connections.access_token"  # noqa: S105 - where one is kept
APP = "sources.connections"
SIGNED_OUT = "You were signed out while your account was being linked."


class LastWayIn(Conflict):
    code = "last_way_in"
    message = "This is the only way you can sign in. Please set a password first."


class LookedAfter(Conflict):
    code = "looked_after"
    message = "A service looks after this account, so only an administrator can unlink it."


class AlreadyConnected(Conflict):
    code = "already_connected"
    message = "This account is linked to another person here."


async def link(work: Work, session: LoginSession, source: Source, coming: PendingConnection) -> bool:
    """Connect whose session it is; False if the identifier is somebody else's.

    The service was asked meanwhile, which may take as long as it likes: a session that has ended links nothing.
    """
    if session.user_id is None or not await sessions.hold(work, session):
        raise Unauthenticated(SIGNED_OUT)
    user_id = session.user_id
    user = await users.get(work.db, user_id)
    if not await _connect(work, user, source, coming):
        return False
    await group_membership.replace(work, user, source, coming)
    await messages.leave(work, user_id, f"{source.name} was linked to your account.", "success")
    return True


async def keep(work: Work, user: User, source: Source, coming: PendingConnection, session_uuid: str) -> None:
    """What remains of a sign-in: the connection, the groups, and which session of the source it belongs to."""
    await work.db.begin()
    if not await _connect(work, user, source, coming):
        raise AlreadyConnected
    await group_membership.replace(work, user, source, coming)
    await store.keep_session(work.db, session_uuid, source.pbm_uuid, coming.identifier, coming.remote_session)


async def is_connected(work: Work, user: User, coming: PendingConnection) -> bool:
    known = await store.find_connection(work.db, coming.source, coming.identifier)
    return known is not None and known.user == user.id


async def connect_new(work: Work, user: User, source: Source, coming: PendingConnection) -> None:
    """The same for somebody who was just made."""
    if not await _connect(work, user, source, coming):
        raise AlreadyConnected
    path = path_of(source)
    if path:
        await users.write(work.db, user.id, {"path": path}, work.now)


def path_of(source: Source) -> str:
    return source.user_path_template.replace("%(slug)s", source.slug).strip("/")[:500]


async def _connect(work: Work, user: User, source: Source, coming: PendingConnection) -> bool:
    token = work.find(Sealer).seal(coming.access_token, TOKEN_PLACE) if coming.access_token else None
    if await store.add_connection(work.db, source, user.id, coming.identifier, token, work.now):
        await audit.record(
            work,
            "source_linked",
            APP,
            user_id=user.id,
            username=user.username,
            context={"message": "Linked Source", "source": _facts(source), "identifier": coming.identifier},
        )
        return True
    known = await store.find_connection(work.db, source.pbm_uuid, coming.identifier)
    if known is None or known.user != user.id:
        return False
    await store.keep_token(work.db, known.connection_uuid, token, work.now)
    return True


async def unlink(work: Work, user: User, connection_uuid: str) -> None:
    """End a connection of somebody's own, unless they could not come back without it."""
    user = await users.hold(work.db, user.id)  # of two ways in that are given up at once, the second one stays
    mine = {one.connection_uuid: one for one in await store.linked(work.db, user.id)}
    if connection_uuid not in mine:
        raise NotFound("This account was already unlinked")
    check_unlink(connection_uuid, list(mine.values()), has_password=user.password is not None)
    await store.unlink(work.db, user.id, connection_uuid)
    one = mine[connection_uuid]
    await audit.record(
        work,
        "source_unlinked",
        APP,
        user_id=user.id,
        username=user.username,
        context={"source": {"pk": one.source, "name": one.source_name}, "identifier": one.identifier},
    )
    await messages.leave(work, user.id, f"{one.source_name} was unlinked from your account.", "success")


def check_unlink(connection_uuid: str, mine: Sequence[LinkedSource], *, has_password: bool) -> None:
    """Whether somebody may end a connection of their own. Nobody signs in with SCIM, so that is no way in."""
    if any(one.connection_uuid == connection_uuid and one.kind == "scim" for one in mine):
        raise LookedAfter
    if not has_password and not any(one.connection_uuid != connection_uuid and one.kind != "scim" for one in mine):
        raise LastWayIn


async def of_user(work: Work, user_id: int) -> list[LinkedSource]:
    return await store.linked(work.db, user_id)


def _facts(source: Source) -> dict[str, str]:
    return {"pk": source.pbm_uuid, "name": source.name, "slug": source.slug, "kind": source.kind}

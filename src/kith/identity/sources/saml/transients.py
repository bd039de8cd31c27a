"""People who came with a transient name: it is another one the next time, so they are removed after a while."""

from __future__ import annotations

from datetime import timedelta

import msgspec
from sqlalchemy import bindparam, delete, select

from kith.base.db import UID, Instant, add_once, command, query
from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.rest.fields import read_offset
from kith.identity.sources import store
from kith.identity.sources.saml.identity_provider import IdentityProvider
from kith.identity.sources.saml.profiles import TRANSIENT_END
from kith.identity.sources.saml.tables import TransientName, transient_names
from kith.identity.sources.tables import MOST_IN_IDENTIFIER, source_sessions, user_connections
from kith.identity.users import store as users
from kith.identity.users.service import UserDeleted

AT_ONCE = 100

_add = command(add_once(transient_names))
_is_in_session = (
    select(source_sessions.c.session_uuid)
    .where(
        source_sessions.c.source == transient_names.c.source,
        source_sessions.c.identifier == transient_names.c.identifier,
    )
    .exists()
)
_settled = transient_names.c.created_at < bindparam("settled", type_=Instant())
# Whoever has an account has come to the end of the flow, or is a step from it.
_has_entered = (
    select(user_connections.c.connection_uuid)
    .where(
        user_connections.c.source == transient_names.c.source,
        user_connections.c.identifier == transient_names.c.identifier,
        user_connections.c.created_at < bindparam("entered", type_=Instant()),
    )
    .exists()
)
_over = query(
    select(transient_names)
    .where(
        (transient_names.c.expires_at <= bindparam("now", type_=Instant()))
        | ((_settled | _has_entered) & ~_is_in_session)
    )
    .limit(AT_ONCE),
    TransientName,
)
_drop = command(
    delete(transient_names).where(
        transient_names.c.source == bindparam("one_source", type_=UID()),
        transient_names.c.identifier == bindparam("one_identifier"),
    )
)


async def note(work: Work, idp: IdentityProvider, identifier: str) -> None:
    life = read_offset(idp.record.temporary_user_delete_after) or 0.0
    async with work.aside() as aside:
        await aside.db.run(
            _add,
            source=idp.source.pbm_uuid,
            identifier=identifier[:MOST_IN_IDENTIFIER],
            created_at=aside.now,
            expires_at=aside.now + timedelta(seconds=life),
        )


class TransientSweep(msgspec.Struct):
    """The job that removes them: after their time, or when they have signed out."""


async def _sweep(work: Work, _payload: TransientSweep) -> None:
    """Who has just come is still on the way through the flow, and has no session yet."""
    past = {"settled": work.now - timedelta(hours=1), "entered": work.now - timedelta(minutes=5)}
    for one in await work.db.all(_over, now=work.now, **past):
        known = await store.find_connection(work.db, one.source, one.identifier)
        user = await users.find_by_id(work.db, known.user) if known is not None else None
        if user is not None and user.username.endswith(TRANSIENT_END):
            model = {"app": "core", "model_name": "user", "pk": user.id, "name": user.username}
            await audit.record(work, "model_deleted", "sources.saml", context={"model": model})
            await users.remove(work.db, user.id, keeps_name=False)
            work.announce(UserDeleted(user_id=user.id))
        await work.db.run(_drop, one_source=one.source, one_identifier=one.identifier)


SWEEP: JobKind[TransientSweep] = JobKind(name="identity.saml_transient_people", payload=TransientSweep, handler=_sweep)

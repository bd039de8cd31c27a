from __future__ import annotations

from sqlalchemy import BindParameter, and_, bindparam, delete

from kith.base.db import Session, command
from kith.identity.consents.tables import consents
from kith.identity.factors.tables import factors
from kith.identity.gateway.tables import gateway_sessions
from kith.identity.guessing.tables import known_addresses
from kith.identity.links.tables import links
from kith.identity.providers.oauth2.tables import requests
from kith.identity.saml.tables import saml_requests
from kith.identity.sources.tables import user_connections
from kith.identity.stages.invitations import invitations

_user: BindParameter[int] = bindparam("user")
_factors = command(delete(factors).where(factors.c.user_id == _user))
_consents = command(delete(consents).where(consents.c.user_id == _user))
# Where somebody else's word opened the door. What looks after accounts keeps its own, or would make the person anew.
_connections = command(
    delete(user_connections).where(
        and_(user_connections.c.user == _user, user_connections.c.kind.not_in(("ldap", "scim")))
    )
)
# What they, or whoever was there in their name, have said of people who may still come.
_invitations = command(delete(invitations).where(invitations.c.created_by == _user))
# Whatever waits for them: mailed links, requests of applications, the browsers at gateways, known addresses.
_waiting = tuple(
    command(delete(table).where(table.c.user_id == _user))
    for table in (links, requests, saml_requests, gateway_sessions, known_addresses)
)


async def remove_factors(db: Session, user_id: int) -> int:
    return await db.run(_factors, user=user_id)


async def remove_consents(db: Session, user_id: int) -> int:
    return await db.run(_consents, user=user_id)


async def remove_invitations(db: Session, user_id: int) -> int:
    return await db.run(_invitations, user=user_id)


async def remove_connections(db: Session, user_id: int) -> int:
    return await db.run(_connections, user=user_id)


async def remove_waiting(db: Session, user_id: int) -> None:
    for statement in _waiting:
        await db.run(statement, user=user_id)

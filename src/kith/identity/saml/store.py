from __future__ import annotations

from datetime import datetime

from sqlalchemy import and_, bindparam, delete, select, update

from kith.base.db import Document, Instant, command, insert_into, query
from kith.base.db import Session as Db
from kith.identity.saml.tables import StoredRequest, saml_requests

_now = bindparam("now", type_=Instant())
_request = saml_requests.c.request_hash == bindparam("request_hash")
_is_live = saml_requests.c.expires_at > _now
_insert_request = command(insert_into(saml_requests))
_find_request = query(select(saml_requests).where(and_(_request, _is_live)), StoredRequest)
_waiting = query(select(saml_requests).where(and_(saml_requests.c.kind == bindparam("kind"), _is_live)), StoredRequest)
_claim_request = query(delete(saml_requests).where(and_(_request, _is_live)).returning(saml_requests), StoredRequest)
_prove_request = command(
    update(saml_requests).where(_request).values(proof_hash=bindparam("proof_hash"), user_id=bindparam("user_id"))
)
_change_request = command(
    update(saml_requests).where(_request).values(content=bindparam("new_content", type_=Document()))
)
_expired_requests = command(delete(saml_requests).where(saml_requests.c.expires_at <= _now))


async def insert_request(db: Db, request: StoredRequest) -> None:
    await db.run(_insert_request, **{name: getattr(request, name) for name in StoredRequest.__struct_fields__})


async def find_request(db: Db, request_hash: str, now: datetime) -> StoredRequest | None:
    return await db.one(_find_request, request_hash=request_hash, now=now)


async def waiting(db: Db, kind: str, now: datetime) -> list[StoredRequest]:
    return await db.all(_waiting, kind=kind, now=now)


async def claim_request(db: Db, request_hash: str, now: datetime) -> StoredRequest | None:
    """Take the request away; of several works at the same time one gets it."""
    return await db.one(_claim_request, request_hash=request_hash, now=now)


async def prove_request(db: Db, request_hash: str, proof_hash: str, user_id: int) -> None:
    await db.run(_prove_request, request_hash=request_hash, proof_hash=proof_hash, user_id=user_id)


async def change_request(db: Db, request: StoredRequest) -> None:
    await db.run(_change_request, request_hash=request.request_hash, new_content=request.content)


async def sweep(db: Db, now: datetime) -> None:
    await db.run(_expired_requests, now=now)

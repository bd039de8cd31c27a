from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import and_, bindparam, case, delete, func, or_, select, type_coerce, update

from kith.base.db import UID, Instant, Session, command, insert_into, query
from kith.base.ids import UserId
from kith.identity.providers.oauth2.tables import (
    App,
    AuthorizationRequestRow,
    Code,
    Grant,
    OAuthToken,
    apps,
    assertions,
    codes,
    devices,
    grants,
    oauth_tokens,
    requests,
)
from kith.identity.users.tables import is_active, users

_now = bindparam("now", type_=Instant())
_grant_uuid = bindparam("grant", type_=UID())


# A user without an address has nothing to confirm.
CONFIRMED_AT = type_coerce(
    case((users.c.email == "", func.coalesce(users.c.confirmed_at, users.c.created_at)), else_=users.c.confirmed_at),
    Instant(),
).label("confirmed_at")


class Bearer(msgspec.Struct):
    """What an access token stands for: everything that guards check, in one row.

    Without a user the client acts for itself.
    """

    key_hash: str
    scopes: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    grant_uuid: str | None
    client_id: str | None
    provider_id: int | None
    app_id: int | None
    session_uuid: str | None
    resource: str | None
    user_id: UserId | None
    username: str | None
    is_active: bool | None
    role: str | None
    confirmed_at: datetime | None
    approved_at: datetime | None
    user_expires: datetime | None = None

    def is_outdated(self, now: datetime) -> bool:
        """Whether the end that was set for the person may have come since this was read."""
        return self.user_expires is not None and self.user_expires <= now


_bearer = query(
    select(
        oauth_tokens.c.key_hash,
        oauth_tokens.c.scopes,
        oauth_tokens.c.created_at,
        oauth_tokens.c.expires_at,
        oauth_tokens.c.last_used_at,
        grants.c.grant_uuid,
        grants.c.client_id,
        grants.c.provider_id,
        grants.c.app_id,
        grants.c.session_uuid,
        grants.c.resource,
        grants.c.user_id,
        users.c.username,
        is_active().label("is_active"),
        users.c.role,
        CONFIRMED_AT,
        users.c.approved_at,
        users.c.expires.label("user_expires"),
    )
    .select_from(
        oauth_tokens.join(grants, grants.c.grant_uuid == oauth_tokens.c.grant_uuid).outerjoin(
            users, users.c.id == grants.c.user_id
        )
    )
    .where(and_(oauth_tokens.c.key_hash == bindparam("hash"), oauth_tokens.c.kind == "access")),
    Bearer,
)
_touch = command(update(oauth_tokens).where(oauth_tokens.c.key_hash == bindparam("hash")).values(last_used_at=_now))

_insert_grant = command(insert_into(grants))
_insert_code = command(insert_into(codes))
_insert_token = command(insert_into(oauth_tokens))
_insert_request = command(insert_into(requests))
_insert_app = command(insert_into(apps))
_app = query(select(apps).where(apps.c.client_id == bindparam("client_id")), App)
# What of a client can change after it was registered.
_CHANGES = (
    "secret_hash", "name", "website", "redirect_uris", "scopes", "grant_types", "auth_method", "jwks", "metadata",
)  # fmt: skip
_update_app = command(
    update(apps)
    .where(apps.c.id == bindparam("app"))
    .values(**{name: bindparam(name, type_=apps.c[name].type) for name in _CHANGES})
)
_held_app = query(select(apps.c.id).where(apps.c.id == bindparam("app")).with_for_update(), int)
_delete_app = command(delete(apps).where(apps.c.id == bindparam("app")))
_suspend = command(
    update(apps)
    .where(and_(apps.c.registered_by == bindparam("user"), apps.c.suspended_at.is_(None)))
    .values(suspended_at=_now, registration_hash=None)
)
_vouch = command(
    update(apps)
    .where(apps.c.id == bindparam("app"))
    .values(
        registered_by=bindparam("by"),
        registration_hash=bindparam("hash"),
        registration_at=bindparam("at", type_=Instant()),
        suspended_at=None,
    )
)
_of_registrar = query(
    select(apps).where(apps.c.registered_by == bindparam("user")).order_by(apps.c.id).limit(bindparam("most")), App
)
_registered_by = query(select(func.count()).where(apps.c.registered_by == bindparam("user")), int)
_insert_assertion = command(insert_into(assertions))

_grant = query(select(grants).where(grants.c.grant_uuid == _grant_uuid), Grant)
_held_grant = query(
    select(grants.c.grant_uuid).where(grants.c.grant_uuid == _grant_uuid).with_for_update(read=True), str
)
# If a code is redeemed several times at once, only one request finds it unused.
_claim_code = query(
    update(codes)
    .where(and_(codes.c.code_hash == bindparam("hash"), codes.c.used_at.is_(None), codes.c.expires_at > _now))
    .values(used_at=_now)
    .returning(codes),
    Code,
)
_code = query(select(codes).where(codes.c.code_hash == bindparam("hash")), Code)
_spend = query(
    update(oauth_tokens)
    .where(
        and_(
            oauth_tokens.c.key_hash == bindparam("hash"),
            oauth_tokens.c.kind == "refresh",
            oauth_tokens.c.used_at.is_(None),
            or_(oauth_tokens.c.expires_at.is_(None), oauth_tokens.c.expires_at > _now),
        )
    )
    .values(used_at=_now)
    .returning(oauth_tokens),
    OAuthToken,
)
_lasting = query(
    select(oauth_tokens).where(
        and_(
            oauth_tokens.c.key_hash == bindparam("hash"),
            oauth_tokens.c.kind == "refresh",
            oauth_tokens.c.used_at.is_(None),
            oauth_tokens.c.expires_at > bindparam("until", type_=Instant()),
        )
    ),
    OAuthToken,
)
_token = query(select(oauth_tokens).where(oauth_tokens.c.key_hash == bindparam("hash")), OAuthToken)
_drop_token = command(delete(oauth_tokens).where(oauth_tokens.c.key_hash == bindparam("hash")))
_drop_grant = command(delete(grants).where(grants.c.grant_uuid == _grant_uuid))
_of_user = query(
    select(grants).where(grants.c.user_id == bindparam("user")).order_by(grants.c.created_at, grants.c.grant_uuid),
    Grant,
)
_given_for = query(select(grants).where(grants.c.token_uuid == bindparam("given", type_=UID())), Grant)
_of_session = query(select(grants).where(grants.c.session_uuid == bindparam("session", type_=UID())), Grant)
_app_taken = query(select(apps.c.client_id).where(apps.c.client_id == bindparam("client_id")), str)

_request = query(
    select(requests).where(and_(requests.c.request_hash == bindparam("hash"), requests.c.expires_at > _now)),
    AuthorizationRequestRow,
)
_claim_request = query(
    delete(requests)
    .where(and_(requests.c.request_hash == bindparam("hash"), requests.c.expires_at > _now))
    .returning(requests),
    AuthorizationRequestRow,
)
_prove = command(
    update(requests)
    .where(requests.c.request_hash == bindparam("hash"))
    .values(proof_hash=bindparam("proof"), user_id=bindparam("user"))
)

# A grant without a token or a code that may still be used is of no more use, but for telling of a second use.
_has_token = select(oauth_tokens.c.key_hash).where(oauth_tokens.c.grant_uuid == grants.c.grant_uuid).exists()
_has_code = select(codes.c.code_hash).where(codes.c.grant_uuid == grants.c.grant_uuid).exists()
_has_device = select(devices.c.device_hash).where(devices.c.grant_uuid == grants.c.grant_uuid).exists()
_sweep = (
    command(delete(codes).where(codes.c.expires_at < bindparam("before", type_=Instant()))),
    command(delete(oauth_tokens).where(oauth_tokens.c.expires_at <= _now)),
    command(delete(devices).where(devices.c.expires_at < bindparam("before", type_=Instant()))),
    command(delete(requests).where(requests.c.expires_at <= _now)),
    command(delete(assertions).where(assertions.c.expires_at <= _now)),
    command(
        delete(grants).where(
            and_(grants.c.created_at < bindparam("before", type_=Instant()), ~_has_token, ~_has_code, ~_has_device)
        )
    ),
)


def _values(row: msgspec.Struct) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__struct_fields__}


async def find_bearer(db: Session, key_hash: str) -> Bearer | None:
    return await db.one(_bearer, hash=key_hash)


async def touch(db: Session, key_hash: str, now: datetime) -> None:
    await db.run(_touch, hash=key_hash, now=now)


async def insert_grant(db: Session, grant: Grant) -> None:
    await db.run(_insert_grant, **_values(grant))


async def insert_code(db: Session, code: Code) -> None:
    await db.run(_insert_code, **_values(code))


async def insert_token(db: Session, token: OAuthToken) -> None:
    await db.run(_insert_token, **_values(token))


async def insert_app(db: Session, app: App) -> None:
    await db.run(_insert_app, **_values(app))


async def find_app(db: Session, client_id: str) -> App | None:
    return await db.one(_app, client_id=client_id)


async def hold_app(db: Session, app_id: int) -> None:
    """Open the transaction in which a client becomes another: nobody allows anything to whom it was meanwhile."""
    await db.begin()
    await db.one(_held_app, app=app_id)


async def update_app(db: Session, app: App) -> None:
    values = {name: value for name, value in _values(app).items() if name in _CHANGES}
    await db.run(_update_app, app=app.id, **values)


async def delete_app(db: Session, app_id: int) -> None:
    await db.run(_delete_app, app=app_id)


async def vouch(db: Session, app: App) -> None:
    """Write who answers for a client from now on, and by which token it is changed."""
    await db.run(_vouch, app=app.id, by=app.registered_by, hash=app.registration_hash, at=app.registration_at)


async def registered_by(db: Session, user_id: int, most: int) -> list[App]:
    return await db.all(_of_registrar, user=user_id, most=most)


async def count_registered(db: Session, user_id: int) -> int:
    """How many clients somebody has registered with providers."""
    return await db.one(_registered_by, user=user_id) or 0


async def suspend_registered(db: Session, user_id: int, now: datetime) -> int:
    """Let nobody in by the clients that somebody has registered, until somebody else vouches for them."""
    return await db.run(_suspend, user=user_id, now=now)


async def insert_request(db: Session, request: AuthorizationRequestRow) -> None:
    await db.run(_insert_request, **_values(request))


async def insert_assertion(db: Session, jti_hash: str, expires_at: datetime, user_id: int | None = None) -> None:
    """Raises `Taken` if the assertion was used before."""
    await db.run(_insert_assertion, jti_hash=jti_hash, expires_at=expires_at, user_id=user_id)


async def find_grant(db: Session, grant_uuid: str) -> Grant | None:
    return await db.one(_grant, grant=grant_uuid)


async def hold_grant(db: Session, grant_uuid: str) -> bool:
    """Keep a grant from ending until the transaction is over; False if it has ended."""
    return await db.one(_held_grant, grant=grant_uuid) is not None


async def claim_code(db: Session, code_hash: str, now: datetime) -> Code | None:
    return await db.one(_claim_code, hash=code_hash, now=now)


async def find_code(db: Session, code_hash: str) -> Code | None:
    return await db.one(_code, hash=code_hash)


async def spend_refresh(db: Session, key_hash: str, now: datetime) -> OAuthToken | None:
    return await db.one(_spend, hash=key_hash, now=now)


async def find_lasting_refresh(db: Session, key_hash: str, until: datetime) -> OAuthToken | None:
    """A refresh token that is valid now and at `until`."""
    return await db.one(_lasting, hash=key_hash, until=until)


async def find_token(db: Session, key_hash: str) -> OAuthToken | None:
    return await db.one(_token, hash=key_hash)


async def drop_token(db: Session, key_hash: str) -> None:
    await db.run(_drop_token, hash=key_hash)


async def drop_grant(db: Session, grant_uuid: str) -> int:
    return await db.run(_drop_grant, grant=grant_uuid)


async def grants_of_user(db: Session, user_id: int) -> list[Grant]:
    return await db.all(_of_user, user=user_id)


async def grants_given_for(db: Session, given: str) -> list[Grant]:
    """The grants that end with an app password, or with another grant."""
    return await db.all(_given_for, given=given)


async def grants_of_session(db: Session, session_uuid: str) -> list[Grant]:
    return await db.all(_of_session, session=session_uuid)


async def has_app(db: Session, client_id: str) -> bool:
    return await db.one(_app_taken, client_id=client_id) is not None


async def find_request(db: Session, request_hash: str, now: datetime) -> AuthorizationRequestRow | None:
    return await db.one(_request, hash=request_hash, now=now)


async def claim_request(db: Session, request_hash: str, now: datetime) -> AuthorizationRequestRow | None:
    return await db.one(_claim_request, hash=request_hash, now=now)


async def prove_request(db: Session, request_hash: str, proof_hash: str, user_id: int) -> None:
    await db.run(_prove, hash=request_hash, proof=proof_hash, user=user_id)


async def sweep(db: Session, now: datetime, *, before: datetime) -> None:
    for one in _sweep:
        await db.run(one, now=now, before=before)

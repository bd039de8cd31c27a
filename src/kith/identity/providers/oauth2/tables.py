"""The tables of the OAuth engine. Keys are stored as hashes; secrets that must be read again are sealed."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from kith.base.db import ID, METADATA, UID, Document, Instant


def _provider(*, nullable: bool = True) -> Column[Any]:
    parent = ForeignKey("identity_providers.id", ondelete="CASCADE")
    return Column("provider_id", Integer, parent, nullable=nullable, index=True)


def _app() -> Column[Any]:
    return Column("app_id", BigInteger, ForeignKey("identity_oauth_apps.id", ondelete="CASCADE"), index=True)


def _user() -> Column[Any]:
    return Column("user_id", Integer, ForeignKey("identity_users.id", ondelete="CASCADE"), index=True)


def _grant() -> Column[Any]:
    parent = ForeignKey("identity_oauth_grants.grant_uuid", ondelete="CASCADE")
    return Column("grant_uuid", UID, parent, nullable=False, index=True)


# Clients that registered themselves: Mastodon's apps, and those that an application's provider let in.
apps = Table(
    "identity_oauth_apps",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("client_id", String(255), nullable=False, unique=True),
    Column("secret_hash", String(64)),
    Column("kind", String(10), nullable=False),
    _provider(),
    Column("name", Text, nullable=False),
    Column("website", Text),
    Column("redirect_uris", Text, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("grant_types", Text, nullable=False),
    Column("auth_method", String(30), nullable=False),
    Column("jwks", Document, nullable=False),
    Column("trusted", Boolean, nullable=False),
    Column("created_at", Instant, nullable=False, index=True),
    # Of clients of providers: what else they registered, who may change it with a token, and for whom.
    Column("metadata", Document, nullable=False),
    Column("registration_hash", String(64)),
    Column("registered_by", Integer, index=True),  # a person, who may be gone
    Column("registration_uuid", UID),  # what the identity API names it by
    Column("registration_at", Instant),  # when that token was issued
    Column("suspended_at", Instant),  # its registrar was locked: it lets nobody in until somebody takes it over
    Index("ix_identity_oauth_apps_registration_uuid", "registration_uuid", unique=True),
)

# Grants: which client a person has authorized for what. Codes and tokens belong to one.
grants = Table(
    "identity_oauth_grants",
    METADATA,
    Column("grant_uuid", UID, primary_key=True),
    Column("client_id", String(255), nullable=False),
    _provider(),
    _app(),
    _user(),
    Column("session_uuid", UID, index=True),
    Column("scopes", Text, nullable=False),
    Column("resource", Text, nullable=False),
    Column("claims", Document, nullable=False),
    Column("auth_method", String(40), nullable=False),
    Column("auth_time", Instant),
    Column("created_at", Instant, nullable=False, index=True),
    # What it was given for, and ends with: an app password, or the grant whose token was exchanged.
    Column("token_uuid", UID, index=True),
)

# Where somebody is signed in by us, for whoever must be told when that ends. Rows stay when the person, the session,
# the provider or the grant go, so that the client can still be told. Without a session it is one that outlasts it.
visits = Table(
    "identity_oauth_visits",
    METADATA,
    Column("visit_uuid", UID, primary_key=True),
    Column("client_id", String(255), nullable=False),
    Column("provider_id", Integer, nullable=False, index=True),
    Column("user_id", Integer, nullable=False, index=True),
    Column("session_uuid", UID, index=True),
    Column("sid", String(64), nullable=False),
    Column("sub", Text, nullable=False),
    Column("issuer", Text, nullable=False),
    Column("client_ip", String(45), nullable=False),
    Column("created_at", Instant, nullable=False),
    UniqueConstraint("client_id", "user_id", "sid"),
)

codes = Table(
    "identity_oauth_codes",
    METADATA,
    Column("code_hash", String(64), primary_key=True),
    _grant(),
    Column("redirect_uri", Text, nullable=False),
    Column("nonce", Text, nullable=False),
    Column("challenge", String(128), nullable=False),
    Column("challenge_method", String(10), nullable=False),
    Column("used_at", Instant),
    Column("expires_at", Instant, nullable=False, index=True),
)

oauth_tokens = Table(
    "identity_oauth_tokens",
    METADATA,
    Column("key_hash", String(64), primary_key=True),
    Column("kind", String(10), nullable=False),
    _grant(),
    Column("scopes", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, index=True),
    Column("used_at", Instant),
    Column("last_used_at", Instant),
)

devices = Table(
    "identity_oauth_devices",
    METADATA,
    Column("device_hash", String(64), primary_key=True),
    Column("user_code_hash", String(64), nullable=False, unique=True),
    Column("client_id", String(255), nullable=False),
    _provider(),
    _app(),
    Column("scopes", Text, nullable=False),
    Column("state", String(10), nullable=False),
    Column("grant_uuid", UID, ForeignKey("identity_oauth_grants.grant_uuid", ondelete="CASCADE"), index=True),
    Column("client_ip", String(45), nullable=False),
    Column("interval", Integer, nullable=False),
    Column("polled_at", Instant),
    Column("expires_at", Instant, nullable=False, index=True),
)

# Authorization requests that were pushed, or that wait while somebody signs in or runs a flow.
requests = Table(
    "identity_oauth_requests",
    METADATA,
    Column("request_hash", String(64), primary_key=True),
    Column("client_id", String(255), nullable=False),
    Column("parameters", Document, nullable=False),
    Column("user_id", Integer, ForeignKey("identity_users.id", ondelete="CASCADE"), index=True),
    Column("proof_hash", String(64)),
    Column("expires_at", Instant, nullable=False, index=True),
)

# Ids of client assertions that were used.
assertions = Table(
    "identity_oauth_assertions",
    METADATA,
    Column("jti_hash", String(64), primary_key=True),
    Column("expires_at", Instant, nullable=False, index=True),
    Column("user_id", Integer),  # whom a revoked token spoke for
)

signing_keys = Table(
    "identity_oauth_keys",
    METADATA,
    Column("kid", String(64), primary_key=True),
    Column("alg", String(10), nullable=False),
    Column("private_key", Text, nullable=False),
    Column("public_jwk", Document, nullable=False),
    Column("signs_from", Instant, nullable=False),
    Column("signs_until", Instant, nullable=False),
    Column("gone_at", Instant, nullable=False),
    Index("ix_identity_oauth_keys_alg", "alg", "signs_from"),
)

# Keys that have signed for a provider, published until nothing lives any more that they signed.
used_keys = Table(
    "identity_oauth_used_keys",
    METADATA,
    Column("provider_id", Integer, ForeignKey("identity_providers.id", ondelete="CASCADE"), primary_key=True),
    Column("kid", String(64), primary_key=True),
    Column("alg", String(10), nullable=False),
    Column("public_jwk", Document, nullable=False),
    Column("known_until", Instant, nullable=False, index=True),
)


class App(msgspec.Struct):
    """A client that registered itself. `kind`: `social` for Mastodon's apps, `dynamic` for those of a provider."""

    id: int
    client_id: str
    secret_hash: str | None
    kind: str
    provider_id: int | None
    name: str
    website: str | None
    redirect_uris: str
    scopes: str
    grant_types: str
    auth_method: str
    jwks: dict[str, Any]
    trusted: bool
    created_at: datetime
    metadata: dict[str, Any] = {}
    registration_hash: str | None = None
    registered_by: int | None = None
    registration_uuid: str | None = None
    registration_at: datetime | None = None
    suspended_at: datetime | None = None


class Grant(msgspec.Struct):
    grant_uuid: str
    client_id: str
    provider_id: int | None
    app_id: int | None
    user_id: int | None
    session_uuid: str | None
    scopes: str
    resource: str
    claims: dict[str, Any]
    auth_method: str
    auth_time: datetime | None
    created_at: datetime
    token_uuid: str | None = None


class Visit(msgspec.Struct):
    """Somebody is signed in at a client, which knows them as `sub` and the session as `sid` (empty: without one)."""

    visit_uuid: str
    client_id: str
    provider_id: int
    user_id: int
    session_uuid: str | None
    sid: str
    sub: str
    issuer: str
    client_ip: str
    created_at: datetime


class Code(msgspec.Struct):
    code_hash: str
    grant_uuid: str
    redirect_uri: str
    nonce: str
    challenge: str
    challenge_method: str
    used_at: datetime | None
    expires_at: datetime


class OAuthToken(msgspec.Struct):
    key_hash: str
    kind: str
    grant_uuid: str
    scopes: str
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None
    last_used_at: datetime | None


class DeviceAuthorization(msgspec.Struct):
    device_hash: str
    user_code_hash: str
    client_id: str
    provider_id: int | None
    app_id: int | None
    scopes: str
    state: str
    grant_uuid: str | None
    client_ip: str
    interval: int
    polled_at: datetime | None
    expires_at: datetime


class AuthorizationRequestRow(msgspec.Struct):
    """A stored authorization request; `proof_hash` is of the proof that the end of its flow reveals."""

    request_hash: str
    client_id: str
    parameters: dict[str, str]
    user_id: int | None
    proof_hash: str | None
    expires_at: datetime


class SigningKey(msgspec.Struct):
    """A signing key of the server, published before and after it signs."""

    kid: str
    alg: str
    private_key: str
    public_jwk: dict[str, Any]
    signs_from: datetime
    signs_until: datetime
    gone_at: datetime

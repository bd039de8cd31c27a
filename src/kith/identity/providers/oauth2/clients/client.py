"""A client, whether it comes from a provider or registered itself."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any, Literal

import msgspec
from sqlalchemy import bindparam, select

from kith.base.db import query
from kith.base.errors import NotFound
from kith.base.work import Work
from kith.identity.applications.tables import applications
from kith.identity.providers.client_fields import ClientRecord, client_ids
from kith.identity.providers.family import providers
from kith.identity.providers.kinds import applicationgateway, oauth, openid
from kith.identity.providers.kinds.applicationgateway import CALLBACK, ApplicationGatewayProvider
from kith.identity.providers.kinds.oauth import OAuth2Provider
from kith.identity.providers.kinds.openid import RESPONSE_TYPES, OpenIDProvider
from kith.identity.providers.oauth2.clients import registered, registrars
from kith.identity.providers.oauth2.clients.registered import ClientMetadata
from kith.identity.providers.oauth2.clients.scopes import OPENID_DEFAULTS
from kith.identity.providers.oauth2.tables import App, apps
from kith.identity.providers.sign_on.applications import ClientApplication, find_application
from kith.identity.rest import operations
from kith.identity.rest.fields import read_offset
from kith.identity.rest.record_store import RecordStore

DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code"
TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"  # noqa: S105 - a name
OUT_OF_BAND = "urn:ietf:wg:oauth:2.0:oob"
NOTHING = ClientMetadata()
CODE_SECONDS = 60.0
# Longer, because codes may be copied by hand, and apps on phones may be suspended.
SOCIAL_CODE_SECONDS = 600.0
Consent = Literal["flow", "never", "always", "permanent"]

_OAUTH2, _OPENID = RecordStore(oauth.RESOURCE), RecordStore(openid.RESOURCE)
_GATEWAY = RecordStore(applicationgateway.RESOURCE)
# What a gateway tells the application; the last two are for mappings that choose headers or another upstream.
GATEWAY_SCOPES = ("openid", "email", "profile", "groups", "entitlements", "kith_proxy", "ak_proxy")
_BY_WORDS = {id: words for words, id in RESPONSE_TYPES.items()}
_GRANTS_OF = {
    "authorization-code": frozenset({"authorization_code", "refresh_token"}),
    "implicit": frozenset({"implicit"}),
    "password": frozenset({"password", "refresh_token"}),
    "client-credentials": frozenset({"client_credentials"}),
}

_provider_of = query(
    select(client_ids.c.provider_id, providers.c.kind)
    .join(providers, providers.c.id == client_ids.c.provider_id)
    .where(client_ids.c.client_id == bindparam("client_id")),
    tuple,
)
_kind_of = query(select(providers.c.id, providers.c.kind).where(providers.c.id == bindparam("provider")), tuple)
_by_slug = query(
    select(applications.c.provider, providers.c.kind)
    .join(providers, providers.c.id == applications.c.provider)
    .where(applications.c.slug == bindparam("slug")),
    tuple,
)


_app_by_client = query(select(apps).where(apps.c.client_id == bindparam("client_id")), App)
_app_by_id = query(select(apps).where(apps.c.id == bindparam("app")), App)
_held_app = query(select(apps).where(apps.c.client_id == bindparam("client_id")).with_for_update(read=True), App)


class Client(msgspec.Struct, frozen=True, kw_only=True):
    """`scopes` is the upper bound of what it may get, None for whatever its mappings know.

    A length of None means without end. A social client is one of Mastodon's apps: it enters no application, and
    never gets anything of the identity half.
    """

    client_id: str
    name: str
    is_public: bool
    secret: str | None = None
    secret_hash: str | None = None
    auth_methods: frozenset[str] = frozenset({"client_secret_basic", "client_secret_post"})
    assertion_alg: str = ""  # the only one for its assertions
    jwks: dict[str, Any] = {}
    jwks_uri: str = ""
    request_uris: tuple[str, ...] = ()  # where its requests may lie
    redirect_uris: tuple[str, ...] = ()
    matching: str = "strict"
    post_logout_redirect_uris: tuple[str, ...] = ()
    grant_types: frozenset[str] = frozenset()
    response_types: frozenset[str] = frozenset()
    scopes: tuple[str, ...] | None = None
    provider_scopes: tuple[str, ...] | None = None  # the same of its provider, if it registered itself there
    mappings: tuple[str, ...] = ()
    provider_id: int | None = None
    kind: str = ""  # of its provider
    app_id: int | None = None
    application: ClientApplication | None = None
    authorization_flow: str | None = None
    authentication_flow: str | None = None
    invalidation_flow: str | None = None
    consent: Consent = "flow"
    code_seconds: float = CODE_SECONDS
    access_seconds: float | None = None
    refresh_seconds: float | None = None
    refresh_threshold: float = 0.0
    alg: str = "RS256"
    signing_key: str | None = None
    signed_with: str = ""  # the algorithm that it registered, which the server's own key has if the provider's has not
    sub_mode: str = "hashed_user_id"
    issuer_mode: str = "per_provider"
    claims_in_id_token: bool = True
    logout_uri: str = ""
    logout_method: str = "backchannel"
    website: str | None = None
    registered: ClientMetadata = NOTHING  # what it said of itself, if it registered itself with a provider
    is_suspended: bool = False  # whoever registered it may not do so any more: it lets nobody in

    @property
    def is_social(self) -> bool:
        return self.provider_id is None

    @property
    def back_channel(self) -> str:
        """Where it is told behind the scenes that somebody has signed out; empty if it does not want to know."""
        return self.logout_uri if self.logout_method == "backchannel" else self.registered.backchannel_logout_uri

    @property
    def front_channel(self) -> str:
        """What is loaded in the browser when somebody signs out."""
        if self.logout_method == "frontchannel":
            return self.logout_uri
        return self.registered.frontchannel_logout_uri

    @property
    def identity(self) -> str:
        """A print of who it is: what people are shown of it, and what decides who learns what.

        What was allowed to a client of another identity was allowed to somebody else.
        """
        said = self.registered
        told = [
            self.client_id,
            self.name,
            sorted(self.redirect_uris),
            [said.sector, self.sub_mode],
            [said.logo_uri, said.policy_uri, said.tos_uri],
            sorted(self.mappings),
        ]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()

    def issuer(self, base_url: str) -> str:
        if self.issuer_mode == "global" or self.application is None:
            return f"{base_url}/"
        return f"{base_url}/application/o/{self.application.slug}/"

    def knows_secret(self, given: str) -> bool:
        """Whether the secret is right, compared in constant time. False for a client without a secret."""
        if self.secret_hash is not None:
            return hmac.compare_digest(hash_secret(given), self.secret_hash)
        expected = (self.secret or "").encode()
        return bool(expected) and hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected)


def hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


async def find(work: Work, client_id: str) -> Client | None:
    if not client_id or len(client_id) > 255 or "\0" in client_id:
        return None
    found = await work.db.one(_provider_of, client_id=client_id)
    if found is not None:
        return await _of_provider(work, *found)
    app = await work.db.one(_app_by_client, client_id=client_id)
    return None if app is None else await of_app(work, app)


async def find_app(work: Work, app_id: int) -> Client | None:
    app = await work.db.one(_app_by_id, app=app_id)
    return None if app is None else await of_app(work, app)


async def is_still(work: Work, client_id: str, identity: str) -> bool:
    """Whether a client is who it was. One that registered itself stays so, as the transaction is opened for it."""
    await work.db.begin()
    app = await work.db.one(_held_app, client_id=client_id)
    client = await (find(work, client_id) if app is None else of_app(work, app))
    return client is not None and not client.is_suspended and client.identity == identity


class OAuthAskingClients:
    """Implements `consents.asking_clients.AskingClients`."""

    async def is_still(self, work: Work, client_id: str, identity: str) -> bool:
        return await is_still(work, client_id, identity)


async def find_by_provider(work: Work, provider_id: int) -> Client | None:
    found = await work.db.one(_kind_of, provider=provider_id)
    return None if found is None else await _of_provider(work, *found)


async def find_by_slug(work: Work, slug: str) -> Client | None:
    """The client of the application with this slug, if it has an OAuth provider."""
    found = await work.db.one(_by_slug, slug=slug)
    return None if found is None else await _of_provider(work, *found)


async def of_app(work: Work, app: App) -> Client | None:
    """A client that registered itself; one with a provider has the provider's settings and its own redirect URIs."""
    is_public = app.auth_method == "none"
    methods = frozenset({"client_secret_basic", "client_secret_post"}) if not is_public else frozenset({"none"})
    uris = tuple(app.redirect_uris.split())
    grant_types = frozenset(app.grant_types.split())
    if app.kind == "dynamic" and app.provider_id is not None:
        base = await find_by_provider(work, app.provider_id)
        said = registered.read(app.metadata)
        types = frozenset(" ".join(sorted(one.split())) for one in said.response_types)
        own = base and msgspec.structs.replace(
            signing_with(base, said.id_token_signed_response_alg),
            client_id=app.client_id,
            name=app.name,
            is_public=is_public,
            secret=None,
            secret_hash=app.secret_hash,
            auth_methods=frozenset({app.auth_method}),
            assertion_alg=said.token_endpoint_auth_signing_alg,
            jwks=app.jwks,
            jwks_uri=said.jwks_uri,
            request_uris=tuple(said.request_uris),
            redirect_uris=uris,
            matching="strict",
            post_logout_redirect_uris=tuple(said.post_logout_redirect_uris),
            grant_types=base.grant_types & grant_types,
            response_types=base.response_types & types if types else base.response_types,
            scopes=tuple(app.scopes.split()),
            provider_scopes=base.scopes,
            app_id=app.id,
            website=app.website,
            # Nobody vouches for it, so people are asked at least once.
            consent="permanent" if base.consent == "never" else base.consent,
            logout_uri=said.backchannel_logout_uri,
            logout_method="backchannel",
            registered=said,
            is_suspended=await registrars.is_suspended(work, app, base.kind),
        )
        return own and _of_its_type(own)
    return Client(
        client_id=app.client_id,
        name=app.name,
        is_public=is_public,
        secret_hash=app.secret_hash,
        auth_methods=methods,
        redirect_uris=uris,
        grant_types=grant_types,
        response_types=frozenset({"code"}),
        scopes=tuple(app.scopes.split()),
        app_id=app.id,
        consent="never" if app.trusted else "always",
        issuer_mode="global",
        website=app.website,
        code_seconds=SOCIAL_CODE_SECONDS,
    )


def _of_its_type(client: Client) -> Client:
    """The client with what follows from its being public, whoever says that it is.

    It gets a new refresh token every time, and does nothing in its own name, as it cannot prove that it is itself.
    """
    if not client.is_public:
        return client
    grant_types = client.grant_types - {"client_credentials", TOKEN_EXCHANGE}
    return msgspec.structs.replace(client, secret=None, refresh_threshold=0.0, grant_types=grant_types)


def signing_with(client: Client, alg: str) -> Client:
    """The client, if what it is told is signed with this algorithm; empty is the provider's."""
    return msgspec.structs.replace(client, signed_with=alg) if alg else client


async def _of_provider(work: Work, provider_id: int, kind: str) -> Client | None:
    if kind not in ("oauth2", "openid", "applicationgateway"):
        return None
    application = await find_application(work, provider_id)
    try:
        if kind == "oauth2":
            oauth2 = await operations.read(_OAUTH2, work, provider_id, sees_secrets=True)
            return _of_its_type(_oauth(oauth2, application))
        if kind == "applicationgateway":
            return _gateway(await operations.read(_GATEWAY, work, provider_id, sees_secrets=False), application)
        return _of_its_type(_openid(await operations.read(_OPENID, work, provider_id, sees_secrets=True), application))
    except NotFound:
        return None


def _common(record: ClientRecord, application: ClientApplication | None) -> dict[str, Any]:
    is_public = record.client_type == "public"
    methods = {"none"} if is_public else {"client_secret_basic", "client_secret_post"}
    if (record.jwks or record.jwks_uri) and not is_public:
        methods.add("private_key_jwt")
    return {
        "client_id": record.client_id,
        "name": application.name if application else record.name,
        "is_public": is_public,
        "secret": record.client_secret,
        "auth_methods": frozenset(methods),
        "jwks": record.jwks or {},
        "jwks_uri": record.jwks_uri,
        "request_uris": tuple(record.request_uris.split()),
        "matching": record.redirect_uri_matching,
        "post_logout_redirect_uris": tuple(record.post_logout_redirect_uris.split()),
        "mappings": tuple(record.property_mappings),
        "provider_id": record.pk,
        "application": application,
        "authorization_flow": record.authorization_flow,
        "authentication_flow": record.authentication_flow,
        "invalidation_flow": record.invalidation_flow,
        "code_seconds": _seconds(record.access_code_validity),
        "access_seconds": _seconds(record.access_token_validity),
        "refresh_seconds": _seconds(record.refresh_token_validity),
        "refresh_threshold": _seconds(record.refresh_token_threshold),
        "signing_key": record.signing_key,
        "sub_mode": record.sub_mode,
        "issuer_mode": record.issuer_mode,
        "claims_in_id_token": record.include_claims_in_id_token,
        "logout_uri": record.logout_uri,
        "logout_method": record.logout_method,
    }


def _oauth(record: OAuth2Provider, application: ClientApplication | None) -> Client:
    grant = record.authorization_grant_type
    types = {"authorization-code": frozenset({"code"}), "implicit": frozenset({"token"})}.get(grant, frozenset())
    return Client(
        **_common(record, application),
        kind="oauth2",
        redirect_uris=tuple(record.redirect_uris.split()),
        grant_types=_GRANTS_OF[grant],
        response_types=types,
    )


def _openid(record: OpenIDProvider, application: ClientApplication | None) -> Client:
    types = frozenset(_BY_WORDS[id] for id in record.response_types)
    grant_types: set[str] = set()
    if any("code" in words for words in types):
        grant_types |= {"authorization_code", "refresh_token", DEVICE_CODE}
    if any(words != "code" for words in types):
        grant_types.add("implicit")
    grant_types |= {"client_credentials", TOKEN_EXCHANGE}
    return Client(
        **_common(record, application),
        kind="openid",
        redirect_uris=tuple(record.redirect_uris_text.split()),
        grant_types=frozenset(grant_types),
        response_types=types,
        scopes=tuple(record.scope_text.split()) or OPENID_DEFAULTS,
        alg=record.jwt_alg,
        consent=_consent(record),
    )


def _gateway(record: ApplicationGatewayProvider, application: ClientApplication | None) -> Client:
    """The client of an application gateway. Programs get a token of it for an app password."""
    return Client(
        client_id=record.client_id,
        name=application.name if application else record.name,
        is_public=True,
        auth_methods=frozenset({"none"}),
        redirect_uris=(record.external_host + CALLBACK,),
        post_logout_redirect_uris=(record.external_host, f"{record.external_host}/"),
        grant_types=frozenset({"authorization_code", "password"}),
        response_types=frozenset({"code"}),
        scopes=GATEWAY_SCOPES,
        mappings=tuple(record.property_mappings),
        provider_id=record.pk,
        kind="applicationgateway",
        application=application,
        authorization_flow=record.authorization_flow,
        authentication_flow=record.authentication_flow,
        invalidation_flow=record.invalidation_flow,
        consent="permanent",
        access_seconds=_seconds(record.access_token_validity),
    )


def _consent(record: OpenIDProvider) -> Consent:
    if not record.require_consent:
        return "never"
    return "permanent" if record.reuse_consent else "always"


def _seconds(offset: str) -> float:
    return read_offset(offset) or 0.0

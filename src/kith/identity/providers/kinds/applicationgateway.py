"""A gateway for an application without sign-in: as a reverse proxy, or by answering the requests of one.

The gateway is an OpenID client. The server makes that client and does not show its secrets: the gateway itself
redeems its codes with PKCE and never sends one, so the client counts as public (identity/gateway).
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import msgspec
from sqlalchemy import Column, String
from sqlalchemy import Text as SQLText

from kith.base.patterns import MOST_PATTERNS, linear
from kith.base.sealing import Sealer
from kith.base.work import Work
from kith.identity.caller import ApiCaller
from kith.identity.providers import assigned_applications
from kith.identity.providers.client_fields import new_client_id, new_client_secret, random_text, register_client
from kith.identity.providers.durations import check_durations
from kith.identity.providers.facts import GatewayChanged
from kith.identity.providers.family import NAME, ProviderRecord, choose_flow, family_of
from kith.identity.providers.kinds.openid import RESPONSE_TYPES
from kith.identity.providers.signing_keys import check_signing_key
from kith.identity.rest import RecordDraft, Resource, kind_table
from kith.identity.rest.fields import Boolean, Choice, Computed, InvalidValue, Offset, Reference, Text, read_url

_TABLE = "identity_providers_applicationgateway"
_FAMILY = family_of(mappings="scope", name=Text(name=NAME.name, required=True, most=255))
_ALONE = ("proxy", "forward_single")  # modes in which a host has one gateway
CALLBACK = "/outpost.kith/callback"
SCOPE = "openid email"


class Host(Text, frozen=True, kw_only=True):
    """A host, with or without a scheme; kept as a URL without a slash at its end."""

    scheme: str
    most: int | None = 500

    def checked(self, text: str) -> str:
        url = read_url(text if "://" in text else f"{self.scheme}://{text}", ("http", "https"))
        parts = urlsplit(url or "")
        if url is None or parts.query or parts.fragment or "@" in parts.netloc:
            raise InvalidValue("Enter a valid URL.")
        kept = f"{parts.scheme.lower()}://{parts.netloc.lower()}{parts.path.rstrip('/')}"
        if self.most is not None and len(kept) > self.most:
            raise InvalidValue(f"Ensure this field has no more than {self.most} characters.", "too_long")
        return kept


FIELDS = (
    Host(name="internal_host", scheme="http", required=True, blank=True, help="Needed in mode proxy; else empty."),
    Host(name="external_host", scheme="https", required=True),
    Text(name="client_id", read_only=True, most=255),
    Choice(name="mode", default="proxy", choices=(*_ALONE, "forward_domain")),
    Boolean(name="internal_host_ssl_validation", default=True),
    Text(name="skip_path_regex", default="", most=10_000, help="Paths open to everybody: an expression per line."),
    Boolean(name="intercept_header_auth", default=True),
    Boolean(name="basic_auth_enabled", default=False),
    Text(name="basic_auth_user_attribute", default="", most=255),
    Text(name="basic_auth_password_attribute", default="", most=255),
    Text(name="cookie_domain", default="", most=255),
    Reference(
        name="certificate",
        null=True,
        to="identity_keypairs.kp_uuid",
        on_delete="RESTRICT",
        help="Served for external_host where the gateway listens with TLS (KITH_GATEWAY_TLS_BIND).",
    ),
    Offset(name="access_token_validity", default="hours=24", most=255),
    Offset(name="refresh_token_validity", default="days=30", most=255),
    Computed(name="client", form={"type": "object", "description": "The OpenID client of this gateway."}),
    Computed(name="redirect_uris", form={"type": "array", "items": {"type": "string", "format": "uri"}}),
)


class ApplicationGatewayProvider(ProviderRecord, kw_only=True):
    internal_host: str
    external_host: str
    client_id: str
    mode: str
    internal_host_ssl_validation: bool
    skip_path_regex: str
    intercept_header_auth: bool
    basic_auth_enabled: bool
    basic_auth_user_attribute: str
    basic_auth_password_attribute: str
    cookie_domain: str
    certificate: str | None
    access_token_validity: str
    refresh_token_validity: str
    client: dict[str, Any] = msgspec.field(default_factory=dict)
    redirect_uris: list[str] = msgspec.field(default_factory=list)


gateways = kind_table(
    _TABLE,
    _FAMILY,
    FIELDS,
    Column("client_secret", SQLText, nullable=False),
    Column("cookie_secret", SQLText, nullable=False),
    Column("external_host_key", String(500), nullable=True, unique=True),
)


async def check(draft: RecordDraft[ApplicationGatewayProvider]) -> None:
    await choose_flow(draft)
    _check_mode(draft)
    _check_basic(draft)
    check_durations(draft, positive=("access_token_validity", "refresh_token_validity"))
    _check_skipped(draft)
    await check_signing_key(draft, "certificate", ("rsa", "ec", "ed25519"))
    if draft.is_new:
        draft.now.client_id = new_client_id()
        draft.columns["client_secret"] = seal(draft.work, "client_secret", new_client_secret())
        draft.columns["cookie_secret"] = seal(draft.work, "cookie_secret", random_text(50))
    if draft.sets("mode") or draft.sets("external_host"):
        draft.columns["external_host_key"] = draft.now.external_host if draft.now.mode in _ALONE else None


def _check_skipped(draft: RecordDraft[ApplicationGatewayProvider]) -> None:
    lines = draft.values.get("skip_path_regex", "").splitlines()
    if len(lines) > MOST_PATTERNS:
        draft.complain("skip_path_regex", f"There may be {MOST_PATTERNS} lines at most.")
        return
    wrong = next((line for line in lines if linear(line) is None), None)
    if wrong is not None:
        draft.complain("skip_path_regex", f"{wrong[:100]} is not a valid regular expression.")


def _check_mode(draft: RecordDraft[ApplicationGatewayProvider]) -> None:
    mode, domain = draft.now.mode, draft.now.cookie_domain.lstrip(".").lower()
    if mode == "proxy" and not draft.now.internal_host:
        draft.complain("internal_host", "Internal host cannot be empty when forward auth is disabled.")
    if mode == "proxy" and urlsplit(draft.now.external_host).netloc == draft.work.settings.web_domain.lower():
        draft.complain("external_host", "This is the address of the server itself.")
    if mode == "forward_domain":
        host = urlsplit(draft.now.external_host).hostname or ""
        if not domain:
            draft.complain("cookie_domain", "Cookie domain cannot be empty in mode forward_domain.")
        elif host != domain and not host.endswith(f".{domain}"):
            draft.complain("cookie_domain", "The external host must lie in the cookie domain.")


def _check_basic(draft: RecordDraft[ApplicationGatewayProvider]) -> None:
    if draft.now.basic_auth_enabled:
        for name in ("basic_auth_user_attribute", "basic_auth_password_attribute"):
            if not draft.value(name):
                draft.complain(name, "User and password attributes must be set when basic auth is enabled.")


def seal(work: Work, column: str, text: str) -> str:
    return work.find(Sealer).seal(text, f"{_TABLE}.{column}")


def unseal(work: Work, column: str, sealed: str) -> str:
    return work.find(Sealer).open(sealed, f"{_TABLE}.{column}")


async def saved(draft: RecordDraft[ApplicationGatewayProvider]) -> None:
    await register_client(draft)
    draft.work.announce(GatewayChanged(provider_id=int(draft.id)))


async def removing(work: Work, record: ApplicationGatewayProvider, _caller: ApiCaller) -> None:
    work.announce(GatewayChanged(provider_id=record.pk))


async def decorate(work: Work, records: list[ApplicationGatewayProvider]) -> None:
    for record in records:
        client = _client(record)
        record.client = client
        record.redirect_uris = client["redirect_uris"]
    await assigned_applications.tell_applications(work, records)


def _client(record: ApplicationGatewayProvider) -> dict[str, Any]:
    """The gateway's OpenID client, in the shape of that collection."""
    callback = record.external_host + CALLBACK
    return {
        "pk": record.pk,
        "id": record.pk,
        "name": record.name,
        "client_type": "public",
        "client_id": record.client_id,
        "response_types": [RESPONSE_TYPES["code"]],
        "jwt_alg": "RS256",
        "reuse_consent": True,
        "require_consent": True,
        "_redirect_uris": callback,
        "_scope": SCOPE,
        "redirect_uris": [callback],
        "scope": SCOPE.split(),
    }


RESOURCE = Resource(
    path="/providers/applicationgateway/",
    name="ApplicationGatewayProvider",
    record=ApplicationGatewayProvider,
    key="id",
    family=_FAMILY,
    kind="applicationgateway",
    table=gateways,
    fields=(*FIELDS, *assigned_applications.FIELDS),
    exact=("name", "internal_host", "external_host", "mode"),
    prepare=check,
    saved=saved,
    removing=removing,
    decorate=decorate,
)

"""The fields and rules that OAuth 2 and OpenID providers share.

A client id is unique among all of them: `client_ids` holds those that are taken.
"""

from __future__ import annotations

import secrets
import string
from typing import Any

from sqlalchemy import Column, ForeignKey, Integer, String, Table, bindparam, delete, select

from kith.base.db import METADATA, Taken, command, insert_into, query
from kith.base.errors import Conflict
from kith.base.patterns import MOST_PATTERNS
from kith.identity.providers.durations import check_durations
from kith.identity.providers.family import ProviderRecord
from kith.identity.providers.oauth2.store import has_app
from kith.identity.providers.redirect_patterns import complain_pattern
from kith.identity.providers.redirect_uris import complain_redirect
from kith.identity.providers.signing_keys import check_signing_key
from kith.identity.rest import RecordDraft
from kith.identity.rest.fields import URL, Boolean, Choice, Field, Object, Offset, Reference, Secret, Text

client_ids = Table(
    "identity_client_ids",
    METADATA,
    Column("client_id", String(255), primary_key=True),
    Column(
        "provider_id", Integer, ForeignKey("identity_providers.id", ondelete="CASCADE"), nullable=False, unique=True
    ),
)

CLIENT_TYPES = ("confidential", "public")
_LETTERS = string.ascii_letters + string.digits
_ASCII = r"[\x20-\x7e]+"
_NOT_ASCII = "Only printable ASCII characters are allowed."


def random_text(length: int) -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(length))


def new_client_id() -> str:
    return random_text(40)


def new_client_secret() -> str:
    return random_text(128)


def client_id_field(most: int) -> Text:
    return Text(name="client_id", default=new_client_id, blank=False, most=most, pattern=_ASCII, refusal=_NOT_ASCII)


CLIENT_SECRET = Secret(
    name="client_secret",
    shown=True,
    default=new_client_secret,
    blank=True,
    most=255,
    help="Shown when it is made or changed; afterwards to those who may change the provider and see secrets.",
    pattern=_ASCII,
    refusal=_NOT_ASCII,
)

SIGNING_KEYS = ("rsa", "ec", "ed25519", "ed448")

# The settings of the OAuth engine.
ENGINE_FIELDS: tuple[Field, ...] = (
    Choice(
        name="sub_mode",
        default="hashed_user_id",
        choices=("hashed_user_id", "user_id", "user_uuid", "user_username", "user_email", "user_upn"),
    ),
    Choice(name="issuer_mode", default="per_provider", choices=("per_provider", "global")),
    Offset(name="access_code_validity", default="minutes=1", most=255),
    Offset(name="access_token_validity", default="hours=1", most=255),
    Offset(name="refresh_token_validity", default="days=30", most=255),
    Offset(
        name="refresh_token_threshold",
        default="seconds=0",
        most=255,
        help="0: a new refresh token at every use; else only when less than this is left.",
    ),
    Boolean(name="include_claims_in_id_token", default=True),
    Reference(
        name="signing_key",
        null=True,
        to="identity_keypairs.kp_uuid",
        on_delete="RESTRICT",
        help="Signs the ID tokens instead of the server's own key.",
    ),
    Choice(
        name="redirect_uri_matching",
        default="strict",
        choices=("strict", "regex"),
        help="regex: each redirect URI is a regular expression that must match the whole of what is asked for.",
    ),
    Text(
        name="post_logout_redirect_uris",
        default="",
        most=65_536,
        help="Where people may be sent after signing out; absolute URIs, separated by blanks.",
    ),
    Object(
        name="jwks",
        default={},
        private=True,
        help="The client's own public keys, for private_key_jwt and signed requests.",
    ),
    URL(name="jwks_uri", default="", most=500, help="Where the client publishes its keys, in place of jwks."),
    Text(
        name="request_uris",
        default="",
        most=65_536,
        help="Where authorization requests of the client lie (request_uri); addresses, separated by blanks.",
    ),
    URL(name="logout_uri", default="", most=500),
    Choice(name="logout_method", default="backchannel", choices=("backchannel", "frontchannel")),
)


class ClientRecord(ProviderRecord, kw_only=True):
    """What OAuth 2 and OpenID providers have in common."""

    client_type: str
    client_id: str
    client_secret: str
    sub_mode: str
    issuer_mode: str
    access_code_validity: str
    access_token_validity: str
    refresh_token_validity: str
    refresh_token_threshold: str
    include_claims_in_id_token: bool
    signing_key: str | None
    redirect_uri_matching: str
    post_logout_redirect_uris: str
    jwks: dict[str, Any]
    jwks_uri: str
    request_uris: str
    logout_uri: str
    logout_method: str


_LASTING = ("access_code_validity", "access_token_validity", "refresh_token_validity")

_owner_of = query(select(client_ids.c.provider_id).where(client_ids.c.client_id == bindparam("client_id")), int)
_let_go = command(delete(client_ids).where(client_ids.c.provider_id == bindparam("provider_id")))
_take = command(insert_into(client_ids))


async def check_client(draft: RecordDraft[Any], *, redirects: str) -> None:
    """The rules for all clients; `redirects` is the field with the redirect URIs, separated by blanks."""
    if draft.sets("client_id"):
        owner = await draft.work.db.one(_owner_of, client_id=draft.values["client_id"])
        if (owner is not None and owner != draft.id) or await has_app(draft.work.db, draft.values["client_id"]):
            draft.complain("client_id", "This field must be unique.", "unique")
    _check_secret(draft)
    _check_redirects(draft, redirects)
    _check_documents(draft)
    check_durations(draft, positive=_LASTING, not_negative=("refresh_token_threshold",))
    await check_signing_key(draft, "signing_key", SIGNING_KEYS)
    if not draft.is_new and (draft.sets("signing_key") or draft.sets("jwt_alg")):
        from kith.identity.providers.oauth2.keys.signing import keep_current  # noqa: PLC0415 - it knows the clients

        await keep_current(draft.work, draft.id)


def _check_redirects(draft: RecordDraft[Any], redirects: str) -> None:
    """Checked again when the matching changes: an address is not a valid pattern and vice versa."""
    by_pattern = draft.value("redirect_uri_matching") == "regex"
    complain = complain_pattern if by_pattern else complain_redirect
    if redirects in draft.values or draft.sets("redirect_uri_matching"):
        uris = (draft.value(redirects) or "").split()
        if by_pattern and len(uris) > MOST_PATTERNS:
            draft.complain(redirects, f"There may be {MOST_PATTERNS} patterns at most.")
            uris = []
        wrong = next((found for uri in uris if (found := complain(uri)) is not None), None)
        if wrong is not None:
            draft.complain(redirects, wrong)
    for uri in (draft.values.get("post_logout_redirect_uris") or "").split():
        wrong = complain_redirect(uri)
        if wrong is not None:
            draft.complain("post_logout_redirect_uris", wrong)


def _check_documents(draft: RecordDraft[Any]) -> None:
    """Addresses that are fetched, from the outside only: https, or this computer itself."""
    if draft.values.get("jwks_uri") and complain_redirect(draft.values["jwks_uri"]) is not None:
        draft.complain("jwks_uri", "Enter an https address.")
    if draft.value("jwks_uri") and draft.value("jwks"):
        draft.complain("jwks_uri" if "jwks_uri" in draft.values else "jwks", "Enter keys or their address, not both.")
    for uri in (draft.values.get("request_uris") or "").split():
        wrong = complain_redirect(uri.partition("#")[0])
        if wrong is not None or not uri.startswith(("https://", "http://")):
            draft.complain("request_uris", wrong or f"{uri[:100]} must use https.")


def _check_secret(draft: RecordDraft[Any]) -> None:
    """An empty secret counts as not sent: a client without one could become confidential and let everybody in."""
    if draft.values.get("client_secret") == "":
        del draft.values["client_secret"]
        if draft.is_new:
            draft.values["client_secret"] = new_client_secret()


async def register_client(draft: RecordDraft[Any]) -> None:
    """Store the client id as taken, once the provider is saved."""
    if not draft.sets("client_id"):
        return
    try:
        await draft.work.db.run(_let_go, provider_id=draft.id)
        await draft.work.db.run(_take, client_id=draft.values["client_id"], provider_id=draft.id)
    except Taken as error:
        raise Conflict("Somebody else took this client id at the same time, please try again") from error

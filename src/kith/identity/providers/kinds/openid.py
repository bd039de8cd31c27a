"""An OpenID Connect client. Names with an underscore are texts; the lists without one show the same."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.work import Work
from kith.identity.providers import assigned_applications
from kith.identity.providers.client_fields import (
    CLIENT_SECRET,
    CLIENT_TYPES,
    ENGINE_FIELDS,
    ClientRecord,
    check_client,
    client_id_field,
    register_client,
)
from kith.identity.providers.family import NAME, choose_flow, family_of
from kith.identity.providers.signing_keys import key_type_of
from kith.identity.rest import RecordDraft, Resource, kind_table
from kith.identity.rest.fields import Boolean, Choice, Choices, Computed, InvalidValue, Text, missing, type_name

_FAMILY = family_of(mappings="scope", name=Text(name=NAME.name, default="", most=100))
_WORDS = {"type": "array", "items": {"type": "string"}}

RESPONSE_TYPES = {
    "code": 1,
    "id_token": 2,
    "id_token token": 3,
    "code token": 4,
    "code id_token": 5,
    "code id_token token": 6,
}


DEFAULT_ALG = "RS256"
# The types of keys for each algorithm.
KEYS_FOR = {"RS256": ("rsa",), "ES256": ("ec",), "EdDSA": ("ed25519", "ed448")}
_WANTED = {"RS256": "an RSA key", "ES256": "an EC key", "EdDSA": "an Ed25519 or Ed448 key"}


class ResponseTypes(Choices, frozen=True, kw_only=True):
    """Ids of a fixed table; an unknown id gets the error of a missing record."""

    def take(self, value: Any) -> list[Any]:
        return Choices.take(self, [_response_type(item) for item in value] if isinstance(value, list) else value)


def _response_type(item: Any) -> int:
    if isinstance(item, bool) or not isinstance(item, (str, int)):
        raise InvalidValue(f"Incorrect type. Expected pk value, received {type_name(item)}.")
    for words, id in RESPONSE_TYPES.items():
        if str(item) == str(id) or (isinstance(item, str) and sorted(item.split()) == words.split()):
            return id
    raise missing(item)


FIELDS = (
    Choice(name="client_type", default="confidential", choices=CLIENT_TYPES),
    client_id_field(255),
    CLIENT_SECRET,
    ResponseTypes(
        name="response_types",
        required=True,
        may_be_empty=False,
        choices=tuple(RESPONSE_TYPES.values()),
        also=RESPONSE_TYPES,
    ),
    Choice(
        name="jwt_alg",
        default=DEFAULT_ALG,
        choices=("HS256", *KEYS_FOR),
        help="HS256 signs with the client's secret, all others with a key of the server. A signing key of another type "
        "than RS256 needs implies its algorithm.",
    ),
    Boolean(name="reuse_consent", default=True, help="Remember a consent once it is given."),
    Boolean(name="require_consent", default=True, help="False: never ask."),
    Text(
        name="_redirect_uris", stored_as="redirect_uris", default="", most=65_536, help="Absolute URIs, one per line."
    ),
    Text(
        name="_scope",
        stored_as="scope",
        default="",
        most=2000,
        pattern=r"[\x21\x23-\x5b\x5d-\x7e\s]+",
        help="The scopes it may get, separated by blanks; empty for all.",
    ),
    *ENGINE_FIELDS,
    Computed(name="redirect_uris", form=_WORDS),
    Computed(name="scope", form=_WORDS),
)


class OpenIDProvider(ClientRecord, kw_only=True):
    response_types: list[int]
    jwt_alg: str
    reuse_consent: bool
    require_consent: bool
    redirect_uris_text: str = msgspec.field(name="_redirect_uris")
    scope_text: str = msgspec.field(name="_scope")
    redirect_uris: list[str] = msgspec.field(default_factory=list)
    scope: list[str] = msgspec.field(default_factory=list)


async def check(draft: RecordDraft[OpenIDProvider]) -> None:
    await choose_flow(draft)
    await check_client(draft, redirects="_redirect_uris")
    if draft.now.jwt_alg == "HS256":
        if draft.now.client_type == "public":
            draft.complain("jwt_alg", "A public client has no secret, so HS256 would prove nothing.")
    else:
        await _follow_key(draft)


async def _follow_key(draft: RecordDraft[OpenIDProvider]) -> None:
    """A signing key of another type changes the algorithm, unless one was chosen explicitly."""
    alg, key_type = draft.now.jwt_alg or DEFAULT_ALG, await key_type_of(draft, "signing_key")
    if key_type in (None, *KEYS_FOR[alg]):
        return
    implied = next((name for name, types in KEYS_FOR.items() if key_type in types), None)
    is_chosen = "jwt_alg" in draft.values and draft.now.jwt_alg != DEFAULT_ALG
    if implied is None or is_chosen:
        draft.complain("signing_key", f"{alg} needs {_WANTED[alg]}.")
    else:
        draft.now.jwt_alg = implied


async def decorate(work: Work, records: list[OpenIDProvider]) -> None:
    for record in records:
        record.redirect_uris = record.redirect_uris_text.split()
        record.scope = record.scope_text.split()
    await assigned_applications.tell_applications(work, records)


RESOURCE = Resource(
    path="/providers/openid/",
    name="OpenIDProvider",
    record=OpenIDProvider,
    key="id",
    family=_FAMILY,
    kind="openid",
    table=kind_table("identity_providers_openid", _FAMILY, FIELDS),
    fields=(*FIELDS, *assigned_applications.FIELDS),
    exact=("name", "client_id", "client_type", "jwt_alg"),
    prepare=check,
    saved=register_client,
    decorate=decorate,
)

"""A plain OAuth 2 client."""

from __future__ import annotations

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
from kith.identity.providers.family import choose_flow, family_of
from kith.identity.rest import RecordDraft, Resource, kind_table
from kith.identity.rest.fields import Choice, Text

_SENDS_BACK = ("authorization-code", "implicit")
_FAMILY = family_of(mappings="scope")

FIELDS = (
    Text(name="redirect_uris", default="", most=65_536, help="Absolute URIs, separated by blanks."),
    Choice(name="client_type", required=True, choices=CLIENT_TYPES),
    Choice(name="authorization_grant_type", required=True, choices=(*_SENDS_BACK, "password", "client-credentials")),
    client_id_field(100),
    CLIENT_SECRET,
    *ENGINE_FIELDS,
)


class OAuth2Provider(ClientRecord, kw_only=True):
    redirect_uris: str
    authorization_grant_type: str


async def check(draft: RecordDraft[OAuth2Provider]) -> None:
    await choose_flow(draft)
    await check_client(draft, redirects="redirect_uris")
    if draft.now.authorization_grant_type in _SENDS_BACK and not draft.now.redirect_uris:
        words = f"redirect_uris cannot be empty with grant_type {draft.now.authorization_grant_type}"
        draft.complain("redirect_uris", words, "required")


RESOURCE = Resource(
    path="/providers/oauth/",
    name="OAuth2Provider",
    record=OAuth2Provider,
    key="id",
    family=_FAMILY,
    kind="oauth2",
    table=kind_table("identity_providers_oauth", _FAMILY, FIELDS),
    fields=(*FIELDS, *assigned_applications.FIELDS),
    exact=("name", "client_id", "client_type", "authorization_grant_type"),
    prepare=check,
    saved=register_client,
    decorate=assigned_applications.tell_applications,
)

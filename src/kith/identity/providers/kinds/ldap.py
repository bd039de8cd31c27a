"""An application that reads people and groups over LDAP, and asks for their passwords there."""

from __future__ import annotations

from kith.identity.distinguished_names import read_name
from kith.identity.providers import assigned_applications
from kith.identity.providers.family import NAME, ProviderRecord, choose_flow, family_of
from kith.identity.providers.signing_keys import check_signing_key
from kith.identity.rest import RecordDraft, Resource, kind_table
from kith.identity.rest.fields import Boolean, Integer, Reference, Text

_FAMILY = family_of(mappings="ldap", name=Text(name=NAME.name, required=True, most=255))
_TYPES = frozenset({"c", "cn", "dc", "l", "o", "ou", "st", "uid"})

FIELDS = (
    Text(name="base_dn", required=True, most=255, unique=True, help="The root of the tree, such as dc=example,dc=org."),
    Reference(
        name="certificate",
        null=True,
        to="identity_keypairs.kp_uuid",
        on_delete="RESTRICT",
        help="For LDAPS and StartTLS. Null: this provider's tree is offered without encryption only.",
    ),
    Text(name="tls_server_name", default="", most=253, help="The host name for which the certificate is shown."),
    Integer(name="uid_start_number", default=2000, least=0, help="Added to people's numbers for `uidNumber`."),
    Integer(name="gid_start_number", default=4000, least=0, help="Added to groups' numbers for `gidNumber`."),
    Boolean(
        name="mfa_support",
        default=True,
        help="Who has a second factor signs in with the password, a semicolon and the code.",
    ),
)


class LDAPProvider(ProviderRecord, kw_only=True):
    base_dn: str
    certificate: str | None
    tls_server_name: str
    uid_start_number: int
    gid_start_number: int
    mfa_support: bool


async def check(draft: RecordDraft[LDAPProvider]) -> None:
    await choose_flow(draft)
    await check_signing_key(draft, "certificate", ("rsa", "ec"))
    if not draft.sets("base_dn"):
        return
    name = read_name(draft.now.base_dn)
    if not name:
        draft.complain("base_dn", "Enter a distinguished name such as dc=example,dc=org.")
    elif any(kind not in _TYPES for kind, _ in name):
        draft.complain("base_dn", f"Only these kinds of parts can be used: {', '.join(sorted(_TYPES))}.")


ldap_providers = kind_table("identity_providers_ldap", _FAMILY, FIELDS)

RESOURCE = Resource(
    path="/providers/ldap/",
    name="LDAPProvider",
    record=LDAPProvider,
    key="id",
    family=_FAMILY,
    kind="ldap",
    table=ldap_providers,
    fields=(*FIELDS, *assigned_applications.FIELDS),
    exact=("name", "base_dn"),
    prepare=check,
    decorate=assigned_applications.tell_applications,
)

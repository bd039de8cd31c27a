"""Another service people sign in with, over SAML."""

from __future__ import annotations

import msgspec

from kith.identity.flows.resources import bound_policies
from kith.identity.rest import RecordDraft, Resource, kind_table
from kith.identity.rest.fields import URL, Boolean, Choice, Offset, Reference, Text
from kith.identity.sources import property_mappings
from kith.identity.sources.family import SOURCES, SourceRecord
from kith.identity.sources.private_keys import check_private_key
from kith.identity.sources.reach import remember_setter

_KEYPAIR = "identity_keypairs.kp_uuid"
_V1, _V2 = "urn:oasis:names:tc:SAML:1.1:nameid-format:", "urn:oasis:names:tc:SAML:2.0:nameid-format:"
_XML, _MORE, _ENC = (
    "http://www.w3.org/2000/09/xmldsig#",
    "http://www.w3.org/2001/04/xmldsig-more#",
    "http://www.w3.org/2001/04/xmlenc#",
)
_DIGESTS = {
    "sha1": f"{_XML}sha1",
    "sha256": f"{_ENC}sha256",
    "sha384": f"{_MORE}sha384",
    "sha512": f"{_ENC}sha512",
}
_SIGNATURES = {"rsa-sha1": f"{_XML}rsa-sha1", "dsa-sha1": f"{_XML}dsa-sha1"} | {
    name: f"{_MORE}{name}"
    for name in (
        "rsa-sha256",
        "rsa-sha384",
        "rsa-sha512",
        "ecdsa-sha1",
        "ecdsa-sha256",
        "ecdsa-sha384",
        "ecdsa-sha512",
    )
}

FIELDS = (
    Text(name="issuer", alias="issuer_override", default="", help="Our entity id; our metadata's address when empty."),
    Text(
        name="idp_issuer",
        default="",
        most=1000,
        help="The entity id of the identity provider; answers of another one are refused.",
    ),
    URL(name="sso_url", required=True, most=200),
    Choice(name="binding_type", default="REDIRECT", choices=("REDIRECT", "POST", "POST_AUTO")),
    URL(name="slo_url", null=True, default=None, most=200),
    Offset(
        name="temporary_user_delete_after",
        default="days=1",
        least=1,
        help="How long people last who came with a transient name.",
    ),
    Reference(
        name="signing_kp",
        required=True,
        to=_KEYPAIR,
        on_delete="RESTRICT",
        help="Signs our requests when it has a key; its certificate checks the answers unless verification_kp is set.",
    ),
    Reference(name="verification_kp", null=True, to=_KEYPAIR, on_delete="RESTRICT"),
    Reference(name="encryption_kp", null=True, to=_KEYPAIR, on_delete="RESTRICT", help="Opens encrypted assertions."),
    Choice(
        name="name_id_policy",
        default=f"{_V2}transient",
        choices=(
            f"{_V1}emailAddress",
            f"{_V2}persistent",
            f"{_V2}X509SubjectName",
            f"{_V2}WindowsDomainQualifiedName",
            f"{_V2}transient",
        ),
    ),
    Reference(name="pre_authentication_flow", null=True, to="identity_flows.flow_uuid", on_delete="RESTRICT"),
    Boolean(name="allow_idp_initiated", default=False, help="Take answers that nobody asked for."),
    Boolean(name="force_authn", default=False),
    Boolean(name="signed_assertion", default=True, help="Assertions must be signed."),
    Boolean(name="signed_response", default=False, help="Responses must be signed."),
    Choice(
        name="digest_algorithm",
        default="sha256",
        choices=tuple(_DIGESTS),
        also={v: k for k, v in _DIGESTS.items()},
    ),
    Choice(
        name="signature_algorithm",
        default="rsa-sha256",
        choices=tuple(_SIGNATURES),
        also={v: k for k, v in _SIGNATURES.items()},
    ),
    Text(name="audience_override", default=""),
    Choice(name="group_matching_mode", default="identifier", choices=("identifier", "name_link", "name_deny")),
    *property_mappings.fields("samlsource"),
)


class SAMLSource(SourceRecord, kw_only=True):
    issuer: str
    idp_issuer: str
    sso_url: str
    binding_type: str
    slo_url: str | None
    temporary_user_delete_after: str
    signing_kp: str
    verification_kp: str | None
    encryption_kp: str | None
    name_id_policy: str
    pre_authentication_flow: str | None
    allow_idp_initiated: bool
    force_authn: bool
    signed_assertion: bool
    signed_response: bool
    digest_algorithm: str
    signature_algorithm: str
    audience_override: str
    group_matching_mode: str
    user_property_mappings: list[str] = msgspec.field(default_factory=list)
    group_property_mappings: list[str] = msgspec.field(default_factory=list)


async def check(draft: RecordDraft[SAMLSource]) -> None:
    remember_setter(draft)
    if not draft.now.signed_assertion and not draft.now.signed_response:
        draft.complain("", "At least one of signed_assertion and signed_response must be true.")
    await check_private_key(draft, "encryption_kp")


RESOURCE = Resource(
    path="/sources/saml/",
    name="SAMLSource",
    record=SAMLSource,
    key="pbm_uuid",
    family=SOURCES,
    kind="saml",
    table=kind_table("identity_sources_saml", SOURCES, FIELDS),
    fields=FIELDS,
    target=True,
    search=("name", "slug"),
    exact=("name", "slug", "enabled", "issuer", "sso_url", "binding_type", "signing_kp"),
    prepare=check,
    decorate=bound_policies,
)

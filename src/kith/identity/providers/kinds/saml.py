"""A SAML service provider that trusts this server's assertions."""

from __future__ import annotations

from kith.base.work import Work
from kith.identity.providers import assigned_applications
from kith.identity.providers.durations import check_durations
from kith.identity.providers.family import MAPPING, NAME, ProviderRecord, choose_flow, family_of
from kith.identity.providers.signing_keys import check_key_type, check_signing_key, key_type_of
from kith.identity.rest import RecordDraft, Resource, kind_table
from kith.identity.rest.fields import URL, Boolean, Choice, Computed, Offset, Reference, Text

_FAMILY = family_of(mappings="saml", name=Text(name=NAME.name, required=True, most=255))
_KEYPAIR = "identity_keypairs.kp_uuid"
_XMLDSIG = "http://www.w3.org/2000/09/xmldsig#"
_MORE = "http://www.w3.org/2001/04/xmldsig-more#"
_NAME_ID_1, _NAME_ID_2 = "urn:oasis:names:tc:SAML:1.1:nameid-format:", "urn:oasis:names:tc:SAML:2.0:nameid-format:"
_ENC = "http://www.w3.org/2001/04/xmlenc#"
_DIGESTS = {"sha1": f"{_XMLDSIG}sha1", "sha256": f"{_ENC}sha256", "sha384": f"{_MORE}sha384", "sha512": f"{_ENC}sha512"}
_SIGNED_BY = {"rsa-sha1": "rsa", "rsa-sha256": "rsa", "ecdsa-sha256": "ec", "dsa-sha1": "dsa"} | {
    f"{word}-{digest}": kind
    for word, kind, digests in (("rsa", "rsa", ("sha384", "sha512")), ("ecdsa", "ec", ("sha1", "sha384", "sha512")))
    for digest in digests
}
_URLS = {
    "url_download_metadata": "metadata/",
    "url_sso_post": "sso/binding/post/",
    "url_sso_redirect": "sso/binding/redirect/",
    "url_sso_init": "sso/binding/init/",
    "url_slo_post": "slo/binding/post/",
    "url_slo_redirect": "slo/binding/redirect/",
}

FIELDS = (
    URL(name="acs_url", required=True, most=200),
    Text(name="audience", default="", most=1000, help="Empty: the assertion is for whoever gets it."),
    Text(name="issuer", alias="issuer_override", required=True, most=1000, help="The EntityID of this server."),
    Offset(name="assertion_valid_not_before", default="minutes=-5", most=255),
    Offset(name="assertion_valid_not_on_or_after", default="minutes=5", most=255),
    Offset(name="session_valid_not_on_or_after", default="minutes=86400", most=255),
    Choice(
        name="digest_algorithm",
        default="sha256",
        choices=tuple(_DIGESTS),
        also={uri: word for word, uri in _DIGESTS.items()},
    ),
    Choice(
        name="signature_algorithm",
        default="rsa-sha256",
        choices=tuple(_SIGNED_BY),
        also={(_XMLDSIG if word in ("rsa-sha1", "dsa-sha1") else _MORE) + word: word for word in _SIGNED_BY},
    ),
    Reference(name="signing_kp", null=True, to=_KEYPAIR, on_delete="RESTRICT", help="Null: nothing is signed."),
    Boolean(name="require_signing", default=False, help="True: requests without a good signature are refused."),
    Choice(name="sp_binding", default="redirect", choices=("redirect", "post"), help="How the response travels."),
    URL(name="sls_url", default="", most=200),
    Choice(name="sls_binding", default="redirect", choices=("redirect", "post")),
    Choice(
        name="logout_method",
        default="frontchannel_iframe",
        choices=("frontchannel_iframe", "frontchannel_native", "backchannel"),
    ),
    Reference(name="verification_kp", null=True, to=_KEYPAIR, on_delete="RESTRICT"),
    Reference(name="encryption_kp", null=True, to=_KEYPAIR, on_delete="RESTRICT"),
    Boolean(name="sign_assertion", default=True),
    Boolean(name="sign_response", default=False),
    Boolean(name="sign_logout_request", default=False),
    Boolean(name="sign_logout_response", default=False),
    Reference(name="name_id_mapping", null=True, to=MAPPING, on_delete="RESTRICT", where=(("kind", "saml"),)),
    Reference(
        name="authn_context_class_ref_mapping", null=True, to=MAPPING, on_delete="RESTRICT", where=(("kind", "saml"),)
    ),
    Choice(
        name="default_name_id_policy",
        default=f"{_NAME_ID_1}unspecified",
        choices=(
            f"{_NAME_ID_1}unspecified",
            f"{_NAME_ID_1}emailAddress",
            f"{_NAME_ID_2}persistent",
            f"{_NAME_ID_2}transient",
            f"{_NAME_ID_1}X509SubjectName",
            f"{_NAME_ID_1}WindowsDomainQualifiedName",
        ),
        also={
            f"{_NAME_ID_2}{word}": f"{_NAME_ID_1}{word}" for word in ("X509SubjectName", "WindowsDomainQualifiedName")
        },
    ),
    Boolean(
        name="name_id_per_service",
        default=False,
        help="True: each service knows people by another persistent name, so that services cannot compare them.",
    ),
    Text(name="default_relay_state", default="", most=2000),
    *(Computed(name=name, form={"type": "string"}) for name in ("url_issuer", *_URLS)),
)


class SAMLProvider(ProviderRecord, kw_only=True):
    acs_url: str
    audience: str
    issuer: str
    assertion_valid_not_before: str
    assertion_valid_not_on_or_after: str
    session_valid_not_on_or_after: str
    digest_algorithm: str
    signature_algorithm: str
    signing_kp: str | None
    require_signing: bool
    sp_binding: str
    sls_url: str
    sls_binding: str
    logout_method: str
    verification_kp: str | None
    encryption_kp: str | None
    sign_assertion: bool
    sign_response: bool
    sign_logout_request: bool
    sign_logout_response: bool
    name_id_mapping: str | None
    authn_context_class_ref_mapping: str | None
    default_name_id_policy: str
    name_id_per_service: bool
    default_relay_state: str
    url_issuer: str = ""
    url_download_metadata: str = ""
    url_sso_post: str = ""
    url_sso_redirect: str = ""
    url_sso_init: str = ""
    url_slo_post: str = ""
    url_slo_redirect: str = ""


async def check(draft: RecordDraft[SAMLProvider]) -> None:
    await choose_flow(draft)
    check_durations(
        draft,
        positive=("assertion_valid_not_on_or_after", "session_valid_not_on_or_after"),
        past=("assertion_valid_not_before",),
    )
    await _check_keys(draft)
    if draft.now.logout_method == "backchannel" and draft.now.sls_binding != "post":
        draft.complain("sls_binding", "Logout over the back channel needs the binding post.")


async def _check_keys(draft: RecordDraft[SAMLProvider]) -> None:
    await check_signing_key(draft, "signing_kp", ("rsa", "ec", "dsa"))
    if draft.sets("encryption_kp") and draft.now.encryption_kp is not None:
        check_key_type(draft, "encryption_kp", await key_type_of(draft, "encryption_kp"), ("rsa",))
    if draft.now.signing_kp is None:
        return
    if not draft.now.sign_assertion and not draft.now.sign_response:
        draft.complain("", "With a signing keypair, at least one of sign_assertion and sign_response must be true.")
    algorithm = draft.now.signature_algorithm
    if await key_type_of(draft, "signing_kp") not in (None, _SIGNED_BY[algorithm]):
        draft.complain("signature_algorithm", f"{algorithm} cannot be used with this signing keypair.")


async def decorate(work: Work, records: list[SAMLProvider]) -> None:
    await assigned_applications.tell_applications(work, records)
    for record in records:
        slug = record.assigned_application_slug
        base = f"{work.settings.base_url}/application/saml/{slug}/"
        record.url_issuer = record.issuer if slug else "-"
        for name, path in _URLS.items():
            setattr(record, name, base + path if slug else "-")


RESOURCE = Resource(
    path="/providers/saml/",
    name="SAMLProvider",
    record=SAMLProvider,
    key="id",
    family=_FAMILY,
    kind="saml",
    table=kind_table("identity_providers_saml", _FAMILY, FIELDS),
    fields=(*FIELDS, *assigned_applications.FIELDS),
    exact=("name", "acs_url", "audience", "issuer", "signing_kp"),
    prepare=check,
    decorate=decorate,
)

"""Writing responses: an assertion about a person, or a status that says why there is none.

Everything here is pure and takes some milliseconds; call it in a thread.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from kith.identity.providers.saml.attributes import Attribute
from kith.identity.providers.saml.name_ids import NameID
from kith.identity.providers.saml.service_provider import MessageKey
from kith.identity.saml.instants import new_id, write_instant
from kith.identity.saml.names import ATTRIBUTE_BASIC, ATTRIBUTE_URI, BEARER, SUCCESS


class AssertedSubject(msgspec.Struct, frozen=True, kw_only=True):
    """Whom the assertion is about, and how they signed in."""

    name_id: NameID
    attributes: list[Attribute]
    context_class: str
    session_index: str
    signed_in_at: datetime
    not_before: datetime
    not_on_or_after: datetime
    session_until: datetime


class ResponseDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A response before it is written. Without a subject it only tells the status."""

    issuer: str
    destination: str
    in_response_to: str
    audience: str
    now: datetime
    subject: AssertedSubject | None = None
    status: str = SUCCESS
    second_status: str = ""
    message: str = ""
    signing_key: MessageKey | None = None
    sign_assertion: bool = False
    sign_response: bool = False
    encryption_certificate: str | None = None


def write_response(draft: ResponseDraft, *, in_query: bool) -> bytes:
    """The response as XML. In a query it carries no signature of its own: the query is signed instead."""
    from kith.identity.saml import encryption, signatures, xml  # noqa: PLC0415 - loaded when first used

    root = xml.new(
        "samlp:Response",
        {
            "ID": new_id(),
            "Version": "2.0",
            "IssueInstant": write_instant(draft.now),
            "Destination": draft.destination,
            "InResponseTo": draft.in_response_to or None,
        },
    )
    xml.add(root, "saml:Issuer", text=draft.issuer)
    status = xml.add(root, "samlp:Status")
    code = xml.add(status, "samlp:StatusCode", {"Value": draft.status})
    if draft.second_status:
        xml.add(code, "samlp:StatusCode", {"Value": draft.second_status})
    if draft.message:
        xml.add(status, "samlp:StatusMessage", text=draft.message)
    key = draft.signing_key
    if draft.subject is not None:
        assertion = _assertion(draft, draft.subject)
        if key is not None and draft.sign_assertion:
            assertion = signatures.sign(
                assertion, key=key.key, certificate=key.certificate, signature=key.signature, digest=key.digest
            )
        if draft.encryption_certificate is not None:
            assertion = encryption.encrypt(assertion, draft.encryption_certificate)
        root.append(assertion)
    if key is not None and draft.sign_response and not in_query:
        root = signatures.sign(
            root, key=key.key, certificate=key.certificate, signature=key.signature, digest=key.digest
        )
    return xml.to_bytes(root)


def _assertion(draft: ResponseDraft, subject: AssertedSubject) -> object:
    from kith.identity.saml import xml  # noqa: PLC0415 - loaded when first used

    root = xml.new("saml:Assertion", {"ID": new_id(), "Version": "2.0", "IssueInstant": write_instant(draft.now)})
    xml.add(root, "saml:Issuer", text=draft.issuer)
    until = write_instant(subject.not_on_or_after)
    about = xml.add(root, "saml:Subject")
    xml.add(about, "saml:NameID", {"Format": subject.name_id.format}, subject.name_id.value)
    confirmation = xml.add(about, "saml:SubjectConfirmation", {"Method": BEARER})
    xml.add(
        confirmation,
        "saml:SubjectConfirmationData",
        {"InResponseTo": draft.in_response_to or None, "NotOnOrAfter": until, "Recipient": draft.destination},
    )
    conditions = xml.add(
        root, "saml:Conditions", {"NotBefore": write_instant(subject.not_before), "NotOnOrAfter": until}
    )
    if draft.audience:
        xml.add(xml.add(conditions, "saml:AudienceRestriction"), "saml:Audience", text=draft.audience)
    statement = xml.add(
        root,
        "saml:AuthnStatement",
        {
            "AuthnInstant": write_instant(subject.signed_in_at),
            "SessionIndex": subject.session_index,
            "SessionNotOnOrAfter": write_instant(subject.session_until),
        },
    )
    context = xml.add(statement, "saml:AuthnContext")
    xml.add(context, "saml:AuthnContextClassRef", text=subject.context_class)
    if subject.attributes:
        _add_attributes(root, subject.attributes)
    return root


def _add_attributes(root: object, attributes: list[Attribute]) -> None:
    from kith.identity.saml import xml  # noqa: PLC0415 - loaded when first used

    statement = xml.add(root, "saml:AttributeStatement")
    for attribute in attributes:
        is_uri = attribute.name.startswith(("urn:", "http:", "https:"))
        named = xml.add(
            statement,
            "saml:Attribute",
            {
                "Name": attribute.name,
                "NameFormat": ATTRIBUTE_URI if is_uri else ATTRIBUTE_BASIC,
                "FriendlyName": attribute.friendly_name,
            },
        )
        for value in attribute.values:
            xml.add(named, "saml:AttributeValue", text=value)

"""Reading responses of an identity provider. Only what was verified is read, and only what is said to us counts.

Everything is pure and takes some milliseconds; call it in a thread.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from kith.identity.saml import bindings, encryption, signatures, xml
from kith.identity.saml.authn_requests import check_message
from kith.identity.saml.errors import BadSignature, HostileMessage, SAMLError
from kith.identity.saml.instants import read_instant
from kith.identity.saml.limits import MOST_ID, MOST_NAME, SKEW_SECONDS
from kith.identity.saml.names import BEARER, SUCCESS
from kith.identity.saml.protocol import TrustedAssertion
from kith.identity.saml.xml import Element

MOST_ATTRIBUTES = 200
MOST_VALUES = 500
_SKEW = timedelta(seconds=SKEW_SECONDS)
_CONDITIONS = {xml.tag(f"saml:{name}") for name in ("AudienceRestriction", "OneTimeUse", "ProxyRestriction")}


class Expectation(msgspec.Struct, frozen=True, kw_only=True):
    """Who we are, whom we believe, and what must be signed."""

    acs_url: str
    audience: str
    issuer: str
    certificate: str
    decryption_key: str | None = None
    signed_response: bool = False
    signed_assertion: bool = True
    allow_sha1: bool = False


def read_response(form_value: str, wanted: Expectation, now: datetime) -> TrustedAssertion:
    root = xml.parse(bindings.decode(form_value))
    check_message(root, "samlp:Response")
    if wanted.signed_response:
        root = signatures.verify(root, certificate=wanted.certificate, allow_sha1=wanted.allow_sha1)
    if not wanted.signed_response and not wanted.signed_assertion:
        raise BadSignature("Nothing of the response would have to be signed.")
    _check_destination(root, wanted, needed=wanted.signed_response)
    _check_issuer(root, wanted, needed=False)
    _check_status(root)
    assertion = _assertion(root, wanted)
    return _read(assertion, root, wanted, now)


def _check_destination(root: Element, wanted: Expectation, *, needed: bool) -> None:
    """A signed message must say whom it is for; without a signature anybody could write it there."""
    destination = root.get("Destination")
    if (destination is not None or needed) and destination != wanted.acs_url:
        raise HostileMessage("The response is meant for another address.")


def _check_issuer(element: Element, wanted: Expectation, *, needed: bool) -> None:
    issuer = xml.at_most_one(element, "saml:Issuer")
    if issuer is None and not needed:
        return
    if not xml.text_of(issuer) or (wanted.issuer and xml.text_of(issuer) != wanted.issuer):
        raise HostileMessage("The response comes from another issuer.")


def _check_status(root: Element) -> None:
    codes = [one.get("Value") or "" for one in xml.only(root, "samlp:Status").iter(xml.tag("samlp:StatusCode"))]
    if not codes or codes[0] != SUCCESS:
        words = ", ".join(code.rpartition(":")[2][:60] for code in codes[:3])
        raise SAMLError(f"The identity provider did not sign you in ({words}).")


def _assertion(root: Element, wanted: Expectation) -> Element:
    """The one assertion: opened if it is encrypted, and verified unless the whole response was."""
    plain, sealed = xml.children(root, "saml:Assertion"), xml.children(root, "saml:EncryptedAssertion")
    everywhere = list(root.iter(xml.tag("saml:Assertion"), xml.tag("saml:EncryptedAssertion")))
    if len(plain) + len(sealed) != 1 or len(everywhere) != 1:
        raise HostileMessage("The response must have exactly one assertion.")
    if wanted.decryption_key is not None:
        if not sealed:
            raise HostileMessage("The assertion must be encrypted.")
        try:
            return _verified(encryption.decrypt(sealed[0], wanted.decryption_key), wanted)
        except SAMLError as error:
            # One error for all of it: who tries changed ciphertexts must not learn how far each of them came.
            raise type(error)(encryption.UNREADABLE) from error
    if sealed:
        raise SAMLError("The assertion is encrypted, but there is no key to open it with.")
    return _verified(plain[0], wanted)


def _verified(found: Element, wanted: Expectation) -> Element:
    if found.tag != xml.tag("saml:Assertion") or len(list(found.iter(xml.tag("saml:Assertion")))) != 1:
        raise HostileMessage("The response must have exactly one assertion.")
    if wanted.signed_assertion:
        found = signatures.verify(found, certificate=wanted.certificate, allow_sha1=wanted.allow_sha1)
    return found


def _read(assertion: Element, root: Element, wanted: Expectation, now: datetime) -> TrustedAssertion:
    check_message(assertion, "saml:Assertion")
    _check_issuer(assertion, wanted, needed=True)
    _check_conditions(xml.only(assertion, "saml:Conditions"), wanted, now)
    subject = xml.only(assertion, "saml:Subject")
    name = xml.only(subject, "saml:NameID")
    value = xml.text_of(name)
    if not value or len(value) > MOST_NAME:
        raise SAMLError("The assertion names nobody.")
    in_response_to, until = _confirmation(subject, wanted, now)
    if (root.get("InResponseTo") or "") != in_response_to:
        raise HostileMessage("The response and its assertion answer different requests.")
    statements = xml.children(assertion, "saml:AuthnStatement")
    if not statements:
        raise SAMLError("The assertion does not say that anybody signed in.")
    _check_session(statements[0], now)
    return TrustedAssertion(
        id=assertion.get("ID"),
        issuer=xml.text_of(xml.only(assertion, "saml:Issuer")),
        in_response_to=in_response_to,
        name_id=value,
        name_format=name.get("Format") or "",
        session_index=(statements[0].get("SessionIndex") or "")[:MOST_ID],
        attributes=_attributes(assertion),
        valid_until=until.timestamp(),
    )


def _check_conditions(conditions: Element, wanted: Expectation, now: datetime) -> None:
    _check_times(conditions, now)
    if any(one.tag not in _CONDITIONS for one in conditions):
        raise SAMLError("The assertion has a condition that is not understood.")
    restrictions = xml.children(conditions, "saml:AudienceRestriction")
    named = [list(xml.texts_of(xml.children(one, "saml:Audience"))) for one in restrictions]
    if not named or not all(wanted.audience in one for one in named):
        raise HostileMessage("The assertion is meant for another service.")


def _check_times(element: Element, now: datetime) -> None:
    before, until = element.get("NotBefore"), element.get("NotOnOrAfter")
    if before is not None and read_instant(before) > now + _SKEW:
        raise SAMLError("The assertion is not valid yet.")
    if until is not None and read_instant(until) <= now - _SKEW:
        raise SAMLError("The assertion has expired.")


def _check_session(statement: Element, now: datetime) -> None:
    until = statement.get("SessionNotOnOrAfter")
    if until is not None and read_instant(until) <= now - _SKEW:
        raise SAMLError("The session at the identity provider has ended.")
    signed_in = statement.get("AuthnInstant")
    if signed_in is not None and read_instant(signed_in) > now + _SKEW:
        raise SAMLError("The assertion is not valid yet.")


def _confirmation(subject: Element, wanted: Expectation, now: datetime) -> tuple[str, datetime]:
    """What the bearer's confirmation answers, and until when it counts; one of them must fit."""
    problem: SAMLError = SAMLError("The assertion is not for whoever brings it.")
    for one in xml.children(subject, "saml:SubjectConfirmation"):
        data = xml.at_most_one(one, "saml:SubjectConfirmationData")
        if one.get("Method") != BEARER or data is None:
            continue
        try:
            if data.get("Recipient") != wanted.acs_url:
                raise HostileMessage("The assertion is meant for another address.")
            if data.get("NotOnOrAfter") is None:
                raise SAMLError("The assertion does not say how long it counts.")
            _check_times(data, now)
        except SAMLError as error:
            problem = error
            continue
        return (data.get("InResponseTo") or "")[:MOST_ID], read_instant(data.get("NotOnOrAfter"))
    raise problem


def _attributes(assertion: Element) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for statement in xml.children(assertion, "saml:AttributeStatement"):
        for attribute in xml.children(statement, "saml:Attribute")[:MOST_ATTRIBUTES]:
            values = xml.children(attribute, "saml:AttributeValue")[:MOST_VALUES]
            texts = [xml.text_of(value) for value in values if not len(value)]
            for name in (attribute.get("Name"), attribute.get("FriendlyName")):
                if name:
                    found.setdefault(name, texts)
    return found

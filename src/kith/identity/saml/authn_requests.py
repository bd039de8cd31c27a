"""Reading requests to sign somebody in (AuthnRequest)."""

from __future__ import annotations

from kith.identity.saml import xml
from kith.identity.saml.errors import SAMLError
from kith.identity.saml.limits import MOST_ID
from kith.identity.saml.protocol import AuthnRequest
from kith.identity.saml.xml import Element


def read_authn_request(root: Element, relay_state: str) -> AuthnRequest:
    check_message(root, "samlp:AuthnRequest")
    policy = xml.at_most_one(root, "samlp:NameIDPolicy")
    subject = xml.at_most_one(root, "saml:Subject")
    wanted = xml.at_most_one(root, "samlp:RequestedAuthnContext")
    return AuthnRequest(
        id=root.get("ID"),
        issuer=xml.text_of(xml.at_most_one(root, "saml:Issuer")),
        destination=root.get("Destination") or "",
        acs_url=root.get("AssertionConsumerServiceURL") or "",
        binding=root.get("ProtocolBinding") or "",
        name_format=(policy.get("Format") or "") if policy is not None else "",
        subject=xml.text_of(xml.at_most_one(subject, "saml:NameID")) if subject is not None else "",
        is_passive=_is_true(root.get("IsPassive")),
        force_authn=_is_true(root.get("ForceAuthn")),
        contexts=list(xml.texts_of(xml.children(wanted, "saml:AuthnContextClassRef")))[:20]
        if wanted is not None
        else [],
        comparison=(wanted.get("Comparison") or "exact") if wanted is not None else "exact",
        relay_state=relay_state,
    )


def check_message(root: Element, name: str) -> None:
    """What all protocol messages have: their element, a version, an id."""
    if root.tag != xml.tag(name):
        raise SAMLError(f"The message is not of the kind {name.partition(':')[2]}.")
    if root.get("Version") != "2.0":
        raise SAMLError("Only SAML 2.0 is understood.")
    if not root.get("ID") or len(root.get("ID")) > MOST_ID:
        raise SAMLError("The message has no proper ID.")


def _is_true(text: str | None) -> bool:
    if text not in (None, "true", "false", "1", "0"):
        raise SAMLError("The message has a value that is neither true nor false.")
    return text in ("true", "1")

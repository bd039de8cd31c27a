"""Requests to sign somebody out and their answers, read and written; both roles use them."""

from __future__ import annotations

from datetime import datetime

from kith.identity.saml import xml
from kith.identity.saml.authn_requests import check_message
from kith.identity.saml.errors import SAMLError
from kith.identity.saml.instants import new_id, read_instant, write_instant
from kith.identity.saml.limits import MOST_AGE_SECONDS, MOST_ID, MOST_INDEXES, MOST_NAME
from kith.identity.saml.protocol import LogoutRequest, LogoutResponse
from kith.identity.saml.xml import Element


def read_logout_request(root: Element) -> LogoutRequest:
    check_message(root, "samlp:LogoutRequest")
    name = xml.only(root, "saml:NameID")
    value = xml.text_of(name)
    if len(value) > MOST_NAME or "\0" in value:
        raise SAMLError("The name of the person is too long.")
    return LogoutRequest(
        id=root.get("ID"),
        issuer=xml.text_of(xml.at_most_one(root, "saml:Issuer")),
        destination=root.get("Destination") or "",
        name_id=value,
        name_format=name.get("Format") or "",
        session_indexes=list(xml.texts_of(xml.children(root, "samlp:SessionIndex")[:MOST_INDEXES])),
        not_on_or_after=root.get("NotOnOrAfter") or "",
        issued_at=root.get("IssueInstant") or "",
    )


def check_age(request: LogoutRequest, now: datetime, skew: float) -> None:
    """An old request is one that somebody has kept: it must not end what has begun since."""
    if not request.issued_at:
        raise SAMLError("The message does not say when it was written.")
    age = (now - read_instant(request.issued_at)).total_seconds()
    if age > MOST_AGE_SECONDS + skew or age < -skew:
        raise SAMLError("The message is too old, or the clocks differ.")
    if request.not_on_or_after and (now - read_instant(request.not_on_or_after)).total_seconds() > skew:
        raise SAMLError("The message has expired.")


def write_logout_request(request: LogoutRequest, now: datetime) -> Element:
    root = xml.new(
        "samlp:LogoutRequest",
        {
            "ID": request.id,
            "Version": "2.0",
            "IssueInstant": write_instant(now),
            "Destination": request.destination,
            "NotOnOrAfter": request.not_on_or_after or None,
        },
    )
    xml.add(root, "saml:Issuer", text=request.issuer)
    xml.add(root, "saml:NameID", {"Format": request.name_format or None}, request.name_id)
    for index in request.session_indexes:
        xml.add(root, "samlp:SessionIndex", text=index)
    return root


def read_logout_response(root: Element) -> LogoutResponse:
    check_message(root, "samlp:LogoutResponse")
    status = xml.only(xml.only(root, "samlp:Status"), "samlp:StatusCode")
    second = xml.at_most_one(status, "samlp:StatusCode")
    return LogoutResponse(
        id=root.get("ID"),
        issuer=xml.text_of(xml.at_most_one(root, "saml:Issuer")),
        destination=root.get("Destination") or "",
        in_response_to=(root.get("InResponseTo") or "")[:MOST_ID],
        status=status.get("Value") or "",
        second_status=(second.get("Value") or "") if second is not None else "",
    )


def write_logout_response(response: LogoutResponse, now: datetime) -> Element:
    root = xml.new(
        "samlp:LogoutResponse",
        {
            "ID": response.id or new_id(),
            "Version": "2.0",
            "IssueInstant": write_instant(now),
            "Destination": response.destination,
            "InResponseTo": response.in_response_to or None,
        },
    )
    xml.add(root, "saml:Issuer", text=response.issuer)
    code = xml.add(xml.add(root, "samlp:Status"), "samlp:StatusCode", {"Value": response.status})
    if response.second_status:
        xml.add(code, "samlp:StatusCode", {"Value": response.second_status})
    return root

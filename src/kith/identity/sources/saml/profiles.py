"""What an assertion says of a person, as fields of a user."""

from __future__ import annotations

from typing import Any

from kith.identity.saml.names import EMAIL, PERSISTENT, TRANSIENT, WINDOWS, X509_SUBJECT, name_format
from kith.identity.saml.protocol import TrustedAssertion
from kith.identity.sources.arrival import Arrival
from kith.identity.sources.saml.identity_provider import IdentityProvider
from kith.identity.sources.source_groups import SourceGroup

_CLAIMS = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/"
# Names under which identity providers tell these; the first that is there counts.
_NAMES = {
    "username": (
        "username", "uid", "urn:oid:0.9.2342.19200300.100.1.1", "http://schemas.goauthentik.io/2021/02/saml/username",
        "http://schemas.microsoft.com/ws/2008/06/identity/claims/windowsaccountname",
    ),
    "email": ("email", "mail", "urn:oid:0.9.2342.19200300.100.1.3", f"{_CLAIMS}emailaddress"),
    "name": (
        "displayName", "urn:oid:2.16.840.1.113730.3.1.241", "name", "cn", "urn:oid:2.5.4.3", f"{_CLAIMS}name",
    ),
}  # fmt: skip
_GROUPS = ("groups", "http://schemas.xmlsoap.org/claims/Group", "memberOf", "member-of", "isMemberOf")
MOST_GROUPS = 200
TRANSIENT_END = "-transient"


def read_arrival(idp: IdentityProvider, told: TrustedAssertion) -> Arrival:
    found = {field: _first(told, names) for field, names in _NAMES.items()}
    properties: dict[str, Any] = {field: value for field, value in found.items() if value}
    properties |= _by_name(told)
    groups = next((told.attributes[name] for name in _GROUPS if name in told.attributes), None)
    return Arrival(
        source=idp.source,
        identifier=told.name_id,
        properties=properties,
        told={"attributes": told.attributes, "name_id": told.name_id, "issuer": told.issuer},
        groups=None if groups is None else [SourceGroup(one, one) for one in groups[:MOST_GROUPS] if one],
        group_matching_mode=idp.record.group_matching_mode,
        # An administrator chose to believe it; only what it doubts itself is not believed.
        email_verified=bool(properties.get("email")) and _first(told, ("email_verified",)).lower() != "false",
        remote_session=told.session_index,
        given=_given(told),
    )


def _given(told: TrustedAssertion) -> dict[str, Any]:
    """What mappings know. The verified assertion is all of the response that is ever read, so `root` is the same."""
    assertion = {
        "id": told.id,
        "issuer": told.issuer,
        "name_id": told.name_id,
        "name_id_format": told.name_format,
        "session_index": told.session_index,
        "attributes": told.attributes,
    }
    return {"assertion": assertion, "root": assertion, "name_id": told.name_id}


def _first(told: TrustedAssertion, names: tuple[str, ...]) -> str:
    return next((told.attributes[name][0] for name in names if told.attributes.get(name)), "")


def _by_name(told: TrustedAssertion) -> dict[str, Any]:
    """What the name itself is, by its format."""
    match name_format(told.name_format):
        case x if x == EMAIL:
            return {"email": told.name_id}
        case x if x == PERSISTENT:
            return {"username": told.name_id} if not _first(told, _NAMES["username"]) else {}
        case x if x == X509_SUBJECT:
            return {"attributes.distinguishedName": told.name_id}
        case x if x == WINDOWS:
            return {"username": told.name_id.rpartition("\\")[2]}
        case x if x == TRANSIENT:
            return {"username": f"{told.name_id.lstrip('_')[:24]}{TRANSIENT_END}"}
    return {}


def is_transient(told: TrustedAssertion) -> bool:
    return name_format(told.name_format) == TRANSIENT

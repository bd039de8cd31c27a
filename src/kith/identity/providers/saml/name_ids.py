"""By which name a service knows a person."""

from __future__ import annotations

import hashlib
import hmac

import msgspec

from kith.base.keys import Keys
from kith.base.work import Work
from kith.identity.expressions.subjects import PolicySubject
from kith.identity.providers.saml.attributes import MappingFailed, value_of
from kith.identity.providers.saml.service_provider import ServiceProvider
from kith.identity.saml.names import EMAIL, TRANSIENT, WINDOWS, X509_SUBJECT, name_format


class NameID(msgspec.Struct, frozen=True):
    value: str
    format: str


class NoNameID(Exception):  # noqa: N818 - an answer
    """The person has no name of this format, or the format is unknown."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words


def format_for(service: ServiceProvider, asked: str) -> str:
    """The format in its standard spelling. One that leaves it to us, or none, means the provider's own."""
    known = name_format(asked) if asked else None
    if asked and known is None:
        raise NoNameID("The requested NameID format is not supported.")
    chosen = known or service.record.default_name_id_policy
    if chosen.endswith(":unspecified"):
        return service.record.default_name_id_policy
    return chosen


async def name_id_of(
    work: Work, service: ServiceProvider, person: PolicySubject, session_index: str, asked: str
) -> NameID:
    chosen = format_for(service, asked)
    try:
        value = await value_of(work, service, person, service.record.name_id_mapping)
    except MappingFailed as error:
        raise NoNameID("The mapping that names the person has failed.") from error
    if value is None:
        value = _value(work, service, person, session_index, chosen)
    if not value:
        raise NoNameID("The person has no name of the requested NameID format.")
    return NameID(value, chosen)


def _value(work: Work, service: ServiceProvider, person: PolicySubject, session_index: str, chosen: str) -> str:
    user = person.user
    if chosen == EMAIL:
        return user.counted_email
    if chosen == TRANSIENT:
        return _keyed(work, f"transient:{service.id}:{session_index}")
    attribute = {X509_SUBJECT: "distinguishedName", WINDOWS: "upn"}.get(chosen)
    named = user.attributes.get(attribute) if attribute is not None else None
    return named if isinstance(named, str) and named else _uid(work, service, person)


def _uid(work: Work, service: ServiceProvider, person: PolicySubject) -> str:
    """The same for all services, unless the provider wants one of its own, by which services cannot compare people."""
    if service.record.name_id_per_service:
        return _keyed(work, f"persistent:{service.id}:{person.user.uuid}")
    return person.user.uid


def _keyed(work: Work, text: str) -> str:
    return hmac.new(work.find(Keys).signing, f"saml.{text}".encode(), hashlib.sha256).hexdigest()

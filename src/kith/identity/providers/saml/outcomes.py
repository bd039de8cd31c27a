"""Results of a request of a service, and how messages reach it."""

from __future__ import annotations

import asyncio

import msgspec

from kith.identity.providers.saml.service_provider import MessageKey
from kith.identity.providers.sign_on.outcomes import ErrorPage, Local


class ToService(msgspec.Struct, frozen=True):
    """A redirect to the service, with the message in the query."""

    url: str


class PostToService(msgspec.Struct, frozen=True):
    """A form that sends itself to the service."""

    url: str
    fields: dict[str, str]


class SignOutAtOnce(msgspec.Struct, frozen=True):
    """Run this flow, which signs the person out, then go to `then`; a page asks first unless it is `proven`."""

    flow: str
    then: str
    proven: bool


Outcome = ErrorPage | Local | ToService | PostToService | SignOutAtOnce


async def send(
    url: str, name: str, data: bytes, *, relay_state: str, in_query: bool, key: MessageKey | None
) -> ToService | PostToService:
    """By redirect the query is signed, if there is a key; what is posted carries its signature inside."""
    from kith.identity.saml import bindings  # noqa: PLC0415 - loaded when first used

    if not in_query:
        fields = {name: bindings.encode(data)} | ({"RelayState": relay_state} if relay_state else {})
        return PostToService(url, fields)
    signed = {"key": key.key, "algorithm": key.signature} if key is not None else {}
    return ToService(await asyncio.to_thread(bindings.write_query, url, name, data, relay_state=relay_state, **signed))

"""Requests that are refused: a page for the person, and an event for staff."""

from __future__ import annotations

from kith.base.errors import Throttled
from kith.base.exchange import Exchange
from kith.base.limits import Limiter, LimitRule, address_key
from kith.identity.audit import service as audit
from kith.identity.providers.saml.service_provider import ServiceProvider
from kith.identity.providers.sign_on.outcomes import ErrorPage
from kith.identity.saml.errors import SAMLError

# Strangers can send what they like; not all of it is worth an event.
RECORDED = LimitRule("saml.refused", most=30, seconds=300)


async def refuse(exchange: Exchange, service: ServiceProvider, error: SAMLError) -> ErrorPage:
    await record(exchange, service, error.words, action=_action(error))
    return ErrorPage(title="Request error", messages=[error.words], code="invalid_request")


def _action(error: SAMLError) -> str:
    return "suspicious_request" if error.is_hostile else "configuration_error"


async def record(
    exchange: Exchange, service: ServiceProvider, words: str, *, action: str = "configuration_error"
) -> None:
    try:
        exchange.find(Limiter).spend(RECORDED, address_key(exchange.address))
    except Throttled:
        return
    context = {
        "provider": {"app": "providers", "model_name": "samlprovider", "pk": service.id, "name": service.record.name},
        "message": words,
    }
    async with exchange.work.aside() as work:
        await audit.record(work, action, "providers.saml", context=context)

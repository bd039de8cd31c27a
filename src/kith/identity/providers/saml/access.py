"""Whether a person may enter the application of a service."""

from __future__ import annotations

from typing import Any

from kith.base.work import Work
from kith.identity.providers.saml.service_provider import ServiceProvider
from kith.identity.providers.sign_on.access import (
    Entry,
    ask_policies,
    check_person,
    policy_context,
    refuse_by_verdict,
)
from kith.identity.saml.protocol import AuthnRequest
from kith.identity.sessions.tables import LoginSession
from kith.identity.users.tables import User


async def check_access(
    work: Work, service: ServiceProvider, user: User, session: LoginSession, request: AuthnRequest
) -> None:
    """Raise `AccessDenied` unless the person may enter. Call it before the work's first write."""
    entry = _entry(service, request)
    await check_person(work, user, session, entry)
    verdict, asked = await ask_policies(work, service.application, user.id, entry.context)
    if not verdict.passing:
        raise await refuse_by_verdict(work, verdict, asked, user, entry)


async def may_still_enter(work: Work, service: ServiceProvider, user_id: int, address: str) -> bool:
    context = _entry(service, AuthnRequest()).context
    verdict, _ = await ask_policies(work, service.application, user_id, context, address=address)
    return verdict.passing


def model_of(service: ServiceProvider) -> dict[str, Any]:
    """The service as the audit trail names it."""
    if service.application is not None:
        return service.application.model()
    return {"app": "providers", "model_name": "samlprovider", "pk": service.id, "name": service.record.name}


def _entry(service: ServiceProvider, request: AuthnRequest) -> Entry:
    asked = {
        "saml_issuer": request.issuer,
        "saml_name_id_format": request.name_format,
        "saml_force_authn": request.force_authn,
        "saml_is_passive": request.is_passive,
    }
    return Entry(
        area=f"application {service.name}",
        app="providers.saml",
        context=asked | policy_context(service.application),
        details={
            "application": model_of(service),
            "provider": {"pk": service.id, "name": service.record.name},
            "asked": {name: value for name, value in asked.items() if value},
        },
        recorded={"authorized_application": model_of(service), "provider": service.record.name},
    )

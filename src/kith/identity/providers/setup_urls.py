"""The addresses with which a client is set up."""

from __future__ import annotations

from typing import TypeVar

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.identity.caller import ApiCaller
from kith.identity.providers.client_fields import ClientRecord
from kith.identity.providers.kinds import oauth, openid
from kith.identity.rest import Action, Resource
from kith.identity.rest.answers import show
from kith.identity.rest.fields import InvalidValue, read_identifier
from kith.identity.rest.operations import read
from kith.identity.rest.record_store import RecordStore

C = TypeVar("C", bound=ClientRecord)


def setup_urls(base_url: str, slug: str | None, issuer_mode: str) -> dict[str, str | None]:
    """Without an application there are no addresses of its own."""
    shared = f"{base_url}/application/o"
    own = f"{shared}/{slug}" if slug is not None else None
    issuer = f"{base_url}/" if issuer_mode == "global" else own and f"{own}/"
    return {
        "issuer": issuer,
        "authorize": f"{shared}/authorize/",
        "token": f"{shared}/token/",
        "user_info": f"{shared}/userinfo/",
        "provider_info": own and f"{own}/.well-known/openid-configuration",
        "logout": own and f"{own}/end-session/",
        "jwks": own and f"{own}/jwks/",
    }


def _action(resource: Resource[C]) -> Action:
    store = RecordStore(resource)

    async def show_urls(exchange: Exchange, _caller: ApiCaller, id: str) -> Answer:
        try:
            provider_id = read_identifier(id, integer=True)
        except InvalidValue as error:
            raise NotFound from error
        record = await read(store, exchange.work, provider_id, sees_secrets=False)
        base_url = exchange.work.settings.base_url
        return show(setup_urls(base_url, record.assigned_application_slug, record.issuer_mode))

    return Action(
        method="GET",
        path=f"{resource.path}{{id}}/setup_urls/",
        name=f"{resource.operation}_setup_urls",
        handler=show_urls,
        permission=resource.permission("view"),
        answer="OAuth2ProviderSetupURLs",
        summary="The addresses a client is set up with.",
    )


ACTIONS = (_action(oauth.RESOURCE), _action(openid.RESOURCE))

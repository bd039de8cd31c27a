"""A preview of the claims that a client would get about a person."""

from __future__ import annotations

from typing import Any

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.identity.applications.api import person_asked_for
from kith.identity.caller import ApiCaller
from kith.identity.providers.kinds import oauth, openid
from kith.identity.providers.oauth2.claims import claims, scope_mappings
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.rest import Action, Resource
from kith.identity.rest.answers import show
from kith.identity.rest.fields import InvalidValue, read_identifier


def _action(resource: Resource[Any]) -> Action:
    async def show_preview(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
        """The claims of all scopes that the client may have."""
        work = exchange.work
        try:
            provider_id = read_identifier(id, integer=True)
        except InvalidValue as refused:
            raise NotFound from refused
        client = await clients.find_by_provider(work, provider_id)
        if client is None or client.kind != resource.kind:
            raise NotFound
        person = await person_asked_for(exchange, caller)
        scopes = await scope_mappings.granted_scopes(work, client, "") or []
        told = await claims.brought(work, client, person, scopes)
        about = {
            "iss": client.issuer(work.settings.base_url),
            "aud": client.client_id,
            "sub": claims.subject(work, client, person.user),
        }
        return show({"preview": about | told})

    return Action(
        method="GET",
        path=f"{resource.path}{{id}}/preview_user/",
        name=f"{resource.operation}_preview_user",
        handler=show_preview,
        permission=resource.permission("view"),
        answer="PropertyMappingPreview",
        summary="What the client would be told of the caller, or of `for_user`, for those who may see people.",
    )


ACTIONS = (_action(oauth.RESOURCE), _action(openid.RESOURCE))

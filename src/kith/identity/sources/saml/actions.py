"""Our metadata for an identity provider, over the API."""

from __future__ import annotations

from urllib.parse import parse_qs

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange, whole
from kith.identity.caller import ApiCaller
from kith.identity.rest import Action
from kith.identity.rest.answers import show
from kith.identity.rest.fields import read_uuid
from kith.identity.sources import store
from kith.identity.sources.kinds.saml import RESOURCE
from kith.identity.sources.saml import metadata
from kith.identity.sources.saml.identity_provider import of_source


async def show_metadata(exchange: Exchange, _caller: ApiCaller, id: str) -> Answer:
    pbm_uuid = read_uuid(id)
    source = await store.find_source_by_id(exchange.work.db, pbm_uuid) if pbm_uuid is not None else None
    if source is None or source.kind != "saml":
        raise NotFound
    idp = await of_source(exchange.work, source)
    document = await metadata.describe(exchange.work, idp)
    if "download" in parse_qs(exchange.query_string.decode("latin-1"), keep_blank_values=True):
        disposition = f'attachment; filename="{source.slug}_kith_meta.xml"'.encode()
        return whole(document.encode(), "application/xml", headers=((b"content-disposition", disposition),))
    return show({"metadata": document, "download_url": idp.url("metadata/?download")})


ACTIONS = (
    Action(
        method="GET",
        path=f"{RESOURCE.path}{{id}}/metadata/",
        name=f"{RESOURCE.operation}_metadata",
        handler=show_metadata,
        permission=RESOURCE.permission("view"),
        answer="SAMLMetadata",
        summary="Our metadata for this identity provider; with `download` as a file.",
    ),
)

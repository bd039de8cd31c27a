"""Operations of the API beside the collection: metadata, preview, and a provider made from a service's metadata."""

from __future__ import annotations

from urllib.parse import parse_qs

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange, whole
from kith.identity.applications.api import person_asked_for
from kith.identity.caller import ApiCaller
from kith.identity.providers.kinds.saml import RESOURCE
from kith.identity.providers.saml import attributes, metadata, name_ids, service_provider
from kith.identity.providers.saml.importing import RECORDS, import_metadata
from kith.identity.providers.saml.service_provider import ServiceProvider
from kith.identity.rest import Action
from kith.identity.rest.answers import show, show_record
from kith.identity.rest.fields import InvalidValue, read_identifier
from kith.identity.saml.names import UNSPECIFIED


async def _service(exchange: Exchange, id: str) -> ServiceProvider:
    try:
        provider_id = read_identifier(id, integer=True)
    except InvalidValue as refused:
        raise NotFound from refused
    service = await service_provider.find(exchange.work, provider_id)
    if service is None:
        raise NotFound
    return service


async def show_metadata(exchange: Exchange, _caller: ApiCaller, id: str) -> Answer:
    """A provider without an application has no addresses, and so no metadata."""
    service = await _service(exchange, id)
    if service.application is None:
        raise NotFound
    document = await metadata.describe(exchange.work, service)
    if "download" in parse_qs(exchange.query_string.decode("latin-1"), keep_blank_values=True):
        return attachment(service, document)
    return show({"metadata": document, "download_url": service.url("metadata/?download")})


def attachment(service: ServiceProvider, document: str) -> Answer:
    name = service.application.slug if service.application is not None else "provider"
    disposition = f'attachment; filename="{name}_kith_meta.xml"'.encode()
    return whole(document.encode(), "application/xml", headers=((b"content-disposition", disposition),))


async def show_preview(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
    """The attributes of an assertion and the name in it, as data."""
    service = await _service(exchange, id)
    person = await person_asked_for(exchange, caller)
    work = exchange.work
    told = [
        {"Name": one.name, "FriendlyName": one.friendly_name, "Value": one.values}
        for one in await attributes.attributes_of(work, service, person)
    ]
    try:
        name_id = await name_ids.name_id_of(work, service, person, "preview", "")
    except name_ids.NoNameID:
        name_id = name_ids.NameID("", UNSPECIFIED)
    return show({"preview": {"attributes": told, "nameID": name_id.value, "nameIDFormat": name_id.format}})


async def make_from_metadata(exchange: Exchange, caller: ApiCaller, _id: str) -> Answer:
    return show_record(RECORDS, await import_metadata(exchange, caller), 201)


_ITEM = f"{RESOURCE.path}{{id}}/"
ACTIONS = (
    Action(
        method="GET",
        path=f"{_ITEM}metadata/",
        name=f"{RESOURCE.operation}_metadata",
        handler=show_metadata,
        permission=RESOURCE.permission("view"),
        answer="SAMLMetadata",
        summary="Our metadata for this service; with `download` as a file.",
    ),
    Action(
        method="GET",
        path=f"{_ITEM}preview_user/",
        name=f"{RESOURCE.operation}_preview_user",
        handler=show_preview,
        permission=RESOURCE.permission("view"),
        answer="PropertyMappingPreview",
        summary="What the service would be told of the caller, or of `for_user`, for those who may see people.",
    ),
    Action(
        method="POST",
        path=f"{RESOURCE.path}import_metadata/",
        name=f"{RESOURCE.operation}_import_metadata",
        handler=make_from_metadata,
        permission=RESOURCE.permission("add"),
        body="SAMLMetadataImport",
        answer="SAMLProvider",
        status=201,
        summary="Make a provider from a service's metadata, sent as the file `file` with a `name` and its flows.",
    ),
)

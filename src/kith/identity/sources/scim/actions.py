"""/sources/scim/{pk}/new_token/: another key for the service; the old one ends at once."""

from __future__ import annotations

from sqlalchemy import bindparam, update

from kith.base.db import UID, command
from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.identity.audit import service as audit
from kith.identity.caller import ApiCaller
from kith.identity.rest import Action
from kith.identity.rest.answers import show
from kith.identity.rest.fields import read_uuid
from kith.identity.sources import store
from kith.identity.sources.family import sources
from kith.identity.sources.kinds.scim import new_token, root_url, scim_sources, token_hash

_set_token = command(
    update(scim_sources)
    .where(scim_sources.c.pbm_uuid == bindparam("source", type_=UID()))
    .values(token_hash=bindparam("hash"))
)
_set_setter = command(
    update(sources).where(sources.c.pbm_uuid == bindparam("source", type_=UID())).values(set_up_by=bindparam("by"))
)


async def renew(exchange: Exchange, caller: ApiCaller, id: str) -> Answer:
    work, pbm_uuid = exchange.work, read_uuid(id)
    source = await store.find_source_by_id(work.db, pbm_uuid) if pbm_uuid is not None else None
    if source is None or source.kind != "scim":
        raise NotFound
    token = new_token()
    await work.db.run(_set_token, source=source.pbm_uuid, hash=token_hash(token))
    await work.db.run(_set_setter, source=source.pbm_uuid, by=caller.id)
    model = {"app": "sources", "model_name": "scimsource", "pk": source.pbm_uuid, "name": source.name}
    context = {"model": model, "message": "A new token was made; the old one has ended."}
    await audit.record(
        work, "model_updated", "sources.scimsource", user_id=caller.id, username=caller.username, context=context
    )
    return show({"token": token, "root_url": root_url(work.settings.base_url, source.slug)})


ACTIONS: tuple[Action, ...] = (
    Action(
        method="POST",
        path="/sources/scim/{id}/new_token/",
        name="sources_scim_new_token",
        handler=renew,
        permission="sources.change_scimsource",
        refusal="Only a superuser may make a token by which a service writes people here.",
        summary="Make another token for the service. The old one ends at once.",
    ),
)

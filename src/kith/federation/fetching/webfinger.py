"""Who is meant by a handle, and which handle somebody has.

Handle and actor have to confirm each other: a server may speak of its own people only, so a handle counts when its
domain leads to the actor, and the actor when its own host leads back to the handle.
"""

from __future__ import annotations

from urllib.parse import quote

from kith.base.http import OutsideAnswer
from kith.federation.fetching.budget import FetchChain
from kith.federation.fetching.client import RemoteClient
from kith.federation.fetching.documents import check_status, fetch_document
from kith.federation.fetching.failures import FetchFailed
from kith.federation.fetching.ports import RequestSigner
from kith.federation.vocabulary.incoming import (
    DocumentRefused,
    Handle,
    IncomingActor,
    IncomingWebFinger,
    parse_document,
    read_actor,
    read_host_meta,
    read_webfinger,
)

__all__ = ["confirmed_handle", "fetch_actor_by_handle", "resolve_handle"]

_JRD = "application/jrd+json, application/json"
_XRD = "application/xrd+xml, application/xml, text/xml, application/json;q=0.5"


async def resolve_handle(client: RemoteClient, handle: Handle, *, chain: FetchChain) -> IncomingWebFinger:
    """What the domain of `handle` says of it. Under another name somebody is asked for once more, where that leads."""
    found = await _ask(client, handle, chain)
    if found.subject.key == handle.key:
        return found
    confirmed = await _ask(client, found.subject, chain)
    if confirmed.subject.key != found.subject.key:
        raise FetchFailed("wrong_subject", f"{handle} is {found.subject}, who is {confirmed.subject}")
    return confirmed


async def confirmed_handle(client: RemoteClient, actor: IncomingActor, *, chain: FetchChain) -> Handle:
    """The handle that leads back to `actor`."""
    claimed = actor.handle or Handle(actor.username, actor.domain)
    found = await resolve_handle(client, claimed, chain=chain)
    if found.actor != actor.id:
        raise FetchFailed("wrong_id", f"{claimed} leads to {found.actor} instead of {actor.id}")
    if actor.handle is None and found.subject.username.lower() != actor.username.lower():
        raise FetchFailed("wrong_subject", f"{actor.id} calls itself {actor.username}, but is {found.subject}")
    return found.subject


async def fetch_actor_by_handle(
    client: RemoteClient, handle: Handle, *, chain: FetchChain, signer: RequestSigner | None = None
) -> tuple[IncomingActor, Handle]:
    """The actor behind a handle, and the handle by which its server calls it."""
    found = await resolve_handle(client, handle, chain=chain)
    fetched = await fetch_document(client, found.actor, chain=chain, signer=signer)
    try:
        actor = read_actor(fetched.document)
    except DocumentRefused as refused:
        raise FetchFailed("document", f"{found.actor}: {refused}") from refused
    if actor.id != found.actor:
        raise FetchFailed("wrong_id", f"{found.subject} leads to {found.actor}, which is {actor.id}")
    claimed = actor.handle or Handle(actor.username, actor.domain)
    if claimed.key != found.subject.key:
        confirmed = await confirmed_handle(client, actor, chain=chain)
        if confirmed.key != found.subject.key:
            raise FetchFailed("wrong_subject", f"{found.subject} leads to {confirmed}")
    return actor, found.subject


async def _ask(client: RemoteClient, handle: Handle, chain: FetchChain) -> IncomingWebFinger:
    resource = quote(handle.resource, safe=":@")
    url = f"{client.origin_of(handle.domain)}/.well-known/webfinger?resource={resource}"
    answer = await client.get(url, accept=_JRD, chain=chain)
    if answer.status == 404:
        answer = await _by_host_meta(client, handle, resource, chain)
    check_status(answer)
    try:
        return read_webfinger(parse_document(answer.body))
    except DocumentRefused as refused:
        raise FetchFailed("document", f"{handle}: {refused}") from refused


async def _by_host_meta(client: RemoteClient, handle: Handle, resource: str, chain: FetchChain) -> OutsideAnswer:
    """Some keep WebFinger elsewhere, and say so in host-meta."""
    origin = client.origin_of(handle.domain)
    answer = await client.get(f"{origin}/.well-known/host-meta", accept=_XRD, chain=chain)
    check_status(answer)
    try:
        template = read_host_meta(answer.body)
    except DocumentRefused as refused:
        raise FetchFailed("not_found", f"{handle}: {refused}") from refused
    if template.startswith(f"{origin}/.well-known/webfinger?"):
        raise FetchFailed("not_found", str(handle))
    return await client.get(template.replace("{uri}", resource, 1), accept=_JRD, chain=chain)

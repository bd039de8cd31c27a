"""Documents of other servers, fetched from where they are at home."""

from __future__ import annotations

import msgspec

from kith.base.http import OutgoingError, OutsideAnswer, checked_url
from kith.federation.fetching.budget import FetchChain
from kith.federation.fetching.client import RemoteClient
from kith.federation.fetching.failures import FetchFailed, FetchReason
from kith.federation.fetching.ports import RequestSigner
from kith.federation.vocabulary.incoming import Document, DocumentRefused, parse_document
from kith.federation.vocabulary.incoming.discovery import is_activity_type
from kith.federation.vocabulary.incoming.ids import domain_of, read_id, without_fragment

__all__ = ["ACCEPT", "FetchedDocument", "check_status", "confirm_document", "fetch_document", "fetch_part"]

ACCEPT = 'application/activity+json, application/ld+json; profile="https://www.w3.org/ns/activitystreams"'
_STATUSES: dict[int, FetchReason] = {401: "forbidden", 403: "forbidden", 404: "not_found", 410: "gone"}


class FetchedDocument(msgspec.Struct, frozen=True):
    """`domain` has given it out, and its id, where it has one, is of that domain."""

    document: Document
    domain: str


async def fetch_document(
    client: RemoteClient, uri: str, *, chain: FetchChain, signer: RequestSigner | None = None
) -> FetchedDocument:
    """What `uri` names, under its own id and from its own host.

    A document that calls itself by another id is fetched once more, under that id, and has to confirm it.
    """
    answer = await client.get(uri, accept=ACCEPT, chain=chain, signer=signer, believes=is_activity_type)
    return await confirm_document(client, uri, answer, chain=chain, signer=signer)


async def confirm_document(
    client: RemoteClient, uri: str, answer: OutsideAnswer, *, chain: FetchChain, signer: RequestSigner | None = None
) -> FetchedDocument:
    """What came as the answer for `uri`, or what its own id answers."""
    uri, url, found = without_fragment(uri), answer.url, _read(answer)
    own = _id_of(found)
    if own != uri and not _is_address(own, url):
        answer = await client.get(own, accept=ACCEPT, chain=chain, signer=signer, believes=is_activity_type)
        url, found = answer.url, _read(answer)
        if _id_of(found) != own:
            raise FetchFailed("wrong_id", f"{own} calls itself {_id_of(found)}")
    if domain_of(own) != domain_of(url):
        raise FetchFailed("wrong_host", f"{own} came from {url}")
    if found.get("type") == "Tombstone":
        raise FetchFailed("gone", own)
    return FetchedDocument(found, domain_of(own))


async def fetch_part(
    client: RemoteClient, uri: str, *, chain: FetchChain, signer: RequestSigner | None = None
) -> FetchedDocument:
    """A collection or a page of one, which may have no id: what matters is the host that gives it out."""
    answer = await client.get(uri, accept=ACCEPT, chain=chain, signer=signer, believes=is_activity_type)
    url, found = answer.url, _read(answer)
    own = read_id(found.get("id"))
    if domain_of(url) != domain_of(uri) or (own is not None and domain_of(own) != domain_of(url)):
        raise FetchFailed("wrong_host", f"{own or uri} came from {url}")
    return FetchedDocument(found, domain_of(url))


def _read(answer: OutsideAnswer) -> Document:
    check_status(answer)
    try:
        return parse_document(answer.body)
    except DocumentRefused as refused:
        raise FetchFailed("document", f"{answer.url}: {refused}") from refused


def check_status(answer: OutsideAnswer) -> None:
    if answer.status != 200:
        raise FetchFailed(_STATUSES.get(answer.status, "status"), f"{answer.url} answered {answer.status}")


def _id_of(document: Document) -> str:
    found = read_id(document.get("id"))
    if found is None:
        raise FetchFailed("wrong_id", "it has none")
    return without_fragment(found)


def _is_address(uri: str, url: str) -> bool:
    """Whether an id is the very address that was asked in the end."""
    try:
        return checked_url(uri) == url
    except OutgoingError:
        return False

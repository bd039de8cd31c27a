"""What somebody means by an address that they have copied: a document, or the page that shows it."""

from __future__ import annotations

import re

from kith.base.http import OutgoingError, OutsideAnswer
from kith.base.http.hops import first_hop, next_hop
from kith.federation.fetching.budget import FetchChain
from kith.federation.fetching.client import RemoteClient
from kith.federation.fetching.documents import ACCEPT, FetchedDocument, check_status, confirm_document, fetch_document
from kith.federation.fetching.failures import FetchFailed
from kith.federation.fetching.ports import RequestSigner
from kith.federation.vocabulary.incoming.discovery import is_activity_type
from kith.social.text.tags import start_tags

__all__ = ["fetch_by_address", "find_alternate"]

_PAGE_TYPES = ("text/html", "application/xhtml+xml")
_HEADER_LINK = re.compile(r"<([^<>]{1,2048})>([^<]{0,1000})")
_RELATION = re.compile(r'(?<![a-z])rel\s{0,9}+=\s{0,9}+"?([^";,]{1,200})', re.IGNORECASE)
_TYPE = re.compile(r'(?<![a-z])type\s{0,9}+=\s{0,9}+(?:"([^"]{1,500})"|([^",]{1,500}))', re.IGNORECASE)


async def fetch_by_address(
    client: RemoteClient, address: str, *, chain: FetchChain, signer: RequestSigner | None = None
) -> FetchedDocument:
    """The document at `address`, or the one that the page there names as its other form, one step away."""
    accept = f"{ACCEPT}, text/html;q=0.1"
    answer = await client.get(address, accept=accept, chain=chain, signer=signer, believes=_is_readable)
    check_status(answer)
    if is_activity_type(answer.headers.get("Content-Type", "")):
        return await confirm_document(client, address, answer, chain=chain, signer=signer)
    alternate = _alternate(answer)
    if alternate is None:
        raise FetchFailed("not_found", f"{answer.url} is a page of nothing")
    return await fetch_document(client, alternate, chain=chain, signer=signer)


def _is_readable(content_type: str) -> bool:
    return is_activity_type(content_type) or content_type.partition(";")[0].strip().lower() in _PAGE_TYPES


def _alternate(answer: OutsideAnswer) -> str | None:
    headers = ", ".join(answer.headers.getall("Link", []))
    return find_alternate(headers, answer.body.decode(errors="replace"), answer.url)


def find_alternate(header: str, page: str, base: str) -> str | None:
    """The address of the same thing as ActivityPub, from a `Link` header or the links of a page."""
    for address, parameters in _HEADER_LINK.findall(header):
        relation, kind = _RELATION.search(parameters), _TYPE.search(parameters)
        if relation and kind and _is_alternate(relation[1], kind[1] or kind[2]):
            return _joined(base, address)
    for link in start_tags(page, "link"):
        if _is_alternate(link.get("rel", ""), link.get("type", "")):
            return _joined(base, link.get("href", ""))
    return None


def _is_alternate(relation: str, content_type: str) -> bool:
    return "alternate" in relation.lower().split() and is_activity_type(content_type)


def _joined(base: str, address: str) -> str | None:
    """Relative to the page, and never from https down to plain http."""
    if not address:
        return None
    try:
        return str(next_hop(first_hop("GET", base, None, None), 302, address, None).url)
    except OutgoingError:
        return None

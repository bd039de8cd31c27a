"""What other servers have, fetched with care: guarded addresses, bounded numbers, and nobody believed about others."""

from kith.federation.fetching.budget import FetchChain
from kith.federation.fetching.client import RemoteClient
from kith.federation.fetching.collections import fetch_collection, fetch_items
from kith.federation.fetching.documents import FetchedDocument, fetch_document, fetch_part
from kith.federation.fetching.failures import FetchFailed, FetchReason
from kith.federation.fetching.lookup import fetch_by_address
from kith.federation.fetching.nodeinfo import fetch_nodeinfo
from kith.federation.fetching.ports import HostGate, OpenGate, RequestSigner, SignatureScheme
from kith.federation.fetching.webfinger import confirmed_handle, fetch_actor_by_handle, resolve_handle

__all__ = [
    "FetchChain",
    "FetchFailed",
    "FetchReason",
    "FetchedDocument",
    "HostGate",
    "OpenGate",
    "RemoteClient",
    "RequestSigner",
    "SignatureScheme",
    "confirmed_handle",
    "fetch_actor_by_handle",
    "fetch_by_address",
    "fetch_collection",
    "fetch_document",
    "fetch_items",
    "fetch_nodeinfo",
    "fetch_part",
    "resolve_handle",
]

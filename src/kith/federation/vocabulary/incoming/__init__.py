"""What other servers write, read into typed values by pure functions, at a cost that grows no faster than the document.

`parse_document` turns bytes into a document of bounded size; `read_...` turns a document into a struct. The only
thing that any of them raises is `DocumentRefused`, with a reason.
"""

from kith.federation.vocabulary.incoming.activities import read_activity
from kith.federation.vocabulary.incoming.actors import IncomingActor, read_actor
from kith.federation.vocabulary.incoming.collections import IncomingCollection, IncomingItem, read_collection
from kith.federation.vocabulary.incoming.discovery import (
    IncomingNodeInfo,
    IncomingWebFinger,
    read_host_meta,
    read_nodeinfo,
    read_nodeinfo_link,
    read_webfinger,
)
from kith.federation.vocabulary.incoming.handles import Handle, read_handle
from kith.federation.vocabulary.incoming.keys import IncomingKey, read_key
from kith.federation.vocabulary.incoming.notes import IncomingNote, read_note
from kith.federation.vocabulary.incoming.parsing import Document, parse_document
from kith.federation.vocabulary.incoming.quotes import IncomingQuoteStamp, read_quote_stamp
from kith.federation.vocabulary.incoming.refusal import DocumentRefused, RefusalReason

__all__ = [
    "Document",
    "DocumentRefused",
    "Handle",
    "IncomingActor",
    "IncomingCollection",
    "IncomingItem",
    "IncomingKey",
    "IncomingNodeInfo",
    "IncomingNote",
    "IncomingQuoteStamp",
    "IncomingWebFinger",
    "RefusalReason",
    "parse_document",
    "read_activity",
    "read_actor",
    "read_collection",
    "read_handle",
    "read_host_meta",
    "read_key",
    "read_nodeinfo",
    "read_nodeinfo_link",
    "read_note",
    "read_quote_stamp",
    "read_webfinger",
]

"""What a post quotes, in every spelling that is in use."""

from __future__ import annotations

import msgspec

from kith.federation.vocabulary.incoming.fields import read_object_id
from kith.federation.vocabulary.incoming.ids import read_id, same_domain, without_fragment
from kith.federation.vocabulary.incoming.parsing import Document, check_context
from kith.federation.vocabulary.incoming.refusal import DocumentRefused

__all__ = ["IncomingQuote", "IncomingQuoteStamp", "read_quote", "read_quote_stamp"]

_LEGACY = ("quoteUri", "quoteUrl", "_misskey_quote")


class IncomingQuote(msgspec.Struct, frozen=True, kw_only=True):
    """`is_legacy`: in an older spelling, by which nobody has asked the quoted author.

    `uri` is None for what is gone, which a Tombstone says.
    """

    uri: str | None
    stamp: str | None
    is_legacy: bool


class IncomingQuoteStamp(msgspec.Struct, frozen=True):
    """The quoted author's word that one object may quote another."""

    id: str
    author: str
    quoting: str
    quoted: str


def read_quote(document: Document, tagged: str | None = None) -> IncomingQuote | None:
    """`tagged` is the link that stands among the tags."""
    stamp = read_object_id(document.get("quoteAuthorization"))
    quote = document.get("quote")
    if isinstance(quote, dict) and quote.get("type") == "Tombstone":
        return IncomingQuote(uri=None, stamp=stamp, is_legacy=False)
    if (uri := read_object_id(quote)) is not None:
        return IncomingQuote(uri=uri, stamp=stamp, is_legacy=False)
    for name in _LEGACY:
        if (uri := read_object_id(document.get(name))) is not None:
            return IncomingQuote(uri=uri, stamp=stamp, is_legacy=True)
    return IncomingQuote(uri=tagged, stamp=stamp, is_legacy=True) if tagged else None


def read_quote_stamp(document: Document) -> IncomingQuoteStamp:
    """A stamp counts only on the host of whoever gives it; the caller compares the three ids."""
    check_context(document)
    if document.get("type") != "QuoteAuthorization":
        raise DocumentRefused("unknown_type", "no QuoteAuthorization")
    uri, author = read_id(document.get("id")), read_object_id(document.get("attributedTo"))
    if uri is None:
        raise DocumentRefused("no_id")
    if author is None:
        raise DocumentRefused("no_author", uri)
    quoting = read_object_id(document.get("interactingObject"))
    quoted = read_object_id(document.get("interactionTarget"))
    if quoting is None:
        raise DocumentRefused("no_object", uri)
    if quoted is None:
        raise DocumentRefused("no_target", uri)
    if not (same_domain(uri, author) and same_domain(author, quoted)):
        raise DocumentRefused("wrong_host", uri)
    return IncomingQuoteStamp(uri, without_fragment(author), quoting, quoted)

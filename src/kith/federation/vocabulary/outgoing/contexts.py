"""JSON-LD contexts: a document names the terms that it uses, and no others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["ACTIVITY_STREAMS", "PUBLIC", "SECURITY", "Doc", "context_of", "has_one_reading", "terms_in", "with_context"]

Doc = dict[str, Any]

ACTIVITY_STREAMS = "https://www.w3.org/ns/activitystreams"
SECURITY = "https://w3id.org/security/v1"
PUBLIC = f"{ACTIVITY_STREAMS}#Public"

_PREFIXES = {
    "toot": "http://joinmastodon.org/ns#",
    "schema": "http://schema.org#",
    "ostatus": "http://ostatus.org#",
    "gts": "https://gotosocial.org/ns#",
}
_QUOTES = "https://w3id.org/fep/044f#"


def _id(name: str) -> Doc:
    return {"@id": name, "@type": "@id"}


_TERMS: dict[str, str | Doc] = {
    "manuallyApprovesFollowers": "as:manuallyApprovesFollowers",
    "sensitive": "as:sensitive",
    "Hashtag": "as:Hashtag",
    "movedTo": _id("as:movedTo"),
    "alsoKnownAs": _id("as:alsoKnownAs"),
    "Emoji": "toot:Emoji",
    "featured": _id("toot:featured"),
    "featuredTags": _id("toot:featuredTags"),
    "focalPoint": {"@container": "@list", "@id": "toot:focalPoint"},
    "blurhash": "toot:blurhash",
    "discoverable": "toot:discoverable",
    "indexable": "toot:indexable",
    "memorial": "toot:memorial",
    "suspended": "toot:suspended",
    "votersCount": "toot:votersCount",
    "attributionDomains": {"@id": "toot:attributionDomains", "@container": "@set"},
    "showFeatured": "toot:showFeatured",
    "showMedia": "toot:showMedia",
    "showRepliesInMedia": "toot:showRepliesInMedia",
    "PropertyValue": "schema:PropertyValue",
    "value": "schema:value",
    "atomUri": "ostatus:atomUri",
    "inReplyToAtomUri": "ostatus:inReplyToAtomUri",
    "conversation": "ostatus:conversation",
    "quote": _id(f"{_QUOTES}quote"),
    "quoteUri": "http://fedibird.com/ns#quoteUri",
    "_misskey_quote": "https://misskey-hub.net/ns#_misskey_quote",
    "quoteAuthorization": _id(f"{_QUOTES}quoteAuthorization"),
    "QuoteAuthorization": f"{_QUOTES}QuoteAuthorization",
    "QuoteRequest": f"{_QUOTES}QuoteRequest",
    "interactionPolicy": _id("gts:interactionPolicy"),
    "canQuote": _id("gts:canQuote"),
    "automaticApproval": _id("gts:automaticApproval"),
    "manualApproval": _id("gts:manualApproval"),
    "Device": "toot:Device",
    "Ed25519Key": "toot:Ed25519Key",
    "Ed25519Signature": "toot:Ed25519Signature",
    "Curve25519Key": "toot:Curve25519Key",
    "EncryptedMessage": "toot:EncryptedMessage",
    "publicKeyBase64": "toot:publicKeyBase64",
    "deviceId": "toot:deviceId",
    "claim": _id("toot:claim"),
    "fingerprintKey": _id("toot:fingerprintKey"),
    "identityKey": _id("toot:identityKey"),
    "devices": _id("toot:devices"),
    "messageFranking": "toot:messageFranking",
    "messageType": "toot:messageType",
    "cipherText": "toot:cipherText",
    "interactingObject": _id("gts:interactingObject"),
    "interactionTarget": _id("gts:interactionTarget"),
}
# Terms of contexts that are named by their address.
_NAMED = {"publicKey": SECURITY}
_EXPLAINED = frozenset(_TERMS) | frozenset(_NAMED)
# What holds keys that are no terms: languages.
_OPAQUE = "contentMap"


def with_context(document: Doc, more: Iterable[str] = ()) -> Doc:
    """The document with its context, which stands first. `more` are terms of parts that are JSON already."""
    return {"@context": context_of(terms_in(document).union(more)), **document}


def terms_in(document: Doc) -> frozenset[str]:
    """Those of its words that must be explained."""
    return frozenset(_used(document)) & _EXPLAINED


def context_of(used: frozenset[str]) -> str | list[str | Doc]:
    named = [address for term, address in _NAMED.items() if term in used]
    terms = {term: meaning for term, meaning in _TERMS.items() if term in used}
    own = {name: address for name, address in _PREFIXES.items() if any(_is_of(name, one) for one in terms.values())}
    context: list[str | Doc] = [ACTIVITY_STREAMS, *named]
    if terms:
        context.append(own | terms)
    return context if len(context) > 1 else ACTIVITY_STREAMS


def has_one_reading(document: Doc) -> bool:
    """Whether somebody's document says the same to all who read it, whether they know JSON-LD or not.

    Its context explains no term otherwise than we do, and none of its keys is a keyword or an address: those could say
    something else beside the terms that we have read.
    """
    context = document.get("@context")
    parts = context if isinstance(context, list) else [context]
    is_known = all(_is_known(part) for part in parts) and ACTIVITY_STREAMS in parts
    return is_known and _are_terms({key: value for key, value in document.items() if key != "@context"})


def _is_known(part: object) -> bool:
    if isinstance(part, dict):
        meanings: Doc = _PREFIXES | _TERMS
        return all(term in meanings and meanings[term] == meaning for term, meaning in part.items())
    return part in (ACTIVITY_STREAMS, SECURITY)


def _are_terms(value: object) -> bool:
    if isinstance(value, dict):
        return not any("@" in key or ":" in key for key in value) and all(map(_are_terms, value.values()))
    return not isinstance(value, list) or all(map(_are_terms, value))


def _is_of(prefix: str, meaning: str | Doc) -> bool:
    name = meaning if isinstance(meaning, str) else meaning["@id"]
    return bool(name.startswith(f"{prefix}:"))


def _used(value: object) -> Iterator[str]:
    """Every key and every type, at any depth: our own documents are as shallow as we make them."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            if key == "type" and isinstance(inner, str):
                yield inner
            elif key != _OPAQUE:
                yield from _used(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _used(inner)

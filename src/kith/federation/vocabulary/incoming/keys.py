"""Keys by which another server proves what it says: whose they are, as documents name them.

A key belongs to an actor that lists it and that it names as its owner, and lives on the actor's host.
"""

from __future__ import annotations

from typing import Any

import msgspec

from kith.federation.keys.remote_keys import read_multikey, read_pem
from kith.federation.signatures.received import PublicKey
from kith.federation.signatures.refusals import SignatureRefused
from kith.federation.vocabulary.incoming import limits
from kith.federation.vocabulary.incoming.fields import each, read_actor_id
from kith.federation.vocabulary.incoming.ids import read_id, same_domain, without_fragment
from kith.federation.vocabulary.incoming.parsing import Document
from kith.federation.vocabulary.incoming.refusal import DocumentRefused

__all__ = ["IncomingKey", "IncomingKeys", "is_part_of", "read_key", "read_keys"]


class IncomingKey(msgspec.Struct, frozen=True):
    id: str
    owner: str
    key: PublicKey


class IncomingKeys(msgspec.Struct, frozen=True):
    """`elsewhere`: addresses of key documents, which have to be fetched and to point back."""

    keys: tuple[IncomingKey, ...]
    elsewhere: tuple[str, ...]


def read_keys(document: Document, actor: str) -> IncomingKeys:
    """The keys of `actor`; those that name another owner, or cannot be read, are left out."""
    keys: dict[str, IncomingKey] = {}
    elsewhere: dict[str, None] = {}
    for one in each(document.get("publicKey"), limits.KEYS):
        if isinstance(one, str) and _is_elsewhere(one, actor):
            elsewhere[one] = None
    sent = [*each(document.get("publicKey"), limits.KEYS), *each(document.get("assertionMethod"), limits.KEYS)]
    for one in sent[: limits.KEYS]:
        key = _key(one)
        if key is not None and key.owner == actor and _is_name_of(key.id, actor):
            keys.setdefault(key.id, key)
    return IncomingKeys(tuple(keys.values()), tuple(elsewhere))


def _is_name_of(key_id: str, actor: str) -> bool:
    """A key lives on its actor's host; one that is part of a document is part of its actor's, not of a neighbour's."""
    return same_domain(key_id, actor) and ("#" not in key_id or without_fragment(key_id) == actor)


def _is_elsewhere(value: str, actor: str) -> bool:
    """An address on the actor's host, and not in the very document that names it."""
    uri = read_id(value)
    return uri is not None and same_domain(uri, actor) and without_fragment(uri) != actor


def read_key(document: Document, key_id: str) -> IncomingKey:
    """The key `key_id` out of what its address answers: the key itself, its actor, or a stub of its actor.

    GoToSocial tells strangers no more of an actor than its id, its type, its name and its key. PeerTube signs in the
    name of the actor itself, by which the one key is meant that the actor's document has.
    """
    given = _key(document)
    if given is None:
        owner = read_actor_id(document.get("id"))
        keys = read_keys(document, owner) if owner is not None else IncomingKeys((), ())
        given = next((key for key in keys.keys if key.id == key_id), None)
        if given is None and owner == key_id:
            given = _only_key(keys, owner)
    elif given.id != key_id:
        given = None
    if given is None:
        raise DocumentRefused("no_key", key_id)
    if not same_domain(given.owner, key_id):
        raise DocumentRefused("wrong_host", given.owner)
    return given


def _only_key(keys: IncomingKeys, actor: str) -> IncomingKey | None:
    """Where an actor has several keys, or keeps them elsewhere, its own name is not the name of any."""
    is_one = len(keys.keys) == 1 and not keys.elsewhere
    return keys.keys[0] if is_one and is_part_of(keys.keys[0].id, actor) else None


def is_part_of(key_id: str, actor: str) -> bool:
    """Whether a key stands in the very document of its actor, and is named so."""
    return key_id == actor or key_id.startswith(f"{actor}#")


def _key(value: Any) -> IncomingKey | None:
    """A PEM text or a Multikey, with the name of its owner under either word."""
    if not isinstance(value, dict):
        return None
    uri = read_id(value.get("id"))
    owner = read_actor_id(value.get("owner")) or read_actor_id(value.get("controller"))
    if uri is None or owner is None:
        return None
    try:
        if "publicKeyMultibase" in value:
            return IncomingKey(uri, without_fragment(owner), read_multikey(value["publicKeyMultibase"]))
        return IncomingKey(uri, without_fragment(owner), read_pem(value.get("publicKeyPem")))
    except SignatureRefused:
        return None

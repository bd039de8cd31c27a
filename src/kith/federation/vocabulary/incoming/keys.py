"""Keys by which another server proves what it says, as its actors name them."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.federation.vocabulary.incoming import limits
from kith.federation.vocabulary.incoming.fields import each, read_actor_id, read_text
from kith.federation.vocabulary.incoming.ids import read_id, same_domain, without_fragment
from kith.federation.vocabulary.incoming.parsing import Document
from kith.federation.vocabulary.incoming.refusal import DocumentRefused

__all__ = ["IncomingKey", "IncomingKeys", "IncomingMultikey", "read_key", "read_keys"]

_MULTIBASE_LENGTH = 4096


class IncomingKey(msgspec.Struct, frozen=True):
    id: str
    owner: str
    pem: str


class IncomingMultikey(msgspec.Struct, frozen=True):
    id: str
    multibase: str


class IncomingKeys(msgspec.Struct, frozen=True):
    """`elsewhere`: addresses of key documents, which have to be fetched and to point back."""

    keys: tuple[IncomingKey, ...]
    multikeys: tuple[IncomingMultikey, ...]
    elsewhere: tuple[str, ...]


def read_keys(document: Document, actor: str) -> IncomingKeys:
    """The keys of `actor`; those that name another owner are left out."""
    keys: dict[str, IncomingKey] = {}
    elsewhere: dict[str, None] = {}
    for one in each(document.get("publicKey"), limits.KEYS):
        if isinstance(one, str):
            if (uri := read_id(one)) is not None and same_domain(uri, actor):
                elsewhere[uri] = None
        elif (key := _key(one)) is not None and key.owner == actor and same_domain(key.id, actor):
            keys.setdefault(key.id, key)
    return IncomingKeys(tuple(keys.values()), _multikeys(document, actor), tuple(elsewhere))


def _multikeys(document: Document, actor: str) -> tuple[IncomingMultikey, ...]:
    found: dict[str, IncomingMultikey] = {}
    for one in each(document.get("assertionMethod"), limits.KEYS):
        if not isinstance(one, dict) or one.get("type") != "Multikey":
            continue
        uri, multibase = read_id(one.get("id")), read_text(one.get("publicKeyMultibase"))
        is_theirs = read_actor_id(one.get("controller")) == actor
        if uri is not None and is_theirs and same_domain(uri, actor) and 0 < len(multibase) <= _MULTIBASE_LENGTH:
            found.setdefault(uri, IncomingMultikey(uri, multibase))
    return tuple(found.values())


def read_key(document: Document, key_id: str) -> IncomingKey:
    """The key `key_id` out of what its address answers: the key itself, its actor, or a stub of its actor.

    GoToSocial tells strangers no more of an actor than its id, its type, its name and its key.
    """
    given = _key(document)
    if given is None:
        owner = read_actor_id(document.get("id"))
        keys = read_keys(document, owner).keys if owner is not None else ()
        given = next((key for key in keys if key.id == key_id), None)
    if given is None or given.id != key_id:
        raise DocumentRefused("no_key", key_id)
    if not same_domain(given.owner, key_id):
        raise DocumentRefused("wrong_host", given.owner)
    return given


def _key(value: Any) -> IncomingKey | None:
    if not isinstance(value, dict):
        return None
    uri, owner = read_id(value.get("id")), read_actor_id(value.get("owner"))
    pem = value.get("publicKeyPem")
    if uri is None or owner is None or not isinstance(pem, str) or len(pem) > limits.PEM_LENGTH:
        return None
    if "PUBLIC KEY-----" not in pem:
        return None
    return IncomingKey(uri, without_fragment(owner), pem)

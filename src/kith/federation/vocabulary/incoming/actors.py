"""Somebody on another server, as their actor document tells."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import msgspec

from kith.federation.vocabulary.incoming import limits
from kith.federation.vocabulary.incoming.fields import (
    each,
    read_actor_id,
    read_bool,
    read_ids,
    read_instant,
    read_map,
    read_object_id,
    read_page,
    read_text,
    type_of,
)
from kith.federation.vocabulary.incoming.handles import Handle, read_handle
from kith.federation.vocabulary.incoming.ids import domain_of, same_domain, without_fragment
from kith.federation.vocabulary.incoming.images import IncomingImage, read_image
from kith.federation.vocabulary.incoming.keys import IncomingKeys, read_keys
from kith.federation.vocabulary.incoming.parsing import Document, check_context
from kith.federation.vocabulary.incoming.policies import IncomingApproval, read_approval
from kith.federation.vocabulary.incoming.refusal import DocumentRefused
from kith.federation.vocabulary.incoming.tags import IncomingEmoji, IncomingHashtag, read_tags

__all__ = ["ACTOR_TYPES", "IncomingActor", "IncomingProfileField", "is_username", "read_actor", "read_bare_actor"]

ACTOR_TYPES = frozenset({"Person", "Service", "Application", "Group", "Organization"})
_USERNAME = re.compile(r"[A-Za-z0-9_]+(?:[.-]+[A-Za-z0-9_]+)*(?::[0-9]{1,5})?", re.ASCII)  # a port: instance actors


class IncomingProfileField(msgspec.Struct, frozen=True):
    name: str
    value: str


class IncomingActor(msgspec.Struct, frozen=True, kw_only=True):
    """`handle` is what `webfinger` claims, None where the actor leaves it to its name and host.

    Addresses of collections and inboxes are on the actor's own host.
    """

    id: str
    domain: str
    type: str
    username: str
    handle: Handle | None
    inbox: str
    shared_inbox: str | None
    outbox: str | None
    followers: str | None
    following: str | None
    featured: str | None
    featured_tags: str | None
    devices: str | None
    keys: IncomingKeys
    name: str
    summary: str
    url: str | None
    avatar: IncomingImage | None
    header: IncomingImage | None
    is_locked: bool
    is_discoverable: bool | None
    is_indexable: bool | None
    is_memorial: bool
    is_suspended: bool
    fields: tuple[IncomingProfileField, ...]
    emojis: tuple[IncomingEmoji, ...]
    hashtags: tuple[IncomingHashtag, ...]
    published: datetime | None
    moved_to: str | None
    aliases: tuple[str, ...]
    attribution_domains: tuple[str, ...]
    can_feature: IncomingApproval | None
    shows_featured: bool | None
    shows_media: bool | None
    shows_replies_in_media: bool | None
    hides_public_from_web: bool
    hides_unlisted_from_web: bool


def read_actor(document: Document) -> IncomingActor:
    """The actor, or the reason why there is none: id, type, name, inbox and a key are demanded."""
    check_context(document)
    return read_bare_actor(document)


def read_bare_actor(document: Document) -> IncomingActor:
    """An actor inside a document whose context has been checked."""
    uri, kind = read_actor_id(document.get("id")), type_of(document, ACTOR_TYPES)
    if uri is None:
        raise DocumentRefused("no_id")
    if kind is None:
        raise DocumentRefused("unknown_type", "no actor")
    inbox = _own(document.get("inbox"), uri)
    if inbox is None:
        raise DocumentRefused("no_inbox", uri)
    keys = read_keys(document, uri)
    if not (keys.keys or keys.elsewhere):
        raise DocumentRefused("no_key", uri)
    handle = read_handle(document.get("webfinger"))
    tags = read_tags(document.get("tag"))
    policy = document.get("interactionPolicy")
    hides_unlisted = read_bool(document.get("hidesCcPublicFromUnauthedWeb"))
    return IncomingActor(
        id=uri,
        domain=domain_of(uri),
        type=kind,
        username=_username(document, handle),
        handle=handle,
        inbox=inbox,
        shared_inbox=_shared_inbox(document, uri),
        outbox=_own(document.get("outbox"), uri),
        followers=_own(document.get("followers"), uri),
        following=_own(document.get("following"), uri),
        featured=_own(document.get("featured"), uri),
        featured_tags=_own(document.get("featuredTags"), uri),
        devices=_own(document.get("devices"), uri),
        keys=keys,
        name=_words(document, "name")[: limits.NAME_LENGTH],
        summary=_cut_bytes(_words(document, "summary"), limits.SUMMARY_BYTES),
        url=_page(document, uri),
        avatar=read_image(document.get("icon")),
        header=read_image(document.get("image")),
        is_locked=read_bool(document.get("manuallyApprovesFollowers")) or False,
        is_discoverable=read_bool(document.get("discoverable")),
        is_indexable=read_bool(document.get("indexable")),
        is_memorial=read_bool(document.get("memorial")) or False,
        is_suspended=read_bool(document.get("suspended")) or False,
        fields=_fields(document.get("attachment")),
        emojis=tags.emojis,
        hashtags=tags.hashtags,
        published=read_instant(document.get("published")),
        moved_to=_other(document.get("movedTo"), uri),
        aliases=_aliases(document.get("alsoKnownAs"), uri),
        attribution_domains=_domains(document.get("attributionDomains")),
        can_feature=read_approval(policy.get("canFeature")) if isinstance(policy, dict) else None,
        shows_featured=read_bool(document.get("showFeatured")),
        shows_media=read_bool(document.get("showMedia")),
        shows_replies_in_media=read_bool(document.get("showRepliesInMedia")),
        hides_public_from_web=read_bool(document.get("hidesToPublicFromUnauthedWeb")) or False,
        hides_unlisted_from_web=True if hides_unlisted is None else hides_unlisted,
    )


def _username(document: Document, handle: Handle | None) -> str:
    given = document.get("preferredUsername")
    name = given if isinstance(given, str) and given else handle.username if handle else ""
    if not is_username(name):
        raise DocumentRefused("no_username", name[:50])
    return name


def is_username(name: str) -> bool:
    return len(name) <= limits.USERNAME_LENGTH and _USERNAME.fullmatch(name) is not None


def _own(value: Any, actor: str) -> str | None:
    """An address on the actor's own host: nobody may point at other people's inboxes and collections."""
    uri = read_object_id(value)
    return uri if uri is not None and same_domain(uri, actor) else None


def _shared_inbox(document: Document, actor: str) -> str | None:
    endpoints = document.get("endpoints")
    given = endpoints.get("sharedInbox") if isinstance(endpoints, dict) else None
    return _own(given or document.get("sharedInbox"), actor)


def _words(document: Document, name: str) -> str:
    return read_text(document.get(name)) or read_map(document.get(f"{name}Map"))[0]


def _cut_bytes(text: str, most: int) -> str:
    if len(text) * 4 <= most:
        return text
    return text[:most].encode(errors="ignore")[:most].decode(errors="ignore")


def _page(document: Document, actor: str) -> str | None:
    found = read_page(document.get("url"))
    return found if found is not None and same_domain(found, actor) else None


def _fields(value: Any) -> tuple[IncomingProfileField, ...]:
    found: list[IncomingProfileField] = []
    for one in each(value, limits.TAGS):
        if isinstance(one, dict) and one.get("type") == "PropertyValue" and len(found) < limits.FIELDS:
            name, text = (read_text(one.get(part), limits.FIELD_LENGTH) for part in ("name", "value"))
            if name or text:
                found.append(IncomingProfileField(name, text))
    return tuple(found)


def _other(value: Any, actor: str) -> str | None:
    uri = read_actor_id(value)
    return uri if uri != actor else None


def _aliases(value: Any, actor: str) -> tuple[str, ...]:
    found = dict.fromkeys(without_fragment(uri) for uri in read_ids(value, limits.ALIASES))
    return tuple(uri for uri in found if uri != actor)


def _domains(value: Any) -> tuple[str, ...]:
    texts = (read_text(one, limits.DOMAIN_LENGTH + 1).lower() for one in each(value, limits.ATTRIBUTION_DOMAINS))
    return tuple(dict.fromkeys(text for text in texts if 0 < len(text) <= limits.DOMAIN_LENGTH))

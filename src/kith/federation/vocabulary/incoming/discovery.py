"""How people and servers are found: WebFinger answers, host-meta and NodeInfo."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from kith.federation.vocabulary.incoming import limits
from kith.federation.vocabulary.incoming.fields import each, read_bool, read_count, read_ids, read_text
from kith.federation.vocabulary.incoming.handles import Handle, read_handle
from kith.federation.vocabulary.incoming.ids import read_id, without_fragment
from kith.federation.vocabulary.incoming.parsing import Document, parse_document
from kith.federation.vocabulary.incoming.refusal import DocumentRefused

__all__ = [
    "IncomingNodeInfo",
    "IncomingWebFinger",
    "is_activity_type",
    "is_sent_type",
    "read_host_meta",
    "read_nodeinfo",
    "read_nodeinfo_link",
    "read_webfinger",
]

_NAMESPACE = "https://www.w3.org/ns/activitystreams"
_SUBSCRIBE = "http://ostatus.org/schema/1.0/subscribe"
_SCHEMA = "http://nodeinfo.diaspora.software/ns/schema/"
_VERSIONS = ("2.1", "2.0", "1.1", "1.0")
_ALIASES = 50


class IncomingWebFinger(msgspec.Struct, frozen=True, kw_only=True):
    """`subject` is the handle by which the server itself calls them; `actor` is the id of their actor."""

    subject: Handle
    actor: str
    aliases: tuple[str, ...]
    subscribe_template: str | None


class IncomingNodeInfo(msgspec.Struct, frozen=True, kw_only=True):
    software: str
    version: str
    has_open_registrations: bool
    users: int | None
    active_month: int | None
    posts: int | None
    name: str


@lru_cache(256)
def is_activity_type(content_type: str) -> bool:
    """Whether something is served as ActivityPub: any other type may be a file that somebody has uploaded."""
    media_type, _, parameters = content_type.partition(";")
    media_type = media_type.strip().lower()
    return media_type == "application/activity+json" or (
        media_type == "application/ld+json" and _NAMESPACE in _profile(parameters)
    )


@lru_cache(256)
def is_sent_type(content_type: str) -> bool:
    """Whether something that is sent, and signed, counts as ActivityPub: linked data without a profile does, too."""
    media_type, _, parameters = content_type.partition(";")
    if media_type.strip().lower() == "application/ld+json" and "profile" not in parameters.lower():
        return True
    return is_activity_type(content_type)


def _profile(parameters: str) -> list[str]:
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "profile":
            return value.strip().strip('"').split()
    return []


def read_webfinger(document: Document) -> IncomingWebFinger:
    subject = read_handle(document.get("subject"))
    if subject is None:
        raise DocumentRefused("no_subject")
    actor, template = None, None
    for link in each(document.get("links"), limits.LINKS):
        if not isinstance(link, dict):
            continue
        relation = link.get("rel")
        if relation == "self" and actor is None and is_activity_type(read_text(link.get("type"), 500)):
            actor = read_id(link.get("href"))
        elif relation == _SUBSCRIBE and template is None:
            template = _template(link.get("template"))
    if actor is None:
        raise DocumentRefused("no_link", str(subject))
    return IncomingWebFinger(
        subject=subject,
        actor=without_fragment(actor),
        aliases=read_ids(document.get("aliases"), _ALIASES),
        subscribe_template=template,
    )


def _template(value: Any) -> str | None:
    return value if isinstance(value, str) and "{uri}" in value and read_id(value) is not None else None


def read_host_meta(raw: bytes) -> str:
    """The template of WebFinger's address, with `{uri}` in it, from XML or JSON."""
    if len(raw) > limits.HOST_META_BYTES:
        raise DocumentRefused("too_large", f"more than {limits.HOST_META_BYTES} bytes")
    links = _json_links(raw) if raw.lstrip()[:1] == b"{" else _xml_links(raw)
    found = (_template(link.get("template")) for link in links if link.get("rel") == "lrdd")
    template = next((one for one in found if one is not None), None)
    if template is None:
        raise DocumentRefused("no_link", "no template for WebFinger")
    return template


def _json_links(raw: bytes) -> list[Document]:
    return [one for one in each(parse_document(raw).get("links"), limits.LINKS) if isinstance(one, dict)]


def _xml_links(raw: bytes) -> list[dict[str, str]]:
    """A document with a type declaration is refused: entities grow without bounds, and may name files."""
    from xml.parsers import expat  # noqa: PLC0415 - loaded when first used

    found: list[dict[str, str]] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        if name.rpartition("}")[2].rpartition(":")[2] == "Link" and len(found) < limits.LINKS:
            found.append(attributes)

    def refuse(*_: object) -> None:
        raise DocumentRefused("not_xml", "a type declaration")

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(raw, True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise DocumentRefused("not_xml", str(error)) from error
    return found


def read_nodeinfo_link(document: Document) -> str:
    """The address of the newest version that is offered."""
    links = [one for one in each(document.get("links"), limits.LINKS) if isinstance(one, dict)]
    for version in _VERSIONS:
        for link in links:
            uri = read_id(link.get("href"))
            if link.get("rel") == _SCHEMA + version and uri is not None:
                return uri
    raise DocumentRefused("no_link", "no version of NodeInfo")


def read_nodeinfo(document: Document) -> IncomingNodeInfo:
    software, usage = _part(document, "software"), _part(document, "usage")
    name = read_text(software.get("name"), limits.SOFTWARE_LENGTH).lower()
    if not name:
        raise DocumentRefused("no_subject", "no software")
    users = _part(usage, "users")
    return IncomingNodeInfo(
        software=name,
        version=read_text(software.get("version"), limits.SOFTWARE_LENGTH),
        has_open_registrations=read_bool(document.get("openRegistrations")) or False,
        users=read_count(users.get("total")),
        active_month=read_count(users.get("activeMonth")),
        posts=read_count(usage.get("localPosts")),
        name=read_text(_part(document, "metadata").get("nodeName"), limits.NAME_LENGTH),
    )


def _part(document: Document, name: str) -> Document:
    found = document.get(name)
    return found if isinstance(found, dict) else {}

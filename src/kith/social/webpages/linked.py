"""What a page says about itself in JSON-LD: the first article, or page, that its data is about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from selectolax.lexbor import LexborHTMLParser

__all__ = ["Linked", "read_linked"]

MOST_SCRIPTS = 16
MOST_NODES = 200
LONGEST_SCRIPT = 1 << 18
_PAGES = frozenset({"webpage", "blogposting", "socialmediaposting", "videoobject", "liveblogposting"})


class Linked(msgspec.Struct):
    """As it is written there; what is not told is empty."""

    title: str = ""
    description: str = ""
    published_at: str = ""
    language: str = ""
    image: str = ""
    author_name: str = ""
    author_url: str = ""
    publisher: str = ""


def read_linked(tree: LexborHTMLParser) -> Linked:
    """An article goes before the page it stands on."""
    nodes = [node for script in tree.css('script[type="application/ld+json"]')[:MOST_SCRIPTS] for node in _in(script)]
    nodes = nodes[:MOST_NODES]
    for is_wanted in (_is_article, _is_page):
        found = next((node for node in nodes if is_wanted(node)), None)
        if found is not None:
            return _read(found)
    return Linked()


def _in(script: Any) -> Iterator[dict[str, Any]]:
    text = script.text()
    if len(text) > LONGEST_SCRIPT:
        return
    try:
        told = msgspec.json.decode(text.strip())
    except (msgspec.DecodeError, RecursionError, ValueError):
        return
    for one in told if isinstance(told, list) else [told]:
        if isinstance(one, dict):
            yield one
            graph = one.get("@graph")
            yield from (node for node in graph if isinstance(node, dict)) if isinstance(graph, list) else ()


def _types(node: dict[str, Any]) -> list[str]:
    told = node.get("@type")
    names = told if isinstance(told, list) else [told]
    return [name.rpartition("/")[2].lower() for name in names if isinstance(name, str)]


def _is_article(node: dict[str, Any]) -> bool:
    return any(name.endswith("article") for name in _types(node))


def _is_page(node: dict[str, Any]) -> bool:
    return not _PAGES.isdisjoint(_types(node))


def _read(node: dict[str, Any]) -> Linked:
    author, publisher, image = _first(node.get("author")), _first(node.get("publisher")), _first(node.get("image"))
    return Linked(
        title=_text(node.get("headline")) or _text(node.get("name")),
        description=_text(node.get("description")),
        published_at=_text(node.get("datePublished")),
        language=_text(node.get("inLanguage")),
        image=_named(image, "url"),
        author_name=_named(author, "name"),
        author_url=_text(author.get("url")) if isinstance(author, dict) else "",
        publisher=_named(publisher, "name"),
    )


def _first(told: object) -> object:
    return next(iter(told), None) if isinstance(told, list) else told


def _named(told: object, name: str) -> str:
    """Something that is told by itself, or with more around it."""
    return _text(told.get(name)) if isinstance(told, dict) else _text(told)


def _text(told: object) -> str:
    return told if isinstance(told, str) else ""

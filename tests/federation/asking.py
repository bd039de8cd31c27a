"""Asking as another server does, and what its documents must look like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx

from tests.town import Town

ACTIVITY = "application/activity+json"
LINKED_DATA = 'application/ld+json; profile="https://www.w3.org/ns/activitystreams"'
AS = "https://www.w3.org/ns/activitystreams"
PUBLIC = f"{AS}#Public"


def domain_of(town: Town) -> str:
    return town.base_url.partition("//")[2]


async def ask(town: Town, url: str, accept: str = ACTIVITY, **options: Any) -> httpx.Response:
    headers = {"Accept": accept, **options.pop("headers", {})}
    return await town.http.get(url.removeprefix(town.base_url), headers=headers, follow_redirects=False, **options)


async def fetch(town: Town, url: str, accept: str = ACTIVITY) -> dict[str, Any]:
    """A document that must be there, by its own address."""
    answer = await ask(town, url, accept)
    assert answer.status_code == 200, f"{url}: {answer.status_code} {answer.text}"
    assert answer.headers["content-type"] == f"{ACTIVITY}; charset=utf-8"
    found: dict[str, Any] = answer.json()
    check_context(found)
    return found


def terms_of(document: Mapping[str, Any]) -> set[str]:
    """The terms that a document explains, without the prefixes they are written with."""
    context = document["@context"]
    own = [one for one in context if isinstance(one, dict)] if isinstance(context, list) else []
    return {name for one in own for name in one} - {"toot", "schema", "ostatus", "gts"}


def check_context(document: Mapping[str, Any]) -> None:
    """ActivityStreams first; every term that is explained is used, and every prefix that is used is explained."""
    context = document["@context"]
    first = context if isinstance(context, str) else context[0]
    assert first == AS
    body = {name: value for name, value in document.items() if name != "@context"}
    words = _words(body)
    assert terms_of(document) <= words
    explained: dict[str, Any] = {}
    for one in context if isinstance(context, list) else []:
        explained |= one if isinstance(one, dict) else {}
    for meaning in explained.values():
        name = meaning if isinstance(meaning, str) else meaning["@id"]
        prefix = name.partition(":")[0]
        assert prefix in ("as", "http", "https") or prefix in explained


def _words(value: object) -> set[str]:
    if isinstance(value, dict):
        found = set(value)
        found |= {value["type"]} if isinstance(value.get("type"), str) else set()
        return found.union(*(_words(one) for one in value.values()))
    if isinstance(value, list):
        return set().union(*(_words(one) for one in value))
    return set()

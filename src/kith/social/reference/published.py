"""The entities and operations of the social API, read from the tables beside this page when somebody asks."""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from kith.social.reference.notation import ObjectType, Type, parse

__all__ = ["PublishedEntity", "PublishedOperation", "entities", "find", "operations"]

SUBJECTS = ("people", "posts", "place", "staff")
_UPDATES = ("PUT", "PATCH")
_EARLY = "/api/v1_alpha/"
_HERE = Path(__file__).parent


class PublishedEntity(msgspec.Struct, frozen=True):
    shape: ObjectType
    about: str


class PublishedOperation(msgspec.Struct, frozen=True):
    """`paging` is "", "ids" or "offset"; what is no JSON has a `media_type` and no type."""

    tag: str
    summary: str
    answer: Type | None
    media_type: str = "application/json"
    paging: str = ""
    statuses: tuple[int, ...] = (200,)
    is_deprecated: bool = False


def _tables(folder: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for subject in SUBJECTS:
        text = (_HERE / folder / f"{subject}.toml").read_text("utf-8")
        found |= tomllib.loads(text)
    return found


@functools.lru_cache(1)
def entities() -> dict[str, PublishedEntity]:
    """By name. `_extends` and `_without` make an entity of another one."""
    tables = _tables("entities")

    def keys_of(name: str) -> dict[str, Type]:
        table = tables[name]
        keys = keys_of(table["_extends"]) if "_extends" in table else {}
        own = {key: parse(one) for key, one in table.items() if not key.startswith("_")}
        plain = {key.removesuffix("?") for key in own} | set(table.get("_without", ()))
        return {key: one for key, one in keys.items() if key.removesuffix("?") not in plain} | own

    return {name: PublishedEntity(ObjectType(keys_of(name)), table.get("_about", "")) for name, table in tables.items()}


@functools.lru_cache(1)
def operations() -> dict[tuple[str, str], PublishedOperation]:
    """By method and path, whose gaps are written as in OpenAPI. What takes PUT or PATCH takes both."""
    found: dict[tuple[str, str], PublishedOperation] = {}
    for tag, table in _tables("operations").items():
        for key, (summary, answer, *more) in table.items():
            methods, path = key.split(" ")
            one = _operation(tag, summary, answer, tuple(more[0]) if more else (200,))
            found |= {(method, path): one for method in (_UPDATES if methods in _UPDATES else methods.split("|"))}
    return found


def find(method: str, path: str) -> PublishedOperation:
    """What is known by the name it had at first is the same, but nothing to build on."""
    known = operations()
    early = path.startswith(_EARLY) and (method, path) not in known
    one = known[method, path.replace(_EARLY, "/api/v1/", 1) if early else path]
    return msgspec.structs.replace(one, is_deprecated=True) if early else one


def _operation(tag: str, summary: str, answer: str, statuses: tuple[int, ...]) -> PublishedOperation:
    if "/" in answer:
        return PublishedOperation(tag, summary, None, media_type=answer, statuses=statuses)
    word, _, of = answer.partition(" ")
    if word not in ("pages", "offsets"):
        return PublishedOperation(tag, summary, parse(answer), statuses=statuses)
    is_wrapped = of in ("Collections", "GroupedNotifications")  # the list is within an object
    paging = "ids" if word == "pages" else "offset"
    return PublishedOperation(tag, summary, parse(of if is_wrapped else f"[{of}]"), paging=paging, statuses=statuses)

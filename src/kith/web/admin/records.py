"""/admin/records/…: every collection of the identity API as lists and forms."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from kith.base.errors import Forbidden, Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get, post
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.admin import bound, trying
from kith.web.admin.console_rights import known_rights
from kith.web.admin.frame import admin_page, enter
from kith.web.admin.questions import Option, Question, kind_of, questions, read_answers
from kith.web.admin.words import lookup
from kith.web.admin.words.first_fields import FITTING
from kith.web.browser_names import browser_name
from kith.web.page_language import language_of
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_form
from kith.web.translation import translator

__all__ = ["PER_PAGE", "routes", "whole_number"]

PER_PAGE = 50
MOST_OPTIONS = 200
MOST_NAMED = 1000
MOST_COLUMNS = 5
_NOBODY = {"policy": None, "group": None, "user": None}  # of a binding that names none, or whose form was refused
LONG_LIST = 30
# Identifiers, digests, and the marks of what is shipped.
_KEY = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-|[0-9a-f]{32}|^kith\.dev/|%\(")

_by_path = {resource.path.strip("/"): resource for resource in identity.RESOURCES}
_by_key = {f"{resource.tables[0].name}.{resource.key}": resource for resource in reversed(identity.RESOURCES)}


@get("/admin/records/{path:path}")
async def show(exchange: Exchange, path: FromPath[str]) -> Answer:
    """A list, the form of a new record at `…/new`, or the form of the record with this identifier."""
    visitor = await enter(exchange)
    if visitor is None:
        return admin_page(exchange, "list.html", None)
    resource, key = _found(path)
    _need(exchange, resource, "add" if key == "new" else "view")
    if key is None:
        return await _list(exchange, visitor, resource)
    try:
        record = {} if key == "new" else await own_api.ask(exchange, f"/api/v2{resource.path}{key}/")
    except NotFound:
        return see_other(f"/admin/records{resource.path}{await _own_key(exchange, resource, key)}")
    return await _form(exchange, visitor, resource, key, record)


@post("/admin/records/{path:path}")
async def save(exchange: Exchange, path: FromPath[str]) -> Answer:
    visitor, form = await read_own_form(exchange)
    if visitor is None:
        return admin_page(exchange, "list.html", None)
    await enter(exchange)
    resource, key = _found(path)
    if key is None:
        raise NotFound
    _need(exchange, resource, "add" if key == "new" else "view")
    place = f"/admin/records{resource.path}".rstrip("/")
    if form.get("_delete") == "true" and key != "new":
        await own_api.call(exchange, "DELETE", f"/api/v2{resource.path}{key}/")
        return see_other(place)
    values, errors = read_answers(resource.all_fields, form)
    if form.get("_try") == "true" and trying.can_try(resource, key):
        tried = await trying.try_out(exchange, resource, key, values, form)
        errors |= tried.errors
        return await _form(exchange, visitor, resource, key, values, errors=errors, tried=tried)
    if not errors:
        try:
            if key == "new":
                await own_api.call(exchange, "POST", f"/api/v2{resource.path}", json=values)
            else:
                await own_api.call(exchange, "PATCH", f"/api/v2{resource.path}{key}/", json=values)
        except Invalid as problem:
            errors = {name: [str(said) for said in words] for name, words in problem.fields.items()}
        else:
            return see_other(place)
    await exchange.end_work(commit=False)
    return await _form(exchange, visitor, resource, key, values, errors=errors)


def _need(exchange: Exchange, resource: Any, verb: str) -> None:
    """Of records that have owners, everybody has their own."""
    if not resource.own:
        known_rights(exchange).need(resource.permission(verb))


def _may(exchange: Exchange, resource: Any, operation: str, verb: str) -> bool:
    return operation in resource.allow and (bool(resource.own) or known_rights(exchange).may(resource.permission(verb)))


def _found(path: str) -> tuple[Any, str | None]:
    """The collection and what stands behind it."""
    path = path.strip("/")
    if path in _by_path:
        return _by_path[path], None
    parent, _, key = path.rpartition("/")
    if parent in _by_path and key:
        return _by_path[parent], key
    raise NotFound


async def _own_key(exchange: Exchange, resource: Any, key: str) -> str:
    """Of a kind with keys of its own, the one of the record that lists of all kinds have by this key."""
    if resource.family is None or resource.family.key == resource.key:
        raise NotFound
    found = (await own_api.ask(exchange, f"/api/v2{resource.path}", **{resource.family.key: key, "limit": 1}))[
        "results"
    ]
    if not found or found[0][resource.family.key] != key:
        raise NotFound
    return str(found[0]["pk"])


async def _list(exchange: Exchange, visitor: identity.Visitor, resource: Any) -> Answer:
    offset = whole_number(exchange.query("offset"))
    asked, order = exchange.query("search")[:200], exchange.query("ordering")[:60]
    found = await own_api.ask(
        exchange, f"/api/v2{resource.path}", limit=PER_PAGE, offset=offset, search=asked, ordering=order
    )
    columns = _columns(resource)
    return admin_page(
        exchange,
        "list.html",
        visitor,
        heading=lookup.name_of(resource).many,
        about=lookup.name_of(resource).about,
        place_of=f"/admin/records{resource.path}",
        known_by=lookup.field_label(resource, resource.label),
        columns=[(field.name, lookup.field_label(resource, field.name), field.is_scalar) for field in columns],
        rows=[
            (one["pk"], label, _cells(resource, one, columns))
            for one, label in zip(found["results"], await _labels(exchange, resource, found["results"]), strict=True)
        ],
        count=found["count"],
        asked=asked,
        order=order,
        offset=offset,
        older=offset + PER_PAGE if offset + PER_PAGE < found["count"] else 0,
        newer=max(0, offset - PER_PAGE),
        may_add=_may(exchange, resource, "create", "add"),
    )


def _columns(resource: Any) -> list[Any]:
    """What tells records apart: short fields, and not the one they are named by."""
    plain = [
        field
        for field in resource.all_fields
        if not field.write_only
        and not field.guarded
        and field.name not in {resource.label, resource.key, "execution_logging", "managed", "user_path_template"}
        and kind_of(field) in ("text", "tick", "choice", "number", "moment")
    ]
    return plain[:MOST_COLUMNS]


def _label(exchange: Exchange, resource: Any, record: Mapping[str, Any]) -> str:
    """What a record is known by; in words of the page's language, if that is something that has such."""
    value = str(record.get(resource.label) or record["pk"])
    words = lookup.choice_words(resource, resource.label, value)
    return value if words == value else translator(language_of(exchange))(words)


async def _labels(exchange: Exchange, resource: Any, records: Sequence[Mapping[str, Any]]) -> list[str]:
    """What people know records by that the API knows by their keys alone."""
    if resource.label != resource.key or not records:
        return [_label(exchange, resource, one) for one in records]
    say, one_of_them = translator(language_of(exchange)), lookup.name_of(resource).one
    if resource.path == "/policies/bindings/":
        names = await identity.decider_names(exchange.work, records)
        named = [_decider(one, names) for one in records]
    elif resource.path == "/flows/bindings/":
        stages = await _names_in(exchange, "/stages/all/")
        named = [stages.get(str(one.get("stage")), "") for one in records]
    elif resource.path == "/core/authenticated_sessions/":
        named = [browser_name(say, str(one.get("last_user_agent") or "")) for one in records]
    else:
        named = [""] * len(records)
    return [f"{say(one_of_them)}: {name}" if name else say(one_of_them) for name in named]


def _decider(one: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """The policy, the group or the person of a binding."""
    about = next((str(one[kind]) for kind in ("policy", "group", "user") if one.get(kind) is not None), "")
    return names.get(about) or str(one.get("gone_name") or "")


async def _names_in(exchange: Exchange, path: str) -> dict[str, str]:
    """By the key; of who may not see them, none."""
    try:
        found = await own_api.ask(exchange, f"/api/v2{path}", limit=MOST_NAMED)
    except Forbidden:
        return {}
    return {str(one["pk"]): str(one["name"]) for one in found["results"]}


class ShownValue(msgspec.Struct, frozen=True):
    """What a record holds: as it is, or in words of the catalogue."""

    value: Any = ""
    words: str = ""
    when: datetime | None = None
    is_code: bool = False  # for programs, and for whoever speaks with them


def _cells(resource: Any, record: Mapping[str, Any], columns: Sequence[Any]) -> list[ShownValue]:
    return [_shown(resource, field.name, record.get(field.name)) for field in columns]


def _shown(resource: Any, name: str, value: Any) -> ShownValue:
    if isinstance(value, (dict, list)):
        return ShownValue(msgspec.json.encode(value).decode() if value else "", is_code=True)
    if not isinstance(value, str):
        return ShownValue("" if value is None else value)
    if name in resource.times or any(one.name == name and kind_of(one) == "moment" for one in resource.all_fields):
        return ShownValue(value, when=datetime.fromisoformat(value))
    words = lookup.choice_words(resource, name, value)
    return ShownValue(value, words if words != value else "", is_code=bool(_KEY.search(value)))


def whole_number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


async def _form(
    exchange: Exchange,
    visitor: identity.Visitor,
    resource: Any,
    key: str,
    record: Mapping[str, Any],
    *,
    errors: Mapping[str, Sequence[str]] = {},
    tried: trying.TriedExpression | None = None,
) -> Answer:
    fields = resource.all_fields
    known = {field.name for field in fields if not field.read_only}
    may_save = _may(exchange, resource, *(("create", "add") if key == "new" else ("partial_update", "change")))
    name = lookup.name_of(resource)
    return admin_page(
        exchange,
        "record.html",
        visitor,
        status=400 if errors else 200,
        heading=name.many,
        one=name.one,
        about=name.about,
        name="" if key == "new" else (await _labels(exchange, resource, [{"pk": key, **_NOBODY, **record}]))[0],
        list_at=f"/admin/records{resource.path}".rstrip("/"),
        action=f"/admin/records{resource.path}{key}",
        questions=_by_words(exchange, questions(resource, record, await _options(exchange, resource, record), errors)),
        shown=_facts(resource, record, known if may_save else set()) if key != "new" else [],
        other_errors=[words for name, said in errors.items() if name not in known | trying.FIELDS for words in said],
        errors=errors,
        can_try=trying.can_try(resource, key),
        tried=tried,
        is_new=key == "new",
        may_save=may_save,
        may_delete=key != "new" and _may(exchange, resource, "delete", "delete"),
        bound=await bound.count_naming(exchange, resource.path, key) if key != "new" else 0,
    )


def _facts(resource: Any, record: Mapping[str, Any], asked: set[str]) -> list[tuple[str, str, ShownValue]]:
    """What is known and is not in the form: label, the API's name, and the value. The key is there once, as `pk`."""
    without = asked | ({resource.key} if record.get(resource.key) == record.get("pk") else set())
    found = [
        (lookup.field_label(resource, name), name, _shown(resource, name, value))
        for name, value in record.items()
        if name not in without
    ]
    return [one for one in found if one[2].value != ""]


def _by_words(exchange: Exchange, asked: list[Question]) -> list[Question]:
    """Long lists of choices in the order of the reader's alphabet."""
    said = translator(language_of(exchange))
    for one in asked:
        if one.kind == "choices" and len(one.options) > LONG_LIST:
            one.options = sorted(one.options, key=lambda option: unicodedata.normalize("NFD", said(option.words)))
    return asked


async def _options(exchange: Exchange, resource: Any, record: Mapping[str, Any]) -> dict[str, Sequence[Option]]:
    """What references may point to, where that is a list that can be chosen from."""
    found: dict[str, Sequence[Option]] = {}
    for field in resource.all_fields:
        if field.read_only or kind_of(field) not in ("reference", "references"):
            continue
        other = _by_key.get(field.to)
        if other is None:
            continue
        told = await own_api.ask(exchange, f"/api/v2{_shared(other)}", limit=MOST_OPTIONS + 1)
        if told["count"] <= MOST_OPTIONS:
            kinds = FITTING.get(resource.path + field.name) or FITTING.get(field.name) or ()
            held = record.get(field.name)
            chosen = {str(one) for one in (held if isinstance(held, list) else [held])}
            found[field.name] = [
                Option(
                    str(one["pk"]),
                    _label(exchange, other, one),
                    one["slug"] if other.path == "/flows/instances/" else "",
                )
                for one in told["results"]
                if not kinds or one.get("__type__") in kinds or str(one["pk"]) in chosen
            ]
    return found


def _shared(resource: Any) -> str:
    """Of a family, the list of all kinds."""
    return f"/{resource.area}/all/" if resource.family is not None else resource.path


routes = [show, save]

"""/admin/rules, /admin/ip_blocks …: the lists of `listings.py` as pages, and the forms of what is in them."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from kith.base.errors import Invalid, Problem, Unprocessable
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, Route, get, post
from kith.identity import for_pages as identity
from kith.social.languages import language
from kith.web import own_api
from kith.web.admin.frame import admin_page, enter_with
from kith.web.admin.listings import LISTINGS, AdminListing, ListColumn, ListInput
from kith.web.admin.questions import Question
from kith.web.page_language import language_of
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_form
from kith.web.translation import Translator, translatable, translator

__all__ = ["cell", "complaints_of", "field_words", "moment_of", "routes", "turns"]

PER_PAGE = 50
LONGEST_LABEL = 120


def moment_of(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def cell(value: Any) -> Any:
    """A value as the template shows it: moments as such, lists in one line."""
    if isinstance(value, list):
        return ", ".join(str(one) for one in value)
    if isinstance(value, str) and len(value) >= 20 and value[10:11] == "T" and value.endswith("Z"):
        return moment_of(value)
    return "" if value is None else value


# What the API says behind the name of a field, as a sentence of its own beside that field.
PLAIN = {
    "can't be blank": translatable("Please fill this in."),
    "has already been taken": translatable("This is there already."),
    "is invalid": translatable("This does not look right. Please check it."),
    "is not a valid domain name": translatable("Enter the name of a server, such as example.org."),
    "is not included in the list": translatable("Choose one of those that are offered."),
    "must be in the future": translatable("This must lie in the future."),
    "would shut you out yourself": translatable("This would shut you out yourself."),
}
LOOK_BELOW = translatable("Nothing is saved yet. Please look at what is marked below.")


def complaints_of(
    exchange: Exchange, problem: Invalid, asked: Container[str] = ()
) -> tuple[dict[str, list[str]], list[str]]:
    """What is wrong with each field, and all of it in one sentence; where all fields are `asked`, they say it."""
    is_beside = bool(problem.fields) and all(name in asked for name in problem.fields)
    return field_words(exchange, problem), [LOOK_BELOW if is_beside else own_api.words_of(exchange, problem)]


def field_words(exchange: Exchange, problem: Invalid) -> dict[str, list[str]]:
    """What is wrong with each field, in the language of the page."""
    say = language(language_of(exchange)).say
    return {name: [PLAIN.get(str(one)) or say(str(one)) for one in said] for name, said in problem.fields.items()}


def turns(found: Sequence[Any], ways: Mapping[str, str], pages: Mapping[str, str], per_page: int) -> dict[str, str]:
    """The ways to other pages where there are any: the API names a newer page always, for what may still come."""
    if not found:
        return {}
    asked = {name for name, value in pages.items() if value}
    is_first = not asked or (asked == {"min_id"} and len(found) < per_page)
    return {name: way for name, way in ways.items() if name != "prev" or not is_first}


def _show_list(listing: AdminListing) -> Route:
    async def show(exchange: Exchange) -> Answer:
        visitor = await enter_with(exchange, listing.place)
        if visitor is None:
            return admin_page(exchange, "listing.html", None)
        query = (
            {name: exchange.query(name)[:40] for name in ("max_id", "min_id", "since_id")} if listing.by_pages else {}
        )
        limit = {"limit": PER_PAGE} if listing.by_pages else {}
        found, ways = await own_api.ask_page(exchange, listing.api, **limit, **query)
        say = translator(language_of(exchange))
        return admin_page(
            exchange,
            "listing.html",
            visitor,
            **_shown(listing, found, say),
            ways=turns(found, ways, query, PER_PAGE),
            is_imported=exchange.query("imported") == "true",
        )

    return get(listing.place)(show)


def _shown(listing: AdminListing, found: Sequence[dict[str, Any]], say: Translator) -> dict[str, Any]:
    return {
        "heading": listing.heading,
        "listing": listing,
        "columns": [one.label for one in listing.columns],
        "rows": [
            {
                "id": one["id"],
                "label": _label(listing, one),
                "cells": [_cell(one, column, say) for column in listing.columns],
                "buttons": [button for button in listing.buttons if button.is_shown(one)],
            }
            for one in found
        ],
    }


def _label(listing: AdminListing, one: Mapping[str, Any]) -> str:
    text = str(one.get(listing.label) or one.get("text") or one["id"])
    return text if len(text) <= LONGEST_LABEL else f"{text[:LONGEST_LABEL]}…"


def _cell(one: Mapping[str, Any], column: ListColumn, say: Translator) -> Any:
    value = one.get(column.name)
    return say(column.words[value]) if isinstance(value, str) and value in column.words else cell(value)


def _show_form(listing: AdminListing) -> Route:
    async def show(exchange: Exchange, id: FromPath[str]) -> Answer:
        visitor = await enter_with(exchange, listing.place)
        if visitor is None:
            return admin_page(exchange, "record.html", None)
        record = {} if id == "new" else await own_api.ask(exchange, f"{listing.api}/{id}")
        given = (
            {one.name: exchange.query(one.name)[:300] for one in listing.inputs if one.only_new} if not record else {}
        )
        return _form(exchange, visitor, listing, id, record, values=record or {k: v for k, v in given.items() if v})

    return get(f"{listing.place}/{{id}}")(show)


def _save(listing: AdminListing) -> Route:
    async def save(exchange: Exchange, id: FromPath[str]) -> Answer:
        _, form = await read_own_form(exchange)
        visitor = await enter_with(exchange, listing.place)
        if visitor is None:
            return admin_page(exchange, "record.html", None)
        if form.get("_delete") == "true" and id != "new":
            await own_api.call(exchange, "DELETE", f"{listing.api}/{id}")
            return see_other(listing.place)
        values = {one.name: _read(one, form.get(one.name)) for one in listing.inputs if id == "new" or not one.only_new}
        method, path = ("POST", listing.api) if id == "new" else ("PUT", f"{listing.api}/{id}")
        try:
            made = await own_api.call(exchange, method, path, json=values)
        except (Invalid, Unprocessable) as problem:
            await exchange.end_work(commit=False)
            record = {} if id == "new" else await own_api.ask(exchange, f"{listing.api}/{id}")
            return _form(exchange, visitor, listing, id, record, values=values, problem=problem)
        if listing.reveals and id == "new":
            return _revealed(exchange, visitor, listing, msgspec.json.decode(made.body))
        return see_other(listing.place)

    return post(f"{listing.place}/{{id}}")(save)


def _read(one: ListInput, given: Any) -> Any:
    """What was typed, as the API takes it; what is left out stays as it is."""
    if one.kind == "tick":
        return given == "true"
    if one.kind == "choices":
        return [str(value) for value in given] if isinstance(given, list) else []
    text = given.replace("\r\n", "\n").strip() if isinstance(given, str) else ""
    if one.kind == "number":
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
    if one.kind == "when":
        return _utc(text)
    return int(text) if one.name == "expires_in" and text.isascii() and text.isdigit() and len(text) < 12 else text


def _utc(text: str) -> str | None:
    """From the browser's own field, which knows no zone: the page says that it is UTC."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC).isoformat() if text else None
    except ValueError:
        return text[:40]  # for the API to refuse


def _question(one: ListInput, values: Mapping[str, Any], errors: Mapping[str, Sequence[str]]) -> Question:
    value = values.get(one.name, one.start)
    if one.kind == "choices":
        value = set(value or ())
    elif one.kind == "when":
        value = str(value or "")[:16]
    elif one.kind != "tick":
        value = "" if value is None else str(value)
    return Question(
        name=one.name,
        label=one.label,
        kind=one.kind,
        value=value,
        options=one.choices(),
        help=one.help,
        required=one.required,
        errors=errors.get(one.name, ()),
    )


def _form(
    exchange: Exchange,
    visitor: identity.Visitor,
    listing: AdminListing,
    id: str,
    record: Mapping[str, Any],
    *,
    values: Mapping[str, Any],
    problem: Problem | None = None,
) -> Answer:
    asked = [one for one in listing.inputs if id == "new" or not one.only_new]
    errors: dict[str, list[str]] = {}
    said: list[str] = [] if problem is None else [problem.message]
    if isinstance(problem, Invalid):
        errors, said = complaints_of(exchange, problem, {one.name for one in asked})
    may_save = id == "new" or listing.may_change
    return admin_page(
        exchange,
        "record.html",
        visitor,
        status=200 if problem is None else 422,
        heading=listing.heading,
        name="" if id == "new" else _label(listing, record),
        list_at=listing.place,
        action=f"{listing.place}/{id}",
        questions=[_question(one, values, errors) for one in asked] if may_save else [],
        shown=[],
        other_errors=said,
        is_new=id == "new",
        may_save=may_save,
        may_delete=id != "new",
        delete_words=listing.delete_words,
    )


def _revealed(
    exchange: Exchange, visitor: identity.Visitor, listing: AdminListing, record: Mapping[str, Any]
) -> Answer:
    """A secret is shown once, to whoever made it."""
    return admin_page(
        exchange,
        "revealed.html",
        visitor,
        heading=listing.heading,
        name=_label(listing, record),
        list_at=listing.place,
        words=translatable("Its secret. Copy it now: it is not shown again."),
        secret=record[listing.reveals],
    )


def _download(name: str) -> Route:
    async def download(exchange: Exchange) -> Answer:
        visitor = await enter_with(exchange, f"/admin/{name}")
        if visitor is None:
            return admin_page(exchange, "listing.html", None)
        return await own_api.call(exchange, "GET", f"/api/v1/admin/{name}/export.csv")

    return get(f"/admin/{name}.csv")(download)


routes = [
    *(make(listing) for listing in LISTINGS for make in (_show_list, _show_form, _save)),
    _download("domain_blocks"),
    _download("domain_allows"),
]

"""/admin: where everything is; and the kinds of things that have several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kith.base.errors import Forbidden, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.admin.console_rights import known_rights
from kith.web.admin.figures import DAYS, charts_for, levels_for
from kith.web.admin.first_steps import first_steps
from kith.web.admin.frame import admin_page, enter
from kith.web.admin.records import PER_PAGE, whole_number
from kith.web.admin.words import lookup
from kith.web.admin.words.spelling import label_of

__all__ = ["routes"]


@get("/admin")
async def show_start(exchange: Exchange) -> Answer:
    visitor = await enter(exchange)
    if visitor is None:
        return admin_page(exchange, "index.html", None)
    rights = known_rights(exchange)
    steps = await first_steps(exchange) if rights.is_superuser else []
    return admin_page(
        exchange,
        "index.html",
        visitor,
        charts=await charts_for(exchange.work, rights),
        levels=await levels_for(exchange, rights),
        steps=steps if not all(one.is_done for one in steps) else [],
        days=DAYS,
    )


@get("/admin/kinds/{area}")
async def show_kinds(exchange: Exchange, area: FromPath[str]) -> Answer:
    """What there is of all kinds, and which kinds can be added."""
    visitor = await enter(exchange)
    if visitor is None:
        return admin_page(exchange, "kinds.html", None)
    whole, kinds = _kinds_of(area)
    rights = known_rights(exchange)
    rights.need(*(one.permission("view") for one in (whole, *kinds)))
    asked, offset = exchange.query("search")[:200], whole_number(exchange.query("offset"))
    try:
        found = await own_api.ask(
            exchange, f"/api/v2{whole.path}", limit=PER_PAGE, offset=offset, search=asked, ordering="name"
        )
    except Forbidden:
        found = None
    by_kind = {one.kind: one for one in kinds}
    return admin_page(
        exchange,
        "kinds.html",
        visitor,
        heading=lookup.name_of(whole).many,
        about=lookup.name_of(whole).about,
        rows=[_row(by_kind, one) for one in found["results"]] if found else None,
        count=found["count"] if found else 0,
        asked=asked,
        offset=offset,
        older=offset + PER_PAGE if found and offset + PER_PAGE < found["count"] else 0,
        newer=max(0, offset - PER_PAGE),
        lists=[(_place(one), lookup.name_of(one)) for one in kinds if rights.may(one.permission("view"))],
        kinds=[(f"{_place(one)}/new", lookup.name_of(one)) for one in kinds if rights.may(one.permission("add"))],
    )


def _kinds_of(area: str) -> tuple[Any, list[Any]]:
    """The collection of all kinds, and those of each; a collection below with its own `all` is another family."""
    wholes = {one.path.removesuffix("all/"): one for one in identity.RESOURCES if one.path.endswith("/all/")}
    whole = wholes.get(f"/{area}/")
    if whole is None:
        raise NotFound
    others = tuple(path for path in wholes if path != f"/{area}/")
    return whole, [
        one
        for one in identity.RESOURCES
        if one.area == area and one.family is not None and one.kind and not one.path.startswith(others)
    ]


def _place(resource: Any) -> str:
    return f"/admin/records{resource.path}".rstrip("/")


def _row(by_kind: Mapping[str, Any], record: Mapping[str, Any]) -> tuple[str, str, str]:
    """Name, words for the kind, and the address of its form."""
    kind = record["__type__"]
    resource = by_kind.get(kind)
    if resource is None:
        return record["name"], label_of(kind), ""
    return record["name"], lookup.name_of(resource).one, f"{_place(resource)}/{record['pk']}"


routes = [show_start, show_kinds]

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, FromRequest, delete, get, post, put
from kith.base.work import Work
from kith.social.accounts.viewers import Me
from kith.social.filters import service, store
from kith.social.filters.entities import render_filter, render_keyword, render_status, render_v1
from kith.social.filters.tables import Filter
from kith.social.guards import user
from kith.social.ids import StatusId
from kith.social.pages import answer, numbers
from kith.social.statuses import store as statuses

READ, WRITE = user("read:filters"), user("write:filters")
_encode = msgspec.json.Encoder().encode


class NewKeyword(msgspec.Struct, kw_only=True):
    keyword: str = ""
    whole_word: bool = False


class ChangedKeyword(msgspec.Struct, kw_only=True):
    keyword: str | None = None
    whole_word: bool | None = None


class FilterForm(msgspec.Struct, kw_only=True):
    """An empty `expires_in` means never, one that is left out changes nothing."""

    title: str | None = None
    context: list[str] | None = None
    filter_action: str | None = None
    expires_in: int | msgspec.UnsetType | None = msgspec.UNSET
    keywords_attributes: list[service.KeywordChange] = []


class FilteredStatusForm(msgspec.Struct, kw_only=True):
    status_id: str


def _change(form: FilterForm) -> service.FilterChange:
    return service.FilterChange(
        title=form.title,
        context=form.context,
        filter_action=form.filter_action,
        expires_in=None if form.expires_in is msgspec.UNSET else form.expires_in,
        has_end=form.expires_in is not msgspec.UNSET,
        keywords=form.keywords_attributes,
    )


async def _whole(work: Work, found: list[Filter]) -> list[dict[str, Any]]:
    ids = [one.id for one in found]
    keywords, listed = await store.keywords_of(work.db, ids), await store.statuses_of(work.db, ids)
    return [render_filter(one, keywords, listed) for one in found]


# Version 2


@get("/api/v2/filters", guards=[READ])
async def show_filters(work: Work, me: Me) -> list[dict[str, Any]]:
    return await _whole(work, await store.all_of(work.db, me))


@post("/api/v2/filters", guards=[WRITE])
async def create_filter(work: Work, me: Me, form: FromRequest[FilterForm]) -> dict[str, Any]:
    [shown] = await _whole(work, [await service.create(work, me, _change(form))])
    return shown


@get("/api/v2/filters/{id}", guards=[READ])
async def show_filter(work: Work, me: Me, id: FromPath[int]) -> dict[str, Any]:
    [shown] = await _whole(work, [await service.find(work, me, id)])
    return shown


@put("/api/v2/filters/{id}", guards=[WRITE])
async def change_filter(work: Work, me: Me, id: FromPath[int], form: FromRequest[FilterForm]) -> dict[str, Any]:
    [shown] = await _whole(work, [await service.update(work, me, id, _change(form))])
    return shown


@delete("/api/v2/filters/{id}", guards=[WRITE])
async def delete_filter(work: Work, me: Me, id: FromPath[int]) -> dict[str, Any]:
    await service.remove(work, me, id)
    return {}


@get("/api/v2/filters/{filter_id}/keywords", guards=[READ])
async def show_keywords(work: Work, me: Me, filter_id: FromPath[int]) -> list[dict[str, Any]]:
    found = await service.find(work, me, filter_id)
    return [render_keyword(one) for one in await store.keywords_of(work.db, [found.id])]


@post("/api/v2/filters/{filter_id}/keywords", guards=[WRITE])
async def add_keyword(work: Work, me: Me, filter_id: FromPath[int], form: FromRequest[NewKeyword]) -> dict[str, Any]:
    return render_keyword(await service.add_keyword(work, me, filter_id, form.keyword, whole_word=form.whole_word))


@get("/api/v2/filters/keywords/{id}", guards=[READ])
async def show_keyword(work: Work, me: Me, id: FromPath[int]) -> dict[str, Any]:
    return render_keyword(await service.find_keyword(work, me, id))


@put("/api/v2/filters/keywords/{id}", guards=[WRITE])
async def change_keyword(work: Work, me: Me, id: FromPath[int], form: FromRequest[ChangedKeyword]) -> dict[str, Any]:
    return render_keyword(await service.change_keyword(work, me, id, form.keyword, whole_word=form.whole_word))


@delete("/api/v2/filters/keywords/{id}", guards=[WRITE])
async def delete_keyword(work: Work, me: Me, id: FromPath[int]) -> dict[str, Any]:
    await service.remove_keyword(work, me, id)
    return {}


@get("/api/v2/filters/{filter_id}/statuses", guards=[READ])
async def show_statuses(work: Work, me: Me, filter_id: FromPath[int]) -> list[dict[str, Any]]:
    found = await service.find(work, me, filter_id)
    return [render_status(one) for one in await store.statuses_of(work.db, [found.id])]


@post("/api/v2/filters/{filter_id}/statuses", guards=[WRITE])
async def add_status(
    work: Work, me: Me, filter_id: FromPath[int], form: FromRequest[FilteredStatusForm]
) -> dict[str, Any]:
    """Of a boost, what it boosts."""
    ids = numbers([form.status_id])
    found = await statuses.find_visible(work.db, StatusId(ids[0]), me) if ids else None
    if found is None:
        raise NotFound
    return render_status(await service.add_status(work, me, filter_id, found.reblog_of_id or found.id))


@get("/api/v2/filters/statuses/{id}", guards=[READ])
async def show_status(work: Work, me: Me, id: FromPath[int]) -> dict[str, Any]:
    return render_status(await service.find_status(work, me, id))


@delete("/api/v2/filters/statuses/{id}", guards=[WRITE])
async def delete_status(work: Work, me: Me, id: FromPath[int]) -> dict[str, Any]:
    await service.remove_status(work, me, id)
    return {}


# Version 1: each keyword is a filter


def _older(exchange: Exchange, shown: Any) -> Answer:
    """There has been version 2 since then."""
    return answer(exchange, _encode(shown), headers=((b"deprecation", b"@1668384000"),))


@get("/api/v1/filters", guards=[READ])
async def show_phrases(exchange: Exchange, work: Work, me: Me) -> Answer:
    found = {one.id: one for one in await store.all_of(work.db, me)}
    keywords = await store.keywords_of(work.db, list(found))
    return _older(exchange, [render_v1(found[one.filter_id], one) for one in keywords])


@post("/api/v1/filters", guards=[WRITE])
async def create_phrase(exchange: Exchange, work: Work, me: Me, phrase: FromRequest[service.Phrase]) -> Answer:
    return _older(exchange, render_v1(*await service.create_phrase(work, me, phrase)))


@get("/api/v1/filters/{id}", guards=[READ])
async def show_phrase(exchange: Exchange, work: Work, me: Me, id: FromPath[int]) -> Answer:
    keyword = await service.find_keyword(work, me, id)
    return _older(exchange, render_v1(await service.find(work, me, keyword.filter_id), keyword))


@put("/api/v1/filters/{id}", guards=[WRITE])
async def change_phrase(
    exchange: Exchange, work: Work, me: Me, id: FromPath[int], phrase: FromRequest[service.Phrase]
) -> Answer:
    return _older(exchange, render_v1(*await service.change_phrase(work, me, id, phrase)))


@delete("/api/v1/filters/{id}", guards=[WRITE])
async def delete_phrase(exchange: Exchange, work: Work, me: Me, id: FromPath[int]) -> Answer:
    await service.remove_phrase(work, me, id)
    return _older(exchange, {})


routes = [
    show_filters,
    create_filter,
    show_filter,
    change_filter,
    delete_filter,
    show_keywords,
    add_keyword,
    show_keyword,
    change_keyword,
    delete_keyword,
    show_statuses,
    add_status,
    show_status,
    delete_status,
    show_phrases,
    create_phrase,
    show_phrase,
    change_phrase,
    delete_phrase,
]

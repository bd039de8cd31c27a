from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from typing import Any

import msgspec
from litestar import Request, delete, get, post, put
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from kith.base.edge import Answer, Exchange, exchange_of
from kith.base.errors import NotFound, Unprocessable
from kith.base.express import Way
from kith.base.limits import Limiter, Rule
from kith.base.paging import Cursor, Kind
from kith.base.params import Limits, Upload, params, query
from kith.base.work import Work
from kith.identity import face as identity
from kith.social.accounts import entities as account_entities
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.accounts.viewers import account_of, account_of_caller, acting
from kith.social.guards import Caller, Member, caller_in, optional, user
from kith.social.media.service import Change as MediaChange
from kith.social.pages import answer, as_response, joined, number, numbers, page, told
from kith.social.statuses import entities, lists, polls, shapes, store, threads
from kith.social.statuses.cards.entities import render_cards
from kith.social.statuses.service import boost as boosting
from kith.social.statuses.service import edit as editing
from kith.social.statuses.service import marks, quotes, remove
from kith.social.statuses.service import poll as voting
from kith.social.statuses.service import schedule as scheduling
from kith.social.statuses.service.post import Draft, Unexpected
from kith.social.statuses.service.post import post as post_status
from kith.social.statuses.tables import Status

AnyRequest = Request[Any, Any, Any]
POSTING = Rule("posting", most=300, seconds=10_800)
DELETING = Rule("deleting", most=30, seconds=1800)
REMEMBERED = timedelta(hours=1)
MOST_IDS = 20
WITH_THUMBNAILS = Limits(max_file_bytes=20 * 1024 * 1024, max_files=4)
ANYBODY = optional("read:statuses")
_encode = msgspec.json.Encoder().encode


class New(Draft, kw_only=True):
    scheduled_at: datetime | None = None


class Described(msgspec.Struct, kw_only=True):
    id: int
    description: str | None = None
    focus: str | None = None
    thumbnail: Upload | None = None


class Edited(editing.Changes, kw_only=True):
    media_attributes: list[Described] = msgspec.field(default_factory=list)


class Ids(msgspec.Struct, kw_only=True):
    id: list[str] = []


class Boost(msgspec.Struct, kw_only=True):
    visibility: boosting.Visibility | None = None


class Removal(msgspec.Struct, kw_only=True):
    delete_media: bool = False


class Votes(msgspec.Struct, kw_only=True):
    choices: list[int] = []


class Later(msgspec.Struct, kw_only=True):
    scheduled_at: datetime | None = None


class Policy(msgspec.Struct, kw_only=True):
    quote_approval_policy: str = ""


async def _shown(request: AnyRequest, work: Work, status_id: int, me: int | None) -> ASGIResponse:
    """A status as it is now, after whatever was done to it."""
    found = await entities.render_ids(work, [status_id], me)
    if not found:
        raise NotFound
    return answer(exchange_of(request), found[0])


def _spend(exchange: Exchange, rule: Rule, me: int) -> None:
    spent = exchange.find(Limiter).spend(rule, str(me))
    if spent is not None and (exchange.spent is None or spent.remaining < exchange.spent.remaining):
        exchange.spent = spent


# Posting


@post("/api/v1/statuses", guards=[user("write:statuses")], dependencies={"new": params(New)}, status_code=200)
async def create_status(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], caller: NamedDependency[Caller],
    new: NamedDependency[New],
) -> ASGIResponse:  # fmt: skip
    """With an `Idempotency-Key`, whoever sends it again within the hour gets the same answer."""
    exchange = exchange_of(request)
    author = await acting(work, me)
    given = exchange.header(b"idempotency-key").decode("latin-1")
    key = hashlib.sha256(given.encode()).hexdigest() if given else None
    if key is not None:
        await work.db.hold(f"idempotency:{author.id}:{key}")
        known = await store.find_idempotent(work.db, author.id, key, work.now - REMEMBERED)
        if known is not None:
            return await _again(request, work, author, known)
    _spend(exchange, POSTING, author.id)
    try:
        status_id, planned_id = await _create(work, author, caller, new, given or None)
    except Unexpected as unexpected:
        return await _unexpected(exchange, work, unexpected)
    if key is not None:
        await store.remember(
            work.db, author.id, key, work.now, work.now - REMEMBERED, status_id=status_id, scheduled_id=planned_id
        )
    return await _again(request, work, author, (status_id, planned_id))


async def _create(
    work: Work, author: Account, caller: Caller, new: New, key: str | None
) -> tuple[int | None, int | None]:
    application = await identity.app_shown(work, caller.app_id)
    draft = msgspec.convert({name: getattr(new, name) for name in Draft.__struct_fields__}, Draft)
    if scheduling.is_later(work, new.scheduled_at) and new.scheduled_at is not None:
        planned = await scheduling.schedule(
            work, author, draft, new.scheduled_at, application=application, app_id=caller.app_id, idempotency=key
        )
        return None, planned.id
    status = await post_status(work, author, draft, application=application)
    return status.id, None


async def _again(
    request: AnyRequest, work: Work, author: Account, known: tuple[int | None, int | None]
) -> ASGIResponse:
    status_id, planned_id = known
    if planned_id is not None:
        planned = await scheduling.find_own(work, author.id, planned_id)
        return answer(exchange_of(request), _encode((await shapes.scheduled(work, [planned]))[0]))
    return await _shown(request, work, status_id or 0, author.id)


async def _unexpected(exchange: Exchange, work: Work, unexpected: Unexpected) -> ASGIResponse:
    shown = await account_entities.render(work, unexpected.accounts)
    body = b'{"error":%b,"unexpected_accounts":%b}' % (_encode(str(unexpected)), joined(shown))
    return answer(exchange, body, status=422)


# Reading


@get("/api/v1/statuses", guards=[ANYBODY], dependencies={"asked": query(Ids)})
async def show_statuses(
    request: AnyRequest, work: NamedDependency[Work], caller: NamedDependency[Caller], asked: NamedDependency[Ids]
) -> ASGIResponse:
    if len(asked.id) > MOST_IDS:
        raise Unprocessable(f"No more than {MOST_IDS} posts can be asked for at once")
    me = await account_of_caller(work, caller)
    return answer(exchange_of(request), joined(await entities.render_ids(work, numbers(asked.id), me)))


async def _status(exchange: Exchange, id: int) -> Answer:
    work = exchange.work
    shown = await entities.render_ids(work, [id], await account_of_caller(work, caller_in(exchange)))
    if not shown:
        raise NotFound
    return told(exchange, shown[0])


@get("/api/v1/statuses/{id:str}", guards=[ANYBODY])
async def show_status(request: AnyRequest, id: FromPath[str]) -> ASGIResponse:
    return as_response(await _status(exchange_of(request), number(id)))


async def _visible(work: Work, id: int, me: int | None) -> Status:
    found = await store.find_visible(work.db, id, me)
    if found is None:
        raise NotFound
    return found


async def _context(exchange: Exchange, id: int) -> Answer:
    work = exchange.work
    me = await account_of_caller(work, caller_in(exchange))
    status = await _visible(work, id, me)
    above, below = await threads.ancestors(work, status, me), await threads.descendants(work, status, me)
    shown = await entities.render_by_id(work, [*above, *below], me)
    body = b'{"ancestors":%b,"descendants":%b}' % (
        joined([shown[one] for one in above if one in shown]),
        joined([shown[one] for one in below if one in shown]),
    )
    return told(exchange, body)


@get("/api/v1/statuses/{id:str}/context", guards=[ANYBODY])
async def show_context(request: AnyRequest, id: FromPath[str]) -> ASGIResponse:
    return as_response(await _context(exchange_of(request), number(id)))


@get("/api/v1/statuses/{id:str}/history", guards=[ANYBODY])
async def show_history(
    request: AnyRequest, work: NamedDependency[Work], caller: NamedDependency[Caller], id: FromPath[str]
) -> ASGIResponse:
    """Oldest first; one that was never edited has itself alone."""
    status = await _visible(work, number(id), await account_of_caller(work, caller))
    author = await accounts.find(work.db, status.account_id)
    edits = await store.edits_of(work.db, status.id) or [await editing.snapshot(work, status)]
    [shown] = await account_entities.render(work, [author] if author else [])
    return answer(exchange_of(request), joined([await shapes.revision(work, edit, shown) for edit in edits]))


@get("/api/v1/statuses/{id:str}/source", guards=[user("read:statuses")])
async def show_source(work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]) -> dict[str, str]:
    return shapes.source(await _visible(work, number(id), await account_of(work, me)))


@get("/api/v1/statuses/{id:str}/card", guards=[ANYBODY])
async def show_card(
    request: AnyRequest, work: NamedDependency[Work], caller: NamedDependency[Caller], id: FromPath[str]
) -> ASGIResponse:
    status = await _visible(work, number(id), await account_of_caller(work, caller))
    found = await render_cards(work, [status.card_id]) if status.card_id is not None else {}
    return answer(exchange_of(request), _encode(next(iter(found.values()), {})))


@get("/api/v1/statuses/{id:str}/reblogged_by", guards=[optional("read:accounts")])
async def show_reblogged_by(
    request: AnyRequest, work: NamedDependency[Work], caller: NamedDependency[Caller], id: FromPath[str]
) -> ASGIResponse:
    return await _who(request, work, caller, id, lists.reblogged_by)


@get("/api/v1/statuses/{id:str}/favourited_by", guards=[optional("read:accounts")])
async def show_favourited_by(
    request: AnyRequest, work: NamedDependency[Work], caller: NamedDependency[Caller], id: FromPath[str]
) -> ASGIResponse:
    return await _who(request, work, caller, id, lists.favourited_by)


async def _who(request: AnyRequest, work: Work, caller: Caller, id: str, found: lists.Reader) -> ASGIResponse:
    exchange = exchange_of(request)
    me = await account_of_caller(work, caller)
    status = await marks.visible(work, me, number(id))
    cursor = Cursor.read(exchange.scope["query_string"], default=40, most=80, kind=Kind.RECORD)
    rows = await found(work, status.id, me, cursor)
    known = await accounts.find_all(work.db, [account_id for _, account_id in rows])
    shown = await account_entities.render(work, [known[account_id] for _, account_id in rows if account_id in known])
    return page(exchange, cursor, shown, [cursor_id for cursor_id, _ in rows], kind=Kind.RECORD)


# Changing and removing


@put(
    "/api/v1/statuses/{id:str}", guards=[user("write:statuses")],
    dependencies={"changes": params(Edited, WITH_THUMBNAILS)},
)  # fmt: skip
async def edit_status(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member],
    changes: NamedDependency[Edited], id: FromPath[str],
) -> ASGIResponse:  # fmt: skip
    author = await acting(work, me)
    status = await remove.find_own(work, author.id, number(id))
    if status.reblog_of_id is not None:
        raise NotFound
    _spend(exchange_of(request), POSTING, author.id)
    await editing.edit(work, author, status, changes, {one.id: _description(one) for one in changes.media_attributes})
    return await _shown(request, work, status.id, author.id)


def _description(of: Described) -> MediaChange:
    return MediaChange(of.description, of.focus, of.thumbnail.file if of.thumbnail else None)


@delete(
    "/api/v1/statuses/{id:str}", guards=[user("write:statuses")], dependencies={"removal": params(Removal)},
    status_code=200,
)  # fmt: skip
async def delete_status(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], removal: NamedDependency[Removal],
    id: FromPath[str],
) -> ASGIResponse:  # fmt: skip
    account = await account_of(work, me)
    status = await remove.find_own(work, account, number(id))
    exchange = exchange_of(request)
    _spend(exchange, DELETING, account)
    shown = await entities.render_own_past(work, status.id, account)
    if shown is None:
        raise NotFound  # a boost of what is gone, which is about to go as well
    await remove.remove(work, status, with_media=removal.delete_media)
    return answer(exchange, shapes.with_source(shown, status))


@put(
    "/api/v1/statuses/{id:str}/interaction_policy", guards=[user("write:statuses")],
    dependencies={"policy": params(Policy)},
)  # fmt: skip
async def change_policy(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], policy: NamedDependency[Policy],
    id: FromPath[str],
) -> ASGIResponse:  # fmt: skip
    account = await account_of(work, me)
    await quotes.change_policy(work, account, number(id), policy.quote_approval_policy)
    return await _shown(request, work, number(id), account)


# What people do to statuses


@post("/api/v1/statuses/{id:str}/favourite", guards=[user("write:favourites")], status_code=200)
async def favourite(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> ASGIResponse:
    account = await account_of(work, me)
    status = await marks.favourite(work, account, number(id))
    return await _shown(request, work, status.id, account)


@post("/api/v1/statuses/{id:str}/unfavourite", guards=[user("write:favourites")], status_code=200)
async def unfavourite(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> ASGIResponse:
    account = await account_of(work, me)
    return await _shown_anyway(request, work, await marks.unfavourite(work, account, number(id)), account)


@post("/api/v1/statuses/{id:str}/bookmark", guards=[user("write:bookmarks")], status_code=200)
async def bookmark(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> ASGIResponse:
    account = await account_of(work, me)
    status = await marks.bookmark(work, account, number(id))
    return await _shown(request, work, status.id, account)


@post("/api/v1/statuses/{id:str}/unbookmark", guards=[user("write:bookmarks")], status_code=200)
async def unbookmark(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> ASGIResponse:
    account = await account_of(work, me)
    return await _shown_anyway(request, work, await marks.unbookmark(work, account, number(id)), account)


async def _shown_anyway(request: AnyRequest, work: Work, status_id: int, me: int) -> ASGIResponse:
    """After undoing something of one's own, even if the author would not show the status any more."""
    shown = await entities.render_own_past(work, status_id, me)
    if shown is None:
        raise NotFound
    return answer(exchange_of(request), shown)


@post(
    "/api/v1/statuses/{id:str}/reblog", guards=[user("write:statuses")], dependencies={"how": params(Boost)},
    status_code=200,
)  # fmt: skip
async def reblog(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], how: NamedDependency[Boost],
    id: FromPath[str],
) -> ASGIResponse:  # fmt: skip
    author = await acting(work, me)
    _spend(exchange_of(request), POSTING, author.id)
    made = await boosting.boost(work, author, number(id), how.visibility)
    return await _shown(request, work, made.id, author.id)


@post("/api/v1/statuses/{id:str}/unreblog", guards=[user("write:statuses")], status_code=200)
async def unreblog(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> ASGIResponse:
    author = await acting(work, me)
    _spend(exchange_of(request), DELETING, author.id)
    original = await boosting.unboost(work, author, number(id))
    return await _shown_anyway(request, work, original, author.id)


@post("/api/v1/statuses/{id:str}/mute", guards=[user("write:mutes")], status_code=200)
async def mute(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> ASGIResponse:
    account = await account_of(work, me)
    status = await marks.mute(work, account, number(id))
    return await _shown(request, work, status.id, account)


@post("/api/v1/statuses/{id:str}/unmute", guards=[user("write:mutes")], status_code=200)
async def unmute(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> ASGIResponse:
    account = await account_of(work, me)
    status = await marks.unmute(work, account, number(id))
    return await _shown(request, work, status.id, account)


@post("/api/v1/statuses/{id:str}/pin", guards=[user("write:accounts")], status_code=200)
async def pin(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> ASGIResponse:
    account = await account_of(work, me)
    status = await marks.pin(work, account, number(id))
    return await _shown(request, work, status.id, account)


@post("/api/v1/statuses/{id:str}/unpin", guards=[user("write:accounts")], status_code=200)
async def unpin(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> ASGIResponse:
    account = await account_of(work, me)
    status = await marks.unpin(work, account, number(id))
    return await _shown(request, work, status.id, account)


# Quotes


@get("/api/v1/statuses/{id:str}/quotes", guards=[user("read:statuses")])
async def show_quotes(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> ASGIResponse:
    exchange = exchange_of(request)
    account = await account_of(work, me)
    status = await _visible(work, number(id), account)
    cursor = Cursor.read(exchange.scope["query_string"], default=20, most=40, kind=Kind.RECORD)
    rows = await lists.quotes_of(work, status.id, account, cursor)
    shown = await entities.render(work, rows, account)
    return page(exchange, cursor, shown, [row[0] for row in rows], kind=Kind.RECORD)


@post("/api/v1/statuses/{id:str}/quotes/{quoting:str}/revoke", guards=[user("write:statuses")], status_code=200)
async def revoke_quote(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str],
    quoting: FromPath[str],
) -> ASGIResponse:  # fmt: skip
    account = await account_of(work, me)
    await quotes.revoke(work, account, number(id), number(quoting))
    return await _shown(request, work, number(quoting), account)


# Polls


@get("/api/v1/polls/{id:str}", guards=[ANYBODY])
async def show_poll(
    request: AnyRequest, work: NamedDependency[Work], caller: NamedDependency[Caller], id: FromPath[str]
) -> ASGIResponse:
    me = await account_of_caller(work, caller)
    poll = await voting.find_poll(work, number(id), me)
    return answer(exchange_of(request), (await polls.render(work, [poll.id], me))[poll.id])


@post(
    "/api/v1/polls/{id:str}/votes", guards=[user("write:statuses")], dependencies={"votes": params(Votes)},
    status_code=200,
)  # fmt: skip
async def vote(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], votes: NamedDependency[Votes],
    id: FromPath[str],
) -> ASGIResponse:  # fmt: skip
    account = await account_of(work, me)
    poll = await voting.vote(work, account, number(id), votes.choices)
    return answer(exchange_of(request), (await polls.render(work, [poll.id], account))[poll.id])


# Scheduled


@get("/api/v1/scheduled_statuses", guards=[user("read:statuses")])
async def show_all_scheduled(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member]
) -> ASGIResponse:
    exchange = exchange_of(request)
    cursor = Cursor.read(exchange.scope["query_string"], default=20, most=40, kind=Kind.RECORD3)
    planned = await lists.scheduled_of(work, await account_of(work, me), cursor)
    shown = [_encode(one) for one in await shapes.scheduled(work, planned)]
    return page(exchange, cursor, shown, [one.id for one in planned], kind=Kind.RECORD3)


@get("/api/v1/scheduled_statuses/{id:str}", guards=[user("read:statuses")])
async def show_scheduled(work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]) -> dict[str, Any]:
    planned = await scheduling.find_own(work, await account_of(work, me), number(id))
    return (await shapes.scheduled(work, [planned]))[0]


@put("/api/v1/scheduled_statuses/{id:str}", guards=[user("write:statuses")], dependencies={"later": params(Later)})
async def reschedule(
    work: NamedDependency[Work], me: NamedDependency[Member], later: NamedDependency[Later], id: FromPath[str]
) -> dict[str, Any]:
    planned = await scheduling.reschedule(work, await account_of(work, me), number(id), later.scheduled_at)
    return (await shapes.scheduled(work, [planned]))[0]


@delete("/api/v1/scheduled_statuses/{id:str}", guards=[user("write:statuses")], status_code=200)
async def cancel_scheduled(
    work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> dict[str, Any]:
    await scheduling.cancel(work, await account_of(work, me), number(id))
    return {}


routes = [
    create_status, show_statuses, show_status, show_context, show_history, show_source, show_card, show_reblogged_by,
    show_favourited_by, edit_status, delete_status, change_policy, favourite, unfavourite, bookmark, unbookmark,
    reblog, unreblog, mute, unmute, pin, unpin, show_quotes, revoke_quote, show_poll, vote,
    show_all_scheduled, show_scheduled, reschedule, cancel_scheduled,
]  # fmt: skip

ways = {
    "/api/v1/statuses/{id}": Way(ANYBODY.let_in, _status),
    "/api/v1/statuses/{id}/context": Way(ANYBODY.let_in, _context),
}

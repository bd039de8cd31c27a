"""The addresses that other servers know our things by. People who open one are led to its page."""

from __future__ import annotations

from urllib.parse import quote

import msgspec

from kith.base.errors import Gone, NotFound, Problem, Unauthenticated
from kith.base.exchange import Answer, Exchange
from kith.base.paging import Cursor
from kith.base.routing import FromPath, FromQuery, get
from kith.base.work import Work
from kith.federation.documents import outbox, people, posts, store
from kith.federation.documents.answers import DIALECT, encode, negotiated, page_instead
from kith.federation.documents.numbered import also_by_number
from kith.federation.documents.signers import asker_of
from kith.federation.vocabulary.outgoing import collections, identifiers, tags
from kith.federation.vocabulary.outgoing.contexts import with_context
from kith.social.addresses import profile_url, status_url
from kith.social.ids import AccountId, StatusId
from kith.social.representations import wants_activity

FURTHEST_PAGE = 1_000_000


class PageQuery(msgspec.Struct, kw_only=True):
    page: str = ""


class WalkQuery(PageQuery, kw_only=True):
    min_id: int = 0


class RepliesQuery(WalkQuery, kw_only=True):
    only_other_accounts: bool = False


@get("/actor")
async def show_server(exchange: Exchange, work: Work) -> Answer:
    """Open even in secure mode: without it nobody could check what the server signs."""
    body = await people.server_document(work)
    return negotiated(exchange, body, None)


@get("/actor/outbox")
async def show_outbox_of_server(exchange: Exchange, work: Work) -> Answer:
    """The server says nothing of its own."""
    made = collections.whole(identifiers.outbox(identifiers.server_actor(work.settings)), [])
    return negotiated(exchange, encode(with_context(made)), None)


@get("/users/{name}", **also_by_number("/users/{name}", or_as_json=True))
async def show_person(exchange: Exchange, name: FromPath[str]) -> Answer:
    if not wants_activity(exchange):
        return page_instead(profile_url(exchange.server.works.settings, quote(name, safe="")))
    return await _person(exchange, name)


@get("/users/{name}/statuses/{id}", **also_by_number("/users/{name}/statuses/{id}", or_as_json=True))
async def show_status(exchange: Exchange, name: FromPath[str], id: FromPath[int]) -> Answer:
    if not wants_activity(exchange):
        return page_instead(status_url(exchange.server.works.settings, quote(name, safe=""), StatusId(id)))
    return await _status(exchange, name, id)


async def _asker_at(exchange: Exchange, name: str, *, must_know: bool = False) -> AccountId | None:
    """Who asks for something of a person here.

    That somebody is gone is told to those who do not sign, too, as WebFinger tells it to everybody: who holds copies
    can let go of them.
    """
    try:
        return await asker_of(exchange, must_know=must_know)
    except Unauthenticated:
        if await people.is_deleted(exchange.work, name):
            raise Gone from None
        raise


async def _person(exchange: Exchange, name: str) -> Answer:
    me, work = await _asker_at(exchange, name), exchange.work
    return negotiated(exchange, await people.actor_document(work, await people.find_person(work, name, me)), me)


async def _status(exchange: Exchange, name: str, id: int) -> Answer:
    """At the address of a boost there is what it boosts; at that of a deleted post, a Tombstone."""
    me, work = await _asker_at(exchange, name, must_know=True), exchange.work
    author = await people.find_person(work, name, me)
    try:
        post = await posts.find_post(work, author, id, me)
    except NotFound:
        tombstone = await posts.tombstone_of(work, author, id)
        if tombstone is None:
            raise
        return negotiated(exchange, tombstone, me, status=410)
    if post.reblog_of_id is not None:
        original = await posts.original_of(work, post, me)
        return page_instead(original.uri)
    body = await posts.note_document(work, post)
    return negotiated(exchange, body, me, is_open=posts.is_for_all(post))


class Documents:
    """What other servers get at the address of a page (`social.representations`): refusals, too, are in their words."""

    async def person(self, exchange: Exchange, name: str) -> Answer:
        try:
            return await _person(exchange, name)
        except Problem as problem:
            return DIALECT.shape(problem, exchange)

    async def status(self, exchange: Exchange, name: str, id: int) -> Answer:
        try:
            return await _status(exchange, name, id)
        except Problem as problem:
            return DIALECT.shape(problem, exchange)


@get("/users/{name}/statuses/{id}/activity", **also_by_number("/users/{name}/statuses/{id}/activity"))
async def show_activity(exchange: Exchange, work: Work, name: FromPath[str], id: FromPath[int]) -> Answer:
    me = await _asker_at(exchange, name, must_know=True)
    post = await posts.find_post(work, await people.find_person(work, name, me), id, me)
    body = await posts.activity_document(work, post, me)
    return negotiated(exchange, body, me, is_open=posts.is_for_all(post))


@get("/users/{name}/statuses/{id}/replies", **also_by_number("/users/{name}/statuses/{id}/replies"))
async def show_replies(
    exchange: Exchange, work: Work, name: FromPath[str], id: FromPath[int], asked: FromQuery[RepliesQuery]
) -> Answer:
    me = await _asker_at(exchange, name, must_know=True)
    post = await posts.find_own_post(work, await people.find_person(work, name, me), id, me)
    body = await posts.replies_document(
        work, post, page=bool(asked.page), by_others=asked.only_other_accounts, after=max(asked.min_id, 0)
    )
    return negotiated(exchange, body, me, is_open=posts.is_for_all(post))


async def _counted(exchange: Exchange, name: str, id: int, which: str) -> Answer:
    """How many liked or shared a post; who they are is told to its author alone."""
    me, work = await _asker_at(exchange, name, must_know=True), exchange.work
    post = await posts.find_own_post(work, await people.find_person(work, name, me), id, me)
    total = post.favourites_count if which == "likes" else post.reblogs_count
    made = collections.counted(identifiers.collection(post.uri, which), total, ordered=False)
    return negotiated(exchange, encode(with_context(made)), me, is_open=posts.is_for_all(post))


@get("/users/{name}/statuses/{id}/likes", **also_by_number("/users/{name}/statuses/{id}/likes"))
async def show_likes(exchange: Exchange, name: FromPath[str], id: FromPath[int]) -> Answer:
    return await _counted(exchange, name, id, "likes")


@get("/users/{name}/statuses/{id}/shares", **also_by_number("/users/{name}/statuses/{id}/shares"))
async def show_shares(exchange: Exchange, name: FromPath[str], id: FromPath[int]) -> Answer:
    return await _counted(exchange, name, id, "shares")


@get("/users/{name}/outbox", **also_by_number("/users/{name}/outbox"))
async def show_outbox(exchange: Exchange, work: Work, name: FromPath[str], asked: FromQuery[PageQuery]) -> Answer:
    me = await _asker_at(exchange, name)
    owner = await people.find_open(work, name, me)
    if not asked.page:
        return negotiated(exchange, outbox.outbox(owner), me)
    cursor = Cursor.read(exchange.query_string, default=outbox.POSTS, most=outbox.POSTS)
    return negotiated(exchange, await outbox.outbox_page(work, owner, cursor, me), me)


async def _people(exchange: Exchange, name: str, which: str, page: str) -> Answer:
    me, work = await _asker_at(exchange, name), exchange.work
    owner = await people.find_open(work, name, me)
    if not page:
        return negotiated(exchange, outbox.people(owner, which), me)
    if not (page.isascii() and page.isdigit() and 0 < len(page) <= 7 and 0 < int(page) <= FURTHEST_PAGE):
        raise NotFound
    return negotiated(exchange, await outbox.people_page(work, owner, which, int(page)), me)


@get("/users/{name}/followers", **also_by_number("/users/{name}/followers"))
async def show_followers(exchange: Exchange, name: FromPath[str], asked: FromQuery[PageQuery]) -> Answer:
    return await _people(exchange, name, "followers", asked.page)


@get("/users/{name}/following", **also_by_number("/users/{name}/following"))
async def show_following(exchange: Exchange, name: FromPath[str], asked: FromQuery[PageQuery]) -> Answer:
    return await _people(exchange, name, "following", asked.page)


@get("/users/{name}/collections/featured", **also_by_number("/users/{name}/collections/featured"))
async def show_featured(exchange: Exchange, work: Work, name: FromPath[str]) -> Answer:
    me = await _asker_at(exchange, name)
    return negotiated(exchange, await outbox.featured(work, await people.find_open(work, name, me)), me)


@get("/users/{name}/collections/tags", **also_by_number("/users/{name}/collections/tags"))
async def show_featured_tags(exchange: Exchange, work: Work, name: FromPath[str]) -> Answer:
    me = await _asker_at(exchange, name)
    return negotiated(exchange, await outbox.featured_tags(work, await people.find_open(work, name, me)), me)


@get("/users/{name}/quote_authorizations/{id}", **also_by_number("/users/{name}/quote_authorizations/{id}"))
async def show_quote_stamp(exchange: Exchange, work: Work, name: FromPath[str], id: FromPath[int]) -> Answer:
    me = await _asker_at(exchange, name)
    body = await posts.quote_stamp(work, await people.find_open(work, name, me), id, me)
    return negotiated(exchange, body, me)


@get("/contexts/{name}")
async def show_context(exchange: Exchange, work: Work, name: FromPath[str], asked: FromQuery[WalkQuery]) -> Answer:
    me = await asker_of(exchange)
    body = await posts.context_document(work, name, me, page=bool(asked.page), after=max(asked.min_id, 0))
    return negotiated(exchange, body, me)


@get("/emojis/{id}")
async def show_emoji(exchange: Exchange, work: Work, id: FromPath[int]) -> Answer:
    me = await asker_of(exchange)
    found = await store.emoji(work.db, id)
    if found is None:
        raise NotFound
    return negotiated(exchange, encode(with_context(tags.emoji(work.settings, found))), me)


routes = [
    show_server,
    show_outbox_of_server,
    show_person,
    show_status,
    show_activity,
    show_replies,
    show_likes,
    show_shares,
    show_outbox,
    show_followers,
    show_following,
    show_featured,
    show_featured_tags,
    show_quote_stamp,
    show_context,
    show_emoji,
]

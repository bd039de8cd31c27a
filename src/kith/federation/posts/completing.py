"""What other servers are asked for later: parents, answers, and the word of those who are quoted."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from kith.base.http.sites import site_of
from kith.base.http.urls import parse_url
from kith.base.jobs import MAKES_ROOM, Give, JobKind
from kith.base.work import Work
from kith.federation.fetching import FetchChain, FetchFailed, fetch_document
from kith.federation.posts import quoting, store, threads
from kith.federation.posts.facts import NoteChanged, ParentMissing, QuoteSeen, RepliesSeen
from kith.federation.posts.fetching import PostFetcher
from kith.federation.posts.linking import LINK_ANSWERS, link_later
from kith.federation.vocabulary.incoming import DocumentRefused, IncomingQuoteStamp, read_quote_stamp
from kith.federation.vocabulary.incoming.ids import same_domain
from kith.social.accounts import store as accounts
from kith.social.ids import AccountId, StatusId
from kith.social.relationships import store as relationships
from kith.social.statuses import store as statuses
from kith.social.statuses.tables import Status

__all__ = ["CHECK_AGAIN", "CHECK_STAMPS", "JOBS", "SUBSCRIPTIONS", "CheckStamps"]

RECHECKED = timedelta(days=7)
STAMPS_AT_ONCE = 200
MOST_ASKED = 5  # answers to a post that is fetched, for somebody who may see it


class CheckStamps(msgspec.Struct):
    """Those that were looked at a week ago."""


async def fetch_parent(work: Work, fact: ParentMissing) -> None:
    """And whatever that answers, one after the other; those who wait for it are linked when it is stored."""
    fetcher, reader = work.find(PostFetcher), await _reader(work, fact.uri)
    try:
        parent = await fetcher.fetch(fact.uri, FetchChain(), steps=fact.steps + 1, reader=reader)
    except DocumentRefused:
        return
    except FetchFailed as failed:
        _later(failed)
        return
    if parent is not None:  # known before, or by another id than it was asked for
        link_later(work, parent, fact.uri)


async def _reader(work: Work, uri: str) -> AccountId | None:
    """Somebody here who follows one of those that answer it, or whom their answer names: where both are of one server.

    Any other server would be told whom members follow, and what is written to them, by an answer to one of its posts.
    """
    for child in await store.waiting_for(work.db, uri, MOST_ASKED):
        if not same_domain(child.uri, uri):
            continue
        found = await relationships.a_follower_here(work.db, child.account_id)
        named = await accounts.find_all(work.db, await statuses.mentioned_in(work.db, child.id))
        here = [one.id for one in named.values() if one.is_local and not one.is_gone]
        if found is not None or here:
            return found or here[0]
    return None


def _later(failed: FetchFailed) -> None:
    if failed.may_pass:
        raise Give(str(failed), later=timedelta(minutes=10)) from failed


async def fetch_replies(work: Work, fact: RepliesSeen) -> None:
    """The few that came with the post; one that cannot be had is not waited for."""
    fetcher, chain = work.find(PostFetcher), FetchChain(in_all=50)
    for uri in fact.uris:
        try:
            await fetcher.fetch(uri, chain, steps=threads.ASIDE)
        except (FetchFailed, DocumentRefused):
            continue


async def fetch_changed(work: Work, fact: NoteChanged) -> None:
    status = await statuses.find_by_uri(work.db, fact.uri)
    if status is None or status.deleted_at is not None or status.local:
        return
    try:
        await work.find(PostFetcher).refresh(status, FetchChain())
    except DocumentRefused:
        return
    except FetchFailed as failed:
        _later(failed)


async def resolve_quote(work: Work, fact: QuoteSeen) -> None:
    """What is quoted, then the word of its author, which stands on their own host and names both posts."""
    status, beside = await statuses.find(work.db, fact.status_id), await store.find(work.db, fact.status_id)
    if status is None or beside is None or status.deleted_at is not None or status.local:
        return
    chain, stamp = FetchChain(in_all=50), None
    try:
        quoted = await _quoted(work, status, beside.quoted, chain, fact.steps)
        if quoted is not None and not quoted.local and beside.stamp is not None:
            stamp = await _fetch_stamp(work, beside.stamp, chain)
    except DocumentRefused:
        return
    except FetchFailed as failed:
        _later(failed)
        return
    if quoted is None:
        return
    if status.quoted_id is None:
        status = await quoting.name_quoted(work, status, quoted)
    if stamp is not None:
        await _decide(work, status, quoted, stamp, beside.stamp or "")


async def _fetch_stamp(work: Work, uri: str, chain: FetchChain) -> IncomingQuoteStamp | None:
    """None where there is none, or none that can be believed."""
    fetcher = work.find(PostFetcher)
    try:
        found = await fetch_document(fetcher.client, uri, chain=chain, signer=fetcher.signer)
        return read_quote_stamp(found.document)
    except DocumentRefused:
        return None
    except FetchFailed as failed:
        if failed.may_pass:
            raise
        return None


async def _quoted(work: Work, status: Status, unknown: str | None, chain: FetchChain, steps: int) -> Status | None:
    if status.quoted_id is not None:
        return await statuses.find(work.db, status.quoted_id)
    if unknown is None:
        return None
    found = await work.find(PostFetcher).fetch(unknown, chain, steps=steps + 1)
    return None if found is None or found.reblog_of_id is not None else found


async def _decide(work: Work, status: Status, quoted: Status, stamp: IncomingQuoteStamp | None, uri: str) -> None:
    """What was allowed is not any more; what never was stays pending, until its server says otherwise."""
    author = await accounts.find(work.db, quoted.account_id)
    if author is not None and stamp == IncomingQuoteStamp(uri, author.uri, status.uri, quoted.uri):
        await quoting.accept(work, status, quoted, stamp=uri)
    elif status.quote_state == quoting.ACCEPTED:
        await quoting.end(work, status.id)


async def check_stamps(work: Work, _payload: CheckStamps) -> None:
    due = await store.stamps_due(work.db, work.now - RECHECKED, STAMPS_AT_ONCE)
    for status_id, stamp in due:
        work.enqueue(CHECK_AGAIN, CheckAgain(status_id=status_id), key=str(status_id), owner=site_of(parse_url(stamp)))


class CheckAgain(msgspec.Struct):
    status_id: StatusId


async def check_again(work: Work, payload: CheckAgain) -> None:
    """Of a host that cannot be reached it is asked another time."""
    status, beside = await statuses.find(work.db, payload.status_id), await store.find(work.db, payload.status_id)
    quoted = None if status is None or status.quoted_id is None else await statuses.find(work.db, status.quoted_id)
    if status is None or beside is None or quoted is None or beside.stamp is None:
        return
    try:
        stamp = await _fetch_stamp(work, beside.stamp, FetchChain(in_all=5))
    except FetchFailed:
        await store.change(work.db, status.id, stamp_checked_at=work.now - RECHECKED + timedelta(days=1))
        return
    await _decide(work, status, quoted, stamp, beside.stamp)


def _outside(name: str, payload: type, handler: object, concurrency: int = 2) -> JobKind:  # type: ignore[type-arg]
    return JobKind(
        name=f"federation_posts.{name}",
        payload=payload,
        handler=handler,  # type: ignore[arg-type]
        outside=True,
        concurrency=concurrency,
        **MAKES_ROOM,
        attempts=4,
        patience=timedelta(minutes=5),
        is_harmless=True,
    )


FETCH_PARENT = _outside("fetch_parent", ParentMissing, fetch_parent, 4)
FETCH_REPLIES = _outside("fetch_replies", RepliesSeen, fetch_replies)
FETCH_CHANGED = _outside("fetch_changed", NoteChanged, fetch_changed)
RESOLVE_QUOTE = _outside("resolve_quote", QuoteSeen, resolve_quote)
CHECK_AGAIN = _outside("check_stamp", CheckAgain, check_again)
CHECK_STAMPS: JobKind[CheckStamps] = JobKind(
    name="federation_posts.check_stamps", payload=CheckStamps, handler=check_stamps, is_harmless=True
)
JOBS = (LINK_ANSWERS, FETCH_PARENT, FETCH_REPLIES, FETCH_CHANGED, RESOLVE_QUOTE, CHECK_AGAIN, CHECK_STAMPS)
SUBSCRIPTIONS = (
    (ParentMissing, FETCH_PARENT),
    (RepliesSeen, FETCH_REPLIES),
    (NoteChanged, FETCH_CHANGED),
    (QuoteSeen, RESOLVE_QUOTE),
)

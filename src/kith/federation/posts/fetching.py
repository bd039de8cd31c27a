"""Posts of other servers, fetched from where they are at home and stored."""

from __future__ import annotations

from contextlib import suppress

from kith.base.db import Taken
from kith.base.http.sites import registrable_domain
from kith.base.work import Work, Works
from kith.federation.ended import store as ended
from kith.federation.fetching import FetchChain, FetchedDocument, FetchFailed, RemoteClient, fetch_document
from kith.federation.fetching.our_signer import OurSigner
from kith.federation.known import Known, Missing
from kith.federation.people.fetching import fetch_actor, fetch_named
from kith.federation.posts.editing import edit
from kith.federation.posts.publishing import end, is_over
from kith.federation.posts.storing import store_note
from kith.federation.posts.threads import ASIDE
from kith.federation.posts.votes import is_choice
from kith.federation.vocabulary.incoming import DocumentRefused, IncomingNote, read_note
from kith.federation.vocabulary.incoming.ids import domain_of
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId
from kith.social.statuses import store as statuses
from kith.social.statuses.tables import UNLISTED, Status

__all__ = ["FetchedNotes", "PostFetcher", "fetch_note", "keep_note", "refresh_note"]

MOST_ROUNDS = 60  # people whom one post mentions, and a race or two
_GONE = ("not_found", "gone")
_REFUSED = ("not_found", "forbidden")


class PostFetcher:
    """For whoever has a work and no works: jobs, and requests that ask for something of another server."""

    def __init__(self, works: Works) -> None:
        self.works = works

    @property
    def client(self) -> RemoteClient:
        found: RemoteClient = self.works.services[RemoteClient]
        return found

    @property
    def signer(self) -> OurSigner:
        found: OurSigner = self.works.services[OurSigner]
        return found

    async def fetch(
        self, uri: str, chain: FetchChain, *, steps: int = 0, reader: AccountId | None = None
    ) -> Status | None:
        return await fetch_note(self.works, uri, chain, steps=steps, reader=reader)

    async def refresh(self, status: Status, chain: FetchChain) -> Status | None:
        return await refresh_note(self.works, status, chain)


class FetchedNotes:
    """Posts for whoever fills profiles and looks up addresses."""

    async def fetch(self, works: Works, uri: str, chain: FetchChain, *, is_aside: bool = False) -> Status | None:
        return await fetch_note(works, uri, chain, steps=ASIDE if is_aside else 1)


async def fetch_note(
    works: Works, uri: str, chain: FetchChain, *, steps: int = 0, reader: AccountId | None = None
) -> Status | None:
    """The post that `uri` names, stored; None where it is no post that could be kept, or gone.

    Raises `FetchFailed` and `DocumentRefused`. No work may be open for writing meanwhile. What is known is not asked
    for again. `steps`: how many posts have led to this one. `reader`: a member who may be allowed to see it.
    """
    found = await _known(works, uri)
    if found is not None or uri.startswith(f"{works.settings.base_url}/"):
        return found if found is not None and found.deleted_at is None else None
    fetched = await _document(works, uri, chain, reader)
    note = read_note(fetched.document)
    return await keep_note(works, note, chain, steps=steps)


async def _document(works: Works, uri: str, chain: FetchChain, reader: AccountId | None = None) -> FetchedDocument:
    """Asked for by the server; in the name of a member only where that is refused, for it tells who reads what."""
    client: RemoteClient = works.services[RemoteClient]
    try:
        return await fetch_document(client, uri, chain=chain, signer=works.services[OurSigner])
    except FetchFailed as failed:
        if reader is None or failed.reason not in _REFUSED:
            raise
    return await fetch_document(client, uri, chain=chain, signer=OurSigner(works, reader))


async def keep_note(works: Works, note: IncomingNote, chain: FetchChain, *, steps: int = 0) -> Status | None:
    """A post that its own server gave out, stored with the people it mentions; votes are none."""
    found = await _known(works, note.id)
    if found is not None:
        return found if found.deleted_at is None else None
    author = await _author(works, note, chain)
    if author is None or author.is_gone or note.is_vote:
        return None
    unreachable: set[str] = set()
    for _ in range(MOST_ROUNDS):
        try:
            async with works.begin() as work:
                await ended.take_turn(work.db, author.id)
                if await is_over(work, note, author) or await is_choice(work, note):
                    return None
                return await store_note(work, Known(unreachable), author, note, live=False, steps=steps)
        except Taken:
            continue  # somebody else was quicker with it, or drew the same id
        except Missing as missing:
            unreachable |= await _bring(works, missing, note.id, chain)
    return None


async def _known(works: Works, uri: str) -> Status | None:
    async with works.begin() as work:
        return await statuses.find_by_uri(work.db, uri)


async def _author(works: Works, note: IncomingNote, chain: FetchChain) -> Account | None:
    async with works.begin() as work:
        found = await accounts.find_by_uri(work.db, note.author)
    return found if found is not None else await fetch_actor(works, note.author, chain)


async def _bring(works: Works, missing: Missing, by: str, chain: FetchChain) -> set[str]:
    """What could not be had of what the post `by` names."""
    found: Account | Status | None = None
    with suppress(FetchFailed, DocumentRefused):
        if missing.kind == "actor":
            found = await fetch_named(works, missing.uri, registrable_domain(domain_of(by)), chain)
        else:
            found = await fetch_note(works, missing.uri, chain)
    return {missing.uri} if found is None else set()


async def refresh_note(works: Works, status: Status, chain: FetchChain) -> Status | None:
    """The post as its server has it now; None, and deleted here, when it was for everybody and is not there any more.

    Raises `FetchFailed` and `DocumentRefused`.
    """
    try:
        fetched = await _document(works, status.uri, chain)
    except FetchFailed as failed:
        if failed.reason not in _GONE or status.visibility > UNLISTED:
            raise
        await _forget(works, status)
        return None
    note = read_note(fetched.document)
    unreachable: set[str] = set()
    for _ in range(MOST_ROUNDS):
        try:
            async with works.begin() as work:
                return await _edit(work, Known(unreachable), status, note)
        except Missing as missing:
            unreachable |= await _bring(works, missing, note.id, chain)
    return status


async def _edit(work: Work, known: Known, status: Status, note: IncomingNote) -> Status | None:
    now = await statuses.find(work.db, status.id)
    author = await accounts.find(work.db, status.account_id)
    if now is None or now.deleted_at is not None:
        return None
    if author is not None and note.id == now.uri and note.author == author.uri:
        await edit(work, known, author, now, note)
    return await statuses.find(work.db, status.id)


async def _forget(works: Works, status: Status) -> None:
    async with works.begin() as work:
        now = await statuses.find(work.db, status.id)
        if now is not None and not now.local:
            await end(work, now)

"""QuoteRequest and the answers to it (FEP-044f): who may quote whom, across servers."""

from __future__ import annotations

from uuid import UUID

from kith.base.work import Work
from kith.federation.delivery.service import deliver
from kith.federation.known import Known
from kith.federation.people import store as people
from kith.federation.posts import quoting, store, threads
from kith.federation.posts.publishing import is_over
from kith.federation.posts.storing import add_note
from kith.federation.vocabulary.incoming.activities.shapes import (
    IncomingAccept,
    IncomingQuoteRequest,
    IncomingReject,
)
from kith.federation.vocabulary.incoming.ids import same_domain
from kith.federation.vocabulary.outgoing import quotes
from kith.federation.vocabulary.outgoing.contexts import Doc
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.ids import StatusId
from kith.social.statuses import store as statuses
from kith.social.statuses.service.post import may_quote
from kith.social.statuses.tables import Status

__all__ = ["apply_accept_quote", "apply_quote_request", "apply_reject_quote"]

_PLACE = "/quote_requests/"


async def apply_quote_request(work: Work, known: Known, sender: Account, activity: IncomingQuoteRequest) -> None:
    """Answered at once, as the author's policy says; the same request has the same answer again."""
    quoted = await statuses.find_by_uri(work.db, activity.quoted)
    if quoted is None or not quoted.local or quoted.deleted_at is not None or activity.quoting is None:
        return
    author = await accounts.find(work.db, quoted.account_id)
    if author is None or author.is_gone or sender.is_gone:
        return
    if await statuses.find_visible(work.db, quoted.id, sender.id) is None:
        return  # as if there were none: a refusal would tell that there is
    asked = _asked(sender, activity)
    if not await may_quote(work, sender.id, quoted):
        await _answer(work, author, sender, quotes.reject(author.uri, asked, quoted.id))
        return
    status = await _quoting(work, known, sender, activity)
    if status is None or status.account_id != sender.id or not await _quotes(work, status, quoted):
        await _answer(work, author, sender, quotes.reject(author.uri, asked, quoted.id))
        return
    await quoting.accept(work, status, quoted, stamp=None)
    await _answer(work, author, sender, quotes.accept(author.uri, asked, status.id))


async def _quoting(work: Work, known: Known, sender: Account, activity: IncomingQuoteRequest) -> Status | None:
    """The post that quotes, kept from now on: our leave is known by it."""
    note = activity.note
    if note is None or note.id != activity.quoting:
        return await known.status(work, activity.quoting or "")
    found = await statuses.find_by_uri(work.db, note.id)
    if found is not None:
        return None if found.deleted_at is not None else found
    if await is_over(work, note, sender):
        return None
    return await add_note(work, known, sender, note, await threads.find_parent(work, note))


async def _quotes(work: Work, status: Status, quoted: Status) -> bool:
    """Whether it quotes this one, and was not told that it may not any more."""
    if status.quoted_id == quoted.id:
        return status.quote_state in (quoting.PENDING, quoting.ACCEPTED)
    beside = await store.find(work.db, status.id)
    return beside is not None and beside.quoted == quoted.uri


def _asked(sender: Account, activity: IncomingQuoteRequest) -> Doc:
    return {
        "id": activity.id,
        "type": "QuoteRequest",
        "actor": sender.uri,
        "object": activity.quoted,
        "instrument": activity.quoting,
    }


async def _answer(work: Work, author: Account, to: Account, answer: Doc) -> None:
    actor = await people.find_actor(work.db, to.id)
    if actor is not None:
        await deliver(work, activity=answer, sender=author.id, inboxes=[actor.inbox])


async def apply_accept_quote(work: Work, _known: Known, sender: Account, activity: IncomingAccept) -> None:
    found = await _ours(work, sender, activity)
    if found is None or activity.result is None or not same_domain(activity.result, sender.uri):
        return
    status, quoted = found
    if status.quote_state in (quoting.PENDING, quoting.ACCEPTED):
        await quoting.accept(work, status, quoted, stamp=activity.result)


async def apply_reject_quote(work: Work, _known: Known, sender: Account, activity: IncomingReject) -> None:
    found = await _ours(work, sender, activity)
    if found is not None:
        await quoting.end(work, found[0].id, asked=True)


async def _ours(work: Work, sender: Account, activity: IncomingAccept | IncomingReject) -> tuple[Status, Status] | None:
    """Our post that asked, and the one it quotes, which only its author answers for."""
    answered = activity.answered if isinstance(activity.answered, IncomingQuoteRequest) else None
    status = None
    if answered is not None and answered.quoting is not None:
        status = await statuses.find_by_uri(work.db, answered.quoting)
    elif activity.object_id is not None:
        status = await statuses.find(work.db, StatusId(_asked_by(activity.object_id)))
    if status is None or not status.local or status.quoted_id is None or status.deleted_at is not None:
        return None
    quoted = await statuses.find(work.db, status.quoted_id)
    return (status, quoted) if quoted is not None and quoted.account_id == sender.id else None


def _asked_by(uri: str) -> int:
    """The post that asked, which the id of our request ends with; 0 for whatever is none of ours."""
    _, found, name = uri.rpartition(_PLACE)
    try:
        id = UUID(name).int if found else 0
    except ValueError:
        return 0
    return id if id < 1 << 63 else 0

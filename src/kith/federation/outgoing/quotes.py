"""Asking to quote, and taking back that one may be quoted (FEP-044f); requests are answered where they arrive."""

from __future__ import annotations

from uuid import UUID

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.federation.delivery.service import deliver
from kith.federation.documents.notes import KeptNote, notes_of
from kith.federation.outgoing import recipients
from kith.federation.outgoing.telling import find_elsewhere, find_here, tell_one
from kith.federation.vocabulary.outgoing import quotes
from kith.federation.vocabulary.outgoing.contexts import with_context
from kith.social.accounts.tables import Account
from kith.social.statuses import store as statuses
from kith.social.statuses.facts import QuoteRevoked, StatusQuoted
from kith.social.statuses.tables import UNLISTED, Status

__all__ = ["KINDS"]


async def ask(work: Work, fact: StatusQuoted) -> None:
    """Whoever wrote what is quoted, if they live elsewhere. The request is named after the post that quotes."""
    quoting, quoted = await statuses.find(work.db, fact.status_id), await statuses.find(work.db, fact.quoted_id)
    if quoting is None or quoted is None or not quoting.local or quoted.local or quoting.deleted_at is not None:
        return
    me, author = await find_here(work, quoting.account_id), await find_elsewhere(work, quoted.account_id)
    if me is None or author is None:
        return
    note = (await notes_of(work, [quoting]))[quoting.id]
    asked = quotes.request(note.head, quoted.uri, UUID(int=quoting.id))
    if _may_see(quoting, note, author):
        activity = with_context(asked | {"instrument": note.raw}, note.terms)
    else:
        activity = with_context(asked | {"instrument": quoting.uri})
    await tell_one(work, me, author.id, activity)


def _may_see(quoting: Status, note: KeptNote, author: Account) -> bool:
    """A post that is not addressed to them is named and not shown."""
    return quoting.visibility <= UNLISTED or author.uri in (*note.head["to"], *note.head["cc"])


async def tell_of_revoking(work: Work, fact: QuoteRevoked) -> None:
    """To whoever quoted, and to everybody who may have seen either post."""
    me, quoting = await find_here(work, fact.account_id), await statuses.find(work.db, fact.status_id)
    if me is None or quoting is None:
        return
    reached = await recipients.of_deleted_posts(work.db, [fact.quoted_id, quoting.id])
    inboxes = dict.fromkeys(inbox for some in reached.values() for inbox in some)
    await deliver(work, activity=quotes.revoke(me.uri, quoting.id), sender=me.id, inboxes=inboxes)


QUOTED: JobKind[StatusQuoted] = JobKind(
    name="federation_outgoing.quoted", payload=StatusQuoted, handler=ask, is_harmless=True
)
REVOKED: JobKind[QuoteRevoked] = JobKind(
    name="federation_outgoing.revoked", payload=QuoteRevoked, handler=tell_of_revoking, is_harmless=True
)
KINDS = (QUOTED, REVOKED)

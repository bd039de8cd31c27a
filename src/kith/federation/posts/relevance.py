"""Whether a post from elsewhere concerns anybody here. What nobody asked for and nobody would see is not kept."""

from __future__ import annotations

from kith.base.work import Work
from kith.federation.posts import store
from kith.federation.vocabulary.incoming import IncomingNote
from kith.social.accounts.tables import Account
from kith.social.statuses.tables import Status

__all__ = ["concerns_somebody", "is_addressed_here", "may_share"]


def addressed(work: Work, note: IncomingNote) -> list[str]:
    """Ids on this server among those whom a post mentions or is addressed to."""
    ours = f"{work.settings.base_url}/"
    meant = [*(one.href for one in note.tags.mentions), *note.audience.to, *note.audience.cc]
    return [uri for uri in dict.fromkeys(meant) if uri.startswith(ours)]


async def is_addressed_here(work: Work, note: IncomingNote) -> bool:
    return await store.any_member(work.db, addressed(work, note))


async def concerns_somebody(work: Work, author: Account, note: IncomingNote, parent: Status | None) -> bool:
    """Its author is followed here, or whom it answers is or lives here, or it is addressed to somebody here.

    What is for nobody but those it names concerns only them.
    """
    is_for_many = note.audience.is_public_to or note.audience.is_public_cc or not _is_for_named(note)
    if is_for_many:
        meant = [author.id]
        if parent is not None:
            if parent.local:
                return True
            meant.append(parent.account_id)
        if await store.any_followed(work.db, meant):
            return True
    if note.quote is not None and note.quote.uri is not None and _is_ours(work, note.quote.uri) and is_for_many:
        return True
    return await is_addressed_here(work, note)


def _is_for_named(note: IncomingNote) -> bool:
    """Nobody is addressed but those it mentions: no list of anybody's followers."""
    mentioned = {one.href for one in note.tags.mentions}
    return mentioned.issuperset(note.audience.to + note.audience.cc)


def _is_ours(work: Work, uri: str) -> bool:
    return uri.startswith(f"{work.settings.base_url}/")


async def may_share(work: Work, booster: Account, object_id: str) -> bool:
    """Whether somebody's boost concerns anybody here: they are followed, or share what was said here."""
    return _is_ours(work, object_id) or await store.any_followed(work.db, [booster.id])

"""Who answers what: the rows of a thread whose parts come in any order."""

from __future__ import annotations

import re

from kith.base.work import Work
from kith.federation.posts import store
from kith.federation.posts.facts import ParentMissing
from kith.federation.vocabulary.incoming import IncomingNote
from kith.social.ids import AccountId, StatusId
from kith.social.statuses import store as statuses
from kith.social.statuses.tables import NOT_KNOWN, Status

__all__ = ["ASIDE", "answered", "find_conversation", "find_parent", "seek_parent"]

MOST_STEPS = 50
ASIDE = 45  # where something begins that is not the thread itself, such as a quote beside it: it leads on a little
_OWN_TAG = re.compile(r"tag:(?P<domain>[^,]{1,255}),[0-9-]{10}:objectId=(?P<id>[0-9]{1,18}):objectType=Conversation")
_OWN_CONTEXT = re.compile(r"/contexts/[0-9]{1,18}-(?P<id>[0-9]{1,18})")


async def find_parent(work: Work, note: IncomingNote) -> Status | None:
    """What it answers, as far as that is here; an answer to a boost answers what was boosted."""
    if note.in_reply_to is None:
        return None
    found = await statuses.find_by_uri(work.db, note.in_reply_to)
    if found is not None and found.reblog_of_id is not None:
        found = await statuses.find(work.db, found.reblog_of_id)
    return None if found is None or found.deleted_at is not None else found


def answered(author_id: AccountId, parent: Status | None, note: IncomingNote | None = None) -> AccountId | None:
    """Whom a thread answers: whoever goes on with their own answer still answers the same person."""
    if parent is None:
        return AccountId(NOT_KNOWN) if note is not None and note.in_reply_to is not None else None
    if parent.account_id == author_id and parent.in_reply_to_account_id is not None:
        return parent.in_reply_to_account_id
    return parent.account_id


async def find_conversation(work: Work, note: IncomingNote) -> int | None:
    """The thread of an answer whose parent is not here, by the names that servers give to threads."""
    if note.in_reply_to is None:
        return None
    for name in (note.context, note.conversation):
        if name is None:
            continue
        own = own_conversation(work, name)
        if own is not None:
            root = await statuses.find(work.db, StatusId(own))
            return own if root is not None and root.conversation_id == own else None
        found = await store.conversation_of(work.db, name)
        if found is not None:
            return found
    return None


def own_conversation(work: Work, name: str) -> int | None:
    """A thread that began here, by either of the names we give it."""
    base = work.settings.base_url
    match = _OWN_CONTEXT.fullmatch(name[len(base) :]) if name.startswith(f"{base}/") else _OWN_TAG.fullmatch(name)
    if match is None or match.groupdict().get("domain") not in (None, work.settings.domain):
        return None
    return int(match["id"])


def seek_parent(work: Work, uri: str, steps: int) -> None:
    """A thread is followed upwards so far and no further."""
    if steps < MOST_STEPS and not uri.startswith(f"{work.settings.base_url}/"):
        work.announce(ParentMissing(uri=uri, steps=steps))

"""What a post from elsewhere says when it is sent anew: an edit, or only figures."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from kith.base.work import Work
from kith.federation.known import Known
from kith.federation.posts import quoting, rows, store
from kith.federation.posts.storing import meant_by, note_emojis, note_tags
from kith.federation.vocabulary.incoming import IncomingNote
from kith.federation.vocabulary.incoming.polls import IncomingPoll
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId
from kith.social.media import store as media
from kith.social.remote_media.service import is_rejected
from kith.social.statuses import polls
from kith.social.statuses import store as statuses
from kith.social.statuses.cards import service as cards
from kith.social.statuses.facts import StatusEdited
from kith.social.statuses.service.revisions import begin_history, keep_revision, snapshot
from kith.social.statuses.tables import PUBLIC, UNLISTED, Status
from kith.social.tags import store as tags
from kith.social.tags.tables import Tag
from kith.social.text.html import kept

__all__ = ["edit"]


async def edit(work: Work, known: Known, author: Account, status: Status, note: IncomingNote) -> None:
    """Only what is newer than the last edit counts as one; everything else is figures and the quote's standing."""
    if is_newer(status, note, work.now):
        await _rewrite(work, known, author, status, note)
    else:
        await _refresh(work, author, status, note)


def is_newer(status: Status, note: IncomingNote, now: datetime) -> bool:
    """Moments are told to the second: an edit may be told of the second in which the post, or another edit, was made.

    Of two edits within a second the one that comes last and says something else counts.
    """
    if note.updated is None:
        return False
    at = _edited_at(status, note.updated, now)
    if status.edited_at is None:
        return at >= status.created_at.replace(microsecond=0)
    return status.edited_at < at or (
        status.edited_at.replace(microsecond=0) <= at and _says_something_else(status, note)
    )


def _edited_at(status: Status, told: datetime, now: datetime) -> datetime:
    """Nothing comes from the future, or every later edit would be older; what is known already is none, even where
    our clock was set back since."""
    return min(told, max(now, status.edited_at or status.created_at))


def _says_something_else(status: Status, note: IncomingNote) -> bool:
    return (rows.content_of(note), note.content.warning) != (kept(status.content), status.spoiler_text)


async def _refresh(work: Work, author: Account, status: Status, note: IncomingNote) -> None:
    await work.db.begin()
    changed = await quoting.requote(work, author, status, note)
    await _vote(work, status, note.poll)
    counts = await _counts(work, status, note)
    if changed or counts:
        await statuses.change(work.db, status.id, changed | counts)
    if changed:
        work.announce(StatusEdited(status_id=status.id, account_id=author.id))


async def _rewrite(work: Work, known: Known, author: Account, status: Status, note: IncomingNote) -> None:
    meant = await meant_by(work, known, author, note)
    before = await snapshot(work, status)
    await work.db.begin()
    noted = await note_tags(work, note)
    await note_emojis(work, author.domain, note.tags.emojis)
    at = _edited_at(status, note.updated or work.now, work.now)
    changed: dict[str, Any] = {
        "content": rows.content_of(note),
        "spoiler_text": rows.warning_of(note),
        "sensitive": note.is_sensitive or bool(note.content.warning),
        "language": rows.language_of(note),
        "url": note.url or note.id,
        "tag_names": list(noted),
        "media_ids": await _attach(work, author, status, note),
        "poll_id": await _poll(work, status, note.poll),
        "card_id": None,  # looked for anew
        "edited_at": at,
        "fetched_at": work.now,
    }
    if status.visibility in (PUBLIC, UNLISTED):
        changed["quote_policy"] = rows.quote_policy(note, meant.actor)
    changed |= await quoting.requote(work, author, status, note)
    await begin_history(work, before)
    new = await _mention(work, status, meant.named)
    await _retag(work, status, noted)
    await statuses.change(work.db, status.id, changed | await _counts(work, status, note))
    now = await statuses.find(work.db, status.id)
    if now is not None:
        revision = await snapshot(work, now, at_edit=True)
        revision.created_at = at
        await keep_revision(work, now, revision)
        if note.attachments.link is not None:
            await cards.look_at(work, now, note.attachments.link)
    work.announce(StatusEdited(status_id=status.id, account_id=author.id, new_mentions=tuple(new)))


async def _counts(work: Work, status: Status, note: IncomingNote) -> dict[str, Any]:
    """As their server says, and never less than is known here."""
    if note.likes_count is None and note.shares_count is None:
        return {}
    liked, shared = await store.counted_here(work.db, status.id)
    wanted: dict[str, Any] = {}
    if note.likes_count is not None:
        wanted["favourites_count"] = max(note.likes_count, liked)
    if note.shares_count is not None:
        wanted["reblogs_count"] = max(note.shares_count, shared)
    return {name: value for name, value in wanted.items() if getattr(status, name) != value}


async def _poll(work: Work, status: Status, poll: IncomingPoll | None) -> int | None:
    if poll is None:
        if status.poll_id is not None:
            await polls.remove(work.db, status.poll_id)
        return None
    if status.poll_id is None:
        row = rows.poll_row(work.new_id(), status.id, status.account_id, poll, work.now)
        await polls.insert(work.db, row)
        return row.id
    await _vote(work, status, poll)
    return status.poll_id


async def _vote(work: Work, status: Status, poll: IncomingPoll | None) -> None:
    """Totals as they are told; other options are another poll, in which nobody has voted."""
    held = await polls.hold(work.db, status.poll_id) if poll is not None and status.poll_id is not None else None
    if poll is None or held is None:
        return
    new = rows.poll_row(held.id, status.id, status.account_id, poll, work.now)
    is_other = held.options != new.options or held.multiple != new.multiple
    if is_other or held.expires_at != new.expires_at:
        if poll.ends_at is None and poll.is_closed and held.ended_at is not None:
            new.expires_at = held.expires_at  # over since it was first said to be
        await polls.rewrite(work.db, new, reset=is_other, ended_at=held.ended_at)
    await polls.tally(work.db, held.id, new.tallies, new.voters_count, fetched_at=work.now)


async def _attach(work: Work, author: Account, status: Status, note: IncomingNote) -> list[int]:
    """The files it has now; those that are the same stay, with their ids and what was fetched of them."""
    files = note.attachments.files
    known = {row.remote_url: row for row in (await media.of_ids(work.db, status.media_ids)).values()}
    withheld = bool(files) and await is_rejected(work, author.domain)
    new, ids = [], []
    for file in files:
        row = known.get(file.url)
        if row is None:
            row = rows.media_row(work.new_id(), author.id, status.id, file, work.now, withheld=withheld)
            new.append(row)
        else:
            made = rows.media_row(row.id, author.id, status.id, file, work.now, withheld=withheld)
            if (row.description, row.meta.get("focus")) != (made.description, made.meta.get("focus")):
                row.description = made.description
                row.meta = row.meta | ({"focus": made.meta["focus"]} if "focus" in made.meta else {})
                await media.describe(work.db, row)
        ids.append(row.id)
    await store.add_media(work.db, new)
    return ids


async def _mention(work: Work, status: Status, named: list[AccountId]) -> list[AccountId]:
    """Members who are named no more keep what they could see; of nobody else is anything remembered.

    Those who are named for the first time are told.
    """
    before = set(await statuses.mentioned_in(work.db, status.id))
    gone = sorted(before.difference(named))
    if status.visibility in (PUBLIC, UNLISTED):
        members = []
    else:
        members = sorted(one.id for one in (await accounts.find_all(work.db, gone)).values() if one.is_local)
    await statuses.silence_mentions(work.db, status.id, members)
    await statuses.forget_mentions(work.db, status.id, sorted(set(gone).difference(members)))
    await statuses.mention(work.db, status.id, named)
    return [id for id in named if id not in before]


async def _retag(work: Work, status: Status, noted: dict[str, Tag]) -> None:
    now = {tag.id for tag in noted.values()}
    before = set(await tags.of_status(work.db, status.id))
    await tags.unlink(work.db, status.id, sorted(before - now))
    await tags.link(work.db, status.id, status.account_id, sorted(now - before))
    if status.visibility in (PUBLIC, UNLISTED):
        await tags.count_featured(work.db, status.account_id, sorted(before - now), -1)
        await tags.note_open_use(work.db, status.account_id, sorted(now - before), status.created_at)

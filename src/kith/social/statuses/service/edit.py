"""Editing: the status as it was is kept, with its media, and everybody who must know is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.work import Work
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId
from kith.social.media import service as media
from kith.social.media import store as media_store
from kith.social.statuses import polls, store
from kith.social.statuses.facts import StatusEdited
from kith.social.statuses.languages import is_language
from kith.social.statuses.service import wording
from kith.social.statuses.service.poll import PollDraft, check_poll
from kith.social.statuses.service.post import QuotePolicy
from kith.social.statuses.service.remove import hold
from kith.social.statuses.service.revisions import begin_history, keep_revision, snapshot
from kith.social.statuses.tables import PUBLIC, UNLISTED, Poll, Status
from kith.social.tags import store as tags


class Changes(msgspec.Struct, kw_only=True):
    """What is left out is gone, but for the language and who may quote."""

    status: str = ""
    spoiler_text: str = ""
    sensitive: bool | None = None
    language: str | None = None
    media_ids: list[int] = []
    poll: PollDraft | None = None
    quote_approval_policy: QuotePolicy | None = None


async def edit(
    work: Work, author: Account, status: Status, changes: Changes, descriptions: Mapping[int, media.MediaChange]
) -> Status:
    """`descriptions`: what is to be said otherwise of its media, by their ids."""
    text, spoiler = changes.status.strip(), changes.spoiler_text.strip()
    sensitive = bool(spoiler) or bool(changes.sensitive)
    if not text and spoiler and status.quoted_id is None:
        text, spoiler = spoiler, ""
    if not text and not changes.media_ids and status.quoted_id is None:
        raise Invalid(fields={"text": [Complaint("can't be blank", "blank")]})
    wording.check_length(text, spoiler)
    if changes.poll is not None:
        check_poll(changes.poll, has_end=status.poll_id is not None)
    understood = await wording.understand(work, author, text)
    attached = await media.claimable(work, author.id, changes.media_ids, status_id=status.id)
    await hold(work, status.id)
    found = await store.find(work.db, status.id)  # somebody may have edited or deleted it meanwhile
    if found is None or found.deleted_at is not None:
        raise NotFound
    status, before = found, await snapshot(work, found)
    described = await _describe(work, author, status, attached, descriptions)
    poll_changed, poll_id = await _change_poll(work, status, changes.poll)
    changed = _changed(status, changes, text, spoiler, sensitive, understood, attached, poll_id)
    if not changed and not poll_changed and not described:
        return status
    await begin_history(work, before)
    await media.attach(work, [id for id in attached if id not in status.media_ids], status.id)
    new = await _mention(work, status, understood)
    await _retag(work, status, understood)
    await store.change(work.db, status.id, {**changed, "edited_at": edited_at(work, status)})
    now = await store.find(work.db, status.id)
    assert now is not None  # noqa: S101 - it was changed just now
    await keep_revision(work, now, await snapshot(work, now, at_edit=True))
    work.announce(StatusEdited(status_id=status.id, account_id=author.id, new_mentions=tuple(new)))
    return now


def edited_at(work: Work, status: Status) -> datetime:
    """Now; and after what was told of the post before, even where the clock was set back since: other servers take
    what is older than that for no edit. They are told whole seconds."""
    latest = status.edited_at or status.created_at
    return work.now if work.now >= latest else latest + timedelta(seconds=1)


def _changed(
    status: Status,
    changes: Changes,
    text: str,
    spoiler: str,
    sensitive: bool,
    understood: wording.Wording,
    attached: list[int],
    poll_id: int | None,
) -> dict[str, Any]:
    wanted: dict[str, Any] = {
        "text": text,
        "content": understood.content,
        "spoiler_text": spoiler,
        "sensitive": sensitive,
        "media_ids": attached,
        "tag_names": list(understood.tags),
        "poll_id": poll_id,
    }
    if text != status.text:
        wanted["card_id"] = None
    if changes.language and is_language(changes.language):
        wanted["language"] = changes.language
    if changes.quote_approval_policy is not None and status.visibility in (PUBLIC, UNLISTED):
        wanted["quote_policy"] = changes.quote_approval_policy
    return {name: value for name, value in wanted.items() if getattr(status, name) != value}


async def _change_poll(work: Work, status: Status, draft: PollDraft | None) -> tuple[bool, int | None]:
    """Whether it is another poll now, and which."""
    if draft is None:
        if status.poll_id is not None:
            await polls.remove(work.db, status.poll_id)
        return status.poll_id is not None, None
    ends = work.now + timedelta(seconds=draft.expires_in)
    if status.poll_id is None:
        poll = Poll(
            id=work.new_id(),
            status_id=status.id,
            account_id=status.account_id,
            options=draft.options,
            tallies=[0] * len(draft.options),
            voters_count=0,
            multiple=draft.multiple,
            hide_totals=draft.hide_totals,
            expires_at=ends,
            ended_at=None,
            fetched_at=None,
        )
        await polls.insert(work.db, poll)
        return True, poll.id
    held = await polls.hold(work.db, status.poll_id)
    if held is None:
        return False, None
    reset = held.options != draft.options or held.multiple != draft.multiple
    is_other = reset or held.hide_totals != draft.hide_totals
    held.options, held.multiple, held.hide_totals = draft.options, draft.multiple, draft.hide_totals
    if draft.expires_in:
        held.expires_at = ends
    await polls.rewrite(work.db, held, reset=reset)
    return is_other, held.id


async def _describe(
    work: Work, author: Account, status: Status, attached: Sequence[int], descriptions: Mapping[int, media.MediaChange]
) -> bool:
    """Whether anything about them is other than before; apps send all of it whenever they edit.

    Only what plays may get a thumbnail, and that stands alone: so it is made before anything is written.
    """
    before = await media_store.of_ids(work.db, attached)
    described = False
    for was in before.values():
        new = descriptions.get(was.id)
        if new is None:
            continue
        if was.kind not in media.ALONE:
            new = msgspec.structs.replace(new, thumbnail=None)
        now = await media.change(work, author.id, was.id, new, status_id=status.id)
        is_other = (now.description, now.meta, now.preview) != (was.description, was.meta, was.preview)
        described = described or is_other
    return described


async def _mention(work: Work, status: Status, understood: wording.Wording) -> list[AccountId]:
    """Who is named no more keeps what they could see. Those who are named for the first time are told."""
    before = set(await store.mentioned_in(work.db, status.id))
    now = [one.id for one in understood.mentioned]
    await store.silence_mentions(work.db, status.id, sorted(before.difference(now)))
    await store.mention(work.db, status.id, now)
    return [id for id in now if id not in before]


async def _retag(work: Work, status: Status, understood: wording.Wording) -> None:
    noted = {tag.id for tag in await wording.note_tags(work, understood)}
    before = set(await tags.of_status(work.db, status.id))
    await tags.unlink(work.db, status.id, sorted(before - noted))
    await tags.link(work.db, status.id, status.account_id, sorted(noted - before))
    if status.visibility in (PUBLIC, UNLISTED):
        await tags.count_featured(work.db, status.account_id, sorted(before - noted), -1)
        await tags.note_open_use(work.db, status.account_id, sorted(noted - before), status.created_at)

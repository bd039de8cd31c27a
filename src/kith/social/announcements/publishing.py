"""What the team does with announcements, and what time does."""

from __future__ import annotations

from datetime import datetime

import msgspec

from kith.base.errors import Complaint, Invalid
from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.announcements import store
from kith.social.announcements.facts import AnnouncementDeleted, AnnouncementPublished
from kith.social.announcements.service import find
from kith.social.announcements.tables import Announcement
from kith.social.staff import Staff, record

LONGEST_TEXT = 5000
_TIMES = ("starts_at", "ends_at", "scheduled_at")


class AnnouncementDraft(msgspec.Struct, kw_only=True):
    """What is left out stays as it was; an empty time is none."""

    text: str | None = None
    all_day: bool | None = None
    starts_at: datetime | msgspec.UnsetType | None = msgspec.UNSET
    ends_at: datetime | msgspec.UnsetType | None = msgspec.UNSET
    scheduled_at: datetime | msgspec.UnsetType | None = msgspec.UNSET


class Sweep(msgspec.Struct):
    """Announcements whose time has come, or is over."""


async def create(work: Work, by: Staff, draft: AnnouncementDraft) -> Announcement:
    """Published at once unless it is scheduled for later."""
    new = _drafted(
        Announcement(work.new_id(), "", False, None, None, None, False, None, work.now, work.now), draft, work.now
    )
    await store.insert(work.db, new)
    await record(work, by, "create_announcement", announcement=_told(new))
    if new.scheduled_at is None or new.scheduled_at <= work.now:
        await _publish(work, new)
    _wait(work, new)
    return new


async def change(work: Work, by: Staff, id: int, draft: AnnouncementDraft) -> Announcement:
    before = await find(work, id)
    changed = _drafted(before, draft, work.now)
    if changed == before:
        return before
    changed.updated_at = work.now
    await store.change(work.db, changed)
    await record(work, by, "update_announcement", announcement=_told(changed), before=_told(before))
    if changed.published and not changed.is_over(work.now):
        work.announce(AnnouncementPublished(announcement_id=id))
    elif not changed.published and changed.scheduled_at is not None and changed.scheduled_at <= work.now:
        await _publish(work, changed)
    _wait(work, changed)
    return changed


async def publish(work: Work, by: Staff, id: int) -> Announcement:
    found = await find(work, id)
    if found.is_over(work.now):
        raise Invalid(fields={"ends_at": [Complaint("must be in the future")]})
    if not found.published:
        await _publish(work, found)
        await record(work, by, "publish_announcement", announcement=_told(found))
        _wait(work, found)
    return found


async def unpublish(work: Work, by: Staff, id: int) -> Announcement:
    found = await find(work, id)
    if found.published:
        await _withdraw(work, found)
        await record(work, by, "unpublish_announcement", announcement=_told(found))
    return found


async def remove(work: Work, by: Staff, id: int) -> None:
    found = await find(work, id)
    await store.remove(work.db, id)
    await record(work, by, "destroy_announcement", announcement=_told(found))
    work.announce(AnnouncementDeleted(announcement_id=id))


async def sweep(work: Work, _payload: Sweep) -> None:
    """Publish what is due, and withdraw what is over."""
    for one in await store.waiting(work.db, work.now):
        if one.published and one.is_over(work.now):
            await _withdraw(work, one)
        elif not one.published and not one.is_over(work.now):
            await _publish(work, one)
        elif not one.published:  # its end came before it was published
            await store.change(work.db, msgspec.structs.replace(one, scheduled_at=None))


def _drafted(before: Announcement, draft: AnnouncementDraft, now: datetime) -> Announcement:
    times = {name: at for name in _TIMES if (at := getattr(draft, name)) is not msgspec.UNSET}
    changed = msgspec.structs.replace(before, **times)
    if draft.text is not None or not before.text:
        changed.text = (draft.text or "").strip()
    if draft.all_day is not None:
        changed.all_day = draft.all_day
    _check(changed, now, times)
    return changed


def _check(one: Announcement, now: datetime, changed_times: dict[str, datetime | None]) -> None:
    wrong: dict[str, list[str]] = {}
    if not one.text:
        wrong["text"] = [Complaint("can't be blank", "blank")]
    elif len(one.text) > LONGEST_TEXT:
        wrong["text"] = [Complaint(f"is too long (maximum is {LONGEST_TEXT} characters)", "too_long")]
    if one.all_day:
        for name in ("starts_at", "ends_at"):
            if getattr(one, name) is None:
                wrong[name] = [Complaint("can't be blank", "blank")]
    if one.starts_at is not None and one.ends_at is not None and one.ends_at < one.starts_at:
        wrong["ends_at"] = [Complaint("must be after the beginning")]
    elif "ends_at" in changed_times and one.is_over(now):
        wrong["ends_at"] = [Complaint("must be in the future")]
    if wrong:
        raise Invalid(fields=wrong)


async def _publish(work: Work, one: Announcement) -> None:
    one.published, one.published_at, one.scheduled_at, one.updated_at = True, work.now, None, work.now
    await store.change(work.db, one)
    work.announce(AnnouncementPublished(announcement_id=one.id))


async def _withdraw(work: Work, one: Announcement) -> None:
    one.published, one.scheduled_at = False, None
    await store.change(work.db, one)
    work.announce(AnnouncementDeleted(announcement_id=one.id))


def _wait(work: Work, one: Announcement) -> None:
    """Look again when it is to be published, and when it ends."""
    for at in (one.scheduled_at, one.over_at):
        if at is not None and at > work.now:
            work.enqueue(SWEEP, Sweep(), at=at)


def _told(one: Announcement) -> dict[str, str]:
    return {"id": str(one.id), "text": one.text[:200]}


SWEEP: JobKind[Sweep] = JobKind(name="announcements.sweep", payload=Sweep, handler=sweep)

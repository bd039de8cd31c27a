"""What members do with announcements: read them, and react."""

from __future__ import annotations

from kith.base.caches import UntilWritten
from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.work import Work
from kith.social.announcements import store
from kith.social.announcements.facts import AnnouncementReacted
from kith.social.announcements.tables import Announcement
from kith.social.emojis.service import find_own
from kith.social.emojis.unicode_emojis import is_emoji
from kith.social.ids import AccountId

MOST_KINDS = 8  # of reactions to one announcement


async def find(work: Work, id: int) -> Announcement:
    found = await store.find(work.db, id)
    if found is None:
        raise NotFound
    return found


async def find_shown(work: Work, id: int) -> Announcement:
    found = await find(work, id)
    if not found.is_shown(work.now):
        raise NotFound
    return found


async def shown_to(work: Work, me: AccountId, *, with_read: bool) -> tuple[list[Announcement], set[int]]:
    """What is announced now, and which of it somebody has read."""
    found = [one for one in await _published(work) if one.is_shown(work.now)]
    read = await store.read_by(work.db, me) if found else set()
    return [one for one in found if with_read or one.id not in read], read


async def _published(work: Work) -> list[Announcement]:
    """Kept until somebody writes: every view of one's home asks."""

    def size(found: list[Announcement]) -> int:
        return 512 + sum(1024 + 4 * len(one.text) for one in found)

    kept = work.find(UntilWritten)
    return await kept.look_up(work.db, "announcements", lambda: store.published(work.db), size=size) or []


async def dismiss(work: Work, me: AccountId, id: int) -> None:
    await find_shown(work, id)
    await store.mark_read(work.db, id, me)


async def react(work: Work, me: AccountId, id: int, name: str) -> None:
    """Each person each emoji once."""
    await find_shown(work, id)
    if not is_emoji(name) and await find_own(work, name) is None:
        raise Invalid(fields={"name": [Complaint("is not a recognized emoji")]})
    await work.db.hold(f"announcement:{id}")
    used = await store.reaction_names(work.db, id)
    if name not in used and len(used) >= MOST_KINDS:
        raise Invalid(fields={"": [Complaint("Limit of different reactions reached", "too_many")]})
    if await store.react(work.db, id, me, name, reaction_id=work.new_id()):
        work.announce(AnnouncementReacted(announcement_id=id, name=name))


async def unreact(work: Work, me: AccountId, id: int, name: str) -> None:
    await find_shown(work, id)
    if not await store.unreact(work.db, id, me, name):
        raise NotFound
    work.announce(AnnouncementReacted(announcement_id=id, name=name))

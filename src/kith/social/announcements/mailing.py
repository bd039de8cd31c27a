"""An announcement on its way to everybody by mail, for what nobody may miss."""

from __future__ import annotations

import msgspec

from kith.base import mail_texts
from kith.base.errors import Complaint, Invalid
from kith.base.jobs import JobKind
from kith.base.mail_texts import MailText
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.announcements import store
from kith.social.announcements.service import find
from kith.social.announcements.tables import Announcement
from kith.social.staff import Staff, record

STRETCH = 200
ANNOUNCEMENT = MailText(
    name="announcement",
    subject="Announcement from {site}",
    body="""{text}

You receive this e-mail because you have an account at {site}.""",
    values={"text": "Tea at four in the garden."},
    needs=("text",),
)


class AnnouncementMail(msgspec.Struct):
    """The next people to be written to: after this one."""

    announcement_id: int
    after: int = 0


async def send(work: Work, by: Staff, id: int) -> Announcement:
    """Only what is published, and once."""
    by.check("manage_announcements")
    await work.db.begin()
    found = await find(work, id)
    if not found.is_shown(work.now):
        raise Invalid(fields={"base": [Complaint("must be published")]})
    if found.mailed_at is not None:
        raise Invalid(fields={"base": [Complaint("has already been sent")]})
    found.mailed_at = work.now
    await store.change(work.db, found)
    await record(work, by, "distribute_announcement", announcement={"id": str(id), "text": found.text})
    work.enqueue(MAIL_ON, AnnouncementMail(id), key=f"{id}:0")
    return found


async def mail_on(work: Work, job: AnnouncementMail) -> None:
    """A stretch of people at a time. One that is withdrawn meanwhile goes to nobody else."""
    found = await store.find(work.db, job.announcement_id)
    if found is None or not found.is_shown(work.now):
        return
    people = await identity.find_members(work, after=job.after, limit=STRETCH)
    for one in people:
        mail_texts.send(work, ANNOUNCEMENT, one.email, one.locale, text=found.text)
    if len(people) == STRETCH:
        after = people[-1].user_id
        work.enqueue(MAIL_ON, AnnouncementMail(found.id, after), key=f"{found.id}:{after}")


MAIL_ON: JobKind[AnnouncementMail] = JobKind(name="announcements.mail", payload=AnnouncementMail, handler=mail_on)

from __future__ import annotations

from datetime import timedelta

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.accounts import store as accounts
from kith.social.notification_emails import mails, service, store
from kith.social.notifications.facts import NotificationMade
from kith.social.statuses import store as statuses
from kith.social.statuses.filtering import NOTIFICATIONS, is_hidden

LATER = timedelta(minutes=2)


class NotificationMail(msgspec.Struct):
    notification_id: int


async def plan(work: Work, fact: NotificationMade) -> None:
    """A job for those who are to be written to; most people are here, and get none."""
    if fact.type not in service.TYPES:
        return
    told = await store.find(work.db, fact.notification_id)
    if told is not None and await service.is_wanted(work, told):
        work.enqueue(MAIL, NotificationMail(told.id), at=work.now + LATER)


async def mail(work: Work, job: NotificationMail) -> None:
    """Everything is looked up again: they may have come back, read it, or unsubscribed."""
    told = await store.find(work.db, job.notification_id)
    if told is None or not await service.is_wanted(work, told) or not await service.is_due(work, told):
        return
    sender = await accounts.find(work.db, told.from_id)
    person = await identity.find_person(work, told.user_id)
    if sender is None or sender.is_gone or person is None or not person.is_welcome:
        return
    status = None if told.status_id is None else await statuses.find_visible(work.db, told.status_id, told.account_id)
    if told.status_id is not None and (status is None or await is_hidden(work, told.account_id, status, NOTIFICATIONS)):
        return
    about = status or sender
    stop = f"{work.settings.base_url}/unsubscribe/{service.unsubscribe_key(work, told.account_id, told.type)}"
    mails.write(
        work,
        await identity.find_address(work, told.user_id),
        await identity.find_locale(work, told.user_id),
        told.type,
        sender,
        about.url or about.uri,
        stop,
    )


MAIL: JobKind[NotificationMail] = JobKind(name="notifications.mail", payload=NotificationMail, handler=mail)

"""Every mail of the identity half, listed by hand."""

from __future__ import annotations

from kith.base.mail_texts import MailText
from kith.identity.access_requests import mails as access_requests
from kith.identity.event_notifications.tasks import EVENT
from kith.identity.hints import service as hints
from kith.identity.lockdown import service as lockdown
from kith.identity.signups import mails as signups
from kith.identity.stages.kinds import email
from kith.identity.users import security_mails

__all__ = ["TEXTS"]

TEXTS: tuple[MailText, ...] = (
    *signups.TEXTS,
    *email.TEXTS,
    *security_mails.TEXTS,
    *hints.TEXTS,
    *lockdown.TEXTS,
    *access_requests.TEXTS,
    EVENT,
)

"""Mail is a job: asked for in the transaction of what it tells, sent later, tried again when it must be."""

from __future__ import annotations

from kith.base.jobs import Give, JobKind
from kith.base.mail import Mail, Mailer, MailRefused
from kith.base.mail_words import footer_of, with_footer
from kith.base.work import Work

__all__ = ["SEND_MAIL", "post"]


def post(work: Work, mail: Mail) -> None:
    """Have `mail` sent once this work is committed."""
    work.enqueue(SEND_MAIL, mail)


async def send(work: Work, mail: Mail) -> None:
    try:
        await work.find(Mailer).send(with_footer(mail, footer_of(work, mail)))  # type: ignore[type-abstract]
    except MailRefused as error:
        raise Give.up(str(error)) from error


SEND_MAIL: JobKind[Mail] = JobKind(
    name="mail.send", payload=Mail, handler=send, outside=True, concurrency=4, is_secret=True
)

"""Mails to the owner of an account about what others tried, at most one a day for each reason."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import bindparam

from kith.base.db import Instant, query, upsert
from kith.base.mail import Mail, MailRefused, checked_address
from kith.base.mailing import post
from kith.base.work import Work
from kith.identity.hints.tables import hints
from kith.identity.users.tables import User

EVERY = timedelta(days=1)

_new = upsert(hints).values(
    user_id=bindparam("user"), kind=bindparam("which"), sent_at=bindparam("now", type_=Instant())
)
# If several requests come at once, only one of them updates the row.
_due = query(
    _new.on_conflict_do_update(
        index_elements=[hints.c.user_id, hints.c.kind],
        set_={"sent_at": _new.excluded.sent_at},
        where=hints.c.sent_at <= bindparam("before", type_=Instant()),
    ).returning(hints.c.user_id),
    int,
)


async def tell_app_password(work: Work, user: User) -> None:
    """A program sent the right password of somebody with a second factor, and was refused."""
    title = work.settings.title
    await _tell(
        work,
        user,
        "app_password",
        f"{title}: an app needs an app password",
        [
            f"An app tried to sign in to {title} with the password of your account {user.username}.",
            "It was denied access.",
            "Your account uses two-factor sign-in, which apps cannot do with a password.",
            "If this was you, create an app password for the app here:",
            f"{work.settings.base_url}/settings/security",
            "If this was not you, somebody else knows your password. Please change it on the same page.",
        ],
    )


async def tell_address_tried(work: Work, owner: User) -> None:
    """Somebody signed up with an address that belongs to this account."""
    title = work.settings.title
    await _tell(
        work,
        owner,
        "address_tried",
        f"{title}: somebody used your e-mail address",
        [
            f"Somebody entered this e-mail address as their own at {title}.",
            f"It belongs to your account {owner.username}. Nothing has changed.",
            "If this was you, sign in with that account, or reset your password if you have forgotten it:",
            f"{work.settings.base_url}/flows/-/default/authentication/",
            "If this was not you, you can ignore this e-mail.",
        ],
    )


async def _tell(work: Work, user: User, kind: str, subject: str, words: list[str]) -> None:
    if not _may_get_mail(user):
        return
    if await work.db.one(_due, user=user.id, which=kind, now=work.now, before=work.now - EVERY) is not None:
        post(work, Mail(to=user.email, subject=subject, text="\n\n".join(words) + "\n"))


def _may_get_mail(user: User) -> bool:
    """Only a confirmed address gets such mails."""
    try:
        return bool(checked_address(user.counted_email))
    except MailRefused:
        return False

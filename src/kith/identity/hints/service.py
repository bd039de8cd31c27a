"""Mails to the owner of an account about what others tried, at most one a day for each reason."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import bindparam

from kith.base.db import Instant, query, upsert
from kith.base.mail import MailRefused, checked_address
from kith.base.mail_texts import MailText, send
from kith.base.work import Work
from kith.identity.hints.tables import hints
from kith.identity.users.tables import User

EVERY = timedelta(days=1)

APP_PASSWORD = MailText(
    name="app_password",
    subject="{site}: an app needs an app password",
    body="""An app tried to sign in to {site} with the password of your account {name}.

It was denied access.

Your account uses two-factor sign-in, which apps cannot do with a password.

If this was you, create an app password for the app here:

{link}

If this was not you, somebody else knows your password. Please change it on the same page.""",
    values={"name": "ada", "link": "https://our.example/settings/security"},
)
ADDRESS_TRIED = MailText(
    name="address_tried",
    subject="{site}: somebody used your e-mail address",
    body="""Somebody entered this e-mail address as their own at {site}.

It belongs to your account {name}. Nothing has changed.

If this was you, sign in with that account, or reset your password if you have forgotten it:

{link}

If this was not you, you can ignore this e-mail.""",
    values={"name": "ada", "link": "https://our.example/flows/-/default/authentication/"},
)
TEXTS = (APP_PASSWORD, ADDRESS_TRIED)

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
    await _tell(work, user, APP_PASSWORD, f"{work.settings.base_url}/settings/security")


async def tell_address_tried(work: Work, owner: User) -> None:
    """Somebody signed up with an address that belongs to this account."""
    await _tell(work, owner, ADDRESS_TRIED, f"{work.settings.base_url}/flows/-/default/authentication/")


async def _tell(work: Work, user: User, text: MailText, link: str) -> None:
    if not _may_get_mail(user):
        return
    if await work.db.one(_due, user=user.id, which=text.name, now=work.now, before=work.now - EVERY) is not None:
        send(work, text, user.email, user.locale, name=user.username, link=link)


def _may_get_mail(user: User) -> bool:
    """Only a confirmed address gets such mails."""
    try:
        return bool(checked_address(user.counted_email))
    except MailRefused:
        return False

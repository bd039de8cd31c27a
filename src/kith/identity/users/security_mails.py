"""A mail to somebody whose account has changed in a way that a thief would want it to change."""

from __future__ import annotations

from kith.base.mail_texts import MailText, send
from kith.base.work import Work
from kith.identity.users.tables import User

__all__ = [
    "ADDRESS_ASKED",
    "ADDRESS_CHANGED",
    "FACTOR_ADDED",
    "FACTOR_REMOVED",
    "FACTOR_TAKEN",
    "PASSWORD_CHANGED",
    "tell",
]

_SUBJECT = "{site}: your account was changed"
_FACTOR = {"factor": "Telephone"}


def _text(name: str, what: str, more: dict[str, str] | None = None) -> MailText:
    return MailText(
        name=name,
        subject=_SUBJECT,
        body=f"""Hello {{name}},

{what}

When: {{when}} UTC
From: {{where}}

If this was you, you do not need to do anything. If it was not you, somebody else may have access to your account. \
End their sessions and change your password here, or ask the administrators of the server for help:

{{link}}""",
        values={
            "name": "ada",
            "when": "2026-11-17 12:30",
            "where": "192.0.2.7",
            "link": "https://our.example/settings/security",
            **(more or {}),
        },
    )


PASSWORD_CHANGED = _text("password_changed", "The password of your account was changed.")
ADDRESS_CHANGED = _text("address_changed", "The e-mail address of your account was changed.")
ADDRESS_ASKED = _text(
    "address_asked",
    "Another e-mail address was asked for in your account: {address}. It counts once the link sent to it is opened.",
    {"address": "new@our.example"},
)
FACTOR_ADDED = _text("factor_added", "A sign-in method was added to your account: {factor}.", _FACTOR)
FACTOR_REMOVED = _text("factor_removed", "A sign-in method was removed from your account: {factor}.", _FACTOR)
FACTOR_TAKEN = MailText(
    name="factor_taken",
    subject=_SUBJECT,
    body="""Hello {name},

The people who run {site} removed a sign-in method from your account: {factor}. You are signed out everywhere.

When: {when} UTC

If you did not ask for this, please ask them: {contact}

You can set up a new one here: {link}""",
    values={
        "name": "ada",
        "when": "2026-11-17 12:30",
        "contact": "https://our.example/about",
        "link": "https://our.example/settings/security",
        **_FACTOR,
    },
)
TEXTS = (PASSWORD_CHANGED, ADDRESS_CHANGED, ADDRESS_ASKED, FACTOR_ADDED, FACTOR_REMOVED, FACTOR_TAKEN)


def tell(work: Work, text: MailText, user: User, *, to: str | None = None, factor: str = "", address: str = "") -> None:
    """Sent with the change and never without it; whoever gave no address gets none.

    `to`: the address that was theirs before, where that has changed.
    """
    settings = work.settings
    send(
        work,
        text,
        user.counted_email if to is None else to,
        user.locale,
        name=user.username,
        factor=factor,
        address=address,
        when=work.now.strftime("%Y-%m-%d %H:%M"),
        where=work.origin.address or settings.web_domain,
        contact=f"{settings.base_url}/about",
        link=f"{settings.base_url}/settings/security",
    )

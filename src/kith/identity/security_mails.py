"""A mail to somebody whose account has changed in a way that a thief would want it to change."""

from __future__ import annotations

from kith.base.mail import Mail
from kith.base.mailing import post
from kith.base.work import Work

_TEXT = """Hello {name},

{what}

When: {when} UTC
From: {where}

If this was you, you do not need to do anything. If it was not you, somebody else may have access to your account.
End their sessions and change your password here, or ask the administrators of the server for help:

{link}
"""


def tell(work: Work, email: str, username: str, what: str) -> None:
    """Sent with the change and never without it; whoever gave no address gets none."""
    if not email:
        return
    settings = work.settings
    text = _TEXT.format(
        name=username,
        what=what,
        when=work.now.strftime("%Y-%m-%d %H:%M"),
        where=work.origin.address or "the server",
        link=f"{settings.base_url}/settings/security",
    )
    post(work, Mail(to=email, subject=f"{settings.title}: your account was changed", text=text))

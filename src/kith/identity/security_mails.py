"""A mail to somebody whose account has changed in a way that a thief would want it to change."""

from __future__ import annotations

from kith.base.mail import Mail
from kith.base.mailing import post
from kith.base.work import Work

_TEXT = """Hello {name},

{what}

When: {when} UTC
From: {where}

If this was you, there is nothing to do. If it was not, somebody else may have got into your account:
end their sessions and choose a new password here, or ask the people who run the server for help.

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
        where=work.origin.address or "the server itself",
        link=f"{settings.base_url}/settings/security",
    )
    post(work, Mail(to=email, subject=f"{settings.title}: your account was changed", text=text))

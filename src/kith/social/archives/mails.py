"""The mail to somebody whose archive is ready."""

from __future__ import annotations

from datetime import datetime

from kith.base.mail_texts import MailText, send
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.accounts.tables import Account

__all__ = ["READY", "tell_ready"]

PAGE = "/settings/export"  # which says so when its time is over
READY = MailText(
    name="archive_ready",
    subject="{site}: your archive is ready",
    body="""Hello {name},

the archive of your account that you asked for is ready ({size}). Download it here until {until} UTC:

{link}

Then it is deleted, and you can ask for a new one.""",
    values={
        "name": "ada",
        "size": "12 MB",
        "until": "2026-11-24 12:30",
        "link": f"https://our.example{PAGE}",
    },
    needs=("link",),
)


async def tell_ready(work: Work, owner: Account, *, size: int, until: datetime) -> None:
    """Only to an address that counts as theirs: the archive holds what nobody else may read."""
    if owner.user_id is None:
        return
    send(
        work,
        READY,
        await identity.find_address(work, owner.user_id),
        await identity.find_locale(work, owner.user_id),
        name=owner.username,
        size=_human(size),
        until=f"{until:%Y-%m-%d %H:%M}",
        link=f"{work.settings.base_url}{PAGE}",
    )


def _human(size: int) -> str:
    return f"{size / (1 << 20):.1f} MB" if size >= 1 << 20 else f"{max(1, size >> 10)} KB"

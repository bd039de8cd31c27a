"""What such a mail says, in the language of its reader."""

from __future__ import annotations

from kith.base.mail_texts import MailText, send
from kith.base.work import Work
from kith.social.accounts.tables import Account
from kith.social.notifications.titles import title_of

__all__ = ["NOTIFICATION", "write"]

NOTIFICATION = MailText(
    name="notification",
    subject="{title}",
    body="""{what}

Open {site}: {link}

You receive this e-mail because of your settings for notifications at {site}.

No more e-mails like this: {unsubscribe}""",
    values={
        "title": "Bob followed you",
        "what": "Bob (@bob@far.example) followed you",
        "link": "https://our.example/@ada",
        "unsubscribe": "https://our.example/unsubscribe/key",
    },
    needs=("unsubscribe",),
)


def write(work: Work, to: str, locale: str, type: str, sender: Account, url: str, unsubscribe: str) -> None:
    """Whoever has no address that can be written to gets none."""
    name = f"{sender.display_name or sender.username} (@{sender.acct})"
    send(
        work,
        NOTIFICATION,
        to,
        locale,
        {"List-Unsubscribe": f"<{unsubscribe}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"},
        title=title_of(type, sender.display_name or sender.username, locale),
        what=title_of(type, name, locale),
        link=url,
        unsubscribe=unsubscribe,
    )

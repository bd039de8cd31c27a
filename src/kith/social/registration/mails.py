"""What new members are written, in their language."""

from __future__ import annotations

from kith.base.mail_texts import MailText, send
from kith.base.work import Work
from kith.social.accounts.tables import Account

__all__ = ["WELCOME", "welcome"]

WELCOME = MailText(
    name="welcome",
    subject="Welcome to {site}",
    body="""Welcome to {site}!

Your address here is {handle}. Give it to your friends: they can follow you from any server.

Add a picture and a few words about yourself, so that people know who you are: {profile}

You can use any app for Mastodon. Where it asks for your server, enter {domain}.

Then introduce yourself with your first post, and follow people and hashtags that interest you.

These are the rules of {site}: {rules}""",
    values={
        "name": "ada",
        "handle": "@ada@our.example",
        "domain": "our.example",
        "profile": "https://our.example/settings/profile",
        "rules": "https://our.example/about",
    },
)


def welcome(work: Work, to: str, locale: str, account: Account) -> None:
    """Whoever has no address that can be written to gets none."""
    settings = work.settings
    send(
        work,
        WELCOME,
        to,
        locale,
        name=account.username,
        handle=f"@{account.username}@{settings.domain}",
        domain=settings.domain,
        profile=f"{settings.base_url}/settings/profile",
        rules=f"{settings.base_url}/about",
    )

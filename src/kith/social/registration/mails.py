"""What new members are written, in their language."""

from __future__ import annotations

from html import escape

from kith.base.languages import LANGUAGES
from kith.base.mail import Mail, MailRefused, checked_address
from kith.base.mailing import post
from kith.base.work import Work
from kith.social.accounts.tables import Account
from kith.social.languages import language

SUBJECT = "Welcome to {site}"
NAME = "Your address here is {handle}. Give it to your friends: they can follow you from any server."
PROFILE = "Add a picture and a few words about yourself, so that people know who you are: {url}"
APPS = "You can use any app for Mastodon. Where it asks for your server, enter {domain}."
POST = "Then introduce yourself with your first post, and follow people and hashtags that interest you."
RULES = "These are the rules of {site}: {url}"
TEXTS = (SUBJECT, NAME, PROFILE, APPS, POST, RULES)


def welcome(work: Work, to: str, locale: str, account: Account) -> None:
    """Whoever has no address that can be written to gets none."""
    try:
        checked_address(to)
    except MailRefused:
        return
    code = locale.lower().partition("-")[0]
    code = code if code in LANGUAGES else "en"
    say = language(code).catalogue.translate
    settings = work.settings
    profile, rules = f"{settings.base_url}/settings/profile", f"{settings.base_url}/about"
    subject = say(SUBJECT).format(site=settings.title)
    lines = [
        f"{subject}!",
        say(NAME).format(handle=f"@{account.username}@{settings.domain}"),
        say(PROFILE).format(url=profile),
        say(APPS).format(domain=settings.domain),
        say(POST),
        say(RULES).format(site=settings.title, url=rules),
    ]
    html = "".join(f"<p>{_linked(line, (profile, rules))}</p>" for line in lines)
    body = f'<!doctype html><html lang="{code}"><body>{html}</body></html>'
    post(work, Mail(to=to, subject=subject, text="\n\n".join(lines) + "\n", html=body))


def _linked(line: str, urls: tuple[str, ...]) -> str:
    shown = escape(line)
    for url in urls:
        shown = shown.replace(escape(url), f'<a href="{escape(url)}">{escape(url)}</a>')
    return shown

"""What such a mail says, in the language of its reader."""

from __future__ import annotations

from html import escape

from kith.base.languages import LANGUAGES
from kith.base.mail import Mail, MailRefused, checked_address
from kith.base.mailing import post
from kith.base.work import Work
from kith.social.accounts.tables import Account
from kith.social.languages import language
from kith.social.notifications.titles import title_of

OPEN = "Open {site}: {url}"
WHY = "You receive this e-mail because of your settings for notifications at {site}."
STOP = "No more e-mails like this: {url}"
TEXTS = (OPEN, WHY, STOP)


def write(work: Work, to: str, locale: str, type: str, sender: Account, url: str, unsubscribe: str) -> None:
    """Whoever has no address that can be written to gets none."""
    try:
        checked_address(to)
    except MailRefused:
        return
    code = locale.lower().partition("-")[0]
    say = language(code if code in LANGUAGES else "en").catalogue.translate
    site = work.settings.title
    name = f"{sender.display_name or sender.username} (@{sender.acct})"
    subject = title_of(type, sender.display_name or sender.username, locale)
    lines = [
        title_of(type, name, locale),
        say(OPEN).format(site=site, url=url),
        say(WHY).format(site=site),
        say(STOP).format(url=unsubscribe),
    ]
    html = "".join(f"<p>{_linked(line, (url, unsubscribe))}</p>" for line in lines)
    headers = {"List-Unsubscribe": f"<{unsubscribe}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
    body = f'<!doctype html><html lang="{code or "en"}"><body>{html}</body></html>'
    post(work, Mail(to=to, subject=subject, text="\n\n".join(lines) + "\n", html=body, headers=headers))


def _linked(line: str, urls: tuple[str, ...]) -> str:
    shown = escape(line)
    for url in urls:
        shown = shown.replace(escape(url), f'<a href="{escape(url)}">{escape(url)}</a>')
    return shown

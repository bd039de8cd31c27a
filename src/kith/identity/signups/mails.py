"""The mails about new accounts."""

from __future__ import annotations

from html import escape

from kith.base.mail import Mail, MailRefused, checked_address
from kith.base.mailing import post
from kith.base.work import Work


def write(work: Work, to: str, subject: str, words: list[str], *, link: tuple[str, str] | None = None) -> None:
    """Enqueue a short mail with paragraphs and a link; nothing for a person without an address."""
    if not _is_address(to):
        return
    name, url = link or ("", "")
    pressed = [f"{name}:\n{url}"] if link else []
    marked = [f'<p><a href="{escape(url)}">{escape(name)}</a></p>'] if link else []
    paragraphs = [f"<p>{escape(line)}</p>" for line in words]
    post(
        work,
        Mail(
            to=to,
            subject=subject,
            text="\n\n".join([words[0], *pressed, *words[1:]]) + "\n",
            html=f"<!doctype html><html><body>{''.join([paragraphs[0], *marked, *paragraphs[1:]])}</body></html>",
        ),
    )


def _is_address(text: str) -> bool:
    try:
        return bool(checked_address(text))
    except MailRefused:
        return False

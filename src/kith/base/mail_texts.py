"""The texts of our mails: as they are shipped, in each language, and as the team has written them instead.

`{name}` stands for a value; nothing else in a text means anything. A paragraph is left out where a value in it is
empty. What the team has written is kept with the stored settings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

import msgspec

from kith.base.catalogues import catalogue
from kith.base.languages import first_known
from kith.base.mail import Mail, MailRefused, checked_address
from kith.base.mail_words import names_page
from kith.base.mailing import post
from kith.base.work import Work

__all__ = [
    "STORED", "UNITS", "MailText", "WrittenMail", "filled_in", "find_leaks", "own_texts", "send", "shipped", "spoken",
    "write",
]  # fmt: skip

STORED = "mail_texts"
LONGEST_SUBJECT = 200
PLACE = re.compile(r"\{([a-z]{1,20})\}")
BRACE = re.compile(r"\{([a-z]{1,20})\}|[{}]")  # the same, or one that belongs to nothing
# How long something lasts, in words.
UNITS: dict[str, tuple[str, str]] = {
    unit: (f"{{count}} {unit[:-1]}", f"{{count}} {unit}")
    for unit in ("seconds", "minutes", "hours", "days", "weeks", "months", "years")
}


class MailText(msgspec.Struct, frozen=True, kw_only=True):
    """`values`: what stands in braces besides `{site}`, with an example of each. `needs`: what the body cannot lack.

    Values whose example is a link are links, and no others. `keys`: values that let in whoever has them. Each stands
    alone on its line, so that no other address can hold it, and no other value names a page.
    """

    name: str
    subject: str
    body: str
    values: dict[str, str]
    needs: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()

    @property
    def examples(self) -> dict[str, str]:
        return {"site": "Our place", **self.values}


class WrittenMail(msgspec.Struct, frozen=True):
    subject: str
    text: str
    html: str
    holds_key: bool = False


def language_for(locale: str) -> str:
    return first_known([locale]) or "en"


def shipped(text: MailText, language: str) -> tuple[str, str]:
    """Subject and body as they come with Kith."""
    say = catalogue("mails", language).translate
    return say(text.subject), say(text.body)


def own_texts(work: Work, name: str) -> Mapping[str, Any]:
    """What the team has written for this mail, by language."""
    texts = work.stored.get(STORED)
    found = texts.get(name) if isinstance(texts, dict) else None
    return found if isinstance(found, dict) else {}


def write(work: Work, text: MailText, locale: str, /, **values: str) -> WrittenMail:
    """The mail in its reader's language."""
    language = language_for(locale)
    subject, body = shipped(text, language)
    own = own_texts(work, text.name).get(language)
    if isinstance(own, dict) and not any(find_leaks(text, own["subject"], own["body"])):
        subject, body = str(own["subject"]), str(own["body"])
    return filled_in(text, subject, body, {"site": work.settings.title, **values}, language)


def find_leaks(text: MailText, subject: str, body: str) -> Iterator[tuple[str, str]]:
    """Where words would show a key to somebody else: the field and the key, or "" where they name pages of others."""
    for key in text.keys:
        place = f"{{{key}}}"
        if place in subject:
            yield "subject", key
        if any(place in line and line.strip() != place for line in body.split("\n")):
            yield "body", key
    for field, words in (("subject", subject), ("body", body)):
        if text.keys and names_page(words):
            yield field, ""


def filled_in(text: MailText, subject: str, body: str, values: Mapping[str, str], language: str) -> WrittenMail:
    named = {name for name, example in text.values.items() if _is_link(example)}
    if text.keys:
        values = {name: value if name in named else _without_pages(value) for name, value in values.items()}
    paragraphs = list(_paragraphs(body, values))
    links = sorted((one for name, one in values.items() if name in named and _is_link(one)), key=len, reverse=True)
    shown = "".join(f"<p>{_marked_up(one, links)}</p>" for one in paragraphs)
    return WrittenMail(
        " ".join(_filled(subject, values).split())[:LONGEST_SUBJECT],
        "\n\n".join(paragraphs) + "\n",
        f'<!doctype html><html lang="{language}"><body>{shown}</body></html>',
        holds_key=bool(text.keys),
    )


def _without_pages(value: str) -> str:
    return " ".join(re.sub(r"[./:]+", " ", value).split()) if names_page(value) else value


def _paragraphs(body: str, values: Mapping[str, str]) -> Iterator[str]:
    for part in re.split(r"\n{2,}", body.replace("\r\n", "\n").strip()):
        if all(values.get(found[1], "-") for found in PLACE.finditer(part)):
            yield _filled(part, values).strip()


def _filled(text: str, values: Mapping[str, str]) -> str:
    """In one pass: what a value holds is not looked at again."""
    return PLACE.sub(lambda found: values.get(found[1], found[0]), text)


def _is_link(text: str) -> bool:
    return text.startswith(("https://", "http://")) and not any(letter.isspace() for letter in text)


def _marked_up(paragraph: str, links: list[str]) -> str:
    pattern = "|".join(re.escape(escape(link)) for link in links)
    shown = escape(paragraph)
    if pattern:
        shown = re.sub(pattern, lambda found: f'<a href="{found[0]}">{found[0]}</a>', shown)
    return shown.replace("\n", "<br>")


def send(
    work: Work, text: MailText, to: str, locale: str, headers: Mapping[str, str] | None = None, /, **values: str
) -> None:
    """Whoever has no address that can be written to gets none."""
    try:
        checked_address(to)
    except MailRefused:
        return
    made, more = write(work, text, locale, **values), dict(headers or {})
    subject = f"Re: {made.subject}" if "In-Reply-To" in more else made.subject
    post(work, Mail(to=to, subject=subject, text=made.text, html=made.html, headers=more, holds_key=made.holds_key))


def spoken(locale: str, unit: str, count: int) -> str:
    """`3 days`."""
    one, many = UNITS[unit]
    return catalogue("mails", language_for(locale)).translate_count(one, many, count).replace("{count}", str(count))

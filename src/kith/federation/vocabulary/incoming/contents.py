"""What a post says: its text, its title, its warning and its language."""

from __future__ import annotations

from html import escape

import msgspec

from kith.federation.vocabulary.incoming import limits
from kith.federation.vocabulary.incoming.fields import read_map, read_text
from kith.federation.vocabulary.incoming.parsing import Document

__all__ = ["IncomingContent", "read_content"]


class IncomingContent(msgspec.Struct, frozen=True):
    """`html` is what was sent, uncleaned; `title` is plain text, `warning` too."""

    html: str
    title: str
    warning: str
    language: str | None


def read_content(document: Document, converted_to: str | None = None) -> IncomingContent:
    """`converted_to`: the page of something that is no post, of which title, summary and that link are shown."""
    html, language = _by_language(document, "content")
    title, title_language = _by_language(document, "name")
    summary, summary_language = _by_language(document, "summary")
    title = title[: limits.NAME_LENGTH]
    if converted_to is None:
        return IncomingContent(html, title, summary, language)
    return IncomingContent(
        _converted(title, summary, converted_to), title, "", language or title_language or summary_language
    )


def _by_language(document: Document, name: str) -> tuple[str, str | None]:
    """The plain field, with the language that the map has for it; else the first of the map."""
    text = read_text(document.get(name))
    found, language = read_map(document.get(f"{name}Map"), text)
    return text or found, language


def _converted(title: str, summary: str, page: str) -> str:
    parts = [f"<h2>{escape(title)}</h2>"] if title else []
    if summary:
        parts.append(summary)
    parts.append(f'<p><a href="{escape(page)}">{escape(page)}</a></p>')
    return "\n\n".join(parts)

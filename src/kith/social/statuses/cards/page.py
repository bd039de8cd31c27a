"""What a web page says about itself: in OpenGraph, for Twitter, in JSON-LD, in HTML, and where it offers oEmbed."""

from __future__ import annotations

import codecs
import re
from datetime import UTC, datetime
from html import escape
from urllib.parse import urljoin, urlsplit

import msgspec
from selectolax.lexbor import LexborHTMLParser

from kith.social.statuses.cards.linked import Linked, read_linked

__all__ = ["Page", "clean_embed", "first_link", "is_web", "player", "read_page"]

LONGEST_TITLE, LONGEST_TEXT, LONGEST_NAME, LONGEST_URL = 500, 1500, 200, 2048
MOST_PIXELS = 10_000
SANDBOX = "allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-forms"
_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([a-z0-9_:-]{2,40})""", re.IGNORECASE)
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,3}")
_SPACES = re.compile(r"[\s\x00-\x1f\x7f]+")


class Page(msgspec.Struct):
    """Plain text and sound addresses; what the page does not say is empty."""

    title: str = ""
    description: str = ""
    image: str = ""
    image_description: str = ""
    provider_name: str = ""
    provider_url: str = ""
    author_name: str = ""
    author_url: str = ""
    published_at: datetime | None = None
    language: str | None = None
    embed: str = ""
    width: int = 0
    height: int = 0
    oembed: str = ""
    creator: str = ""


def first_link(content: str, is_ours: tuple[str, ...]) -> str | None:
    """The first link of a post that is neither a mention nor a tag, nor leads back here."""
    for link in LexborHTMLParser(content).css("a[href]"):
        words = f"{link.attributes.get('class') or ''} {link.attributes.get('rel') or ''}".split()
        url = (link.attributes.get("href") or "").strip()
        if {"mention", "hashtag", "u-url", "tag"}.intersection(words) or not is_web(url):
            continue
        if not f"{url.rstrip('/')}/".lower().startswith(is_ours):
            return url
    return None


def is_web(url: str) -> bool:
    if len(url) > LONGEST_URL or not url.lower().startswith(("http://", "https://")):
        return False
    try:
        return bool(urlsplit(url).hostname)
    except ValueError:
        return False


def read_page(body: bytes, charset: str, url: str) -> Page:
    """`url` is where the page was found, for addresses that are only part of one."""
    tree = LexborHTMLParser(_decoded(body, charset))
    said: dict[str, str] = {}
    for meta in tree.css("meta[content]"):
        name = meta.attributes.get("property") or meta.attributes.get("name") or ""
        said.setdefault(name.strip().lower(), meta.attributes.get("content") or "")

    def text(most: int, *names: str) -> str:
        return next((found for name in names if (found := plain_line(said.get(name, ""), most))), "")

    def address(*names: str) -> str:
        return next((found for name in names if (found := _address(said.get(name, ""), url))), "")

    title, linked = tree.css_first("title"), read_linked(tree)
    page = Page(
        title=text(LONGEST_TITLE, "og:title", "twitter:title")
        or plain_line(linked.title, LONGEST_TITLE)
        or plain_line(title.text() if title else "", LONGEST_TITLE),
        description=text(LONGEST_TEXT, "og:description", "twitter:description", "description")
        or plain_line(linked.description, LONGEST_TEXT),
        image=address("og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src")
        or _address(linked.image, url),
        image_description=text(LONGEST_TEXT, "og:image:alt", "twitter:image:alt"),
        provider_name=text(LONGEST_NAME, "og:site_name", "application-name")
        or plain_line(linked.publisher, LONGEST_NAME),
        provider_url=_site(said.get("og:site", "")),
        author_name=text(LONGEST_NAME, "author", "article:author:name"),
        published_at=_moment(said.get("article:published_time", "")) or _moment(linked.published_at),
        language=_language(tree, said, linked),
        embed=address("twitter:player"),
        width=pixels(said.get("twitter:player:width")),
        height=pixels(said.get("twitter:player:height")),
        oembed=_oembed(tree, url),
        creator=text(LONGEST_NAME, "fediverse:creator"),
    )
    author = plain_line(said.get("article:author", ""), LONGEST_URL)
    if is_web(author):
        page.author_url = author
    elif author and not page.author_name:
        page.author_name = author[:LONGEST_NAME]
    page.author_name = page.author_name or plain_line(linked.author_name, LONGEST_NAME)
    page.author_url = page.author_url or _address(linked.author_url, url)
    return page


def _decoded(body: bytes, charset: str) -> str:
    found = _CHARSET.search(body[:2048])
    for name in (charset, found.group(1).decode("ascii") if found else "", "utf-8"):
        try:
            codec = codecs.lookup(name) if name else None
        except (LookupError, ValueError):
            continue
        if codec is not None and getattr(codec, "_is_text_encoding", True):
            return body.decode(name, "replace")
    return body.decode("utf-8", "replace")


def plain_line(text: object, most: int) -> str:
    return _SPACES.sub(" ", text).strip()[:most] if isinstance(text, str) else ""


def _address(given: str, base: str) -> str:
    given = given.strip()
    if not given or len(given) > LONGEST_URL:
        return ""
    try:
        url = urljoin(base, given)
    except ValueError:
        return ""
    return url if is_web(url) else ""


def _site(given: str) -> str:
    """A site's address, or its name alone."""
    given = given.strip()
    url = given if "://" in given or not given else f"https://{given}"
    return url if is_web(url) and not _SPACES.search(url) else ""


def pixels(given: object) -> int:
    text = str(given).strip() if isinstance(given, (str, int)) else ""
    return min(int(text), MOST_PIXELS) if text.isascii() and text.isdigit() and len(text) < 9 else 0


def _moment(given: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(given.strip())
    except ValueError:
        return None
    try:
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except OverflowError:
        return None


def _language(tree: LexborHTMLParser, said: dict[str, str], linked: Linked) -> str | None:
    root = tree.css_first("html")
    given = (root.attributes.get("lang") if root else None) or said.get("og:locale") or linked.language
    given = given.replace("_", "-")
    return given if given and _LANGUAGE.fullmatch(given) else None


def _oembed(tree: LexborHTMLParser, url: str) -> str:
    found = tree.css_first('link[type="application/json+oembed"][href]')
    return "" if found is None else _address(found.attributes.get("href") or "", url)


def clean_embed(html: str) -> str:
    """The one frame in what a page offers to embed, made anew; nothing else of it is kept."""
    found = LexborHTMLParser(html).css_first("iframe[src]")
    if found is None:
        return ""
    width, height = pixels(found.attributes.get("width")), pixels(found.attributes.get("height"))
    return player(found.attributes.get("src") or "", width, height)


def player(url: str, width: int, height: int) -> str:
    """A frame for a player elsewhere, which may do nothing here."""
    if not url.lower().startswith("https://") or not is_web(url):
        return ""
    return (
        f'<iframe src="{escape(url)}" width="{width}" height="{height}" allowfullscreen="true" '
        f'frameborder="0" scrolling="no" sandbox="{SANDBOX}"></iframe>'
    )

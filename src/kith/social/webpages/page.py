"""What a web page says about itself: in OpenGraph, for Twitter, in JSON-LD, in HTML, and where it offers oEmbed.

Building the tree of a page costs the square of its depth, and of the number of an element's attributes; so this runs
only in a process that can be ended, and a page is cut where it gets too deep to be honest.
"""

from __future__ import annotations

import codecs
import re

from selectolax.lexbor import LexborHTMLParser

from kith.social.webpages.linked import Linked, read_linked
from kith.social.webpages.page_facts import PageFacts
from kith.social.webpages.values import (
    LONGEST_NAME,
    LONGEST_TEXT,
    LONGEST_TITLE,
    LONGEST_URL,
    address,
    is_web,
    moment,
    pixels,
    plain_line,
    site,
)

__all__ = ["PageFacts", "read_page", "shallow"]

MOST_DEPTH = 1000
_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([a-z0-9_:-]{2,40})""", re.IGNORECASE)
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,3}")
# Of elements that hold others and are not closed by the next of their kind.
_NESTING = re.compile(
    r"<(/?)(?!(?:area|base|body|br|col|dd|dt|embed|head|hr|html|img|input|li|link|meta|option|p|source|t[dhr]|track|wbr)\b)[a-z]",
    re.IGNORECASE,
)
# Those that pages are written in, by the names that Python has for them, and that cost no more than their length.
_CHARSETS = frozenset(
    ["ascii", "big5", "big5hkscs", "cp866", "cp874", "cp932", "cp949", "euc_jp", "euc_kr", "gb18030", "gb2312", "gbk",
     "iso2022_jp", "koi8-r", "koi8-u", "mac-roman", "shift_jis", "utf-8", "utf-16", "utf-16-be", "utf-16-le",
     *(f"cp{number}" for number in range(1250, 1259)), *(f"iso8859-{number}" for number in range(1, 17))]
)  # fmt: skip


def read_page(body: bytes, charset: str, url: str) -> PageFacts:
    """`url` is where the page was found, for addresses that are only part of one."""
    tree = LexborHTMLParser(shallow(_decoded(body, charset)))
    said: dict[str, str] = {}
    for meta in tree.css("meta[content]"):
        name = meta.attributes.get("property") or meta.attributes.get("name") or ""
        said.setdefault(name.strip().lower(), meta.attributes.get("content") or "")

    def text(most: int, *names: str) -> str:
        return next((found for name in names if (found := plain_line(said.get(name, ""), most))), "")

    def link(*names: str) -> str:
        return next((found for name in names if (found := address(said.get(name, ""), url))), "")

    title, linked = tree.css_first("title"), read_linked(tree)
    page = PageFacts(
        title=text(LONGEST_TITLE, "og:title", "twitter:title")
        or plain_line(linked.title, LONGEST_TITLE)
        or plain_line(title.text() if title else "", LONGEST_TITLE),
        description=text(LONGEST_TEXT, "og:description", "twitter:description", "description")
        or plain_line(linked.description, LONGEST_TEXT),
        image=link("og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src")
        or address(linked.image, url),
        image_description=text(LONGEST_TEXT, "og:image:alt", "twitter:image:alt"),
        provider_name=text(LONGEST_NAME, "og:site_name", "application-name")
        or plain_line(linked.publisher, LONGEST_NAME),
        provider_url=site(said.get("og:site", "")),
        author_name=text(LONGEST_NAME, "author", "article:author:name"),
        published_at=moment(said.get("article:published_time", "")) or moment(linked.published_at),
        language=_language(tree, said, linked),
        embed=link("twitter:player"),
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
    page.author_url = page.author_url or address(linked.author_url, url)
    return page


def _decoded(body: bytes, charset: str) -> str:
    found = _CHARSET.search(body[:2048])
    for name in (charset, found.group(1).decode("ascii") if found else ""):
        try:
            known = codecs.lookup(name).name if 0 < len(name) <= 40 else ""
        except (LookupError, ValueError):
            continue
        if known in _CHARSETS:
            return body.decode(known, "replace")
    return body.decode("utf-8", "replace")


def shallow(html: str) -> str:
    """Up to where it is nested too deep; what a page says about itself stands at its beginning."""
    depth = 0
    for match in _NESTING.finditer(html):
        depth = max(depth - 1, 0) if match[1] else depth + 1
        if depth > MOST_DEPTH:
            return html[: match.start()]
    return html


def _language(tree: LexborHTMLParser, said: dict[str, str], linked: Linked) -> str | None:
    root = tree.css_first("html")
    given = (root.attributes.get("lang") if root else None) or said.get("og:locale") or linked.language
    given = given.replace("_", "-")
    return given if given and _LANGUAGE.fullmatch(given) else None


def _oembed(tree: LexborHTMLParser, url: str) -> str:
    found = tree.css_first('link[type="application/json+oembed"][href]')
    return "" if found is None else address(found.attributes.get("href") or "", url)

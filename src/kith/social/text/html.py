"""Text to HTML as members' posts are shown, and HTML from elsewhere made harmless."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from kith.social.text.character_references import unescaped
from kith.social.text.parts import Found, find, normal_tag

if TYPE_CHECKING:
    import nh3

__all__ = ["clean", "kept", "plain", "shown", "to_html", "to_line"]

SHOWN_CHARACTERS = 30
MOST_CHARACTERS = 64 * 1024
# Of what is stored of one text: a page shows eighty of them.
MOST_BYTES = 64 * 1024
MOST_TAGS = 2_000
MOST_NESTING = 100
MOST_STYLES = 8
MOST_ATTRIBUTES = 100

# Name and domain in lower case, to the profile's address and the name as its owner writes it.
People = Mapping[tuple[str, str], tuple[str, str]]
_START = re.compile(r"https?://(?:www\.)?", re.IGNORECASE)


def to_html(text: str, people: People, tag_url: Callable[[str], str], *, own_links: bool = False) -> str:
    """Everything is escaped; then links, known people and tags become links. `own_links` are a profile's."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    return _paragraphs(_marked(text, people, tag_url, own_links=own_links)) if text else ""


def to_line(text: str, people: People, tag_url: Callable[[str], str]) -> str:
    """The same for a row of a profile, which is one line and one's own."""
    return _marked(" ".join(text.split()), people, tag_url, own_links=True)


def _marked(text: str, people: People, tag_url: Callable[[str], str], *, own_links: bool) -> str:
    shared = _shared_names(people)
    pieces: list[str] = []
    place = 0
    for one in find(text):
        pieces.append(_escaped(text[place : one.start]))
        pieces.append(_linked(one, people, shared, tag_url, own_links=own_links))
        place = one.end
    pieces.append(_escaped(text[place:]))
    return "".join(pieces)


def _escaped(text: str) -> str:
    return escape(text, quote=True).replace("&#x27;", "&#39;")


def _paragraphs(marked: str) -> str:
    parts = re.split(r"\n{2,}", marked)
    return "".join(f"<p>{part.replace(chr(10), '<br />')}</p>" for part in parts)


def _shared_names(people: People) -> set[str]:
    """Names that two of those mentioned have in common, so that the domain must be told."""
    names = Counter(name for name, _ in people)
    return {name for name, count in names.items() if count > 1}


def _linked(one: Found, people: People, shared: set[str], tag_url: Callable[[str], str], *, own_links: bool) -> str:
    match one.kind:
        case "url":
            return link(one.text, own=own_links)
        case "hashtag":
            url = _escaped(tag_url(normal_tag(one.name)))
            return f'<a href="{url}" class="mention hashtag" rel="tag">#<span>{_escaped(one.name)}</span></a>'
    known = people.get((one.name.lower(), one.domain.lower()))
    if known is None:
        return _escaped(one.text)
    url, username = known
    domain = f"@{one.domain}" if one.domain and one.name.lower() in shared else ""
    return (
        f'<span class="h-card" translate="no"><a href="{_escaped(url)}" class="u-url mention">'
        f"@<span>{_escaped(username + domain)}</span></a></span>"
    )


def link(url: str, *, own: bool = False) -> str:
    """A link that shows little of a long address and hides the rest, so that copying gives all of it."""
    begins = _START.match(url)
    start = begins.group() if begins else ""
    shown, rest = url[len(start) : len(start) + SHOWN_CHARACTERS], url[len(start) + SHOWN_CHARACTERS :]
    if len(rest) == 1:
        shown, rest = shown + rest, ""
    cut = ' class="ellipsis"' if rest else ' class=""'
    rel = "nofollow noopener me" if own else "nofollow noopener"
    return (
        f'<a href="{_escaped(url)}" target="_blank" rel="{rel}" translate="no">'
        f'<span class="invisible">{_escaped(start)}</span><span{cut}>{_escaped(shown)}</span>'
        f'<span class="invisible">{_escaped(rest)}</span></a>'
    )


# From elsewhere

_TAGS = frozenset("p br span a del s pre blockquote code b strong u i em ul ol li ruby rt rp".split())  # noqa: SIM905
_ATTRIBUTES = {
    "*": {"lang"},
    "a": {"href", "class", "translate"},
    "span": {"class", "translate"},
    "ol": {"start", "reversed"},
    "li": {"value"},
    "p": {"class"},
}
_SCHEMES = frozenset({"http", "https", "dat", "dweb", "ipfs", "ipns", "ssb", "gopher", "xmpp", "magnet", "gemini"})
_CLASSES = frozenset({"mention", "hashtag", "ellipsis", "invisible", "quote-inline"})
_HEADING = re.compile(r"<(/?)h[1-6]\b[^>]*>", re.IGNORECASE)
_ELEMENT = re.compile(r"<(/?)(?!(?:br|img|hr|wbr|input)\b)([a-z][a-z0-9]{0,20})", re.IGNORECASE)
_STYLES = frozenset("a b big code em font i nobr s small strike strong tt u".split())  # noqa: SIM905
_BREAK = re.compile(r"<br\s*/?>|</(?:p|li|h[1-6]|div|blockquote|pre|tr)\s*>", re.IGNORECASE)
_TAG_START = re.compile(r"<[a-z][^\s/>]*+", re.IGNORECASE)
_ONE_ATTRIBUTE = re.compile(r"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"?|'[^']*+'?|[^\s>"'][^\s>]*+)?)?""")
_ANY_TAG = re.compile(r"<[^>]*>")
# What cleaning leaves, as it writes it. To read it so costs a hundredth of cleaning it again.
_CLASS = r'class="(?:(?:mention|hashtag|ellipsis|invisible|quote-inline|(?:h|p|u|dt|e)-[^"<>\s]*+)[ ]?)*+"'
_REL = r'rel="(?:tag|nofollow[ ]noopener(?:[ ]me)?)"'
_VALUE = rf'{_CLASS}|{_REL}|translate="no"|target="_blank"|(?:lang|start|reversed|value)="[^"<>]*+"'
_EITHER_TAG = re.compile(r"<(/?)(?!br\b)([a-z]+)", re.IGNORECASE)
_HREF = rf'href="(?:{"|".join(sorted(_SCHEMES))}):[^"<>]*+"'
_CLEANED = re.compile(
    rf"(?:[^<>]++|</(?:{'|'.join(sorted(_TAGS))})>|<(?:{'|'.join(sorted(_TAGS - {'a'}))})(?:[ ](?:{_VALUE}))*+>"
    rf'|<br[ ]/>|<a(?=[^<>]*[ ]rel=")(?:[ ](?:{_VALUE}|{_HREF}))++>)*+',
    re.IGNORECASE,
)


def _attribute(element: str, name: str, value: str) -> str | None:
    if name == "class":
        kept = [word for word in value.split() if word in _CLASSES or re.match(r"(?:h|p|u|dt|e)-", word)]
        return " ".join(kept) or None
    if name == "translate":
        return value if value == "no" else None
    if name == "href" and element == "a":
        return value if value.partition(":")[0].lower() in _SCHEMES else None
    return value


@cache
def _cleaner() -> nh3.Cleaner:
    import nh3  # noqa: PLC0415 - loaded when first used

    return nh3.Cleaner(
        tags=set(_TAGS),
        attributes=_ATTRIBUTES,
        attribute_filter=_attribute,
        url_schemes=set(_SCHEMES),
        link_rel="nofollow noopener",
        set_tag_attribute_values={"a": {"target": "_blank"}},
        strip_comments=True,
        clean_content_tags={"script", "style"},
    )


def clean(html: str) -> str:
    """What is left of somebody else's HTML: a little structure, links, and nothing that runs.

    Too long or too deep to be cleaned in good time, it becomes its text.
    """
    html = html[:MOST_CHARACTERS]
    if not _is_shallow(html) or not _has_few_attributes(html):
        return f"<p>{_escaped(plain(html))}</p>"
    end = html.rfind(">") + 1
    html = _HEADING.sub(lambda match: "</strong></p>" if match[1] else "<p><strong>", html[:end]) + html[end:]
    return _cleaner().clean(html)


def kept(html: str, *, most: int = MOST_BYTES, tags: int = MOST_TAGS) -> str:
    """What is stored of somebody else's HTML: cleaned; too long or dense for that, as much of its text as has room."""
    if html.count("<") <= 2 * tags:
        cleaned = clean(html)
        if cleaned.count("<") <= tags and _size(cleaned) <= most and _CLEANED.fullmatch(cleaned):
            return cleaned
    text = plain(html)[:most]
    while (size := _size(_escaped(text))) > most:
        text = text[: len(text) * most // size - 1]
    return f"<p>{_escaped(text)}</p>"


def _size(html: str) -> int:
    return len(html.encode("utf-8", "surrogatepass"))


def shown(html: str) -> str:
    """What is shown of what was stored: as it is, since it was cleaned before, and cleaned where it was not.

    A page of very long texts must not cost whoever asks for it what cleaning each of them costs.
    """
    return html if _CLEANED.fullmatch(html) and _is_balanced(html) else clean(html)


def _is_balanced(html: str) -> bool:
    """Whether every element ends where it should: cleaning sees to it, and what was stored unclean may not."""
    stack: list[str] = []
    for end, name in _EITHER_TAG.findall(html):
        if not end:
            stack.append(name)
        elif not stack or stack.pop() != name:
            return False
    return not stack


def _is_shallow(html: str) -> bool:
    """Cleaning costs the square of the depth; and a reader of HTML opens every letter style (bold, a link) that was
    not closed again in each paragraph that follows, so few of them may be open at once. An end tag counts only where
    it ends what was opened last."""
    stack: list[str] = []
    styles = 0
    for match in _ELEMENT.finditer(html):
        name = match[2].lower()
        if not match[1]:
            stack.append(name)
            styles += name in _STYLES
            if len(stack) > MOST_NESTING or styles > MOST_STYLES:
                return False
        elif stack and stack[-1] == name:
            stack.pop()
            styles -= name in _STYLES
    return True


def _has_few_attributes(html: str) -> bool:
    """Each attribute is compared with all before it; no honest element has hundreds. One pass, tag by tag."""
    place = 0
    while (tag := _TAG_START.search(html, place)) is not None:
        place, count = tag.end(), 0
        while (attribute := _ONE_ATTRIBUTE.match(html, place)) is not None:
            place, count = attribute.end(), count + 1
            if count > MOST_ATTRIBUTES:
                return False
    return True


def plain(html: str) -> str:
    """The text alone: for search, filters and notices."""
    text = _BREAK.sub("\n", html[: MOST_CHARACTERS * 2])
    end = text.rfind(">") + 1  # after it no tag ends, so none is looked for there again and again
    return unescaped(_ANY_TAG.sub("", text[:end]) + text[end:]).strip()

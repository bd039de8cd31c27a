"""Links, mentions and hashtags in what somebody wrote: where they stand and what they mean."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

import msgspec

from kith.base.unicode import normal_form

__all__ = ["Found", "find", "hashtags", "mentions", "normal_tag", "written_tag"]

Kind = Literal["url", "mention", "hashtag"]
LONGEST_URL = 2048
LONGEST_TAG = 100

_URL = re.compile(r"(?:https?://|xmpp:|magnet:\?)[^\s<>\"\x00-\x20\x7f\u3000]+", re.IGNORECASE)
_HOST = re.compile(
    r"https?://(?:[^\s/?#@:]+(?::[^\s/?#@]*)?@)?(?P<host>\[[0-9a-f:.]+\]|[^\s/?#@:\[\]]+)(?::\d{1,5})?(?=[/?#]|\Z)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"[^\W_](?:[\w-]*[^\W_])?\Z")
_TRAILING = ".,:;!?'\"*_~`’”»…。、，！？：；）」』】》"
_PAIRS = {")": "(", "]": "[", "}": "{"}
_MENTION = re.compile(
    r"(?<![\w/=@])@(?P<name>[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?)"
    r"(?:@(?P<domain>[\w](?:[\w.-]*[\w])?(?::\d{1,5})?))?",
    re.IGNORECASE,
)
_TAG = re.compile(r"(?:(?<=\s)|\A|(?<=[(\[{（「『、。，！？;:,.!?\"']))[#＃](?P<name>[\w·・\u200c]+)")
_AROUND_TAG = re.compile(r"\A[^\w·・\u200c]+|[^\w·・\u200c]+\Z")
_LETTER = re.compile(r"[^\W\d_]|[·・]")


class Found(msgspec.Struct, frozen=True):
    """Something in a text that stands for more than its letters. `name` is without its sign."""

    kind: Kind
    start: int
    end: int
    text: str
    name: str = ""
    domain: str = ""


def find(text: str) -> list[Found]:
    """Everything there is, in order; what lies within a link is the link's."""
    found: list[Found] = []
    # Each has a sign without which there is none of it, and most texts have few of these.
    if ":" in text:
        found += _urls(text)
    if "@" in text:
        found += _mentions(text)
    if "#" in text or "＃" in text:
        found += _tags(text)
    found.sort(key=lambda one: (one.start, -one.end))
    kept: list[Found] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def mentions(text: str) -> list[tuple[str, str]]:
    """Name and domain (empty for here) of everybody who is mentioned, both in lower case, each once."""
    return list(dict.fromkeys((one.name.lower(), one.domain.lower()) for one in find(text) if one.kind == "mention"))


def hashtags(text: str) -> list[str]:
    """The tags as they are written, each once by how they are compared."""
    named: dict[str, str] = {}
    for one in find(text):
        if one.kind == "hashtag":
            named.setdefault(normal_tag(one.name), one.name)
    return list(named.values())


def normal_tag(name: str) -> str:
    """How tags are compared: without case, accents or width."""
    if name.isascii():
        return name.lower()
    folded = normal_form("NFKD", normal_form("NFKC", name).casefold())
    plain = "".join(
        character for character in folded if not (unicodedata.combining(character) and ord(character) < 0x370)
    )
    return normal_form("NFC", plain).replace("\u200c", "").strip("·・")


def written_tag(given: str) -> str:
    """A tag as somebody names it in an address or a search, without signs around it: `#mini` and `:mini` are `mini`.

    Of what is longer than any tag a part is left that is longer as well.
    """
    return _AROUND_TAG.sub("", given[: LONGEST_TAG + 20])


def is_tag(name: str) -> bool:
    if len(name) > LONGEST_TAG:
        return False
    found = _TAG.fullmatch(f"#{name}")
    return found is not None and bool(_LETTER.search(name)) and bool(normal_tag(name))


def _urls(text: str) -> list[Found]:
    found = []
    for match in _URL.finditer(text):
        start = match.start()
        if start and (text[start - 1].isalnum() or text[start - 1] in "_@/"):
            continue
        url = _trimmed(match.group())
        if len(url) <= LONGEST_URL and _is_sound(url):
            found.append(Found("url", start, start + len(url), url))
    return found


def _trimmed(url: str) -> str:
    """Without what belongs to the sentence around it: closing marks, and brackets that were opened outside."""
    opened = {opening: url.count(opening) - url.count(closing) for closing, opening in _PAIRS.items()}
    end = len(url)
    while end:
        last = url[end - 1]
        if last in _TRAILING:
            end -= 1
        elif last in _PAIRS and opened[_PAIRS[last]] < 0:
            opened[_PAIRS[last]] += 1
            end -= 1
        else:
            break
    return url[:end]


def _is_sound(url: str) -> bool:
    lowered = url.lower()
    if lowered.startswith(("xmpp:", "magnet:?")):
        return len(url) > len("magnet:?")
    match = _HOST.match(url)
    if match is None:
        return False
    host = match["host"].rstrip(".")
    if host.startswith("["):
        return True
    labels = host.split(".")
    return len(host) <= 253 and all(_LABEL.match(label) and len(label) <= 63 for label in labels)


def _mentions(text: str) -> list[Found]:
    return [
        Found("mention", match.start(), match.end(), match.group(), match["name"], match["domain"] or "")
        for match in _MENTION.finditer(text)
    ]


def _tags(text: str) -> list[Found]:
    return [
        Found("hashtag", match.start(), match.end(), match.group(), match["name"])
        for match in _TAG.finditer(text)
        if is_tag(match["name"])
    ]

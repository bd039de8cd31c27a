"""No input costs more than its size: ten times the input costs about ten times the work, for everything we parse.

Each reader is given texts that are known to be costly for readers of their kind, long and ten times shorter. Measured
is the time of the processor, the best of several; where the long one takes next to nothing, that is enough.
"""

from __future__ import annotations

import asyncio
import importlib
import math
import pkgutil
import re
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
import regex  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st
from multipart import parse_options_header  # type: ignore[import-untyped]
from zxcvbn_rs_py import zxcvbn

import kith
from kith.base.cookies import carried_cookie
from kith.base.errors import Problem
from kith.base.http.failures import OutgoingError
from kith.base.http.hops import checked_url, first_hop, next_hop
from kith.base.http.urls import parse_url
from kith.base.languages import preferred_language
from kith.base.mail import MailRefused, checked_address
from kith.base.params import LIMITS, fill, nest, parse_json, read_form
from kith.base.params.parts import read_parts
from kith.base.params.values import Wrong, read_any, read_bool, read_datetime, read_float, read_int, read_text
from kith.base.patterns import linear
from kith.base.unicode import normal_form
from kith.federation.fetching.lookup import find_alternate
from kith.federation.vocabulary.incoming import (
    DocumentRefused,
    parse_document,
    read_actor,
    read_handle,
    read_host_meta,
    read_note,
)
from kith.federation.vocabulary.incoming.discovery import is_activity_type
from kith.identity import scopes
from kith.identity.brands.fields import Domain, StyleSheet
from kith.identity.caller_authentication import read_basic
from kith.identity.expressions.prelude import prelude_for
from kith.identity.expressions.source import ExpressionSource
from kith.identity.policies.kinds.password import MOST_WAYS, SIGNS, readable_at_once
from kith.identity.providers.oauth2.authorize.redirect_uris import is_registered
from kith.identity.providers.oauth2.keys.signing import BadToken, read_header, read_unchecked
from kith.identity.providers.redirect_patterns import complain_pattern
from kith.identity.providers.redirect_uris import complain_redirect
from kith.identity.rest.fields.base import InvalidValue
from kith.identity.rest.fields.text import URL, Text
from kith.identity.sources.oauth.fediverse import read_server
from kith.identity.stages.prompt_answers import PromptQuestion, _file
from kith.identity.users.names import complain_email, complain_username, email_key, username_key
from kith.social.emojis.service import SHORTCODE
from kith.social.files.api import read_range
from kith.social.filters.matching import Filters
from kith.social.filters.tables import Filter, Keyword
from kith.social.ids import AccountId
from kith.social.search import query_syntax, words
from kith.social.search.service import Search, _terms
from kith.social.statuses.api.posting import StatusForm
from kith.social.statuses.cards.frames import clean_embed, first_link
from kith.social.text import counting, html, parts
from kith.social.text.domains import domain_of
from kith.social.text.tags import start_tags
from kith.social.translation.service import _guarded
from kith.social.webpages.owners import own_links
from kith.social.webpages.page import read_page
from tests.federation.neighbours.mastodon import ACTOR, NOTE

LONG, SHORT = 30_000, 3_000
NOTHING = 0.004
FILE_QUESTION = PromptQuestion(field_key="file", label="File", type="file")
URL_FIELD, TEXT_FIELD = URL(name="url"), Text(name="text", pattern="[a-z]+( [a-z]+)*")
STYLE_FIELD, DOMAIN_FIELD = StyleSheet(name="css"), Domain(name="domain")
FACTOR = 4
FILTER = Filter(id=1, account_id=AccountId(1), title="t", context="home", action="warn", expires_at=None)
FILTERS = Filters(
    [FILTER],
    [Keyword(id=n, filter_id=1, keyword=f"{'a' * n}b{'a' * (n // 3)}", whole_word=bool(n % 2)) for n in range(1, 100)],
    [],
)
REFUSALS = (
    Problem,
    Wrong,
    ValueError,
    OutgoingError,
    RecursionError,
    BadToken,
    MailRefused,
    InvalidValue,
    DocumentRefused,
)

SEEDS = (
    "a", "0", " ", "\n", "\r", "\\", '"', "'", '"a\\', "'''", '"""', '"\\\n', '# "\n', "a ", "a\n\n",
    "<", ">", "<a", "<a ", "<a href='", '<a a="', "<div>", "<b lang=x>", "</p>", "<p>", "<p>x</p>", "<!--", "<h1", "<br ",
    "&", "&#9", "&#x9;", "&amp;", "#a ", "#a", "＃é ", "@a ", "@a-", "@a.", "@a@b-", "a@", "a@b.", ":aa", ":a:",
    "http://", "http://a", "http://a.b/( ", "http://a:", "https://a@", "magnet:?a", "//", "/", "?", "%", "%41", "%%",
    "[", "]", "[]", "a[", "a[b]", "a[]=", "x=1&", "a[b][c]=1&", "&", "=", ";", "a=b; ", 'a="\\"', ",", ", ", "a,", "a;q=0.1,",
    "-", "--", ".", "a.", "1.", "+", "_", "(", ")", "{", "}", "(a|a)", "a*", "{1,2}", "$", "^",
    "\u0301\u0327", "e\u0301\u0327", "\U0001f1e6", "\U0001f469\u200d", "日", "é", "ﷺ", "\u200c", "ß", "\u3000",
    "data:a/a;", "bytes=0-", "4@8({[<3691!|0$5+7%2", "\\pL", "[^a]{99}", "a=", "-a:", 'a:"', "from:a-", "language:", "<script>", "url(", "url( ", "\x00", "\ud800",
)  # fmt: skip


ACTOR_PART = {name: ACTOR[name] for name in ("@context", "id", "type", "inbox", "publicKey", "preferredUsername")}
NOTE_PART = {name: NOTE[name] for name in ("@context", "id", "type", "attributedTo")}


class Reader(NamedTuple):
    read: Callable[[str], Any]
    most: int = LONG  # characters that reach it


def _bytes(read: Callable[[bytes], Any]) -> Callable[[str], Any]:
    return lambda text: read(text.encode("utf-8", "replace"))


def _multipart(text: str) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        body = f'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n{text}\r\n--x--\r\n'.encode("utf-8", "replace")
        for place in range(0, len(body), 1000):
            yield body[place : place + 1000]

    asyncio.run(read_parts(chunks(), "x", LIMITS))


def _multipart_header(text: str) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield f'--x\r\nContent-Disposition: form-data; name="{text[:4000]}"\r\n\r\na\r\n--x--\r\n'.encode(
            "utf-8", "replace"
        )

    asyncio.run(read_parts(chunks(), "x", LIMITS))


def _cookie(text: str) -> str:
    scope = {"headers": [(b"cookie", text.encode("utf-8", "replace"))]}
    return carried_cookie(SimpleNamespace(scope=scope), "kith_session")  # type: ignore[arg-type]


READERS: dict[str, Reader] = {
    "text: find": Reader(parts.find, counting.LONGEST),
    "text: tags": Reader(parts.hashtags, counting.LONGEST),
    "text: mentions": Reader(parts.mentions, counting.LONGEST),
    "text: a tag": Reader(parts.normal_tag, 8_000),
    "text: is a tag": Reader(parts.is_tag),
    "text: length": Reader(counting.length),
    "text: graphemes": Reader(counting.graphemes, counting.LONGEST),
    "text: to HTML": Reader(lambda text: html.to_html(text, {}, str), counting.LONGEST),
    "text: to a line": Reader(lambda text: html.to_line(text, {}, str), counting.LONGEST),
    "text: emoji": Reader(SHORTCODE.findall),
    "text: domain": Reader(domain_of),
    "text: normal form": Reader(lambda text: normal_form("NFKC", text)),
    "HTML: clean": Reader(html.clean),
    "HTML: kept": Reader(html.kept),
    "HTML: shown": Reader(html.shown),
    "HTML: plain": Reader(html.plain),
    "HTML: tags": Reader(lambda text: list(start_tags(text, "a", "iframe"))),
    "HTML: first link": Reader(lambda text: first_link(text, ("http://x/",))),
    "HTML: frame": Reader(clean_embed),
    "HTML: own links": Reader(own_links),
    "HTML: for translation": Reader(_guarded),
    "card: page": Reader(_bytes(lambda body: read_page(body, "utf-8", "https://a.example/"))),
    "card: page in punycode": Reader(_bytes(lambda body: read_page(body, "punycode", "https://a.example/"))),
    "card: page title": Reader(_bytes(lambda body: read_page(b"<title>" + body, "idna", "https://a.example/"))),
    "card: meta": Reader(
        lambda text: read_page(
            f'<meta property="og:title" content="{text}">'.encode("utf-8", "replace"), "", "https://a/"
        )
    ),
    "card: JSON-LD": Reader(
        lambda text: read_page(
            f'<script type="application/ld+json">{text}</script>'.encode("utf-8", "replace"), "", "https://a/"
        )
    ),
    "expression": Reader(ExpressionSource),
    "expression: helpers": Reader(prelude_for),
    "JSON": Reader(_bytes(parse_json)),
    "JSON: list": Reader(lambda text: parse_json(f'{{"a": [{text}]}}'.encode("utf-8", "replace"))),
    "JSON: text": Reader(lambda text: fill(StatusForm, {"status": text})),
    "JSON: any": Reader(read_any),
    "JSON: numbers": Reader(lambda text: [_refused(read, text) for read in (read_int, read_float, read_bool)]),
    "JSON: moment": Reader(read_datetime),
    "form": Reader(_bytes(read_form)),
    "form: name": Reader(lambda text: nest([(text[:250], "1")] * (len(text) // 250))),
    "form: value": Reader(read_text),
    "multipart": Reader(_multipart),
    "multipart: header": Reader(_multipart_header),
    "header: cookie": Reader(_cookie),
    "header: Accept-Language": Reader(preferred_language),
    "header: Authorization": Reader(_bytes(read_basic)),
    "header: Content-Type": Reader(lambda text: parse_options_header(f"x; {text}")),
    "header: Range": Reader(lambda text: read_range(text, 1000)),
    "header: token": Reader(lambda text: [read_header(text), read_unchecked(text)]),
    "search": Reader(query_syntax.read),
    "search: people": Reader(lambda text: _terms(Search(text=text, me=None, limit=1))),
    "tag": Reader(lambda text: parts.normal_tag(parts.written_tag(text))),
    "password": Reader(lambda text: zxcvbn(readable_at_once(text), [])),
    "search: index": Reader(words.to_index, 8_000),
    "search: term": Reader(words.to_term, 8_000),
    "filters": Reader(lambda text: FILTERS.match(text, ())),
    "scopes": Reader(lambda text: scopes.complain(scopes.split(text))),
    "scopes: within": Reader(lambda text: scopes.within(scopes.split(text), scopes.split(text))),
    "redirect URI": Reader(complain_redirect),
    "redirect URI: asked for": Reader(
        lambda text: is_registered(f"https://a/{text}", ["https://a/.*.*.*x"], matching="regex")
    ),
    "redirect URI: pattern": Reader(complain_pattern),
    "pattern": Reader(linear, 1000),
    "pattern: run": Reader(lambda text: linear("(a|a)*b|(.*)*x").search(text)),  # type: ignore[union-attr]
    "name": Reader(lambda text: [username_key(text), complain_username(text)]),
    "address": Reader(lambda text: [email_key(text), complain_email(text)]),
    "address: mail": Reader(checked_address),
    "URL": Reader(checked_url),
    "URL: host": Reader(lambda text: checked_url(f"https://{text}")),
    "URL: path": Reader(lambda text: checked_url(f"https://a.example/{text}")),
    "URL: any": Reader(lambda text: [parse_url(text), parse_url(f"//{text}"), parse_url(f"https://a@{text}:1/")]),
    "URL: redirect": Reader(lambda text: next_hop(first_hop("GET", "https://a/", None, None), 302, text, None)),
    "URL: host of a brand": Reader(DOMAIN_FIELD.take),
    "server of the fediverse": Reader(read_server),
    "style sheet": Reader(lambda text: STYLE_FIELD.take(text) + STYLE_FIELD.take(f"url({text}")),
    "URL: field": Reader(lambda text: URL_FIELD.take(f"https://{text}")),
    "text: field": Reader(TEXT_FIELD.take),
    "remote: document": Reader(_bytes(parse_document)),
    "remote: actor": Reader(lambda text: read_actor(dict.fromkeys(ACTOR, text) | ACTOR_PART)),
    "remote: note": Reader(lambda text: read_note(dict.fromkeys(NOTE, text) | NOTE_PART)),
    "remote: many": Reader(
        lambda text: read_note({**NOTE, "tag": [text[:9]] * len(text), "to": [text[:9]] * len(text)}),
        LONG // 9,  # of them, which are as long as the texts of others
    ),
    "remote: handle": Reader(read_handle),
    "remote: host-meta": Reader(_bytes(read_host_meta)),
    "remote: type": Reader(lambda text: is_activity_type(f"application/ld+json; {text}")),
    "remote: Link": Reader(lambda text: find_alternate(text, "", "https://a.example/")),
    "remote: page": Reader(lambda text: find_alternate("", text, "https://a.example/")),
    "data URI": Reader(lambda text: _file(f"data:a/{text}", FILE_QUESTION)),
}


def _different(size: int) -> str:
    """Letters of which none is like the one before: what spells them in ASCII counts from one to the next."""
    return "".join(chr(0x4E00 + at * 7919 % 20_000) for at in range(size))


def _refused(read: Callable[[str], Any], text: str) -> Any:
    try:
        return read(text)
    except REFUSALS:
        return None


def _cost(read: Callable[[str], Any], text: str) -> float:
    start = time.process_time()
    _refused(read, text)
    return time.process_time() - start


def _made(seed: str, size: int) -> str:
    return (seed * (size // len(seed) + 1))[:size]


def _is_dear(read: Callable[[str], Any], make: Callable[[int], str], most: int) -> str | None:
    """Whatever disturbs a measurement makes it longer: one good one says that a long text is cheap.

    What a short text costs decides what is dear, so it is the best of three.
    """
    long, short = make(most), make(most // 10)
    for _ in range(6):  # a busy machine may disturb one comparison, hardly all
        much = _cost(read, long)
        if much < NOTHING:
            return None
        little = min(_cost(read, short) for _ in range(3))
        if much <= 10 * FACTOR * max(little, NOTHING / 10):
            return None
    return f"{long[:20]!r}: {little * 1000:.1f} ms, ten times as long {much * 1000:.1f} ms"


@pytest.mark.parametrize("name", READERS)
def test_ten_times_the_input_costs_about_ten_times_as_much(name: str) -> None:
    read, most = READERS[name]
    _refused(read, "a")  # what is looked up once is looked up now

    dear = [_is_dear(read, partial(_made, seed), most) for seed in SEEDS]
    dear.append(_is_dear(read, lambda size: " ".join(f"a{n}" for n in range(size // 6)), most))
    dear.append(_is_dear(read, _different, most))
    dear.append(_is_dear(read, lambda size: f"@a@{_different(size)}/", most))
    dear.append(_is_dear(read, lambda size: "&".join(f"a{n}=b" for n in range(size // 8)), most))
    dear.append(_is_dear(read, lambda size: "<p " + " ".join(f"a{n}=b" for n in range(size // 8)), most))

    assert [one for one in dear if one is not None] == []


@pytest.mark.parametrize("letter", ["a", "é", "字"])
def test_a_long_filter_word_is_looked_for_at_no_more_cost_than_a_short_one(letter: str) -> None:
    """A text that is full of its beginnings is what would be dear: the words are as long as it is dear then."""

    def filters(length: int) -> Filters:
        keyword = f"{letter * (length * 3 // 4)}b".ljust(length, letter)
        rows = [Keyword(id=n, filter_id=1, keyword=keyword, whole_word=False) for n in range(100)]
        return Filters([FILTER], rows, [])

    text, short, long = letter * 10_000, filters(12), filters(96)
    ratios = [
        _cost(partial(long.match, status_ids=()), text) / _cost(partial(short.match, status_ids=()), text)
        for _ in range(6)
    ]
    assert min(ratios) < FACTOR


@pytest.mark.parametrize("text", ["a" * 10_000, "xa" * 5_000, ("w" * 30 + " ") * 322], ids=["letter", "two", "words"])
def test_whole_words_that_are_parts_of_others_are_looked_for_at_no_more_cost(text: str) -> None:
    """Each is found in many places at which no word ends."""

    def filters(*, is_whole: bool) -> Filters:
        rows = [Keyword(id=n, filter_id=1, keyword=f"{text[:n]}", whole_word=is_whole) for n in range(1, 500) if n % 31]
        absent = [Keyword(id=n, filter_id=1, keyword=f"{text[:n]}b", whole_word=False) for n in range(1, 500)]
        return Filters([FILTER], rows if is_whole else absent, [])

    whole, absent = filters(is_whole=True), filters(is_whole=False)
    ratios = [
        _cost(partial(whole.match, status_ids=()), text) / _cost(partial(absent.match, status_ids=()), text)
        for _ in range(6)
    ]
    assert min(ratios) < FACTOR


# Readers that cost the square of what strangers write, and where they are given no more than little.
DEAR = {
    r"\bhttp\.cookies\b": {"cli/demo/past.py"},
    r"[\"']idna[\"']": set[str](),
    r"(?<![\w.])URL\((?!\s*name=)|\byarl\.URL\(|\bURL\.build\(": {
        "base/http/urls.py",
        "base/http/hops.py",
        "identity/rest/fields/text.py",
    },
}


@pytest.mark.parametrize("pattern", DEAR)
def test_readers_that_cost_the_square_are_not_used(pattern: str) -> None:
    root = Path(kith.__file__).parent
    using = {str(path.relative_to(root)) for path in root.rglob("*.py") if re.search(pattern, path.read_text())}

    assert using == DEAR[pattern]


DEEP = ("[", '{"a":', '{"a":[', "[[],", "[{},")


@pytest.mark.parametrize("seed", DEEP)
def test_depth_costs_no_more_than_length(seed: str) -> None:
    for read in (READERS["JSON"].read, READERS["JSON: list"].read, READERS["card: JSON-LD"].read):
        assert _is_dear(read, partial(_made, seed), 200_000) is None


# Where a pattern alone would be dear, what keeps it from being so.
BOUNDED = {
    "kith.identity.providers.redirect_patterns": 500,  # patterns of at most 500 characters
    "kith.social.webpages.page._CHARSET": 2048,  # the beginning of a page
    "kith.social.text.html._ANY_TAG": 0,  # only up to the last end of a tag, and tested above
    "kith.social.text.html._HEADING": 0,
    "kith.base.mail._SENDER": 0,  # what the operator sets
    "kith.base.settings": 0,
    "kith.social.text.counting._CLUSTER": 0,  # flags are taken out before; "text: graphemes" tests both
}


def _uses() -> dict[str, set[str]]:
    """By the full names of the patterns that modules keep, the methods that are called on them there."""
    found: dict[str, set[str]] = {}
    for module in pkgutil.walk_packages(kith.__path__, "kith."):
        if ".migrations" in module.name or ".files.process" in module.name:
            continue
        loaded = importlib.import_module(module.name)
        source = Path(str(loaded.__file__)).read_text("utf-8")
        for name, value in vars(loaded).items():
            if isinstance(value, re.Pattern | regex.Pattern):
                found[f"{module.name}.{name}"] = set(re.findall(rf"\b{name}\.([a-z]+)\(", source))
    return found


def test_every_pattern_we_keep_is_linear() -> None:
    dear = []
    for name, methods in _uses().items():
        module, _, own = name.rpartition(".")
        pattern = getattr(importlib.import_module(module), own)
        most = BOUNDED.get(name, BOUNDED.get(module, 10_000))
        for method in sorted(methods) if most else ():
            read = _using(pattern, method)
            complaints = [_is_dear(read, partial(_made, seed), most) for seed in SEEDS]
            dear += [f"{name}.{method}: {one}" for one in complaints if one is not None]
    assert dear == []


def _using(pattern: Any, method: str) -> Callable[[str], Any]:
    nothing = [""] if method == "sub" else []
    if isinstance(pattern.pattern, bytes):
        return _bytes(lambda text: getattr(pattern, method)(*(b"" for _ in nothing), text))
    if method == "finditer":
        return lambda text: list(pattern.finditer(text))
    return lambda text: getattr(pattern, method)(*nothing, text)


@given(st.text("4@8({[<3691!|0$5+7%2ab", max_size=100))
def test_a_password_is_read_in_a_bounded_number_of_ways(password: str) -> None:
    """All combinations of letters that its signs can stand for are tried; digits stay, for dates and rows of them."""
    asked = readable_at_once(password)
    ways = math.prod(max(1, sum(sign in asked for sign in signs)) for signs in SIGNS)

    assert ways <= MOST_WAYS
    assert len(asked) <= 50
    assert all(read == typed for read, typed in zip(asked, password, strict=False) if typed.isdigit())

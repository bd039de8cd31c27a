"""What people type, and what strangers send, made into HTML that does nothing but read well."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kith.social.statuses.cards.frames import SANDBOX, clean_embed, first_link
from kith.social.text.counting import graphemes, length
from kith.social.text.html import _CLEANED, MOST_BYTES, clean, kept, plain, shown, to_html
from kith.social.text.parts import find, hashtags, mentions, normal_tag
from kith.social.webpages.page import read_page

PEOPLE = {
    ("ada", ""): ("https://here.example/@ada", "Ada"),
    ("bob", "far.example"): ("https://far.example/@bob", "bob"),
}
PIECES = (
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "javascript:alert(1)", "<a href='javascript:x'>",
    '<a href="https://x.example" onclick="x">', "<style>*{}</style>", "<svg/onload=x>", "<p>", "</p>", "<b", ">", "&lt;",
    "&#x6a;avascript:", '"', "'", "@ada", "@bob@far.example", "#tag", "＃タグ", "https://x.example/a?b=c&d=<e>", "http://",
    "\n\n", "\r\n", "\x00", "\u202e", "\u200d", "👩‍👩‍👧", "e\u0301", "<iframe src='https://x.example'>", "<math><mi>",
    "<a href='data:text/html,x'>", "<!--", "-->", "<h1>", "</h1>", "<ul><li>", "xmpp:a@b", "magnet:?xt=1",
)  # fmt: skip
anything = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=8)), max_size=25).map("".join)

ELEMENTS = set("p br span a del s pre blockquote code b strong u i em ul ol li ruby rt rp".split())  # noqa: SIM905
ATTRIBUTES = {"lang", "href", "class", "translate", "start", "reversed", "value", "rel", "target"}
SCHEMES = re.compile(r"(?:https?|dat|dweb|ipfs|ipns|ssb|gopher|xmpp|magnet|gemini):", re.IGNORECASE)


class _Seen(HTMLParser):
    """What a browser would find in it."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes += attrs


def is_harmless(html: str) -> bool:
    seen = _Seen(html)
    links = [value or "" for name, value in seen.attributes if name == "href"]
    return (
        seen.elements <= ELEMENTS
        and {name for name, _ in seen.attributes} <= ATTRIBUTES
        and all(SCHEMES.match(link) for link in links)
    )


def _tag_url(name: str) -> str:
    return f"https://here.example/tags/{name}"


@settings(max_examples=300, deadline=None)
@given(anything)
def test_nothing_anybody_types_becomes_executable(text: str) -> None:
    assert is_harmless(to_html(text, PEOPLE, _tag_url))


@settings(max_examples=300, deadline=None)
@given(anything)
def test_what_comes_from_elsewhere_is_harmless_and_cleaning_it_again_changes_nothing(html: str) -> None:
    once = clean(html)
    assert is_harmless(once)
    assert clean(once) == once


LONG_TEXTS = (
    "<", "&", '"', "é", "👩", "<h1></h1>", "<p><b>x</b></p>", "<i>", "<br>", '<a href="https://x.example/">x</a>',
    '<p class="h-a">', '<a class="mention" rel="x">', "<!--", "]]>", "a\u00a0",
)  # fmt: skip


def is_seen_to_be_clean(stored: str) -> bool:
    return _CLEANED.fullmatch(stored) is not None


@settings(max_examples=300, deadline=None)
@given(anything)
def test_what_is_stored_of_others_is_shown_without_cleaning_it_again(html: str) -> None:
    stored = kept(html)
    assert is_harmless(stored)
    assert is_seen_to_be_clean(stored)
    assert kept(stored) == shown(stored) == stored


@pytest.mark.parametrize("piece", LONG_TEXTS)
def test_the_longest_texts_are_stored_so_that_they_are_cheap_to_show(piece: str) -> None:
    stored = kept(piece * (70_000 // len(piece)))
    assert is_seen_to_be_clean(stored)
    assert len(stored.encode()) <= MOST_BYTES + len("<p></p>")


@settings(max_examples=300, deadline=None)
@given(anything)
def test_what_was_stored_unclean_is_harmless_when_it_is_shown(html: str) -> None:
    assert is_harmless(shown(html))


@pytest.mark.parametrize("html", ["<p>hello</p></p></span>", "<ul><li><blockquote>", "<b><i></b></i>", "</p>", "<p>"])
def test_an_element_that_was_stored_open_is_closed(html: str) -> None:
    assert shown(html) == clean(html) != html


@pytest.mark.parametrize(
    "html",
    [
        '<a href="javascript:x" rel="tag">x</a>', '<a href="https://x" target="_blank">', '<a href="https://x" rel="opener">x</a>', "<img>",
        '<p onclick="x">', '<p class="navbar">', '<p style="x">', '<a rel="tag" onfocus="x" href="https://x">', "a < b",
        "a > b", "<p/>", "<script>", '<span target="_top">', "<a>",
    ],
)  # fmt: skip
def test_what_cleaning_does_not_write_is_cleaned(html: str) -> None:
    assert not is_seen_to_be_clean(html)


def test_what_members_write_is_seen_to_be_clean() -> None:
    text = "Hello & <welcome>\n\n#tag https://www.x.example/a/long/path/that/is/cut/off/here?a=b&c=d"
    assert is_seen_to_be_clean(to_html(text, PEOPLE, _tag_url))


@settings(max_examples=200, deadline=None)
@given(anything)
def test_counting_is_stable(text: str) -> None:
    assert 0 <= length(text) == length(text)
    assert graphemes(text) <= len(text)
    assert length(f"{text} @ada@{'x' * 50}.example") == length(f"{text} @ada")


@settings(max_examples=200, deadline=None)
@given(anything)
def test_parts_lie_in_order_and_are_what_stands_there(text: str) -> None:
    end = 0
    for one in find(text):
        assert end <= one.start < one.end <= len(text)
        assert text[one.start : one.end] == one.text
        end = one.end
    names = [normal_tag(name) for name in hashtags(text)]
    assert len(names) == len(set(names))
    assert all(normal_tag(name) == name for name in names)
    assert len(mentions(text)) == len(set(mentions(text)))


HTML: dict[str, str] = {
    "": "",
    "one\ntwo\n\nthree": "<p>one<br />two</p><p>three</p>",
    "a < b & c": "<p>a &lt; b &amp; c</p>",
    "@ada": '<p><span class="h-card" translate="no"><a href="https://here.example/@ada" class="u-url mention">'
    "@<span>Ada</span></a></span></p>",
    "@nobody": "<p>@nobody</p>",
    "#Tag": '<p><a href="https://here.example/tags/tag" class="mention hashtag" rel="tag">#<span>Tag</span></a></p>',
    "#1": "<p>#1</p>",
    "x.example/#part a#b": "<p>x.example/#part a#b</p>",
    "(#Tag)": '<p>(<a href="https://here.example/tags/tag" class="mention hashtag" rel="tag">#<span>Tag</span></a>)</p>',
    "https://www.x.example/a": '<p><a href="https://www.x.example/a" target="_blank" rel="nofollow noopener" '
    'translate="no"><span class="invisible">https://www.</span><span class="">x.example/a</span>'
    '<span class="invisible"></span></a></p>',
}


@pytest.mark.parametrize("text", HTML)
def test_how_text_is_shown(text: str) -> None:
    assert to_html(text, PEOPLE, _tag_url) == HTML[text]


CLEANED: dict[str, str] = {
    "<h1>Big</h1>": "<p><strong>Big</strong></p>",
    "<p onclick=x>hi<script>bad()</script></p>": "<p>hi</p>",
    '<a href="javascript:x">x</a>': '<a target="_blank" rel="nofollow noopener">x</a>',
    '<span class="mention evil h-card">x</span>': '<span class="mention h-card">x</span>',
    '<p translate="yes">x</p>': "<p>x</p>",
}


@pytest.mark.parametrize("html", CLEANED)
def test_what_is_left_of_others_html(html: str) -> None:
    assert clean(html) == CLEANED[html]


def test_plain_text_of_html() -> None:
    assert plain("<p>one<br>two</p><p>&lt;three&gt;</p>") == "one\ntwo\n<three>"


# Pages behind links


@settings(max_examples=200, deadline=None)
@given(anything)
def test_an_embed_is_a_frame_that_may_do_nothing_here_or_nothing(html: str) -> None:
    made = clean_embed(html)
    seen = _Seen(made)
    assert seen.elements <= {"iframe"}
    assert made == "" or ("sandbox", SANDBOX) in seen.attributes
    assert all((value or "").startswith("https://") for name, value in seen.attributes if name == "src")


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.binary(max_size=300), anything.map(str.encode)), st.sampled_from(["", "utf-8", "latin-1", "rot13"]))
def test_any_page_can_be_read(body: bytes, charset: str) -> None:
    page = read_page(body, charset, "https://x.example/a")
    assert all(not url or url.startswith(("http://", "https://")) for url in (page.image, page.oembed, page.author_url))


def test_the_first_link_is_neither_a_mention_nor_a_tag_nor_ours() -> None:
    text = "@ada #tag https://here.example/@ada/1 http://x.example/first https://y.example"
    html = to_html(text, PEOPLE, _tag_url)
    assert first_link(html, ("https://here.example/",)) == "http://x.example/first"
    assert first_link("<p>none</p>", ()) is None

"""Whatever a page says in JSON-LD, it is read or left alone."""

from __future__ import annotations

import pytest

from kith.social.webpages.page import read_page
from kith.social.webpages.page_facts import PageFacts

URL = "https://site.example/a/b"


def _page(*said: str, head: str = "") -> PageFacts:
    scripts = "".join(f'<script type="application/ld+json">{one}</script>' for one in said)
    return read_page(f"<head>{head}<title>Plain</title></head>{scripts}".encode(), "utf-8", URL)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "null",
        "[]",
        "[1, null]",
        "{",
        '{"@type": 3}',
        '{"@type": "Thing", "headline": "No"}',
        '{"@type": "Article", "headline": 5, "author": [[]], "image": {"url": 7}, "datePublished": []}',
        '{"@graph": "x", "@type": ["Person"]}',
        "[" * 100_000,
        '{"a":' * 50_000,
        "\\ud800",
        "\x00",
        '{"@type": "Article", "datePublished": "yesterday", "author": {"url": "javascript:x()"}, "image": "data:,"}',
    ],
)
def test_nonsense_is_left_alone(said: str) -> None:
    page = _page(said)

    assert (page.title, page.author_name, page.author_url, page.image, page.published_at) == ("Plain", "", "", "", None)


def test_an_article_goes_before_its_page_and_open_graph_before_both() -> None:
    said = (
        '{"@type": "WebPage", "name": "Page"}',
        '[{"@type": "https://schema.org/NewsArticle", "headline": "Article", "author": "Cat", "image": "c.png"}]',
    )

    page = _page(*said)
    assert (page.title, page.author_name, page.image) == ("Article", "Cat", "https://site.example/a/c.png")
    assert _page(said[0]).title == "Page"
    assert _page(*said, head='<meta property="og:title" content="Open">').title == "Open"

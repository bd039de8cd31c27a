"""Pages and the links between them: every record once, whatever the client sends."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kith.base.paging import Cursor, CursorKind, Envelope, OffsetPage, envelope, link_header, public_url

URL = "https://home.example/api/v2/core/users/"
BIGGEST = 2**63 - 1


@pytest.mark.parametrize(
    ("query", "limit", "offset"),
    [
        ("", 100, 0), ("limit=10", 10, 0), ("limit=10&offset=5", 10, 5), ("limit=", 100, 0),
        ("limit=0", 100, 0),
        ("limit=-5", 100, 0), ("limit=ten", 100, 0), ("limit=1.5", 100, 0), ("limit=1000", 1000, 0),
        ("limit=1001", 1000, 0), ("limit=" + "9" * 5000, 1000, 0), ("limit=5&limit=7", 7, 0),
        ("limit=5&limit=x", 100, 0), ("offset=-1", 100, 0), ("offset=x", 100, 0), ("offset=", 100, 0),
        ("offset=%207", 100, 7), ("offset=+7", 100, 7), ("offset=" + "9" * 5000, 100, BIGGEST),
        ("offset=-" + "9" * 5000, 100, 0), ("lim%69t=3", 3, 0), ("limit=%FF&offset=%zz", 100, 0),
        ("limit=٥", 100, 0),
    ],
)  # fmt: skip
def test_limit_and_offset_are_never_an_error(query: str, limit: int, offset: int) -> None:
    page = OffsetPage.read(query.encode())
    assert (page.limit, page.offset) == (limit, offset)


@pytest.mark.parametrize(
    ("query", "count", "following", "preceding"),
    [
        ("", 100, None, None),
        ("", 101, "limit=100&offset=100", None),
        ("limit=10", 11, "limit=10&offset=10", None),
        ("limit=10&offset=1", 11, None, "limit=10"),
        ("limit=10&offset=10", 11, None, "limit=10"),
        ("limit=10&offset=11", 30, "limit=10&offset=21", "limit=10&offset=1"),
        ("limit=10&offset=90", 11, None, "limit=10&offset=80"),
        ("limit=5000", 1001, "limit=1000&offset=1000", None),
        ("limit=x&offset=x", 101, "limit=100&offset=100", None),
        ("search=a b%26%C3%A9&limit=1", 2, "search=a+b%26%C3%A9&limit=1&offset=1", None),
        (
            "policies=1&policies=2&limit=1&limit=1&empty=",
            2,
            "policies=1&policies=2&empty=&limit=1&offset=1",
            None,
        ),
        ("x=%FF&limit=1", 2, "x=%FF&limit=1&offset=1", None),
    ],
)
def test_an_envelope_links_its_neighbours(query: str, count: int, following: str | None, preceding: str | None) -> None:
    found: Envelope[int] = envelope(URL, OffsetPage.read(query.encode()), count, [])
    assert found.next == (following and f"{URL}?{following}")
    assert found.previous == (preceding and f"{URL}?{preceding}")


def test_an_envelope_is_written_in_its_order_around_ready_made_pieces() -> None:
    ready: list[msgspec.Raw] = [msgspec.Raw(b'{"pk":1}'), msgspec.Raw(b'{"pk":2}')]
    written = msgspec.json.encode(envelope(URL, OffsetPage.read(b"limit=2&offset=2"), 4, ready))
    assert written == (
        b'{"count":4,"next":null,"previous":"https://home.example/api/v2/core/users/?limit=2",'
        b'"results":[{"pk":1},{"pk":2}]}'
    )


@given(st.integers(0, 50), st.integers(1, 12))
def test_walking_an_envelope_visits_every_record_once(count: int, limit: int) -> None:
    records = list(range(count))

    def fetch(url: str) -> Envelope[int]:
        page = OffsetPage.read(urlsplit(url).query.encode())
        return envelope(URL, page, count, records[page.offset : page.offset + page.limit])

    pages = [fetch(f"{URL}?limit={limit}&search=x")]
    while pages[-1].next:
        assert "search=x" in pages[-1].next
        pages.append(fetch(pages[-1].next))
    assert [record for page in pages for record in page.results] == records
    back = [pages[-1]]
    while back[-1].previous:
        back.append(fetch(back[-1].previous))
    assert [page.results for page in reversed(back)] == [page.results for page in pages]


@given(st.binary(), st.integers(0))
def test_no_query_breaks_paging(query: bytes, count: int) -> None:
    page = OffsetPage.read(query)
    assert 1 <= page.limit <= 1000
    assert 0 <= page.offset <= BIGGEST
    envelope(URL, page, count, [])
    for kind in CursorKind:
        cursor = Cursor.read(query, default=20, most=40, kind=kind)
        assert 1 <= cursor.limit <= 40
        header = link_header(URL, cursor, [3, 2, 1], kind=kind, is_timeline=True)
        assert header is not None
        assert re.fullmatch(r'<[!-;=?-~]+>; rel="next"(, <[!-;=?-~]+>; rel="prev")?', header)


@pytest.mark.parametrize(
    ("base", "path", "expected"),
    [
        ("https://h.example", "/api/v1/x", "https://h.example/api/v1/x"),
        ("https://h.example/", "/tag/日", "https://h.example/tag/%E6%97%A5"),
        ("https://h.example/sub/", "/a b,>%\ud800", "https://h.example/sub/a%20b%2C%3E%25%3F"),
    ],
)
def test_a_public_url_is_safe_in_a_header(base: str, path: str, expected: str) -> None:
    assert public_url(base, path) == expected


@pytest.mark.parametrize(
    ("query", "kind", "expected"),
    [
        ("", CursorKind.STATUS, {}),
        ("limit=5", CursorKind.STATUS, {"limit": 5}),
        ("limit=80", CursorKind.STATUS, {"limit": 40}),
        ("limit=-5", CursorKind.STATUS, {"limit": 5}),
        ("limit=0", CursorKind.STATUS, {}),
        ("limit=x", CursorKind.STATUS, {}),
        ("limit=-" + "9" * 5000, CursorKind.STATUS, {"limit": 40}),
        ("max_id=9&since_id=3&min_id=4", CursorKind.STATUS, {"max_id": 9, "since_id": 3, "min_id": 4}),
        ("max_id=9&since_id=3&min_id=4", CursorKind.RECORD3, {"max_id": 9, "since_id": 3, "min_id": 4}),
        ("max_id=9&since_id=3&min_id=4", CursorKind.RECORD, {"max_id": 9, "since_id": 3}),
        ("max_id=9&offset=7", CursorKind.OFFSET, {"offset": 7}),
        ("offset=-7", CursorKind.OFFSET, {}),
        ("offset=7", CursorKind.STATUS, {}),
        ("max_id=abc&since_id=&min_id=12x", CursorKind.STATUS, {}),
        ("max_id=0", CursorKind.STATUS, {"max_id": 0}),
        (
            "max_id=99999999999999999999&min_id=-99999999999999999999",
            CursorKind.STATUS,
            {"max_id": BIGGEST, "min_id": -BIGGEST - 1},
        ),
    ],
)
def test_a_cursor_takes_what_its_kind_knows(query: str, kind: CursorKind, expected: dict[str, int]) -> None:
    cursor = Cursor.read(query.encode(), default=20, most=40, kind=kind)
    absent = {"limit": 20, "max_id": None, "since_id": None, "min_id": None, "offset": 0}
    found = msgspec.structs.asdict(cursor)
    del found["query"]
    assert found == {**absent, **expected}


def test_min_id_wins_over_since_id() -> None:
    both = Cursor(20, since_id=3, min_id=5)
    assert (both.floor, both.is_ascending, both.newest_first([1, 2])) == (5, True, [2, 1])
    since = Cursor(20, since_id=3)
    assert (since.floor, since.is_ascending, since.newest_first([2, 1])) == (3, False, [2, 1])


@pytest.mark.parametrize(
    ("query", "ids", "options", "expected"),
    [
        ("limit=2", [], {"kind": CursorKind.STATUS, "is_timeline": True}, {}),
        ("limit=2", [9, 8], {"kind": CursorKind.STATUS}, {"next": "limit=2&max_id=8", "prev": "limit=2&min_id=9"}),
        ("limit=2", [9], {"kind": CursorKind.STATUS}, {"prev": "limit=2&min_id=9"}),
        (
            "limit=2",
            [9],
            {"kind": CursorKind.STATUS, "is_timeline": True},
            {"next": "limit=2&max_id=9", "prev": "limit=2&min_id=9"},
        ),
        ("", [9], {"kind": CursorKind.RECORD}, {"prev": "since_id=9"}),
        ("limit=1", ["9"], {"kind": CursorKind.RECORD}, {"next": "limit=1&max_id=9", "prev": "limit=1&since_id=9"}),
        ("limit=1", [9], {"kind": CursorKind.RECORD3}, {"next": "limit=1&max_id=9", "prev": "limit=1&min_id=9"}),
        ("limit=2", [9, 8], {"kind": CursorKind.OFFSET}, {"next": "limit=2&offset=2"}),
        (
            "limit=2&offset=5",
            [9, 8],
            {"kind": CursorKind.OFFSET},
            {"next": "limit=2&offset=7", "prev": "limit=2&offset=3"},
        ),
        ("limit=2&offset=1", [9], {"kind": CursorKind.OFFSET}, {"prev": "limit=2&offset=0"}),
        ("limit=2", [9], {"kind": CursorKind.OFFSET}, {}),
        (
            "local=true&max_id=30&any[]=a&any[]=%C3%A9&limit=1&since_id=1&min_id=2",
            [9],
            {"kind": CursorKind.STATUS},
            {
                "next": "local=true&any%5B%5D=a&any%5B%5D=%C3%A9&limit=1&max_id=9",
                "prev": "local=true&any%5B%5D=a&any%5B%5D=%C3%A9&limit=1&min_id=9",
            },
        ),
        ("limit=-999", [9], {"kind": CursorKind.STATUS}, {"prev": "limit=-999&min_id=9"}),
    ],
)
def test_links_name_the_neighbouring_pages(
    query: str, ids: list[int | str], options: dict[str, Any], expected: dict[str, str]
) -> None:
    cursor = Cursor.read(query.encode(), default=20, most=40, kind=options["kind"])
    header = link_header(URL, cursor, ids, **options)
    assert header == (", ".join(f'<{URL}?{query}>; rel="{rel}"' for rel, query in expected.items()) or None)


def links(header: str | None) -> dict[str, str]:
    return {rel: url for url, rel in re.findall(r'<([^>]+)>; rel="(\w+)"', header or "")}


def read(ids: set[int], kind: CursorKind, query: str) -> tuple[list[int], dict[str, str]]:
    """What a store does with a cursor."""
    cursor = Cursor.read(query.encode(), default=20, most=40, kind=kind)
    rows = sorted(ids, reverse=not cursor.is_ascending)
    if cursor.max_id is not None:
        rows = [row for row in rows if row < cursor.max_id]
    if cursor.floor is not None:
        rows = [row for row in rows if row > cursor.floor]
    page = cursor.newest_first(rows[cursor.offset : cursor.offset + cursor.limit])
    header = link_header(URL, cursor, page, kind=kind)
    return page, {rel: urlsplit(url).query for rel, url in links(header).items()}


@given(st.sets(st.integers(1, BIGGEST), max_size=40), st.integers(1, 10), st.sampled_from(CursorKind))
def test_walking_next_visits_every_record_once(ids: set[int], limit: int, kind: CursorKind) -> None:
    visited: list[int] = []
    query: str | None = f"limit={limit}&local=1"
    while query:
        assert dict(parse_qsl(query))["local"] == "1"
        page, found = read(ids, kind, query)
        visited += page
        query = found.get("next")
    assert visited == sorted(ids, reverse=True)


@given(st.sets(st.integers(1, 1000), min_size=1, max_size=40), st.integers(1, 10))
def test_walking_prev_from_the_oldest_visits_every_record_once(ids: set[int], limit: int) -> None:
    visited: list[int] = []
    query: str | None = f"limit={limit}&min_id=0"
    while query:
        page, found = read(ids, CursorKind.STATUS, query)
        visited = page + visited
        query = found.get("prev")
    assert visited == sorted(ids, reverse=True)

"""Where answers may be sent: exactly there, and nowhere that only looks like it."""

from __future__ import annotations

import string
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kith.identity.providers.oauth2.authorize.redirect_uris import (
    OUT_OF_BAND,
    is_registered,
    origin_of,
    with_fragment,
    with_query,
)
from kith.identity.providers.redirect_patterns import complain_pattern

BACK = "https://app.example/back"
TRICKS = [
    "https://app.example/back/",
    "https://app.example/back/more",
    "https://app.example/back?x=1",
    "https://app.example/back?",
    "https://app.example/back#",
    "https://app.example/back#x",
    "https://app.example/Back",
    "https://APP.example/back",
    "HTTPS://app.example/back",
    "http://app.example/back",
    "https://app.example:443/back",
    "https://app.example:8443/back",
    "https://app.example./back",
    "https://user@app.example/back",
    "https://app.example@evil.example/back",
    "https://app.example.evil.example/back",
    "https://appxexample/back",
    "https://app.example/./back",
    "https://app.example/x/../back",
    "https://app.example/%62ack",
    "https://app.example/back%2f..",
    "https://app.example//back",
    "https://app.example\\@evil.example/back",
    " https://app.example/back",
    "https://app.example/back\n",
    "//app.example/back",
    "/back",
    "",
]


@pytest.mark.parametrize("asked", TRICKS)
def test_only_the_very_same_address_counts(asked: str) -> None:
    assert is_registered(BACK, (BACK,))
    assert not is_registered(asked, (BACK,))


@pytest.mark.parametrize("asked", ["javascript:alert(1)", "JavaScript:x", "data:text/html,x", "vbscript:x", "x:\ty"])
def test_what_runs_in_a_browser_is_never_gone_to(asked: str) -> None:
    assert not is_registered(asked, (asked,))
    assert not is_registered(asked, (".*",), matching="regex")


@pytest.mark.parametrize(
    ("registered", "asked", "fine"),
    [
        ("http://127.0.0.1/cb", "http://127.0.0.1:51004/cb", True),
        ("http://[::1]/cb", "http://[::1]:51004/cb", True),
        ("http://localhost/cb?a=1", "http://localhost:1/cb?a=1", True),
        ("http://localhost", "http://localhost:65535", True),
        ("http://127.0.0.1/cb", "http://127.0.0.1:65536/cb", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:0/cb", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:/cb", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:08/cb", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:5١/cb", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:80@evil.example/cb", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:80/cb/", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:80/other", False),
        ("http://127.0.0.1/cb", "http://localhost:80/cb", False),
        ("http://127.0.0.1/cb", "https://127.0.0.1:80/cb", False),
        ("http://127.0.0.1:3000/cb", "http://127.0.0.1:3001/cb", False),
        ("http://localhost.evil.example/cb", "http://localhost:80.evil.example/cb", False),
        ("http://127.0.0.2/cb", "http://127.0.0.2:80/cb", False),
        ("https://app.example/cb", "https://app.example:80/cb", False),
        ("com.example.app:/cb", "com.example.app:/cb", True),
        ("com.example.app://cb", "com.example.app://cb:80", False),
    ],
)
def test_a_program_on_ones_own_computer_listens_where_there_is_room(registered: str, asked: str, fine: bool) -> None:
    assert is_registered(asked, (registered,)) is fine


def test_a_code_is_shown_only_to_those_who_may_have_it_shown() -> None:
    assert is_registered(OUT_OF_BAND, (OUT_OF_BAND,), out_of_band=True)
    assert not is_registered(OUT_OF_BAND, (OUT_OF_BAND,))
    assert not is_registered(OUT_OF_BAND, (BACK,), out_of_band=True)
    assert not is_registered(OUT_OF_BAND, ("urn:.*",), matching="regex", out_of_band=True)


@pytest.mark.parametrize(
    ("pattern", "asked", "fine"),
    [
        (r"https://[a-z]+\.app\.example/back", "https://eu.app.example/back", True),
        (r"https://[a-z]+\.app\.example/back", "https://eu.app.example/back/x", False),
        (r"https://[a-z]+\.app\.example/back", "xhttps://eu.app.example/back", False),
        (r"https://[a-z]+\.app\.example/back", "https://euxapp.example/back", False),
        (r"https://(eu|us)\.app\.example/.*", "https://us.app.example/any/where?x=1", True),
        (r"https://app\.example/.*", "https://app.example/#x", False),
        (r"https://app\.example.*", "https://app.example@evil.example/", False),
        (r"http://localhost:\d+/cb", "http://localhost:8080/cb", True),
        (r"http://.*", "http://evil.example/", False),
        (r"https://app.example/back", "https://app.example/back", True),
        (r"https://app\.example/[^/]*", "https://app.example/é", False),
        (r"https://app\.example/.*", "https://app.example/" + "a" * 600, False),
        (r".*", "https://app.example/", False),
        (r"https://(a+)+b", "https://aab", False),
    ],
)
def test_a_pattern_matches_the_whole_and_only_where_it_may(pattern: str, asked: str, fine: bool) -> None:
    assert is_registered(asked, (pattern,), matching="regex") is fine
    assert not is_registered(asked, (pattern,)) or asked == pattern


@pytest.mark.parametrize(
    ("pattern", "fine"),
    [
        (r"https://app\.example/(a|b)?", True),
        (r"^https://app\.example/.*$", True),
        (r"com\.example\.app:/.*", True),
        (r"https://app\.example/[(a+)+]", True),
        (r"https://app\.example/(?:a|(b|c))", True),
        (r"https?://app\.example/", False),
        (r".*://app\.example/", False),
        (r"https://app\.example/(", False),
        (r"https://app\.example/(a*)*", False),
        (r"https://app\.example/(a|a)+", False),
        (r"https://app\.example/(a){2,}", False),
        (r"https://app\.example/(a)\1", False),
        (r"https://app\.example/(?=a).", False),
        (r"https://app\.example/.*.*.*.*", False),
        (r"https://app\.example/|javascript:.*", False),
        (r"javascript:.*", False),
        (r"https://app\.example/" + "a" * 500, False),
    ],
)
def test_a_pattern_that_says_too_little_or_takes_too_long_is_not_saved(pattern: str, fine: bool) -> None:
    assert (complain_pattern(pattern) is None) is fine


_text = st.text(string.ascii_letters + string.digits + "-._~:/?[]@!$&'()*+,;=%#\\ \t\n\0é", max_size=60)
_path = st.text(string.ascii_letters + string.digits + "-._~/", max_size=20)
_address = st.builds(
    lambda scheme, host, path: f"{scheme}://{host}/{path}",
    st.sampled_from(["https", "http", "com.example.app"]),
    st.sampled_from(["app.example", "localhost", "127.0.0.1", "[::1]", "localhost:3000"]),
    _path,
)


@given(_text, st.lists(_address, max_size=3))
def test_nothing_that_is_not_registered_matches(asked: str, registered: list[str]) -> None:
    assume(asked not in registered)
    assert not is_registered(asked, tuple(registered), out_of_band=True)


@given(_address, st.text(min_size=1, max_size=20))
def test_nothing_can_be_added_to_what_is_registered(registered: str, more: str) -> None:
    assert is_registered(registered, (registered,))
    assert not is_registered(registered + more, (registered,))
    assert not is_registered(more + registered, (registered,))


@given(_address, st.dictionaries(_text, _text, min_size=1, max_size=4), st.sampled_from(["", "?a=%20b", "?", "?a=1&"]))
def test_an_answer_is_read_as_it_was_written_and_leaves_the_address_alone(
    address: str, fields: dict[str, str], query: str
) -> None:
    uri = address + query
    by_query, by_fragment = with_query(uri, fields), with_fragment(uri, fields)
    had = parse_qsl(urlsplit(uri).query, keep_blank_values=True)

    assert by_query.startswith(uri)
    assert by_fragment.startswith(f"{uri}#")
    assert parse_qsl(urlsplit(by_query).query, keep_blank_values=True) == [*had, *fields.items()]
    assert parse_qsl(by_fragment.partition("#")[2], keep_blank_values=True) == list(fields.items())
    assert urlsplit(by_query)[:3] == urlsplit(uri)[:3]


@pytest.mark.parametrize(
    ("uri", "origin"),
    [
        ("https://app.example:8443/back?x", "https://app.example:8443"),
        ("com.example.app:/back", "com.example.app:"),
        ("http://[::1]:90/cb", "http:"),
    ],
)
def test_the_place_as_a_page_policy_calls_it(uri: str, origin: str) -> None:
    assert origin_of(uri) == origin

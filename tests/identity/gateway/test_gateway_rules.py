"""The gateway's pure rules: which paths are open, where people may be sent, which headers go on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import jwt
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kith.identity.gateway import states
from kith.identity.gateway.gateways import Gateway, cookie_name
from kith.identity.gateway.headers import additional, basic_for, for_upstream, from_upstream, identity_headers
from kith.identity.gateway.paths import (
    HostPath,
    host_key,
    in_domain,
    is_open,
    normal_path,
    read_original,
    skip_patterns,
)
from kith.identity.gateway.signing_in import target_of
from kith.identity.gateway.states import BadState
from kith.identity.gateway.upstream.pool import read_upstream

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def gateway(**fields: object) -> Gateway:
    given = {
        "id": 1, "name": "Wiki", "slug": "wiki", "client_id": "abc", "mode": "proxy", "scheme": "https",
        "place": HostPath("wiki.example", ""), "external_host": "https://wiki.example", "internal_host": "http://in:1",
        "verifies_tls": True, "skips": (), "takes_header_login": True, "sends_basic": True, "basic_user": "user",
        "basic_password": "word", "cookie_domain": "", "cookie": "kith_proxy_00000000", "seconds": 60,
        "cookie_secret": "s" * 50,
    }  # fmt: skip
    return Gateway(**given | fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "raw",
    [
        "/public/../admin", "/public/%2e%2e/admin", "/public/.%2E/admin", "/public/..%2fadmin", "/public%2f..%2fadmin",
        "/public//admin", "//public/x", "/public/;x/../admin", "/public/x;y", "/public\\..\\admin",
        "/public/%5c..%5cadmin", "/public/%00", "/public/%252e%252e/admin", "/public/./x", "/public/%ff", "/public/%0a",
        "public/x", "/public/%3b", "/public/x/..",
    ],
)  # fmt: skip
def test_a_path_that_could_mean_another_place_is_open_to_nobody(raw: str) -> None:
    assert normal_path(raw) is None
    assert not is_open(skip_patterns("public"), raw)


@pytest.mark.parametrize(
    ("lines", "raw", "expected"),
    [
        ("^/public/", "/public/a.png", True),
        ("^/public/", "/PUBLIC/a.png", False),
        ("^/public/", "/admin", False),
        ("^/public/$", "/public/", True),
        ("^/caf\u00e9$", "/caf%C3%A9", True),
        ("/a b", "/x/a%20b", True),
        ("(broken\n^/ok$", "/ok", True),
        ("(broken", "/(broken", False),
        ("\n  \n", "/anything", False),
        ("", "/", False),
        ("/health", "/other?/health", False),
    ],
)
def test_open_paths_are_searched_for_in_the_decoded_path(lines: str, raw: str, expected: bool) -> None:
    assert is_open(skip_patterns(lines), raw) is expected


def test_for_a_whole_domain_the_whole_address_is_compared() -> None:
    patterns = skip_patterns(r"^https://open\.example/x")

    assert is_open(patterns, "/x", before="https://open.example")
    assert not is_open(patterns, "/x", before="https://other.example")


@given(st.text(alphabet="/.%2efF5cC;\\a", max_size=40))
def test_whatever_is_normal_has_no_way_up(raw: str) -> None:
    path = normal_path(f"/{raw}")

    assert path is None or (".." not in path.split("/") and "//" not in path and "\\" not in path and "%" not in path)


@pytest.mark.parametrize(
    ("host", "domain", "expected"),
    [
        ("example.com", "example.com", True),
        ("a.example.com", "example.com", True),
        ("a.example.com:8443", ".Example.com", True),
        ("evilexample.com", "example.com", False),
        ("example.com.evil.org", "example.com", False),
        ("com", "example.com", False),
        ("a.example.com", "", False),
        ("[::1]:80", "example.com", False),
    ],
)
def test_a_domain_ends_at_a_dot(host: str, domain: str, expected: bool) -> None:
    assert in_domain(host, domain) is expected


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("/page?x=1", "https://wiki.example/page?x=1"),
        ("https://wiki.example/page", "https://wiki.example/page"),
        ("https://WIKI.example:443/page", "https://wiki.example/page"),
        ("", "https://wiki.example/"),
        ("//evil.org/x", "https://wiki.example/"),
        ("/\\evil.org", "https://wiki.example/"),
        ("https://evil.org/", "https://wiki.example/"),
        ("http://wiki.example/page", "https://wiki.example/"),
        ("https://wiki.example@evil.org/", "https://wiki.example/"),
        ("https://evil.org\\@wiki.example/", "https://wiki.example/"),
        ("https://wiki.example.evil.org/", "https://wiki.example/"),
        ("javascript:alert(1)", "https://wiki.example/"),
        ("https://wiki.example/outpost.kith/sign_out", "https://wiki.example/"),
        ("https://wiki.example/\r\nset-cookie: a=b", "https://wiki.example/"),
        ("https://[bad/", "https://wiki.example/"),
    ],
)
def test_people_are_sent_on_to_places_behind_the_gateway_only(asked: str, expected: str) -> None:
    assert target_of(gateway(), asked) == expected


@pytest.mark.parametrize(
    ("asked", "is_taken"),
    [
        ("https://a.example.com/x", True),
        ("http://example.com/x", True),
        ("https://evilexample.com/x", False),
        ("https://example.com.evil.org/", False),
    ],
)
def test_in_a_whole_domain_to_any_host_of_it(asked: str, is_taken: bool) -> None:
    domain = gateway(
        mode="forward_domain", cookie_domain="example.com", place=HostPath("auth.example.com", ""),
        external_host="https://auth.example.com",
    )  # fmt: skip

    assert target_of(domain, asked) == (asked if is_taken else "https://auth.example.com/")


@pytest.mark.parametrize("text", ["wiki.example/x", "ftp://wiki.example/", "https:///x", "https://a b/", "x" * 9000])
def test_what_is_no_address_is_not_read_as_one(text: str) -> None:
    assert read_original(text) is None


def test_hosts_are_compared_without_the_port_that_goes_without_saying() -> None:
    assert host_key("Wiki.Example:443", "https") == "wiki.example"
    assert host_key("wiki.example:443", "http") == "wiki.example:443"
    assert host_key("bad host", "http") is None
    assert host_key("[::1]:8080", "http") == "[::1]:8080"


def test_made_up_headers_and_those_of_the_connection_do_not_go_on() -> None:
    sent = [
        (b"x-kith-username", b"root"), (b"x_kith_username", b"root"), (b"x-kith_email", b"root"),
        (b"x-kith-username", b"twice"), (b"connection", b"X-Secret, keep-alive"), (b"x-secret", b"1"),
        (b"transfer-encoding", b"chunked"), (b"te", b"trailers"), (b"upgrade", b"h2c"), (b"host", b"a"),
        (b"x-forwarded-for", b"1.2.3.4"), (b"x_forwarded_for", b"1.2.3.4"), (b"forwarded", b"for=1.2.3.4"),
        (b"x-rewrite-url", b"/admin"), (b"x-original-host", b"b"), (b"x-forwarded-prefix", b"/admin"),
        (b"true-client-ip", b"1.2.3.4"), (b"x_forwarded_user", b"root"),
        (b"cookie", b"a=1; kith_proxy_0123abcd=key; kith_session=s; b=2"), (b"accept", b"*/*"),
        (b"authorization", b"Basic x"),
    ]  # fmt: skip

    assert for_upstream(sent, without_login=True) == [(b"cookie", b"a=1; b=2"), (b"accept", b"*/*")]
    assert (b"authorization", b"Basic x") in for_upstream(sent, without_login=False)
    for own in (b"kith_session", b"kith_device", b"kith_marks", b"kith_name", b"kith_csrf", b"__Secure-kith_session"):
        assert for_upstream([(b"cookie", own + b"=s")], without_login=False) == []
    assert for_upstream([(b"cookie", b"__Host-kith_session=s")], without_login=False) == []


def test_of_an_answer_only_what_concerns_the_browser_goes_on() -> None:
    said = [(b"connection", b"close, x-hop"), (b"x-hop", b"1"), (b"keep-alive", b"5"), (b"set-cookie", b"a=1")]

    assert from_upstream(said) == [(b"set-cookie", b"a=1")]


def test_what_is_told_of_somebody_is_one_line_each() -> None:
    claims = {"preferred_username": "ada", "name": "Ada\r\nX-Evil: 1", "groups": ["a|b", "c"], "sub": "7"}

    told = dict(identity_headers(gateway(), claims, "token", "https://kith.example"))

    assert told[b"x-kith-name"] == b"Ada X-Evil: 1"
    assert told[b"x-kith-groups"] == b"a b|c"
    assert told[b"x-kith-email"] == b""
    assert told[b"x-kith-meta-jwks"] == b"https://kith.example/application/o/wiki/jwks/"
    assert all(b"\n" not in value and b"\r" not in value for value in told.values())


def test_further_headers_take_no_place_of_ours() -> None:
    wanted = {
        "X-Team": "blue", "X-Kith-Username": "root", "X_Kith_Uid": "1", "Host": "evil", "Content-Length": "0",
        "Bad Name": "x", "Cookie": "a", "X-Line": "a\r\nb",
    }  # fmt: skip

    assert additional({"additionalHeaders": wanted}) == ((b"x-team", b"blue"), (b"x-line", b"a b"))
    assert additional({"additionalHeaders": "nonsense"}) == ()


def test_basic_to_the_application_needs_a_password() -> None:
    assert basic_for(gateway(), {"user": "u", "word": "p"}, "e@x") == ((b"authorization", b"Basic dTpw"),)
    assert basic_for(gateway(), {"word": "p"}, "e@x") == ((b"authorization", b"Basic ZUB4OnA="),)
    assert basic_for(gateway(), {"user": "u"}, "e@x") == ()
    assert basic_for(gateway(sends_basic=False), {"user": "u", "word": "p"}, "e@x") == ()


@pytest.mark.parametrize(
    "url", ["ftp://a/", "http:///x", "http://u:p@a/", "http://a b/", "http://a/?q", "http://a:99999/", "a:80", ""]
)
def test_what_is_no_upstream_is_not_called(url: str) -> None:
    assert read_upstream(url, verifies=True, is_guarded=True) is None


def test_the_cookie_is_named_after_the_client() -> None:
    assert cookie_name("abc") == "kith_proxy_ba7816bf"


def test_a_state_is_read_by_its_own_gateway_for_an_hour() -> None:
    mine, key = gateway(), states.new_key()
    text, state = states.sign(mine, key, "https://wiki.example/x", NOW)

    assert states.read_state(mine, text, NOW + timedelta(minutes=59)) == state
    assert state.sid == states.key_hash(key)
    with pytest.raises(BadState):
        states.read_state(mine, text, NOW + timedelta(minutes=61))
    with pytest.raises(BadState):
        states.read_state(gateway(client_id="other"), text, NOW)
    with pytest.raises(BadState):
        states.read_state(gateway(cookie_secret="t" * 50), text, NOW)


@pytest.mark.parametrize("alg", ["none", "HS384"])
def test_a_state_of_another_algorithm_is_refused(alg: str) -> None:
    _, state = states.sign(gateway(), states.new_key(), "https://wiki.example/x", NOW)
    forged = jwt.encode(msgspec.to_builtins(state), "s" * 50 if alg != "none" else "", algorithm=alg)

    with pytest.raises(BadState):
        states.read_state(gateway(), forged, NOW)


@given(st.text(max_size=200))
def test_no_text_is_a_state_by_chance(text: str) -> None:
    with pytest.raises(BadState):
        states.read_state(gateway(), text, NOW)

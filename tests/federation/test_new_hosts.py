"""How many hosts of one domain may appear at once."""

from __future__ import annotations

import pytest

from kith.base.http.sites import registrable_domain, site_of_domain
from kith.federation.fetching import FetchFailed
from kith.federation.people.new_hosts import MOST, NewHosts


@pytest.mark.parametrize(
    ("domain", "registered"),
    [
        ("example.org", "example.org"),
        ("a.b.example.org", "example.org"),
        ("social.example.co.uk", "example.co.uk"),
        ("example.co.uk", "example.co.uk"),
        ("a.example.de", "example.de"),
        ("a.example.org:8443", "example.org"),
        ("127.0.0.1:3000", "127.0.0.1:3000"),
        ("[::1]:3000", "[::1]:3000"),
        ("localhost", "localhost"),
        ("social.example.org.au", "example.org.au"),
        ("social.example.me.uk", "example.me.uk"),
        ("social.example.go.jp", "example.go.jp"),
    ],
)
def test_what_somebody_has_registered(domain: str, registered: str) -> None:
    assert registrable_domain(domain) == registered


@pytest.mark.parametrize("short", ["q7x.cc", "x.io", "t.co", "me.io", "abc.de", "q7x.uk"])
def test_whoever_has_a_short_name_is_one(short: str) -> None:
    names = [short, *(f"{below}.{short}" for below in ("a", "b", "www.c", "co", "com.d"))]

    assert {registrable_domain(name) for name in names} == {short}
    assert {site_of_domain(f"{name}:8443") for name in names} == {short}


@pytest.mark.parametrize(
    "spelled",
    [
        ["9.9.9.9", "9.9.9.9:8443", "[::ffff:9.9.9.9]:444"],
        ["[2620:fe::9]", "[2620:fe:0::9]", "[2620:FE::a]:8443", "[2620:fe:0:0:ffff::1]"],
    ],
)
def test_whoever_has_an_address_is_one_however_it_is_written(spelled: list[str]) -> None:
    assert len({registrable_domain(one) for one in spelled}) == 1
    assert len({site_of_domain(one) for one in spelled}) == 1
    assert {registrable_domain(one) for one in spelled} == {site_of_domain(one) for one in spelled}


def test_ten_in_a_minute_and_no_more() -> None:
    hosts = NewHosts()
    for number in range(MOST):
        hosts.check(f"a{number}.example.org")

    with pytest.raises(FetchFailed) as failed:
        hosts.check("one-too-many.example.org")
    hosts.check("a1.example.org")
    hosts.check("a.example.com")

    assert failed.value.reason == "over_budget"

"""How many hosts of one domain may appear at once."""

from __future__ import annotations

import pytest

from kith.base.http.sites import registrable_domain
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
    ],
)
def test_what_somebody_has_registered(domain: str, registered: str) -> None:
    assert registrable_domain(domain) == registered


def test_ten_in_a_minute_and_no_more() -> None:
    hosts = NewHosts()
    for number in range(MOST):
        hosts.check(f"a{number}.example.org")

    with pytest.raises(FetchFailed) as failed:
        hosts.check("one-too-many.example.org")
    hosts.check("a1.example.org")
    hosts.check("a.example.com")

    assert failed.value.reason == "over_budget"

"""Documents fetched from other servers, well-meaning and others."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kith.base.http import Outgoing
from kith.federation.fetching import (
    FetchChain,
    FetchFailed,
    HostGate,
    RemoteClient,
    SignatureScheme,
    fetch_collection,
    fetch_document,
    fetch_items,
    fetch_nodeinfo,
)
from kith.federation.fetching.ports import ReasonAgainst
from tests.federation.neighbours.sample import AS
from tests.federation.remote_server import ACTIVITY, RemoteServer

LD = f'application/ld+json; profile="{AS}"'


def _note(uri: str, **fields: Any) -> dict[str, Any]:
    return {"@context": AS, "id": uri, "type": "Note", **fields}


async def _reason(client: RemoteClient, uri: str, chain: FetchChain | None = None) -> str:
    with pytest.raises(FetchFailed) as caught:
        await fetch_document(client, uri, chain=chain or FetchChain())
    return caught.value.reason


@asynccontextmanager
async def _client(*hosts: str, gate: HostGate | None = None) -> AsyncIterator[RemoteClient]:
    outgoing = Outgoing("kith-test", hosts)
    try:
        yield RemoteClient(outgoing, hosts, gate)
    finally:
        await outgoing.close()


class WritingSigner:
    """Writes its name under what it is given, so that a test can read it."""

    async def sign(self, method: str, url: str, scheme: SignatureScheme) -> Mapping[str, str]:
        return {"Signature": f"{scheme} {method} {url}"}


@pytest.mark.parametrize("content_type", [ACTIVITY, LD])
async def test_a_document_is_fetched(
    client: RemoteClient, remote: RemoteServer, chain: FetchChain, content_type: str
) -> None:
    uri = remote.serves("/notes/1", _note(f"{remote.url}/notes/1"), type=content_type)
    fetched = await fetch_document(client, f"{uri}#part", chain=chain)
    assert (fetched.document["type"], fetched.domain) == ("Note", remote.domain)
    assert "application/activity+json" in remote.asked[0].headers["Accept"]
    assert AS in remote.asked[0].headers["Accept"]
    assert chain.spent == 1


@pytest.mark.parametrize("content_type", ["application/json", "application/ld+json", "text/html", "image/png", "x"])
async def test_a_document_of_another_type_is_not_believed(
    client: RemoteClient, remote: RemoteServer, content_type: str
) -> None:
    uri = remote.serves("/uploads/1", _note(f"{remote.url}/uploads/1"), type=content_type)
    assert await _reason(client, uri) == "wrong_type"


@pytest.mark.parametrize(
    ("status", "reason"),
    [(404, "not_found"), (410, "gone"), (401, "forbidden"), (403, "forbidden"), (500, "status"), (204, "status")],
)
async def test_a_status_is_told(client: RemoteClient, remote: RemoteServer, status: int, reason: str) -> None:
    assert await _reason(client, remote.serves("/notes/1", status=status)) == reason


async def test_a_tombstone_says_that_something_is_gone(client: RemoteClient, remote: RemoteServer) -> None:
    uri = remote.serves("/notes/1", {"@context": AS, "id": f"{remote.url}/notes/1", "type": "Tombstone"})
    assert await _reason(client, uri) == "gone"


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'"x"', b"{" * 5000, b'{"a":' * 50 + b"1" + b"}" * 50])
async def test_a_body_that_is_no_document_is_refused(client: RemoteClient, remote: RemoteServer, body: bytes) -> None:
    assert await _reason(client, remote.serves("/notes/1", body)) == "document"


@pytest.mark.parametrize("fields", [{}, {"id": None}, {"id": 7}, {"id": ["https://a.example/"]}, {"id": "x"}])
async def test_a_document_without_an_id_is_refused(
    client: RemoteClient, remote: RemoteServer, fields: dict[str, Any]
) -> None:
    assert await _reason(client, remote.serves("/notes/1", {"@context": AS, **fields})) == "wrong_id"


async def test_a_page_leads_to_the_document_under_its_own_id(
    client: RemoteClient, remote: RemoteServer, chain: FetchChain
) -> None:
    note = _note(f"{remote.url}/notes/1")
    remote.serves("/notes/1", note)
    page = remote.serves("/@alice/1", note)
    fetched = await fetch_document(client, page, chain=chain)
    assert fetched.document["id"] == f"{remote.url}/notes/1"
    assert remote.paths == ["/@alice/1", "/notes/1"]


async def test_a_redirect_to_the_document_itself_is_not_asked_twice(
    client: RemoteClient, remote: RemoteServer, other: RemoteServer, chain: FetchChain
) -> None:
    other.serves("/notes/1", _note(f"{other.url}/notes/1"))
    page = remote.redirects("/@alice/1", f"{other.url}/notes/1")
    fetched = await fetch_document(client, page, chain=chain)
    assert fetched.domain == other.domain
    assert (remote.paths, other.paths) == (["/@alice/1"], ["/notes/1"])


async def test_a_document_with_the_id_of_another_is_asked_of_the_other(
    client: RemoteClient, remote: RemoteServer, other: RemoteServer, chain: FetchChain
) -> None:
    other.serves("/notes/1", _note(f"{other.url}/notes/1", content="true"))
    forged = remote.serves("/forged", _note(f"{other.url}/notes/1", content="forged"))
    fetched = await fetch_document(client, forged, chain=chain)
    assert (fetched.document["content"], fetched.domain) == ("true", other.domain)


async def test_documents_that_name_each_other_are_given_up(client: RemoteClient, remote: RemoteServer) -> None:
    one = remote.serves("/1", _note(f"{remote.url}/2"))
    remote.serves("/2", _note(f"{remote.url}/1"))
    assert await _reason(client, one) == "wrong_id"
    assert len(remote.asked) == 2


async def test_an_open_redirect_does_not_speak_for_its_host(
    client: RemoteClient, remote: RemoteServer, other: RemoteServer
) -> None:
    uri = remote.redirects("/go", f"{other.url}/forged")
    other.serves("/forged", _note(uri))
    assert await _reason(client, uri) == "wrong_host"


async def test_a_redirect_loop_ends(client: RemoteClient, remote: RemoteServer) -> None:
    assert await _reason(client, remote.redirects("/loop", "/loop")) == "too_many_redirects"
    assert len(remote.asked) == 4


@pytest.mark.parametrize("to", ["ftp://a.example/", "//user:word@a.example/", "http://127.1/", "//[x", "file:///etc"])
async def test_a_redirect_to_no_address_is_refused(client: RemoteClient, remote: RemoteServer, to: str) -> None:
    assert await _reason(client, remote.redirects("/away", to)) == "bad_url"


@pytest.mark.parametrize(
    "uri", ["", "x", "ftp://a.example/x", "https://user@a.example/", "https://127.1/", "https://a b/"]
)
async def test_what_is_no_address_is_not_asked_for(client: RemoteClient, uri: str) -> None:
    assert await _reason(client, uri) == "bad_url"


async def test_plain_http_is_spoken_to_listed_hosts_only(remote: RemoteServer, other: RemoteServer) -> None:
    uri = remote.serves("/notes/1", _note(f"{remote.url}/notes/1"))
    away = remote.redirects("/away", other.serves("/notes/2", _note(f"{other.url}/notes/2")))
    async with _client(remote.domain) as client:
        assert (await fetch_document(client, uri, chain=FetchChain())).domain == remote.domain
        assert await _reason(client, f"{other.url}/notes/2") == "plain_http"
        assert await _reason(client, away) == "plain_http"
        assert await _reason(client, "http://a.example/notes/1") == "plain_http"
    assert not other.asked


async def test_our_own_network_is_out_of_reach(remote: RemoteServer) -> None:
    async with _client() as client:
        assert await _reason(client, f"https://127.0.0.1:{remote.server.port}/") == "refused_address"
        assert await _reason(client, "https://169.254.169.254/latest/meta-data/") == "refused_address"
    assert not remote.asked


@pytest.mark.parametrize("is_packed", [True, False])
async def test_a_giant_is_not_read_to_its_end(client: RemoteClient, remote: RemoteServer, is_packed: bool) -> None:
    body = b'{"a":"' + b"x" * (3 << 20) + b'"}'
    if is_packed:
        uri = remote.serves("/notes/1", gzip.compress(body), headers={"Content-Encoding": "gzip"})
    else:
        uri = remote.serves("/notes/1", body)
    assert await _reason(client, uri) == "too_large"


async def test_a_slow_body_costs_its_chain_one_visit(
    client: RemoteClient, remote: RemoteServer, chain: FetchChain
) -> None:
    slow = remote.dawdles("/slow", b'{"id":')
    with pytest.raises(FetchFailed) as caught:
        await client.get(slow, accept=ACTIVITY, chain=chain, seconds=0.2)
    assert caught.value.reason == "timeout"
    assert caught.value.may_pass
    uri = remote.serves("/notes/1", _note(f"{remote.url}/notes/1"))
    assert await _reason(client, uri, chain) == "failed_before"
    assert (await fetch_document(client, uri, chain=FetchChain())).domain == remote.domain


async def test_a_host_that_is_asked_at_the_last_moment_is_not_to_blame(
    client: RemoteClient, remote: RemoteServer
) -> None:
    slow = remote.dawdles("/slow", None)
    with pytest.raises(FetchFailed):
        await client.get(slow, accept=ACTIVITY, chain=FetchChain(), seconds=0.2)
    uri = remote.serves("/notes/1", _note(f"{remote.url}/notes/1"))
    assert (await fetch_document(client, uri, chain=FetchChain())).domain == remote.domain


async def test_a_host_that_cannot_be_reached_is_left_alone(client: RemoteClient, remote: RemoteServer) -> None:
    uri = f"{remote.url}/notes/1"
    await remote.server.close()
    assert await _reason(client, uri) == "connect"
    assert await _reason(client, uri) == "failed_before"


@pytest.mark.parametrize("status", [429, 503])
async def test_a_host_that_asks_for_a_pause_gets_it(client: RemoteClient, remote: RemoteServer, status: int) -> None:
    uri = remote.serves("/notes/1", status=status, headers={"Retry-After": "120"})
    assert await _reason(client, uri) == "unavailable"
    assert await _reason(client, uri) == "failed_before"
    assert len(remote.asked) == 1


async def test_a_pause_that_is_over_is_over(client: RemoteClient, remote: RemoteServer) -> None:
    uri = remote.serves("/notes/1", status=503, headers={"Retry-After": "0"})
    remote.serves("/notes/1", _note(uri))
    assert await _reason(client, uri) == "unavailable"
    assert (await fetch_document(client, uri, chain=FetchChain())).domain == remote.domain


async def test_a_chain_has_a_budget_in_all_and_for_each_host(
    client: RemoteClient, remote: RemoteServer, other: RemoteServer
) -> None:
    uri, theirs = (one.serves("/notes/1", _note(f"{one.url}/notes/1")) for one in (remote, other))
    chain = FetchChain(in_all=3, per_host=2)
    for _ in range(2):
        await fetch_document(client, uri, chain=chain)
    assert await _reason(client, uri, chain) == "over_budget"
    await fetch_document(client, theirs, chain=chain)
    assert await _reason(client, theirs, chain) == "over_budget"
    assert (len(remote.asked), len(other.asked)) == (2, 1)


async def test_redirects_are_paid_for(client: RemoteClient, remote: RemoteServer) -> None:
    chain = FetchChain(per_host=2)
    assert await _reason(client, remote.redirects("/loop", "/loop"), chain) == "over_budget"
    assert len(remote.asked) == 2


class ClosedGate:
    def __init__(self, domain: str) -> None:
        self._domain = domain

    async def reason_against(self, domain: str) -> ReasonAgainst | None:
        return "blocked" if domain == self._domain else None


async def test_a_blocked_host_is_not_asked_even_through_others(remote: RemoteServer, other: RemoteServer) -> None:
    away = remote.redirects("/away", f"{other.url}/notes/1")
    async with _client(remote.domain, other.domain, gate=ClosedGate(other.domain)) as client:
        assert await _reason(client, f"{other.url}/notes/1") == "blocked"
        assert await _reason(client, away) == "blocked"
    assert not other.asked


async def test_a_blocked_host_is_not_asked_by_a_name_that_ends_otherwise(remote: RemoteServer) -> None:
    away = remote.redirects("/away", "https://shut.example./notes/1")
    async with _client(remote.domain, gate=ClosedGate("shut.example")) as client:
        assert await _reason(client, "https://shut.example./notes/1") == "wrong_host"
        assert await _reason(client, away) == "wrong_host"


async def test_every_hop_is_signed_for_itself(
    client: RemoteClient, remote: RemoteServer, other: RemoteServer, chain: FetchChain
) -> None:
    uri = other.serves("/notes/1", _note(f"{other.url}/notes/1"))
    away = remote.redirects("/away", uri)
    await fetch_document(client, away, chain=chain, signer=WritingSigner())
    assert remote.asked[0].headers["Signature"] == f"cavage GET {away}"
    assert other.asked[0].headers["Signature"] == f"cavage GET {uri}"


async def test_a_host_that_understands_the_newer_signature_only_is_remembered(
    client: RemoteClient, remote: RemoteServer
) -> None:
    uri = remote.serves("/notes/1", status=401)
    remote.serves("/notes/1", _note(uri))
    for _ in range(2):
        await fetch_document(client, uri, chain=FetchChain(), signer=WritingSigner())
    schemes = [request.headers["Signature"].partition(" ")[0] for request in remote.asked]
    assert schemes == ["cavage", "rfc9421", "rfc9421"]


async def test_a_host_that_refuses_both_signatures_is_asked_twice(client: RemoteClient, remote: RemoteServer) -> None:
    uri = remote.serves("/notes/1", status=401)
    with pytest.raises(FetchFailed) as caught:
        await fetch_document(client, uri, chain=FetchChain(), signer=WritingSigner())
    assert caught.value.reason == "forbidden"
    assert not caught.value.may_pass
    assert len(remote.asked) == 2


def _pages(remote: RemoteServer, count: int, last: str | None = None) -> None:
    for number in range(1, count + 1):
        following = f"{remote.url}/o?page={number + 1}" if number < count else last
        remote.serves(
            f"/o?page={number}",
            {
                "@context": AS,
                "id": f"{remote.url}/o?page={number}",
                "type": "OrderedCollectionPage",
                "orderedItems": [f"{remote.url}/notes/{number}{letter}" for letter in "ab"],
                "next": following,
            },
        )
    remote.serves(
        "/o", {"@context": AS, "id": f"{remote.url}/o", "type": "OrderedCollection", "first": f"{remote.url}/o?page=1"}
    )


@pytest.mark.parametrize(
    ("most_pages", "most_items", "count"), [(10, 100, 6), (2, 100, 4), (10, 3, 3), (0, 100, 0), (10, 0, 0)]
)
async def test_a_collection_is_read_page_after_page(
    client: RemoteClient, remote: RemoteServer, chain: FetchChain, most_pages: int, most_items: int, count: int
) -> None:
    _pages(remote, 3)
    collection = await fetch_collection(client, f"{remote.url}/o", chain=chain)
    items = await fetch_items(client, collection, most_pages=most_pages, most_items=most_items, chain=chain)
    names = [f"{remote.url}/notes/{number}{letter}" for number in (1, 2, 3) for letter in "ab"]
    assert [item.id for item in items] == names[:count]


async def test_pages_in_a_circle_are_read_once(client: RemoteClient, remote: RemoteServer, chain: FetchChain) -> None:
    _pages(remote, 3, last=f"{remote.url}/o?page=1")
    collection = await fetch_collection(client, f"{remote.url}/o", chain=chain)
    items = await fetch_items(client, collection, most_pages=100, most_items=1000, chain=chain)
    assert len(items) == 6
    assert len(remote.asked) == 4


async def test_pages_of_another_host_are_not_read(
    client: RemoteClient, remote: RemoteServer, other: RemoteServer, chain: FetchChain
) -> None:
    _pages(remote, 1, last=f"{other.url}/o?page=2")
    collection = await fetch_collection(client, f"{remote.url}/o", chain=chain)
    assert len(await fetch_items(client, collection, most_pages=9, most_items=99, chain=chain)) == 2
    with pytest.raises(FetchFailed) as caught:
        await fetch_collection(client, remote.redirects("/away", f"{other.url}/o"), chain=chain)
    assert caught.value.reason == "not_found"
    other.serves("/o", {"@context": AS, "type": "Collection", "items": []})
    with pytest.raises(FetchFailed) as caught:
        await fetch_collection(client, f"{remote.url}/away", chain=chain)
    assert caught.value.reason == "wrong_host"


async def test_a_page_that_fails_ends_the_collection(
    client: RemoteClient, remote: RemoteServer, chain: FetchChain
) -> None:
    _pages(remote, 2, last=f"{remote.url}/missing")
    collection = await fetch_collection(client, f"{remote.url}/o", chain=chain)
    assert len(await fetch_items(client, collection, most_pages=9, most_items=99, chain=chain)) == 4


async def test_nodeinfo_is_told_by_the_host_itself(
    client: RemoteClient, remote: RemoteServer, other: RemoteServer, chain: FetchChain
) -> None:
    schema = "http://nodeinfo.diaspora.software/ns/schema/2.0"
    nodeinfo = {"software": {"name": "kith", "version": "1"}}
    for one, href in ((remote, f"{remote.url}/nodeinfo/2.0"), (other, f"{remote.url}/nodeinfo/2.0")):
        one.serves("/.well-known/nodeinfo", {"links": [{"rel": schema, "href": href}]}, type="application/json")
    remote.serves("/nodeinfo/2.0", nodeinfo, type="application/json")
    assert (await fetch_nodeinfo(client, remote.domain, chain=chain)).software == "kith"
    with pytest.raises(FetchFailed) as caught:
        await fetch_nodeinfo(client, other.domain, chain=chain)
    assert caught.value.reason == "wrong_host"

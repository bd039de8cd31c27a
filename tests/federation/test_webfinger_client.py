"""Handles and actors that confirm each other, and those that do not."""

from __future__ import annotations

import pytest

from kith.federation.fetching import (
    FetchChain,
    FetchFailed,
    RemoteClient,
    confirmed_handle,
    fetch_actor_by_handle,
    fetch_document,
    resolve_handle,
)
from kith.federation.vocabulary.incoming import Handle, IncomingActor, read_actor
from tests.federation.remote_server import RemoteServer

XRD = '<XRD xmlns="http://docs.oasis-open.org/ns/xri/xrd-1.0"><Link rel="lrdd" template="{}"/></XRD>'


async def _reason(client: RemoteClient, handle: Handle) -> str:
    with pytest.raises(FetchFailed) as caught:
        await fetch_actor_by_handle(client, handle, chain=FetchChain())
    return caught.value.reason


async def _actor(client: RemoteClient, uri: str) -> IncomingActor:
    return read_actor((await fetch_document(client, uri, chain=FetchChain())).document)


async def test_a_handle_leads_to_its_actor(client: RemoteClient, remote: RemoteServer, chain: FetchChain) -> None:
    remote.serves_webfinger("alice", remote.serves_actor("alice"))
    actor, handle = await fetch_actor_by_handle(client, Handle("alice", remote.domain), chain=chain)
    assert (actor.username, handle) == ("alice", Handle("alice", remote.domain))
    assert remote.asked[0].headers["Accept"] == "application/jrd+json, application/json"
    assert len(remote.asked) == 2


async def test_case_does_not_matter(client: RemoteClient, remote: RemoteServer, chain: FetchChain) -> None:
    uri = remote.serves_actor("alice")
    remote.serves_webfinger("ALICE", uri, subject=f"alice@{remote.domain}")
    _, handle = await fetch_actor_by_handle(client, Handle("ALICE", remote.domain), chain=chain)
    assert str(handle) == f"alice@{remote.domain}"


async def test_handles_may_live_at_another_host_than_the_server(
    client: RemoteClient, remote: RemoteServer, other: RemoteServer, chain: FetchChain
) -> None:
    """`remote` is the server, `other` the domain of its handles, which sends WebFinger on."""
    uri = remote.serves_actor("alice")
    resource = f"/.well-known/webfinger?resource=acct:alice@{other.domain}"
    other.redirects(resource, f"{remote.url}{resource}")
    remote.serves_webfinger("alice", uri, domain=other.domain)
    remote.serves_webfinger("alice", uri, subject=f"alice@{other.domain}")
    for asked in (remote.domain, other.domain):
        actor, handle = await fetch_actor_by_handle(client, Handle("alice", asked), chain=chain)
        assert (actor.id, handle) == (uri, Handle("alice", other.domain))
    assert await confirmed_handle(client, actor, chain=chain) == Handle("alice", other.domain)


async def test_an_actor_may_name_its_handle_itself(
    client: RemoteClient, remote: RemoteServer, other: RemoteServer, chain: FetchChain
) -> None:
    uri = remote.serves_actor("4711", webfinger=f"alice@{other.domain}")
    other.serves_webfinger("alice", uri)
    assert await confirmed_handle(client, await _actor(client, uri), chain=chain) == Handle("alice", other.domain)


async def test_host_meta_says_where_webfinger_is(
    client: RemoteClient, remote: RemoteServer, other: RemoteServer, chain: FetchChain
) -> None:
    uri = remote.serves_actor("alice")
    remote.serves(
        "/.well-known/host-meta",
        XRD.replace("{}", f"{other.url}/finger?r={{uri}}").encode(),
        type="application/xrd+xml",
    )
    links = [{"rel": "self", "type": "application/activity+json", "href": uri}]
    other.serves(
        f"/finger?r=acct:alice@{remote.domain}",
        {"subject": f"acct:alice@{remote.domain}", "links": links},
        type="application/json",
    )
    assert (await resolve_handle(client, Handle("alice", remote.domain), chain=chain)).actor == uri


async def test_host_meta_that_leads_back_is_not_followed(client: RemoteClient, remote: RemoteServer) -> None:
    template = f"{remote.url}/.well-known/webfinger?resource={{uri}}"
    remote.serves("/.well-known/host-meta", XRD.replace("{}", template).encode(), type="application/xrd+xml")
    assert await _reason(client, Handle("nobody", remote.domain)) == "not_found"
    assert len(remote.asked) == 2


@pytest.mark.parametrize("body", [b"", b"<XRD/>", b"<html>", b"{}", b"<!DOCTYPE x><XRD/>"])
async def test_host_meta_without_a_template_finds_nobody(
    client: RemoteClient, remote: RemoteServer, body: bytes
) -> None:
    remote.serves("/.well-known/host-meta", body, type="application/xrd+xml")
    assert await _reason(client, Handle("nobody", remote.domain)) == "not_found"


async def test_somebody_who_is_gone_is_gone(client: RemoteClient, remote: RemoteServer) -> None:
    remote.serves(f"/.well-known/webfinger?resource=acct:alice@{remote.domain}", status=410)
    assert await _reason(client, Handle("alice", remote.domain)) == "gone"


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"subject":"acct:a@b.example","links":[]}'])
async def test_an_answer_without_subject_or_link_is_refused(
    client: RemoteClient, remote: RemoteServer, body: bytes
) -> None:
    remote.serves(f"/.well-known/webfinger?resource=acct:alice@{remote.domain}", body, type="application/jrd+json")
    assert await _reason(client, Handle("alice", remote.domain)) == "document"


async def test_nobody_speaks_for_the_people_of_another_host(
    client: RemoteClient, remote: RemoteServer, other: RemoteServer
) -> None:
    """`other` claims that bob, who is at home on `remote`, is its mallory."""
    bob, mallory = remote.serves_actor("bob"), other.serves_actor("mallory")
    remote.serves_webfinger("bob", bob)
    other.serves_webfinger("mallory", mallory, subject=f"bob@{remote.domain}")
    actor, handle = await fetch_actor_by_handle(client, Handle("mallory", other.domain), chain=FetchChain())
    assert (actor.id, handle) == (bob, Handle("bob", remote.domain))
    with pytest.raises(FetchFailed) as caught:
        await confirmed_handle(client, await _actor(client, mallory), chain=FetchChain())
    assert caught.value.reason == "wrong_id"


async def test_a_handle_that_leads_to_the_actor_of_another_is_refused(
    client: RemoteClient, remote: RemoteServer, other: RemoteServer
) -> None:
    bob = remote.serves_actor("bob")
    remote.serves_webfinger("bob", bob)
    other.serves_webfinger("mallory", bob)
    assert await _reason(client, Handle("mallory", other.domain)) == "wrong_subject"


async def test_handles_that_lead_on_and_on_are_refused(client: RemoteClient, remote: RemoteServer) -> None:
    uri = remote.serves_actor("a")
    for name, then in (("a", "b"), ("b", "c"), ("c", "a")):
        remote.serves_webfinger(name, uri, subject=f"{then}@{remote.domain}")
    assert await _reason(client, Handle("a", remote.domain)) == "wrong_subject"
    assert len(remote.asked) == 2


async def test_an_actor_under_another_id_than_its_link_is_refused(client: RemoteClient, remote: RemoteServer) -> None:
    remote.serves_actor("alice")
    page = remote.redirects("/@alice", "/users/alice")
    remote.serves_webfinger("alice", page)
    assert await _reason(client, Handle("alice", remote.domain)) == "wrong_id"


async def test_an_actor_without_an_inbox_is_refused(client: RemoteClient, remote: RemoteServer) -> None:
    remote.serves_webfinger("alice", remote.serves_actor("alice", inbox=None))
    assert await _reason(client, Handle("alice", remote.domain)) == "document"


async def test_an_actor_that_calls_itself_otherwise_is_refused(client: RemoteClient, remote: RemoteServer) -> None:
    uri = remote.serves_actor("alice", preferredUsername="root")
    remote.serves_webfinger("alice", uri)
    remote.serves_webfinger("root", uri, subject=f"alice@{remote.domain}")
    assert await _reason(client, Handle("alice", remote.domain)) == "wrong_subject"

"""Addresses that people copy from their browsers lead to what the page shows."""

from __future__ import annotations

from typing import Any

import pytest

from kith.federation.fetching import FetchChain, FetchFailed, RemoteClient, fetch_by_address
from kith.federation.fetching.lookup import find_alternate
from tests.federation.neighbours.sample import AS
from tests.federation.remote_server import RemoteServer

LINK = '<link rel="alternate" type="application/activity+json" href="{}">'
PAGE = "https://a.example/@alice/1"


def _note(remote: RemoteServer) -> dict[str, Any]:
    return {"@context": AS, "id": f"{remote.url}/notes/1", "type": "Note"}


async def test_the_address_of_a_document_leads_to_it(
    client: RemoteClient, remote: RemoteServer, chain: FetchChain
) -> None:
    uri = remote.serves("/notes/1", _note(remote))
    assert (await fetch_by_address(client, uri, chain=chain)).document["id"] == uri
    assert "text/html" in remote.asked[0].headers["Accept"]
    assert len(remote.asked) == 1


@pytest.mark.parametrize("in_header", [True, False])
async def test_a_page_leads_to_its_document(
    client: RemoteClient, remote: RemoteServer, chain: FetchChain, in_header: bool
) -> None:
    uri = remote.serves("/notes/1", _note(remote))
    header = {"Link": f'<{uri}>; rel="alternate"; type="application/activity+json"'} if in_header else {}
    html = "<p>hello" if in_header else LINK.replace("{}", uri)
    page = remote.serves("/@alice/1", html.encode(), type="text/html; charset=utf-8", headers=header)
    assert (await fetch_by_address(client, page, chain=chain)).document["id"] == uri


async def test_a_page_leads_one_step_and_no_further(
    client: RemoteClient, remote: RemoteServer, chain: FetchChain
) -> None:
    page = remote.serves("/1", LINK.replace("{}", f"{remote.url}/2").encode(), type="text/html")
    remote.serves("/2", LINK.replace("{}", f"{remote.url}/1").encode(), type="text/html")
    with pytest.raises(FetchFailed) as caught:
        await fetch_by_address(client, page, chain=chain)
    assert caught.value.reason == "wrong_type"
    assert remote.paths == ["/1", "/2"]


@pytest.mark.parametrize(
    ("type", "status", "reason"),
    [("text/html", 200, "not_found"), ("image/png", 200, "wrong_type"), ("text/html", 404, "not_found")],
)
async def test_a_page_of_nothing_leads_nowhere(
    client: RemoteClient, remote: RemoteServer, chain: FetchChain, type: str, status: int, reason: str
) -> None:
    with pytest.raises(FetchFailed) as caught:
        await fetch_by_address(client, remote.serves("/", b"<p>hello", type=type, status=status), chain=chain)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("header", "page", "found"),
    [
        ("", "", None),
        ("", LINK.replace("{}", "/notes/1"), "https://a.example/notes/1"),
        ("", LINK.replace("{}", "https://b.example/1?a=1&amp;b=2"), "https://b.example/1?a=1&b=2"),
        ("", LINK.replace("alternate", "alternate canonical").replace("{}", "/1"), "https://a.example/1"),
        ("", LINK.replace("activity+json", "rss+xml").replace("{}", "/1"), None),
        ("", LINK.replace("alternate", "me").replace("{}", "/1"), None),
        ("", LINK.replace("{}", "javascript:x"), None),
        ("", LINK.replace("{}", "http://a.example/1"), None),
        ("", LINK.replace("{}", ""), None),
        ("</1>; rel=alternate; type=application/activity+json", "", "https://a.example/1"),
        (f'</1>; type="application/ld+json; profile=\\"{AS}\\""; rel="alternate"', "", None),
        (f'</0>; rel="me", </1>; type="application/ld+json; profile={AS}"; rel="alternate"', "", "https://a.example/1"),
        ("<>; rel=alternate", "", None),
    ],
)
def test_the_other_form_of_a_page(header: str, page: str, found: str | None) -> None:
    assert find_alternate(header, page, PAGE) == found

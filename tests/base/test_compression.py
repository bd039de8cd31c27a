"""What leaves compressed, for whom, and what never does."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator

import httpx
import pytest

from kith.base.compression import takes_gzip
from kith.base.settings import Settings
from tests.social.members import Member, join
from tests.social.posts import post
from tests.town import Town, build_town
from tests.web.browsing import Browser

GZIP = {"Accept-Encoding": "br, gzip;q=0.8"}
NONE = {"Accept-Encoding": "identity"}
DESCRIBED = ("/api/v1/openapi.json", "/api/v2/openapi.json")


@pytest.fixture(scope="module")
async def packing(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """One database is enough: what is tried comes after it."""
    async with build_town("sqlite", tmp_path_factory.mktemp("packing"), compress="on") as town:
        yield town


@pytest.fixture(scope="module")
async def ada(packing: Town) -> Member:
    member = await join(packing, "ada")
    for number in range(12):
        await post(member, f"Rain again, for the {number}th time. " * 10)
    return member


async def raw(town: Town, path: str, headers: dict[str, str], method: str = "GET") -> tuple[httpx.Response, bytes]:
    """The answer to somebody who has no cookies yet, and its bytes as they came."""
    stranger = httpx.AsyncClient(base_url=town.base_url, transport=town.transport, timeout=60)
    async with stranger.stream(method, path, headers=headers) as answer:
        return answer, b"".join([piece async for piece in answer.aiter_raw()])


@pytest.mark.parametrize(
    ("accepted", "takes"),
    [
        (b"gzip", True), (b"GZIP", True), (b"x-gzip", True), (b"br, gzip;q=0.5, *;q=0", True), (b"*", True), (b"gzip; q=1.0", True),
        (b"", False), (b"identity", False), (b"gzip;q=0", False), (b"gzip;q=0.000", False), (b"*;q=0", False), (b"br", False),
        (b"gzip;q=0, *", False), (b"notgzip", False), (b"gzip;q=x", True), (b"a," * 5000 + b"gzip", False),
    ],
)  # fmt: skip
def test_who_takes_gzip(accepted: bytes, takes: bool) -> None:
    assert takes_gzip(accepted) is takes


def test_where_nothing_stands_in_front_it_is_on_by_itself() -> None:
    assert not Settings().compresses
    assert Settings(acme=True).compresses
    assert Settings(compress="on").compresses
    assert not Settings(acme=True, compress="off").compresses


@pytest.mark.parametrize("path", [*DESCRIBED, "/static/kith.css", "/static/client.css"])
async def test_what_is_the_same_for_everybody_is_always_compressed(town: Town, path: str) -> None:
    """Also where nothing else is, and whoever asks: nobody chooses a part of it."""
    small, packed = await raw(town, path, GZIP | {"Cookie": "kith_csrf=x"})
    large, plain = await raw(town, path, NONE)

    assert small.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed) == plain
    assert len(packed) * 3 < len(plain)
    assert int(small.headers["content-length"]) == len(packed)
    assert "content-encoding" not in large.headers
    assert small.headers["vary"] == large.headers["vary"] == "accept-encoding"
    assert small.headers["etag"] != large.headers["etag"]
    for answer, accepts in ((small, GZIP), (large, NONE)):
        known = {"If-None-Match": f'"other", {answer.headers["etag"]}'}
        again, nothing = await raw(town, path, accepts | known)
        assert (again.status_code, nothing, again.headers["etag"]) == (304, b"", answer.headers["etag"])
    crossed, _ = await raw(town, path, NONE | {"If-None-Match": small.headers["etag"]})
    assert crossed.status_code == 200


@pytest.mark.parametrize(
    "path", ["/", "/about", "/public/local", "/@ada", "/@ada.rss", "/api/v1/timelines/public", "/api/v2/instance"]
)
async def test_what_everybody_may_read_is_compressed(packing: Town, ada: Member, path: str) -> None:
    assert ada.name == "ada"
    small, packed = await raw(packing, path, GZIP)
    large, plain = await raw(packing, path, NONE)
    head, nothing = await raw(packing, path, GZIP, "HEAD")

    assert small.headers["content-encoding"] == head.headers["content-encoding"] == "gzip"
    assert len(packed) < len(plain)
    assert int(small.headers["content-length"]) == len(packed)
    assert nothing == b""
    assert gzip.decompress(packed)[:50] == plain[:50]
    assert "content-encoding" not in large.headers
    for answer in (small, large, head):
        assert "accept-encoding" in answer.headers["vary"]


async def test_a_tag_is_a_weak_one_and_still_known(packing: Town, ada: Member) -> None:
    small, _ = await raw(packing, f"/@{ada.name}.rss", GZIP)
    large, _ = await raw(packing, f"/@{ada.name}.rss", NONE)
    assert small.headers["etag"] == f"W/{large.headers['etag']}"

    again, nothing = await raw(packing, f"/@{ada.name}.rss", GZIP | {"If-None-Match": small.headers["etag"]})

    assert (again.status_code, nothing) == (304, b"")


async def test_what_is_for_somebody_is_not(packing: Town, ada: Member) -> None:
    """Nor what could be: a cookie, a token or a signature says who asks, whether it is a right one or not."""
    token = {"Authorization": f"Bearer {ada.token}"}
    for headers in (
        token,
        {"Cookie": "kith_csrf=x"},
        {"Authorization": "Bearer x"},
        {"Signature": "x"},
        {"Range": "bytes=0-9"},
    ):
        for path in ("/about", "/api/v2/instance"):
            answer, _ = await raw(packing, path, GZIP | headers)
            assert "content-encoding" not in answer.headers, (path, headers)
    home, _ = await raw(packing, "/api/v1/timelines/home", GZIP | token)
    assert (home.status_code, home.headers.get("content-encoding")) == (200, None)

    browser = Browser(packing)
    await browser.sign_in(ada.name, f"correct horse {ada.name}")
    page = await browser.http.get("/home", headers=GZIP)
    await browser.close()
    assert "Rain again" in page.text
    assert "content-encoding" not in page.headers


async def test_what_is_small_or_wrong_or_a_key_is_not(packing: Town) -> None:
    for path in ("/health", "/manifest.json", "/nothing-here", "/setup/no-such-key", "/static/icon.png", "/robots.txt"):
        answer, _ = await raw(packing, path, GZIP)
        assert "content-encoding" not in answer.headers, path


async def test_the_token_of_a_compressed_page_is_another_one_each_time(packing: Town) -> None:
    """Of which nothing can be learned by asking again."""
    tokens = set()
    for _ in range(3):
        answer, packed = await raw(packing, "/about", GZIP)
        page = gzip.decompress(packed).decode()
        tokens.add(page.partition('name="csrf" value="')[2].partition('"')[0])
        assert answer.headers["content-encoding"] == "gzip"
    assert len(tokens) == 3


async def test_a_crowd_waits_for_nothing(packing: Town, ada: Member) -> None:
    """Some get it compressed and the others as it is; all get the same."""
    path = f"/api/v1/accounts/{ada.id}/statuses?limit=40"
    answers = await asyncio.gather(*(raw(packing, path, GZIP) for _ in range(20)))

    said = {gzip.decompress(body) if "content-encoding" in one.headers else body for one, body in answers}
    assert len(said) == 1
    assert {one.status_code for one, _ in answers} == {200}
    assert any("content-encoding" in one.headers for one, _ in answers)


async def test_elsewhere_it_is_left_to_what_stands_in_front(town: Town) -> None:
    answer, _ = await raw(town, "/about", GZIP)
    assert (answer.status_code, answer.headers.get("content-encoding")) == (200, None)

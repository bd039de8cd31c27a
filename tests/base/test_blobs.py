from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from hypothesis import given
from hypothesis import strategies as st
from obstore.store import MemoryStore

from kith.base.blobs import BadKey, Blobs, blobs
from kith.base.errors import NotFound


class Bucket:
    """As much of S3 as a small file needs."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[bytes, dict[str, str]]] = {}
        app = web.Application()
        app.router.add_get("/photos", self.list)
        app.router.add_post("/photos", self.delete)
        app.router.add_get("/photos/{key:.+}", self.get)
        app.router.add_put("/photos/{key:.+}", self.put)
        self.server = TestServer(app)

    async def put(self, request: web.Request) -> web.Response:
        self.kept[request.match_info["key"]] = (await request.read(), dict(request.headers))
        return web.Response(headers={"ETag": '"1"'})

    async def get(self, request: web.Request) -> web.Response:
        if request.match_info["key"] not in self.kept:
            return web.Response(status=404)
        body, _ = self.kept[request.match_info["key"]]
        headers = {"ETag": '"1"', "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"}
        if not (wanted := request.http_range).start:
            return web.Response(body=body, headers=headers)
        part = body[wanted]
        end = wanted.start + len(part) - 1
        headers["Content-Range"] = f"bytes {wanted.start}-{end}/{len(body)}"
        return web.Response(status=206, body=part, headers=headers)

    async def list(self, request: web.Request) -> web.Response:
        found = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{len(body)}</Size>"
            "<LastModified>2024-01-01T00:00:00Z</LastModified></Contents>"
            for key, (body, _) in self.kept.items()
            if key.startswith(request.query.get("prefix", ""))
        )
        return web.Response(text=f"<ListBucketResult>{found}</ListBucketResult>", content_type="text/xml")

    async def delete(self, request: web.Request) -> web.Response:
        keys = re.findall(r"<Key>(.*?)</Key>", (await request.read()).decode())
        for key in keys:
            self.kept.pop(key, None)
        done = "".join(f"<Deleted><Key>{key}</Key></Deleted>" for key in keys)
        return web.Response(text=f"<DeleteResult>{done}</DeleteResult>", content_type="text/xml")


@pytest.fixture
async def bucket() -> AsyncIterator[Bucket]:
    bucket = Bucket()
    await bucket.server.start_server()
    yield bucket
    await bucket.server.close()


@pytest.fixture(params=["folder", "memory", "bucket"])
def place(request: pytest.FixtureRequest, tmp_path: Path, bucket: Bucket) -> Blobs:
    places: dict[str, Callable[[], Blobs]] = {
        "folder": lambda: blobs("", tmp_path / "files"),
        "memory": lambda: Blobs(MemoryStore()),
        "bucket": lambda: _at(bucket),
    }
    return places[request.param]()


async def test_what_is_put_can_be_got_and_deleted(place: Blobs) -> None:
    await place.put("media/1/a.png", b"one", "image/png")
    await place.put("media/1/a.png", b"another", "image/png")
    await place.put("media/10/b.png", b"", "image/png")

    assert await place.get("media/1/a.png") == b"another"
    assert await place.get("media/10/b.png") == b""
    assert await place.size("media/1/a.png") == 7
    assert await place.exists("media/1/a.png")
    assert not await place.exists("media/1")
    assert sorted([key async for key in place.list()]) == ["media/1/a.png", "media/10/b.png"]
    assert [key async for key in place.list("media/1")] == ["media/1/a.png"]

    await place.delete(["media/1/a.png", "media/2/missing.png", "media/10/b.png"])
    await place.delete([])
    assert [key async for key in place.list()] == []


@pytest.mark.parametrize(
    ("start", "end", "part"),
    [(0, None, b"0123456789"), (3, None, b"3456789"), (3, 5, b"34"), (9, 10, b"9"), (8, 100, b"89")],
)
async def test_a_part_can_be_read(place: Blobs, start: int, end: int | None, part: bytes) -> None:
    await place.put("a", b"0123456789", "text/plain")
    chunks = await place.stream("a", start, end)
    assert b"".join([chunk async for chunk in chunks]) == part


@pytest.mark.parametrize(("start", "end"), [(-1, None), (5, 5), (5, 4)])
async def test_a_range_that_is_none_is_refused(place: Blobs, start: int, end: int) -> None:
    with pytest.raises(ValueError, match="no such range"):
        await place.stream("a", start, end)


async def test_a_missing_key_is_not_found_before_anything_is_sent(place: Blobs) -> None:
    await place.put("media/a", b"", "text/plain")
    for key in ("missing", "media", "media/b"):
        with pytest.raises(NotFound):
            await place.get(key)
        with pytest.raises(NotFound):
            await place.stream(key)
        with pytest.raises(NotFound):
            await place.size(key)


async def test_a_file_or_a_stream_can_be_put(tmp_path: Path) -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield b"a" * 1_000_000
        yield b"b"

    (tmp_path / "source").write_bytes(b"c" * 1_000_000)
    for place in (blobs("", tmp_path / "files"), Blobs(MemoryStore())):
        await place.put("a/stream", parts(), "text/plain")
        await place.put("a/file", tmp_path / "source", "text/plain")
        assert await place.get("a/stream") == b"a" * 1_000_000 + b"b"
        assert await place.get("a/file") == b"c" * 1_000_000


async def test_a_put_that_breaks_off_leaves_what_was_there(tmp_path: Path) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"half"
        raise ConnectionError

    place = blobs("", tmp_path)
    await place.put("a", b"whole", "text/plain")
    with pytest.raises(ConnectionError):
        await place.put("a", broken(), "text/plain")
    assert await place.get("a") == b"whole"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


async def test_an_unfinished_file_is_not_listed(tmp_path: Path) -> None:
    place = blobs("", tmp_path)
    listed: list[str] = []

    async def looking() -> AsyncIterator[bytes]:
        yield b"half"
        assert list(tmp_path.iterdir())
        listed.extend([key async for key in place.list()])

    await place.put("a", looking(), "text/plain")
    assert listed == []


async def test_a_bucket_is_told_the_media_type(bucket: Bucket) -> None:
    await _at(bucket).put("a.png", b"x", "image/png", cache_control="private")
    body, headers = bucket.kept["small/a.png"]
    assert body == b"x"
    assert (headers["Content-Type"], headers["Cache-Control"]) == ("image/png", "private")
    assert "ACCESS" in headers["Authorization"]
    assert "SECRET" not in headers["Authorization"]


@pytest.mark.parametrize(
    "key",
    [
        "",
        "/a",
        "a/",
        "a//b",
        ".",
        "..",
        "../a",
        "a/../b",
        "a/..",
        "./a",
        ".hidden",
        "a\\b",
        "a b",
        "a\n",
        "a\0",
        "ä",
        "a#1",
        "a%2e",
        "x" * 201,
        "a/" * 500 + "a",
    ],
)
async def test_a_key_that_could_lead_astray_is_refused_by_every_verb(place: Blobs, key: str) -> None:
    with pytest.raises(BadKey):
        await place.put(key, b"", "text/plain")
    with pytest.raises(BadKey):
        await place.get(key)
    with pytest.raises(BadKey):
        await place.stream(key)
    with pytest.raises(BadKey):
        await place.exists(key)
    with pytest.raises(BadKey):
        await place.delete(["a", key])


@given(st.lists(st.sampled_from(["..", ".", "/", "a", "\\", "%2e", "\0", "~", ""]), max_size=8).map("".join))
async def test_no_key_leads_out_of_the_folder(tmp_path_factory: pytest.TempPathFactory, key: str) -> None:
    root = tmp_path_factory.getbasetemp() / "blobs"
    with suppress(BadKey, IsADirectoryError, NotADirectoryError, FileExistsError):
        await blobs("", root / "files").put(key, b"x", "text/plain")
    assert [path.name for path in root.iterdir()] == ["files"]


@pytest.mark.parametrize("url", ["gs://bucket", "s3:///prefix", "s3://bucket?secret=1", "/folder"])
def test_a_place_that_is_not_understood_is_refused_at_the_start(url: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="files live"):
        blobs(url, tmp_path, access_key="ACCESS", secret_key="SECRET")


def test_a_bucket_without_keys_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="key"):
        blobs("s3://bucket", tmp_path)


def _at(bucket: Bucket) -> Blobs:
    endpoint = f"http://127.0.0.1:{bucket.server.port}"
    return blobs(
        f"s3://photos/small?endpoint={endpoint}&region=eu-1&allow_http=true",
        Path("unused"),
        access_key="ACCESS",
        secret_key="SECRET",
    )


async def test_whoever_has_just_read_a_file_comes_to_a_good_end(tmp_path: Path) -> None:
    program = Path(__file__).with_name("blob_ends_program.py")

    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, str(program), str(tmp_path), "40"], capture_output=True, text=True, check=False
    )

    assert (done.stdout, done.returncode) == ("0\n", 0), done.stderr

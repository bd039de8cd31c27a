from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kith.base.blobs import blobs
from kith.base.settings import BadSettings, load
from kith.social.addresses import file_url
from kith.social.files.api import ByteRange, Unsatisfiable, read_range
from kith.social.files.keys import folder_of
from tests.town import Town

BODY = bytes(range(256)) * 4


async def _keep(town: Town, key: str, body: bytes = BODY) -> str:
    await blobs("", town.folder / "media").put(key, body, "image/png")
    return f"/media/{key}"


@pytest.fixture
async def path(town: Town) -> str:
    return await _keep(town, "attachments/1/2/3/original/abc.png")


async def test_a_file_is_handed_out_for_ever_and_never_runs(town: Town, path: str) -> None:
    answer = await town.http.get(path, headers={"Origin": "https://elsewhere.example"})

    assert (answer.status_code, answer.content) == (200, BODY)
    assert {
        name: answer.headers[name]
        for name in (
            "content-type",
            "cache-control",
            "content-security-policy",
            "x-content-type-options",
            "content-disposition",
            "cross-origin-resource-policy",
            "access-control-allow-origin",
            "accept-ranges",
            "content-length",
            "etag",
        )
    } == {
        "content-type": "image/png",
        "cache-control": "public, max-age=31536000, immutable",
        "content-security-policy": "default-src 'none'; sandbox",
        "x-content-type-options": "nosniff",
        "content-disposition": "inline",
        "cross-origin-resource-policy": "cross-origin",
        "access-control-allow-origin": "*",
        "accept-ranges": "bytes",
        "content-length": "1024",
        "etag": '"abc.png"',
    }
    assert len(answer.headers.get_list("access-control-allow-origin")) == 1


@pytest.mark.parametrize(
    ("headers", "status", "body", "content_range"),
    [
        ({"Range": "bytes=0-9"}, 206, BODY[:10], "bytes 0-9/1024"),
        ({"Range": "bytes=1000-"}, 206, BODY[1000:], "bytes 1000-1023/1024"),
        ({"Range": "bytes=-24"}, 206, BODY[1000:], "bytes 1000-1023/1024"),
        ({"Range": "bytes=1000-5000"}, 206, BODY[1000:], "bytes 1000-1023/1024"),
        ({"Range": "bytes=0-9", "If-Range": '"abc.png"'}, 206, BODY[:10], "bytes 0-9/1024"),
        ({"Range": "bytes=0-9", "If-Range": '"other"'}, 200, BODY, None),
        ({"Range": "lines=1-2"}, 200, BODY, None),
        ({"Range": "bytes=1024-"}, 416, None, "bytes */1024"),
        ({"Range": "bytes=0-1,5-6"}, 416, None, "bytes */1024"),
        ({"If-None-Match": '"abc.png"'}, 304, b"", None),
        ({"If-None-Match": '"other", W/"abc.png"'}, 304, b"", None),
        ({"If-None-Match": '"other"'}, 200, BODY, None),
    ],
)
async def test_parts_of_it(
    town: Town, path: str, headers: dict[str, str], status: int, body: bytes | None, content_range: str | None
) -> None:
    answer = await town.http.get(path, headers=headers)

    assert answer.status_code == status
    assert answer.headers.get("content-range") == content_range
    assert body is None or answer.content == body
    told = await town.http.head(path, headers=headers)
    assert (told.status_code, told.content) == (status, b"")
    assert told.headers.get("content-length") == answer.headers.get("content-length")


async def test_what_is_not_one_of_our_kinds_is_never_opened_in_place(town: Town) -> None:
    answer = await town.http.get(await _keep(town, "attachments/1/2/3/original/page.html", b"<script>"))

    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"] == "attachment"


@pytest.mark.parametrize(
    "path",
    [
        "/media/attachments/1/2/3/original/missing.png",
        "/media/attachments",
        "/media/attachments/1",
        "/media/uploads/1/waiting",
        "/media/attachments/..%2f..%2f..%2fkith.sqlite3",
        "/media/attachments/%2e%2e/%2e%2e/kith.sqlite3",
        "/media//etc/passwd",
        "/media/attachments/1/2/3/original/abc.png%00.html",
    ],
)
async def test_nothing_else_can_be_had(town: Town, path: str) -> None:
    await _keep(town, "uploads/1/waiting", b"private")

    answer = await town.http.get(path)

    assert answer.status_code == 404
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"


@given(st.integers(0, 10**6), st.text("0123456789-,= bytes", max_size=30))
def test_whatever_range_is_asked_for_lies_within(size: int, text: str) -> None:
    try:
        part = read_range(f"bytes={text}", size)
    except Unsatisfiable:
        return
    assert part is None or 0 <= part.start < part.end <= size


def test_ranges_of_the_whole_and_of_the_last_byte() -> None:
    assert read_range("bytes=0-", 5) == ByteRange(0, 5)
    assert read_range("bytes=-1", 5) == ByteRange(4, 5)
    assert read_range("bytes=3-2", 5) is None
    assert read_range("bytes=-", 5) is None


def test_readers_are_sent_where_the_operator_says() -> None:
    key = "attachments/1/2/3/original/abc.png"
    assert file_url(load({}), key) == f"http://localhost:8000/media/{key}"
    assert (
        file_url(load({"KITH_MEDIA_URL": "https://files.example.org/k"}), key) == f"https://files.example.org/k/{key}"
    )
    with pytest.raises(BadSettings, match="KITH_MEDIA_URL"):
        load({"KITH_MEDIA_URL": "https://files.example.org/"})


def test_folders_are_parted_by_id() -> None:
    assert folder_of("attachments", 117234567890123456) == "attachments/117234/567890/123456"
    assert folder_of("attachments", 5) == "attachments/000000/000000/000005"

"""Requests in every encoding, as a server hands them over, and the files that come with them."""

from __future__ import annotations

import io
import itertools
from collections.abc import AsyncIterator, Sequence
from types import SimpleNamespace
from typing import Annotated, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kith.base.edge import Edge
from kith.base.errors import Invalid, Malformed, NotFound, Problem, Throttled, TooLarge
from kith.base.exchange import JSON, Answer, Dialect, Exchange, Server
from kith.base.limits import Limiter
from kith.base.log import AccessLog
from kith.base.params import BodyLimits, Upload
from kith.base.params.parts import read_parts
from kith.base.params.upload import MOST_OF_ONE, SPOOL_BYTES
from kith.base.routing import FromQuery, FromRequest, Provided, RequestBody, Router, get, post
from tests.base.test_params import Draft, Poll, text


class Media(msgspec.Struct, kw_only=True):
    file: Upload
    thumbnail: Upload | None = None
    description: str | None = None
    must_be_whole: int = 0


class Filter(msgspec.Struct, kw_only=True):
    limit: int = 20
    only_media: bool = False


seen: list[Upload] = []


@post("/drafts")
async def take_draft(draft: FromRequest[Draft]) -> Draft:
    return draft


@get("/filter")
async def take_filter(wanted: FromQuery[Filter]) -> Filter:
    return wanted


@post("/media")
async def take_media(
    media: Annotated[Media, RequestBody(BodyLimits(max_file_bytes=1024 * 1024, max_files=2))],
) -> dict[str, Any]:
    seen.append(media.file)
    content = media.file.file.read()
    if content == b"fail":
        raise NotFound
    return {
        "size": media.file.size,
        "read": len(content),
        "name": media.file.filename,
        "type": media.file.content_type,
        "description": media.description,
        "thumbnail": media.thumbnail is not None,
    }


def late_refusal(_exchange: Exchange) -> str:
    """After the files were read."""
    raise NotFound


@post("/late")
async def never_reached(media: FromRequest[Media], late: Annotated[str, Provided(late_refusal)]) -> None: ...


def show(problem: Problem, _exchange: Exchange) -> Answer:
    found = problem.fields if isinstance(problem, Invalid) else {}
    fields = {name: [str(words) for words in complaints] for name, complaints in found.items()}
    return Answer(problem.status, JSON, msgspec.json.encode({"error": problem.message, "fields": fields}))


PLAIN = Dialect(name="plain", headers=(), shape=show)
NO_DATA: Any = SimpleNamespace(services={Limiter: Limiter(None, enabled=False)})  # type: ignore[arg-type]
app = Edge(
    Server(works=NO_DATA, max_body=1 << 30),
    Router([take_draft, take_filter, take_media, never_reached]),
    dialect_of=lambda _path: PLAIN,
    access_log=AccessLog(io.StringIO(), as_json=True, enabled=False),
)


async def call(
    method: str,
    path: str,
    body: Sequence[bytes] = (b"",),
    content_type: str = "",
    query: bytes = b"",
    **headers: str,
) -> tuple[int, Any]:
    """Speak ASGI as a server does; `body` comes chunk by chunk, an unfinished one ends in a disconnect."""
    waiting = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in body]
    waiting[-1]["more_body"] = headers.pop("unfinished", "") == "yes"
    sent: list[Any] = []

    async def receive() -> Any:
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    named = {"content-type": content_type, **headers} if content_type else headers
    await app(
        {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": query,
            "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in named.items()],
            "server": ("test", 80),
            "client": ("test", 1),
            "extensions": {},
            "state": {},
        },
        receive,
        send,
    )
    content = b"".join(message["body"] for message in sent[1:])
    return sent[0]["status"], msgspec.json.decode(content)


FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=edge"


def multipart(*parts: tuple[str, str | None, bytes]) -> bytes:
    pieces = []
    for name, filename, content in parts:
        suffix = "" if filename is None else f'; filename="{filename}"\r\nContent-Type: image/png'
        head = f'--edge\r\nContent-Disposition: form-data; name="{name}"{suffix}\r\n\r\n'
        pieces.append(head.encode() + content + b"\r\n")
    return b"".join(pieces) + b"--edge--\r\n"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b'{"status":"hi","media_ids":[1,"2"],"poll":{"options":["a","b"],"multiple":"1"}}', "application/json"),
        (
            b'{"status":"hi","media_ids":["1",2],"poll":{"options":{"0":"a","1":"b"},"multiple":true}}',
            "application/json; charset=utf-8",
        ),
        (b"status=hi&media_ids[]=1&media_ids[]=2&poll[options][]=a&poll[options][]=b&poll[multiple]=on", FORM),
        (
            multipart(
                ("status", None, b"hi"),
                ("media_ids[]", None, b"1"),
                ("media_ids[]", None, b"2"),
                ("poll[options][]", None, b"a"),
                ("poll[options][]", None, b"b"),
                ("poll[multiple]", None, b"t"),
                ("unwanted", "file.png", b"x" * 1000),
            ),
            MULTIPART,
        ),
    ],
)
async def test_every_encoding_carries_the_same_draft(body: bytes, content_type: str) -> None:
    for chunks in ([body], [body[i : i + 1] for i in range(len(body))]):
        status, answer = await call("POST", "/drafts", chunks, content_type)
        assert status == 200
        expected = Draft(status="hi", media_ids=["1", "2"], poll=Poll(options=["a", "b"], multiple=True))
        assert answer == msgspec.to_builtins(expected)


async def test_the_body_wins_over_the_query_string() -> None:
    status, answer = await call("POST", "/drafts", [b"status=body"], FORM, b"status=query&in_reply_to_id=5")
    assert status == 200
    assert (answer["status"], answer["in_reply_to_id"]) == ("body", "5")


@pytest.mark.parametrize("content_type", ["", "application/json", FORM, MULTIPART, "text/plain"])
async def test_an_empty_body_of_any_type_is_no_parameters(content_type: str) -> None:
    status, answer = await call("POST", "/drafts", [b""], content_type)
    assert (status, answer) == (200, msgspec.to_builtins(Draft()))


@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [
        (b"x", "", 415),
        (b"x", "text/plain", 415),
        (b"<a/>", "application/xml", 415),
        (b"[]", "application/json", 400),
        (b"{", "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b'{"status":"' + b"x" * 1024 * 1024 + b'"}', "application/json", 413),
        (b"status=" + b"x" * 1024 * 1024, FORM, 413),
        (b"status=%FF", FORM, 400),
        (b"junk", MULTIPART, 400),
        (multipart(("status", None, b"hi"))[:-10], MULTIPART, 400),
        (multipart(("status", None, b"hi")), "multipart/form-data", 400),
        (multipart(("status", None, b"hi")), "multipart/form-data; boundary=" + "x" * 201, 400),
        (multipart(("status", None, b"\xff")), MULTIPART, 400),
        (multipart(("status", None, b"\0")), MULTIPART, 400),
        (multipart(("sta\0tus", None, b"x")), MULTIPART, 400),
        (multipart(("status", None, b"x" * 1024 * 1024), ("kind", None, b"x")), MULTIPART, 413),
        (multipart(("status", "file", b"x" * (1024 * 1024 + 1))), MULTIPART, 413),
        (multipart(*[("status", None, b"x")] * 1001), MULTIPART, 400),
        (multipart(("a" * 257, None, b"x")), MULTIPART, 400),
        (multipart(("a", None, b"x"), ("a[b]", None, b"x")), MULTIPART, 400),
    ],
)
async def test_bodies_that_cannot_be_read_are_refused(body: bytes, content_type: str, status: int) -> None:
    half = len(body) // 2
    assert (await call("POST", "/drafts", [body], content_type))[0] == status
    assert (await call("POST", "/drafts", [body[:half], body[half:]], content_type))[0] == status


async def test_a_body_that_announces_too_much_is_refused_unread() -> None:
    assert (await call("POST", "/drafts", [b""], FORM, content_length="1048577"))[0] == 413
    assert (await call("POST", "/drafts", [b""], FORM, content_length="many"))[0] == 400


async def test_a_client_that_goes_away_is_no_fault_of_ours() -> None:
    for content_type in ("application/json", FORM, MULTIPART):
        assert (await call("POST", "/drafts", [b"--edge"], content_type, unfinished="yes"))[0] == 400


async def test_bad_fields_are_named_in_the_answer() -> None:
    status, answer = await call("POST", "/drafts", [b"poll[expires_in]=1&sensitive=maybe"], FORM)
    assert status == 400
    assert answer["fields"] == {
        "poll.options": ["can't be blank"],
        "poll.expires_in": ["must be greater than or equal to 60"],
        "sensitive": ["is not true or false"],
    }


async def test_a_query_string_fills_a_filter() -> None:
    assert await call("GET", "/filter", query=b"limit=5&only_media=1&x[]=1") == (
        200,
        {"limit": 5, "only_media": True},
    )
    assert await call("GET", "/filter") == (200, {"limit": 20, "only_media": False})
    assert (await call("GET", "/filter", query=b"limit=x"))[0] == 400
    assert (await call("GET", "/filter", query=b"limit=%FF"))[0] == 400


@pytest.mark.parametrize("size", [0, 1, SPOOL_BYTES, SPOOL_BYTES + 1, 3 * SPOOL_BYTES + 5])
async def test_an_upload_arrives_whole_and_is_closed_after_the_answer(size: int) -> None:
    body = multipart(("file", "a b.png", b"x" * size), ("thumbnail", "", b""), ("description", None, "ä".encode()))
    for step in (len(body), 10_000):
        chunks = [body[start : start + step] for start in range(0, len(body), step)]
        status, answer = await call("POST", "/media", chunks, MULTIPART)
        assert status == 200
        assert answer == {
            "size": size,
            "read": size,
            "name": "a b.png",
            "type": "image/png",
            "description": "ä",
            "thumbnail": False,
        }
        assert seen[-1].file.closed


async def test_an_upload_is_closed_when_the_request_fails() -> None:
    files = [("file", "f", b"fail"), ("thumbnail", "t", b"x" * SPOOL_BYTES * 2)]
    before = len(seen)
    assert (await call("POST", "/media", [multipart(*files)], MULTIPART))[0] == 404
    assert (await call("POST", "/late", [multipart(*files)], MULTIPART))[0] == 404
    assert len(seen) == before + 1
    assert all(upload.file.closed for upload in seen)


@pytest.mark.parametrize(
    ("parts", "status"),
    [
        ([("file", "f", b"x"), ("must_be_whole", None, b"x")], 400),
        ([("description", None, b"x")], 400),
        ([("file", None, b"x")], 400),
        ([("file", "f", b"x")] * 3, 413),
        ([("file", "f", b"x" * (1024 * 1024 + 1))], 413),
        ([("file", "f", b"x" * 1024 * 800), ("thumbnail", "f", b"x" * 1024 * 800)], 413),
        ([("file", "f\0", b"x")], 400),
    ],
)
async def test_uploads_that_do_not_fit_are_refused(parts: list[tuple[str, str | None, bytes]], status: int) -> None:
    assert (await call("POST", "/media", [multipart(*parts)], MULTIPART))[0] == status


async def pieces(body: bytes, cuts: list[int]) -> AsyncIterator[bytes]:
    edges = sorted({0, len(body), *(cut % (len(body) + 1) for cut in cuts)})
    for start, end in itertools.pairwise(edges):
        yield body[start:end]


@given(
    st.lists(st.tuples(text.filter(str.isidentifier), text), max_size=4),
    st.binary(),
    st.lists(st.integers(0)),
)
async def test_where_a_multipart_body_is_cut_does_not_matter(
    fields: list[tuple[str, str]], content: bytes, cuts: list[int]
) -> None:
    parts = [(name, None, value.encode()) for name, value in fields]
    form = await read_parts(pieces(multipart(*parts, ("file", "f", content)), cuts), "edge", BodyLimits())
    *texts, (_, upload) = form.pairs
    assert texts == fields
    assert upload.file.read() == content
    form.close()


words_of_multipart = [
    *[b"--edge", b"--edge\r\nContent-Disposition: form-data; name=", b"; filename=", b'"a"', b"--", b"\r\n"],
    *[b"\r\n--edge", b"\r\n\r\n", b"\n", b"\0", b"\xff", b":", b"x" * 9],
]


@given(st.lists(st.sampled_from(words_of_multipart)), st.lists(st.integers(0)))
@settings(max_examples=200)
async def test_no_multipart_body_breaks_the_reader(words: list[bytes], cuts: list[int]) -> None:
    try:
        form = await read_parts(pieces(b"".join(words), cuts), "edge", BodyLimits(max_bytes=20, max_file_bytes=20))
    except (Malformed, TooLarge):
        return
    form.close()


async def test_whoever_has_not_said_who_they_are_sends_no_large_files() -> None:
    """The route of `/late` takes 100 MB of members."""
    small, large = (multipart(("file", "x", b"x" * size)) for size in (1 << 19, (1 << 20) + 1))
    assert (await call("POST", "/late", [small], MULTIPART))[0] == 404
    assert (await call("POST", "/late", [large], MULTIPART))[0] == 413


def test_one_caller_has_so_much_of_files_under_way() -> None:
    first, second = Upload("", ""), Upload("", "")
    first.make_room(MOST_OF_ONE)
    with pytest.raises(Throttled):
        second.make_room(1)
    first.close()
    first.close()
    second.make_room(MOST_OF_ONE)
    second.close()

"""Answers of an application by which a gateway can be made to give one person's answer to another."""

from __future__ import annotations

import msgspec

__all__ = ["ANSWERS", "Answer"]

POISON = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"
OK = b"HTTP/1.1 200 OK\r\n"
FIVE = OK + b"Content-Length: 5\r\n\r\nhello"


class Answer(msgspec.Struct, frozen=True):
    """What is sent, in which pieces, and what whoever asked reads: a status with this body, or a break in it."""

    pieces: tuple[bytes, ...]
    status: int
    body: bytes = b""
    ends: bool = False  # the application closes the connection after it
    method: str = "GET"
    is_cut: bool = False  # half of it may have left before it was known to be wrong

    def fits(self, told: bytes) -> bool:
        head, _, body = told.partition(b"\r\n\r\n")
        if told.count(b"HTTP/1.1 ") > 1 or b"poison" in told:
            return False
        if self.is_cut and not told.endswith(b"0\r\n\r\n"):
            return True
        if self.status == 502:
            return head.startswith(b"HTTP/1.1 502 ")
        return head.startswith(b"HTTP/1.1 %d " % self.status) and self._is_body(head, body)

    def _is_body(self, head: bytes, body: bytes) -> bool:
        if b"transfer-encoding: chunked" in head:
            return self.body in body.replace(b"\r\n", b"") and body.endswith(b"0\r\n\r\n")
        return body == self.body


def _right(
    *pieces: bytes, ends: bool = False, method: str = "GET", status: int = 200, body: bytes = b"hello"
) -> Answer:
    return Answer(pieces, status, body, ends, method)


def _wrong(*pieces: bytes, ends: bool = False, method: str = "GET") -> Answer:
    return Answer(pieces, 502, ends=ends, method=method)


ANSWERS = {
    "a length": _right(FIVE),
    "chunks": _right(OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
    "until the end": _right(OK + b"\r\nhello", ends=True),
    "an old one": _right(b"HTTP/1.0 200 OK\r\n\r\nhello", ends=True),
    "in pieces": _right(b"HTTP/1.1 200", b" OK\r\nContent-Length: 5\r\n\r", b"\nhel", b"lo"),
    "trailers are left out": _right(OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Trailer: a\r\n\r\n"),
    "two answers at once": _right(FIVE + POISON),
    "two answers, one after the other": _right(FIVE, POISON),
    "an answer and half of one": _right(FIVE + POISON[:30]),
    "an answer and later half of one": _right(FIVE, POISON[:30]),
    "three answers": _right(FIVE + POISON + POISON),
    "more than was said": _right(FIVE + b"poison"),
    "more than was said, later": _right(FIVE, b"poison"),
    "chunks and an answer": _right(OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" + POISON),
    "chunks and later an answer": _right(OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", POISON),
    "closed, and an answer": _right(OK + b"Connection: close\r\nContent-Length: 5\r\n\r\nhello" + POISON, ends=True),
    "nothing, and a body": _right(b"HTTP/1.1 204 No Content\r\n\r\npoison", status=204, body=b""),
    "nothing, with a length and a body": _right(b"HTTP/1.1 204 No Content\r\nContent-Length: 6\r\n\r\npoison", status=204, body=b""),
    "nothing, and an answer": _right(b"HTTP/1.1 204 No Content\r\n\r\n" + POISON, status=204, body=b""),
    "nothing, and later an answer": _right(b"HTTP/1.1 204 No Content\r\n\r\n", POISON, status=204, body=b""),
    "not changed, and a body": _right(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 6\r\n\r\npoison", status=304, body=b""),
    "not changed, and an answer": _right(b"HTTP/1.1 304 Not Modified\r\n\r\n" + POISON, status=304, body=b""),
    "HEAD with a length": _right(OK + b"Content-Length: 5\r\n\r\n", method="HEAD", body=b""),
    "HEAD with a body": _right(OK + b"Content-Length: 6\r\n\r\npoison", method="HEAD", body=b""),
    "HEAD with a body, later": _right(OK + b"Content-Length: 6\r\n\r\n", b"poison", method="HEAD", body=b""),
    "HEAD with an answer": _right(OK + b"Content-Length: 6\r\n\r\n" + POISON, method="HEAD", body=b""),
    "HEAD with an answer, later": _right(OK + b"Content-Length: 6\r\n\r\n", POISON, method="HEAD", body=b""),
    "HEAD in chunks": _right(OK + b"Transfer-Encoding: chunked\r\n\r\n6\r\npoison\r\n0\r\n\r\n", method="HEAD", body=b""),
    "HEAD with half a chunk": _right(OK + b"Transfer-Encoding: chunked\r\n\r\n6\r\n", b"poison\r\n0\r\n\r\n", method="HEAD", body=b""),
    "HEAD in pieces": _right(OK + b"Content-Length: 6\r\n\r", b"\n" + POISON, method="HEAD", body=b""),
    "a word before": _right(b"HTTP/1.1 100 Continue\r\n\r\n" + FIVE),
    "hints before": _right(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + FIVE),
    "a word before, later": _right(b"HTTP/1.1 100 Continue\r\n\r\n", FIVE),
    "a word with a length": _right(b"HTTP/1.1 100 Continue\r\nContent-Length: 200\r\n\r\n" + FIVE),
    "words without end": _wrong(b"HTTP/1.1 100 Continue\r\n\r\n" * 4000),
    "another protocol": _wrong(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n" + POISON),
    "a socket nobody wanted": _wrong(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n"),
    "another protocol, without its name": _wrong(b"HTTP/1.1 101 Switching Protocols\r\n\r\n" + POISON),
    "two lengths": _wrong(OK + b"Content-Length: 5\r\nContent-Length: 11\r\n\r\nhellopoison"),
    "two equal lengths": _wrong(OK + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello"),
    "a list of lengths": _wrong(OK + b"Content-Length: 5, 5\r\n\r\nhello"),
    "a length with a sign": _wrong(OK + b"Content-Length: +5\r\n\r\nhello"),
    "an empty length": _wrong(OK + b"Content-Length:\r\n\r\nhello"),
    "a length of 65 bits": _wrong(OK + b"Content-Length: 18446744073709551621\r\n\r\nhello"),
    "a length and chunks": _wrong(OK + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
    "chunks and a length": _wrong(OK + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
    "chunks twice": _wrong(OK + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
    "packed chunks": _wrong(OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
    "chunks not last": _wrong(OK + b"Transfer-Encoding: chunked, gzip\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
    "no chunks": _wrong(OK + b"Transfer-Encoding: xchunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
    "identity": _wrong(OK + b"Transfer-Encoding: identity\r\n\r\nhello", ends=True),
    "chunks before HTTP/1.1": _wrong(b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
    "a space before a colon": _wrong(OK + b"Content-Length : 5\r\n\r\nhello"),
    "a folded line": _wrong(OK + b"Content-Length: 5\r\nX: a\r\n b\r\n\r\nhello"),
    "a bare line end": _wrong(OK + b"X: a\nContent-Length: 5\r\n\r\nhello"),
    "a bare return": _wrong(OK + b"X: a\rContent-Length: 5\r\n\r\nhello"),
    "a zero": _wrong(OK + b"X: \0\r\nContent-Length: 5\r\n\r\nhello"),
    "no status": _wrong(b"HTTP/1.1 OK\r\nContent-Length: 5\r\n\r\nhello"),
    "a long status": _wrong(b"HTTP/1.1 2000 OK\r\nContent-Length: 5\r\n\r\nhello"),
    "another version": _wrong(b"HTTP/3.0 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
    "an old habit": _wrong(b"hello", ends=True),
    "garbage": _wrong(b"\0\xff\xfe\r\n\r\n"),
    "nothing at all": _wrong(b"", ends=True),
    "half a head": _wrong(b"HTTP/1.1 200 OK\r\nContent-Le", ends=True),
    "a head without end": _wrong(OK + b"X: " + b"a" * 100_000),
    "half a body": Answer((OK + b"Content-Length: 50\r\n\r\nhello",), 200, ends=True, is_cut=True),
    "half of the chunks": Answer((OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",), 200, ends=True, is_cut=True),
    "trailers without end": Answer((OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: " + b"b" * 300_000,), 200, is_cut=True),
    "a chunk with more about it than in it": Answer((OK + b"Transfer-Encoding: chunked\r\n\r\n5;" + b"b" * 300_000,), 200, is_cut=True),
    "chunks that are none": Answer((OK + b"Transfer-Encoding: chunked\r\n\r\n", b"5\r\nhello\r\nzz\r\n"), 200, is_cut=True),
    "a chunk with another end": Answer((OK + b"Transfer-Encoding: chunked\r\n\r\n", b"5\r\nhelloXX0\r\n\r\n"), 200, is_cut=True),
}  # fmt: skip

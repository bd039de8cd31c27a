"""Messages by which one server can be made to read another number of requests than the next, with the one outcome
that each may have at ours."""

from __future__ import annotations

import base64
from itertools import product

import msgspec

__all__ = ["MESSAGES", "Message", "Outcome"]

HOST = b"Host: x\r\n"
GET = b"GET /1 HTTP/1.1\r\n" + HOST
POST = b"POST /1 HTTP/1.1\r\n" + HOST
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
HIDDEN = b"GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n"
KEY = base64.b64encode(b"sixteen bytes ok")


class Outcome(msgspec.Struct, frozen=True):
    """What the application sees of it (`METHOD path host body`), which answers the client gets, and whether the
    connection is used any further."""

    seen: tuple[str, ...] = ()
    answers: tuple[int, ...] = ()
    stays: bool = False


class Message(msgspec.Struct, frozen=True):
    name: str
    sent: bytes
    outcome: Outcome


REFUSED = Outcome(answers=(400,))
WAITED_FOR = Outcome(stays=True)  # there is more to come


def read(*seen: str, stays: bool = True) -> Outcome:
    return Outcome(seen, (200,) * len(seen), stays)


ONE = read("GET /1 x ")
LAST = read("GET /1 x ", stays=False)


def _lengths() -> list[Message]:
    """What may stand for a length, and what may not."""
    right = {"5": b"5", "zeros": b"0000005", "space after": b"5 ", "tab before": b"\t5"}
    wrong = {
        "plus": b"+5", "minus": b"-5", "hexadecimal": b"0x5", "nothing": b"", "two": b"5, 5", "two others": b"5, 6",
        "words": b"five", "fraction": b"5.0", "exponent": b"5e0", "underscore": b"1_0", "digits apart": b"5 5",
        "of 64 bits": b"18446744073709551616", "one over 64 bits": b"18446744073709551621", "long": b"9" * 30,
        "many zeros": b"0" * 40 + b"5", "other digits": "٥".encode(), "quoted": b'"5"', "vertical tab": b"\v5",
        "null": b"5\0", "form feed": b"5\f", "bytes": b"\xff5", "semicolon": b"5;", "comma": b"5,", "comma first": b",5",
    }  # fmt: skip
    found = [
        Message(f"length {name}", POST + b"Content-Length: " + value + b"\r\n\r\nhello", read("POST /1 x hello"))
        for name, value in right.items()
    ]
    found += [
        Message(f"no length: {name}", POST + b"Content-Length: " + value + b"\r\n\r\nhello" + HIDDEN, REFUSED)
        for name, value in wrong.items()
    ]
    twice = b"Content-Length: 5\r\n", b"content-length: 5\r\n", b"Content-Length: 0\r\n", b"CONTENT-LENGTH: 40\r\n"
    found += [
        Message(f"lengths {one!r} {other!r}", POST + one + other + b"\r\nhello" + HIDDEN, REFUSED)
        for one, other in product(twice, twice)
    ]
    names = b"Content-Length ", b" Content-Length", b"Content_Length", b"Content-Length\t", b"Content\0Length", b"C\x80"
    for name in names:
        outcome = read("POST /1 x ", "GET /hidden x ") if name == b"Content_Length" else REFUSED
        found.append(Message(f"length named {name!r}", POST + name + b": 34\r\n\r\n" + HIDDEN, outcome))
    return found


def _codings() -> list[Message]:
    """Every way of saying that a body comes in chunks, but the one."""
    body = b"5\r\nhello\r\n0\r\n\r\n"
    found = [
        Message(
            f"coding {value!r}", POST + b"Transfer-Encoding: " + value + b"\r\n\r\n" + body, read("POST /1 x hello")
        )
        for value in (b"chunked", b"CHUNKED", b"Chunked ", b"\tchunked")
    ]
    wrong = (
        b"", b"identity", b"gzip", b"gzip, chunked", b"chunked, gzip", b"chunked, chunked", b"chunked, identity",
        b"identity, chunked", b"xchunked", b"chunkedx", b'"chunked"', b"chunked;q=1", b"chunked, ", b",chunked",
        b"\vchunked", b"chunked\0", b"chun\tked", b"c\xc4\xa7unked", b"chunked\v", b"trailers, chunked",
    )  # fmt: skip
    found += [
        Message(f"no coding: {value!r}", POST + b"Transfer-Encoding: " + value + b"\r\n\r\n" + body + HIDDEN, REFUSED)
        for value in wrong
    ]
    lines = (
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        b"Transfer-Encoding:\r\n chunked\r\n",
        b"Transfer-Encoding\r\n: chunked\r\n",
        b"Transfer-Encoding : chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 0\r\n",
        b"Transfer-Encoding: chunked\nContent-Length: 5\r\n",
        b"X: y\nTransfer-Encoding: chunked\r\n",
        b"X: y\rTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\rContent-Length: 5\r\n",
    )
    found += [Message(f"codings {one!r}", POST + one + b"\r\n" + body + HIDDEN, REFUSED) for one in lines]
    old = b"POST /1 HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n"
    found.append(Message("chunks before HTTP/1.1", old + body + HIDDEN, REFUSED))
    underscore = POST + b"Transfer_Encoding: chunked\r\nContent-Length: 5\r\n\r\nhello"
    found.append(Message("an underscore is no hyphen", underscore, read("POST /1 x hello")))
    return found


def _chunks() -> list[Message]:
    whole = read("POST /1 x hello")
    right = {
        "one": b"5\r\nhello\r\n0\r\n\r\n",
        "two": b"3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
        "zeros before": b"005\r\nhello\r\n000\r\n\r\n",
        "extension": b"5;a=b\r\nhello\r\n0;c\r\n\r\n",
        "quoted extension": b'5;a="b;c"\r\nhello\r\n0\r\n\r\n',
        "trailer": b"5\r\nhello\r\n0\r\nA: b\r\n\r\n",
        "two trailers": b"5\r\nhello\r\n0\r\nA: b\r\nC: d\r\n\r\n",
        "length as a trailer is nothing": b"5\r\nhello\r\n0\r\nX-Content-Length: 40\r\n\r\n",
    }
    found = [Message(f"chunks: {name}", CHUNKED + body, whole) for name, body in right.items()]
    wrong = {
        "no size": b"\r\nhello\r\n0\r\n\r\n", "a sign": b"+5\r\nhello\r\n0\r\n\r\n", "minus": b"-5\r\nhello\r\n0\r\n\r\n",
        "0x": b"0x5\r\nhello\r\n0\r\n\r\n", "space before": b" 5\r\nhello\r\n0\r\n\r\n",
        "space after": b"5 \r\nhello\r\n0\r\n\r\n", "tab": b"5\t\r\nhello\r\n0\r\n\r\n", "underscore": b"0_5\r\nhello\r\n0\r\n\r\n",
        "letters": b"g\r\nhello\r\n0\r\n\r\n", "bare line end": b"5\nhello\r\n0\r\n\r\n", "bare return": b"5\rhello\r\n0\r\n\r\n",
        "line end within extension": b"5;a\nhello\r\n0\r\n\r\n", "return within extension": b"5;a\rb\r\nhello\r\n0\r\n\r\n",
        "two lines in an extension": b'5;a="b\r\nc"\r\nhello\r\n0\r\n\r\n', "null in an extension": b"5;a=\0\r\nhello\r\n0\r\n\r\n",
        "too short": b"4\r\nhello\r\n0\r\n\r\n", "no end of a chunk": b"5\r\nhello0\r\n\r\n",
        "wrong end of a chunk": b"5\r\nhelloXX0\r\n\r\n", "bare end of a chunk": b"5\r\nhello\n0\r\n\r\n",
        "64 bits": b"10000000000000005\r\nhello\r\n0\r\n\r\n", "sixteen f": b"fffffffffffffffff\r\nhello\r\n0\r\n\r\n",
        "bare last line ends": b"5\r\nhello\r\n0\n\n", "bare line end after the last": b"5\r\nhello\r\n0\r\n\n",
        "folded trailer": b"5\r\nhello\r\n0\r\nA: b\r\n c\r\n\r\n", "trailer without a colon": b"5\r\nhello\r\n0\r\nA\r\n\r\n",
        "trailer with a space": b"5\r\nhello\r\n0\r\nA : b\r\n\r\n", "bare trailer": b"5\r\nhello\r\n0\r\nA: b\nC: d\r\n\r\n",
        "null in a trailer": b"5\r\nhello\r\n0\r\nA: \0\r\n\r\n", "a second host as a trailer": b"5\r\nhello\r\n0\r\nHost: y\r\n\r\n",
        "a byte in each": b"1\r\nA\r\n" * 40_000 + b"0\r\n\r\n",
        "extensions of small chunks": (b"5;" + b"a" * 1000 + b"\r\nhello\r\n") * 200 + b"0\r\n\r\n",
        "many trailers": b"5\r\nhello\r\n0\r\n" + b"A: b\r\n" * 300 + b"\r\n",
        "extension without end": b"5;" + b"a" * 200_000, "trailer without end": b"5\r\nhello\r\n0\r\nA: " + b"b" * 200_000,
    }  # fmt: skip
    found += [Message(f"no chunks: {name}", CHUNKED + body, REFUSED) for name, body in wrong.items()]
    small = CHUNKED + b"8\r\nsmall in\r\n" * 20_000 + b"0\r\n\r\n"
    found.append(Message("chunks: many small ones", small, read("POST /1 x " + "small in" * 20_000)))
    waits = {
        "too long": b"6\r\nhello",
        "no last one": b"5\r\nhello\r\n",
        "half of the last": b"5\r\nhello\r\n0\r\n",
        "none": b"",
        "a size alone": b"5",
    }
    found += [Message(f"chunks to come: {name}", CHUNKED + body, WAITED_FOR) for name, body in waits.items()]
    return found


def _lines() -> list[Message]:
    """Ends of lines, folding, and what may stand in a header."""
    wrong = {
        "line ends alone": b"GET /1 HTTP/1.1\nHost: x\n\n", "returns alone": b"GET /1 HTTP/1.1\rHost: x\r\r",
        "first line": b"GET /1 HTTP/1.1\nHost: x\r\n\r\n", "one header": b"GET /1 HTTP/1.1\r\nHost: x\nA: b\r\n\r\n",
        "last line": GET + b"\n", "a return before": b"GET /1 HTTP/1.1\r\nHost: x\r\r\n\r\n", "folded": GET + b"A: b\r\n c\r\n\r\n",
        "folded by a tab": GET + b"A: b\r\n\tc\r\n\r\n", "folded first": b"GET /1 HTTP/1.1\r\n Host: x\r\n\r\n",
        "folded host": b"GET /1 HTTP/1.1\r\nHost:\r\n x\r\n\r\n", "folded empty": GET + b"A: b\r\n \r\n\r\n",
        "no colon": GET + b"A\r\n\r\n", "no name": GET + b": b\r\n\r\n", "space in a name": GET + b"A B: c\r\n\r\n",
        "space after a name": GET + b"A : b\r\n\r\n", "tab after a name": GET + b"A\t: b\r\n\r\n", "null in a name": GET + b"A\0: b\r\n\r\n",
        "null in a value": GET + b"A: \0\r\n\r\n", "control in a value": GET + b"A: \x01\r\n\r\n", "delete in a value": GET + b"A: \x7f\r\n\r\n",
        "bracket in a name": GET + b"A(: b\r\n\r\n", "bytes in a name": GET + b"\xe4: b\r\n\r\n", "escape in a value": GET + b"A: \x1b[31m\r\n\r\n",
        "return in a value": GET + b"A: b\rc\r\n\r\n", "line end in a value": GET + b"A: b\nc\r\n\r\n",
        "another request in a value": GET + b"A: b\n\nGET /hidden HTTP/1.1\r\n\r\n", "words before": b"hello\r\n" + GET + b"\r\n",
        "space before": b" " + GET + b"\r\n", "null before": b"\0" + GET + b"\r\n", "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "SSH": b"SSH-2.0-OpenSSH_9.2\r\n", "SMTP": b"EHLO x\r\n", "a status line": b"HTTP/1.1 200 OK\r\n\r\n",
    }  # fmt: skip
    found = [Message(f"line: {name}", sent + HIDDEN, REFUSED) for name, sent in wrong.items()]
    right = {
        "empty lines before": b"\r\n\r\n" + GET + b"\r\n",
        "bytes in a value": GET + b"A: \xe4\xff\r\n\r\n",
        "tab in a value": GET + b"A: b\tc\r\n\r\n",
        "empty value": GET + b"A:\r\n\r\n",
        "no space": GET + b"A:b\r\n\r\n",
        "many names": GET + b"".join(b"A%d: b\r\n" % number for number in range(200)) + b"\r\n",
        "strange but right name": GET + b"!#$%&'*+-.^_`|~: b\r\n\r\n",
    }
    found += [Message(f"line: {name}", sent, ONE) for name, sent in right.items()]
    found += [
        Message("too many headers", GET + b"A: b\r\n" * 300 + b"\r\n", Outcome(answers=(431,))),
        Message("headers too long", GET + b"A: " + b"b" * 70_000 + b"\r\n\r\n", Outcome(answers=(431,))),
        Message("headers without end", GET + b"A: " + b"b" * 200_000, Outcome(answers=(431,))),
        Message("name without end", GET + b"A" * 200_000, Outcome(answers=(431,))),
    ]
    return found


def _targets() -> list[Message]:
    right = {
        b"/1": "GET /1 x ", b"//1": "GET //1 x ", b"/1?a=b": "GET /1 x ", b"/1?a?b": "GET /1 x ", b"/%31": "GET /1 x ",
        b"/../1": "GET /../1 x ", b"/1%23": "GET /1# x ", b"/1;a": "GET /1;a x ", b"/@a": "GET /@a x ", b"/:80": "GET /:80 x ",
        b"http://y/1": "GET /1 y ", b"HTTP://y/1": "GET /1 y ", b"https://y/1": "GET /1 y ", b"http://y:81/1": "GET /1 y:81 ",
        b"http://y": "GET / y ", b"http://y?a": "GET / y ", b"http://[::1]/1": "GET /1 [::1] ", b"http://y//1": "GET //1 y ",
    }  # fmt: skip
    found = [
        Message(f"target {target!r}", b"GET " + target + b" HTTP/1.1\r\n" + HOST + b"\r\n", read(seen))
        for target, seen in right.items()
    ]
    wrong = (
        b"", b"1", b"*", b"x:80", b"#", b"/1#a", b"http://y/1#a", b"ftp://y/1", b"file:///1", b"http:///1", b"http://", b"http:/1",
        b"http://a@y/1", b"http://a:b@y/1", b"http://y:port/1", b"http://y:123456/1", b"http://y z/1", b"http://\xe4/1", b"http://y\\1",
        b"http://[::1/1", b"http://y,z/1", b"/ 1", b"/\t1", b"/\x01", b"/\0", b"/\x7f", b"/\xe4", b"\\1", b"javascript:1", b"http://y%2f/1",
        b"http://" + b"y" * 400 + b"/1", b"/\r", b"/\n", b"?1", b"http:y", b"://y/",
    )  # fmt: skip
    found += [
        Message(f"no target: {one[:30]!r}", b"GET " + one + b" HTTP/1.1\r\n" + HOST + b"\r\n" + HIDDEN, REFUSED)
        for one in wrong
    ]
    long = b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\n" + HOST + b"\r\n"
    found += [
        Message("target too long", long, Outcome(answers=(414,))),
        Message("all of a server", b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n", read("OPTIONS * x ")),
        Message("a tunnel", b"CONNECT x:80 HTTP/1.1\r\n" + HOST + b"\r\n" + HIDDEN, REFUSED),
        Message("a tunnel to a path", b"CONNECT /1 HTTP/1.1\r\n" + HOST + b"\r\n" + HIDDEN, REFUSED),
        Message("a tunnel with a body", b"CONNECT x:80 HTTP/1.1\r\n" + HOST + b"Content-Length: 33\r\n\r\n" + HIDDEN, REFUSED),
    ]  # fmt: skip
    return found


def _hosts() -> list[Message]:
    found = [
        Message(f"host {host!r}", b"GET /1 HTTP/1.1\r\nHost: " + host + b"\r\n\r\n", read(f"GET /1 {host.decode()} "))
        for host in (b"x", b"X.Example", b"x:80", b"x:", b"127.0.0.1", b"[::1]", b"[::1]:80", b"a_b", b"a-b.c", b"x.")
    ]
    wrong = (
        b"", b"x y", b"x/1", b"x?1", b"x#1", b"a@x", b"x,y", b"x;y", b"x\\y", b"x:port", b"x:1:2", b"x:123456", b"::1", b"[::1", b"\xe4",
        b"x%00", b"http://x", b"'x'", b'"x"', b"<x>", b"x\ty", b"(x)", b"[x]", b"y" * 400, b"*", b"x:+1",
    )  # fmt: skip
    found += [
        Message(f"no host: {one[:20]!r}", b"GET /1 HTTP/1.1\r\nHost: " + one + b"\r\n\r\n" + HIDDEN, REFUSED)
        for one in wrong
    ]
    found += [
        Message("no host at all", b"GET /1 HTTP/1.1\r\n\r\n" + HIDDEN, REFUSED),
        Message("only in the target", b"GET http://y/1 HTTP/1.1\r\n\r\n" + HIDDEN, REFUSED),
        Message("none before HTTP/1.1", b"GET /1 HTTP/1.0\r\n\r\n", read("GET /1  ", stays=False)),
        Message("two hosts", GET + b"Host: y\r\n\r\n" + HIDDEN, REFUSED),
        Message("two equal hosts", GET + HOST + b"\r\n" + HIDDEN, REFUSED),
        Message("two hosts before HTTP/1.1", b"GET /1 HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n" + HIDDEN, REFUSED),
        Message("another in the header", b"GET http://y/1 HTTP/1.1\r\nHost: x\r\n\r\n", read("GET /1 y ")),
    ]
    return found


def _versions_and_methods() -> list[Message]:
    found = [
        Message(f"version {one!r}", b"GET /1 " + one + b"\r\n" + HOST + b"\r\n" + HIDDEN, REFUSED)
        for one in (
            b"HTTP/0.9", b"HTTP/1.2", b"HTTP/2.0", b"HTTP/3.0", b"HTTP/11", b"HTTP/1", b"HTTP/1.", b"HTTP/.1", b"HTTP/1.10", b"HTTP/01.1", b"http/1.1",
            b"HTTP/1.1 ", b"HTTP/ 1.1", b"HTTP/1,1", b"HTTP/-1.1", b"HTTP/1.1a", b"HTTPS/1.1", b"FTP/1.1", b"ICE/1.0", b"", b"HTTP/1.\xb9",
        )
    ]  # fmt: skip
    found += [
        Message("no version at all", b"GET /1\r\n" + HOST + b"\r\n" + HIDDEN, REFUSED),
        Message("1.0 is not kept", b"GET /1 HTTP/1.0\r\n" + HOST + b"\r\n" + HIDDEN, LAST),
        Message("1.0 is kept when asked", b"GET /1 HTTP/1.0\r\n" + HOST + b"Connection: keep-alive\r\n\r\n", ONE),
        Message("closed when asked", GET + b"Connection: close\r\n\r\n" + HIDDEN, LAST),
        Message("closed among other words", GET + b"Connection: x, close\r\n\r\n" + HIDDEN, LAST),
        Message("closed in a second line", GET + b"Connection: x\r\nConnection: close\r\n\r\n" + HIDDEN, LAST),
        Message("kept and closed", GET + b"Connection: keep-alive, close\r\n\r\n" + HIDDEN, LAST),
    ]
    for method in (b"GET", b"HEAD", b"POST", b"PUT", b"PATCH", b"DELETE", b"OPTIONS", b"TRACE", b"PROPFIND", b"QUERY"):
        sent = method + b" /1 HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\nhello"
        found.append(Message(f"a body of {method!r}", sent, read(f"{method.decode()} /1 x hello")))
    for method in (b"get", b"Get", b"GETX", b"G ET", b"", b"G\0T", b"GET\t", b"\xe4", b"G" * 100, b"(GET)"):
        sent = method + b" /1 HTTP/1.1\r\n" + HOST + b"\r\n" + HIDDEN
        known = method in (b"get", b"Get", b"GETX")
        found.append(Message(f"method {method[:9]!r}", sent, Outcome(answers=(501 if known else 400,))))
    return found


def _upgrades() -> list[Message]:
    """A wish for another protocol, in every combination with a body."""
    connections = (b"upgrade", b"Upgrade", b"keep-alive, Upgrade", b"close, upgrade", b"upgrade, http2-settings")
    protocols = (b"websocket", b"h2c", b"HTTP/2.0", b"TLS/1.0", b"x", b"websocket, h2c")
    bodies = {
        "a length": b"Content-Length: %d\r\n\r\n" % len(HIDDEN) + HIDDEN,
        "chunks": b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(HIDDEN) + HIDDEN + b"\r\n0\r\n\r\n",
        "a length to come": b"Content-Length: 5\r\n\r\n",
    }
    found = []
    for connection, protocol in product(connections, protocols):
        wish = b"Connection: " + connection + b"\r\nUpgrade: " + protocol + b"\r\n"
        found += [
            Message(f"upgrade {connection!r} {protocol!r} with {name}", POST + wish + body, REFUSED)
            for name, body in bodies.items()
        ]
        found.append(Message(f"upgrade {connection!r} {protocol!r}", GET + wish + b"\r\n" + HIDDEN, LAST))
    wish = b"Connection: upgrade\r\nUpgrade: websocket\r\n"
    right = wish + b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + KEY + b"\r\n"
    wrong = {
        "no version": wish + b"Sec-WebSocket-Key: " + KEY + b"\r\n",
        "old version": right.replace(b"13", b"8"),
        "two versions": right + b"Sec-WebSocket-Version: 13\r\n",
        "no key": wish + b"Sec-WebSocket-Version: 13\r\n",
        "short key": right.replace(KEY, b"c2hvcnQ="),
        "no base64": right.replace(KEY, b"!" * 24),
        "two keys": right + b"Sec-WebSocket-Key: " + KEY + b"\r\n",
        "two protocols": right + b"Upgrade: h2c\r\n",
    }
    found += [Message(f"no handshake: {name}", GET + lines + b"\r\n" + HIDDEN, LAST) for name, lines in wrong.items()]
    found += [
        Message("a handshake by POST", POST + right + b"\r\n" + HIDDEN, read("POST /1 x ", stays=False)),
        Message("a handshake before HTTP/1.1", b"GET /1 HTTP/1.0\r\n" + HOST + right + b"\r\n" + HIDDEN, LAST),
        Message("a handshake with a body", GET + right + b"Content-Length: 5\r\n\r\nhello", REFUSED),
        Message("a handshake in chunks", GET + right + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", REFUSED),
        Message("a handshake where no sockets are", GET + right + b"\r\n" + HIDDEN, Outcome(answers=(403,))),
        Message("a handshake with an empty body", GET + right + b"Content-Length: 0\r\n\r\n" + HIDDEN, Outcome(answers=(403,))),
        Message("only a header", GET + b"Upgrade: x\r\n\r\n" + HIDDEN, read("GET /1 x ", "GET /hidden x ")),
        Message("only a header, with a body", POST + b"Upgrade: x\r\nContent-Length: 5\r\n\r\nhello", read("POST /1 x hello")),
        Message("only a connection's word", GET + b"Connection: upgrade\r\n\r\n" + HIDDEN, read("GET /1 x ", "GET /hidden x ")),
    ]  # fmt: skip
    return found


def _pipelines() -> list[Message]:
    two = ("GET /1 x ", "GET /hidden x ")
    body = POST + b"Content-Length: 5\r\n\r\nhello"
    chunks = CHUNKED + b"5\r\nhello\r\n0\r\n\r\n"
    return [
        Message("two requests", GET + b"\r\n" + HIDDEN, read(*two)),
        Message("forty requests", (GET + b"\r\n") * 40, read(*(("GET /1 x ",) * 40))),
        Message("a body, then a request", body + HIDDEN, read("POST /1 x hello", two[1])),
        Message("chunks, then a request", chunks + HIDDEN, read("POST /1 x hello", two[1])),
        Message("chunks, then chunks, then a request", chunks * 2 + HIDDEN, read(*(("POST /1 x hello",) * 2), two[1])),
        Message("an empty body, then a request", POST + b"Content-Length: 0\r\n\r\n" + HIDDEN, read("POST /1 x ", two[1])),
        Message("empty chunks, then a request", CHUNKED + b"0\r\n\r\n" + HIDDEN, read("POST /1 x ", two[1])),
        Message("a request, then half of one", GET + b"\r\nGET /2", Outcome(("GET /1 x ",), (200, 400))),
        Message("a request, then garbage", GET + b"\r\n\0\0", Outcome(("GET /1 x ",), (200, 400))),
        Message("a body of a request is no request", POST + b"Content-Length: %d\r\n\r\n" % len(HIDDEN) + HIDDEN, read("POST /1 x " + HIDDEN.decode())),
        Message("a body longer than said", body + b"}{", Outcome(("POST /1 x hello",), (200, 400))),
        Message("a request, then an upgrade with a body", GET + b"\r\n" + POST + b"Connection: upgrade\r\nUpgrade: x\r\nContent-Length: 5\r\n\r\nhello", Outcome(("GET /1 x ",), (200, 400))),
        Message("half a body", POST + b"Content-Length: 5\r\n\r\nhel", WAITED_FOR),
        Message("half a head", GET, WAITED_FOR),
        Message("nothing but line ends", b"\r\n\r\n\r\n", WAITED_FOR),
        Message("line ends without end", b"\r\n" * 40, REFUSED),
        Message("line ends of one kind without end", b"\n" * 40, REFUSED),
        Message("a flood of line ends", b"\r\n" * 200_000, REFUSED),
        Message("a request, then line ends without end", GET + b"\r\n" + b"\r\n" * 40, Outcome(("GET /1 x ",), (200, 400))),
        Message("a body that waits", POST + b"Content-Length: 5\r\nExpect: 100-continue\r\n\r\nhello", read("POST /1 x hello")),
        Message("no body that waits", GET + b"Expect: 100-continue\r\n\r\n", ONE),
        Message("another expectation", POST + b"Content-Length: 5\r\nExpect: 200-ok\r\n\r\nhello", read("POST /1 x hello")),
    ]  # fmt: skip


MESSAGES = [
    *_lengths(), *_codings(), *_chunks(), *_lines(), *_targets(), *_hosts(), *_versions_and_methods(), *_upgrades(),
    *_pipelines(),
]  # fmt: skip

"""Requests that nobody means well by: every route there is, with whatever may be wrong with a request.

The same ones every time, drawn from a seed. Half of what is sent is nearly right, since only that gets past the door.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote, quote_from_bytes, urlencode

import msgspec

from kith.app import ROUTES
from kith.base import routing
from kith.social.errors import DIALECT
from tests.social.samples import image_file

_CURSOR = ("limit", "max_id", "min_id", "since_id", "offset")
_TEXTS = (
    "", " ", "\u00a0", "x", "a" * 501, "a" * 70_000, "💥" * 300, "e" + "\u0301" * 2000, "\u202e\u2066\ufeff", "\n" * 200,
    "@" * 90, "#" * 90, "@a@b@c", "#\u0661\u200d", "http://" + "a" * 3000 + ".example/", "http://[::1", "https://\u2603.\u2603",
    "<script>alert(1)</script>", "&#0;&#xd800;", "'; DROP TABLE social_statuses; --", "%", "_%\\", "../../etc/passwd",
    "-1", "0", "00", "1.5", "1e309", "NaN", "Infinity", "+5", " 7 ", "0x10", "1_000", "\u0663", "\u00b2", "9" * 19,
    "9" * 40, str(2**63 - 1), str(2**63), str(-(2**63)), "null", "true", "off", "[]", "{}", "[", "2026-13-45T99:99:99Z",
    "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00", "2030-01-01", "2030-01-01T00:00:00Z", "public", "private",
    "direct", "nobody", "en", "xx-XX-xx", "home", "mention", "a,b", "1,-1", "nan,inf", "e30=", "ada@", "@ada", "@@@", "a@b.example",
    "\x7f\x01\x1b[31m", "\ud7ff\ue000\U0010ffff", '"', "\\", "a\u0000b",
)  # fmt: skip
_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 4, 300, 2**31, 2**53 + 1, 2**63, 2**64, -(2**70), 10**400, 0.5, -0.0, 1e308, [], {},
    [[]], [None], [{}], {"": ""}, {"0": "a", "1": "b"}, {"0": "a", "x": "b"}, [1, "1", None], [[["a"]]], ["x"] * 500,
    {"a": {"b": {"c": {"d": 1}}}}, {"options": ["a", "b"], "expires_in": 300}, {"options": [], "expires_in": "soon"},
    {"options": ["a", "a"], "expires_in": 10**18}, {"last_read_id": "x"}, {"last_read_id": 2**63}, {"attributes": 1},
    [{"name": "n", "value": "v"}], [{"name": {}, "value": []}], {"0": {"name": "n"}},
)  # fmt: skip
_NAMES = (
    "poll", "id", "q", "access_token", "file", "poll[options][]", "poll[options]", "poll[expires_in]", "home[last_read_id]",
    "fields_attributes[0][name]", "fields_attributes[][value]", "source[privacy]", "source[language]", "a[b][c][d][e]", "[]",
    "[", "]", "media_attributes[][id]", "media_attributes[][focus]", "\u0000", "__class__", "%5B%5D", "x" * 5000,
)  # fmt: skip
_TYPES = (
    "",
    "text/plain",
    "application/json",
    "application/json; charset=utf-16",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "multipart/form-data; boundary=",
    "multipart/form-data; boundary=" + "b" * 300,
    "application/xml",
    "image/png",
    "/",
    "\u00ff",
    "application/json, text/html",
)
_BYTES = (
    b"", b"{", b"[]", b"1", b'"x"', b"null", b"{}", b'{"a":', b"\xff\xfe\x00", b'{"status":"\\ud800"}', b'{"id":"\\u0000"}',
    b'{"q":"\xff"}', b"[" * 5000, b'{"a":' * 5000, b"status=%ff%fe", b"status=%", b"&&&==;;", b"a[=1&a]=2&a[][b=3",
    b"--b\r\n\r\n--b--", b'--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n\xff', b"\x00" * 3000,
    b"x=1&" * 3000, b'{"status":1e999999}', b'{"status":"a","status":"b"}',
)  # fmt: skip


class Route(msgspec.Struct, frozen=True):
    method: str
    path: str
    names: tuple[str, ...]


class Wrong(msgspec.Struct, frozen=True):
    """A request as it goes over the wire."""

    method: str
    path: str
    content_type: str
    body: bytes
    with_token: bool

    def __str__(self) -> str:
        return f"{self.method} {self.path[:300]} [{self.content_type[:80]}] {self.body[:300]!r} token={self.with_token}"


def social_routes() -> list[Route]:
    """Every route of the social API, with the names of what it takes."""
    return [
        Route(method, template, _names_of(route))
        for route in ROUTES
        if route.dialect is DIALECT and route.shape is not routing.AnswerShape.SOCKET
        for template in (route.template, *route.aliases)
        for method in route.methods
    ]


def _names_of(route: routing.Route) -> tuple[str, ...]:
    """What the structs that its handler is given are made of."""
    kinds = [one.kind for one in route.parameters if one.place in ("query", "body")]
    return tuple(field.encode_name for kind in kinds for field in msgspec.structs.fields(kind))


class Garbage:
    def __init__(self, routes: Sequence[Route], known: Sequence[str], seed: int) -> None:
        """`known` are ids of things that are there, one's own and others'."""
        self._routes = routes
        self._known = known
        self._dice = random.Random(seed)
        self._picture = image_file("PNG", (2, 2))

    def requests(self, count: int) -> Iterator[Wrong]:
        """Each route in turn, so that none is left out."""
        for number in range(count):
            yield self._request(self._routes[number % len(self._routes)])

    def _request(self, route: Route) -> Wrong:
        dice = self._dice
        method = route.method if dice.random() < 0.97 else dice.choice(["GET", "POST", "PUT", "PATCH", "DELETE"])
        path = "/".join(self._segment() if part.startswith("{") else part for part in route.path.split("/"))
        if dice.random() < 0.4:
            path += "?" + self._query(route)
        content_type, body = ("", b"") if method == "GET" and dice.random() < 0.9 else self._body(route)
        return Wrong(method, path, content_type, body, dice.random() < 0.85)

    def _segment(self) -> str:
        dice = self._dice
        if dice.random() < 0.6:
            return dice.choice(self._known)
        if dice.random() < 0.1:
            return quote_from_bytes(dice.randbytes(5), safe="")
        return quote(dice.choice(_TEXTS)[:2000], safe="") or "-"

    def _query(self, route: Route) -> str:
        dice = self._dice
        pairs = [(self._name(route, more=_CURSOR), self._text()[:2000]) for _ in range(dice.randint(1, 4))]
        query = urlencode(pairs)
        return query if dice.random() < 0.9 else query + dice.choice(["&%ff=%fe", "&&=", "&a[b]=1&a=2", "&limit=%00"])

    def _body(self, route: Route) -> tuple[str, bytes]:
        dice = self._dice
        kind = dice.random()
        if kind < 0.45:
            return "application/json", json.dumps(
                {self._name(route): self._value() for _ in range(dice.randint(0, 5))}
            ).encode("utf-8", "surrogatepass")
        if kind < 0.65:
            pairs = [(self._name(route), self._text()) for _ in range(dice.randint(0, 6))]
            return "application/x-www-form-urlencoded", urlencode(pairs).encode()
        if kind < 0.85:
            return "multipart/form-data; boundary=b", self._multipart(route)
        return dice.choice(_TYPES), dice.choice(_BYTES)

    def _multipart(self, route: Route) -> bytes:
        dice = self._dice
        parts = []
        for _ in range(dice.randint(0, 4)):
            name = self._name(route).replace('"', "").encode()
            if dice.random() < 0.4:
                data = dice.choice(
                    [b"", dice.randbytes(40), self._picture[:60], self._picture, b"GIF89a", b"\xff\xd8\xff"]
                )
                head = b'Content-Disposition: form-data; name="%b"; filename="x.png"\r\nContent-Type: image/png' % name
            else:
                data, head = self._text().encode(), b'Content-Disposition: form-data; name="%b"' % name
            parts.append(b"--b\r\n%b\r\n\r\n%b\r\n" % (head, data))
        return b"".join(parts) + (b"--b--\r\n" if dice.random() < 0.9 else b"--b")

    def _name(self, route: Route, more: tuple[str, ...] = ()) -> str:
        dice = self._dice
        ours = route.names + more
        if not ours or dice.random() < 0.1:
            return dice.choice(_NAMES)
        name = dice.choice(ours)
        return name + "[]" if dice.random() < 0.15 else name

    def _text(self) -> str:
        dice = self._dice
        return dice.choice(self._known) if dice.random() < 0.3 else dice.choice(_TEXTS)

    def _value(self) -> Any:
        dice = self._dice
        if dice.random() < 0.5:
            return self._text()
        if dice.random() < 0.3:
            return [self._text() for _ in range(dice.randint(1, 5))]
        return dice.choice(_VALUES)

"""Calls of our own routes from within a request: pages read and write by the same verbs as everybody's programs.

The call has the browser's cookies, and runs in the transaction of the request that makes it. A refusal is raised as it
is, for the caller to show.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

import msgspec

from kith.base import csrf
from kith.base.errors import MethodNotAllowed, NotFound
from kith.base.exchange import Answer, Exchange, Message, Server
from kith.base.params.body import ReadBody
from kith.base.routing.route import AnswerShape
from kith.base.routing.router import Router, WrongMethod

__all__ = ["OwnRoutes", "Pairs"]

Pairs = Sequence[tuple[str, str]]
_PASSED_ON = (b"user-agent", b"accept-language", b"cookie", b"host")


class OwnRoutes:
    """All routes of this server that give whole answers."""

    def __init__(self, server: Server, router: Router) -> None:
        self._server = server
        self._router = router

    async def call(
        self,
        exchange: Exchange,
        method: str,
        path: str,
        *,
        query: Pairs = (),
        form: dict[str, Any] | None = None,
        json: object = None,
    ) -> Answer:
        """As the person whose browser asks; whoever calls has made sure that they meant to.

        `form` is what was sent with a form, as `read_body` gives it.
        """
        body = msgspec.json.encode(json) if json is not None else b""
        inner = self._inner(exchange, method, path, urlencode(query).encode() if query else b"", body)
        try:
            found = self._router.find(method, path)
        except WrongMethod as wrong:
            raise MethodNotAllowed from wrong
        if found is None or found[0].shape is not AnswerShape.ANSWER or found[0].dialect is None:
            raise NotFound
        inner.route, inner.path_values = found
        inner.dialect = found[0].dialect
        if form is not None:
            inner.kept = {**inner.kept, ReadBody: ReadBody(form)}
        if inner.dialect.enter is not None:
            await inner.dialect.enter(inner)
        answer = await found[0].respond(inner)
        exchange.cookies += inner.cookies
        if answer is None:
            raise NotFound
        return answer

    def has_page(self, path: str) -> bool:
        """Whether a GET of this path leads anywhere."""
        try:
            return self._router.find("GET", path) is not None
        except WrongMethod:
            return False

    def _inner(self, exchange: Exchange, method: str, path: str, query: bytes, body: bytes) -> Exchange:
        headers = [(name, exchange.header(name)) for name in _PASSED_ON if exchange.header(name)]
        headers.append((b"x-csrf-token", csrf.carried(exchange).encode()))
        if method != "GET":
            headers += [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        scope = {**exchange.scope, "method": method, "path": path, "raw_path": path.encode(), "query_string": query}
        scope["headers"] = headers
        inner = Exchange(self._server, scope, _body(body), _nothing_is_sent)
        inner.share_work(exchange)
        return inner


def _body(body: bytes) -> Any:
    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


async def _nothing_is_sent(_message: Message) -> None:
    raise NotFound

"""Sending spans to a collector: OTLP/HTTP with JSON, every few seconds, together. What cannot be sent is let go."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlsplit

import msgspec
import structlog

from kith import __version__
from kith.base import asking, traces
from kith.base.http import Outgoing, OutgoingError
from kith.base.traces import Recorder, Span

__all__ = ["TraceExport"]

SEND_SECONDS = 2.0
MOST_AT_ONCE = 512
CALL_SECONDS = 10.0

_log = structlog.get_logger()
_encode = msgspec.json.Encoder().encode


class TraceExport:
    """The collector is the operator's own, so it may be at a private address."""

    def __init__(self, address: str, base_url: str) -> None:
        self._url = address if "/v1/" in address else f"{address.rstrip('/')}/v1/traces"
        self._recorder = Recorder()
        self._client = Outgoing(
            f"Kith/{__version__}", private_hosts=(urlsplit(address).hostname or "",), is_traced=False
        )
        self._service: dict[str, str | int | float] = {
            "service.name": "kith",
            "service.version": __version__,
            "kith.base_url": base_url,
        }
        self._sending: asyncio.Task[None] | None = None
        self._is_heard = True

    def start(self) -> None:
        traces.use(self._recorder)
        self._sending = asking.begin_for_everybody(self._send_on())

    async def stop(self) -> None:
        traces.use(None)
        if self._sending is not None:
            self._sending.cancel()
            await asyncio.gather(self._sending, return_exceptions=True)
        await self.send()
        await self._client.close()

    async def _send_on(self) -> None:
        while True:
            await asyncio.sleep(SEND_SECONDS)
            await self.send()

    async def send(self) -> None:
        spans = self._recorder.take()
        for start in range(0, len(spans), MOST_AT_ONCE):
            try:
                answer = await self._client.request(
                    "POST",
                    self._url,
                    headers={"Content-Type": "application/json"},
                    body=_encode(document(spans[start : start + MOST_AT_ONCE], self._service)),
                    timeout=CALL_SECONDS,
                )
                self._tell(answer.status < 300, f"it answers {answer.status}")
            except OutgoingError as error:
                self._tell(False, str(error))
                return

    def _tell(self, is_heard: bool, cause: str) -> None:
        """Once when it begins to fail, and once when it is over."""
        if is_heard != self._is_heard:
            self._is_heard = is_heard
            if is_heard:
                _log.info("traces.sent_again", lost=self._recorder.lost)
            else:
                _log.warning("traces.not_sent", collector=self._url, cause=cause)


def document(spans: list[Span], service: dict[str, str | int | float]) -> dict[str, Any]:
    scope = {"scope": {"name": "kith", "version": __version__}, "spans": [_span(span) for span in spans]}
    return {"resourceSpans": [{"resource": {"attributes": _attributes(service)}, "scopeSpans": [scope]}]}


def _span(span: Span) -> dict[str, Any]:
    facts = dict(span.facts)
    if span.statements:
        facts |= {"kith.db.statements": span.statements, "kith.db.seconds": span.statement_seconds}
    return {
        "traceId": span.trace,
        "spanId": span.id,
        **({"parentSpanId": span.parent} if span.parent else {}),
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": str(span.began),
        "endTimeUnixNano": str(span.ended),
        "attributes": _attributes(facts),
        "status": {"code": 2} if span.failed else {},
    }


def _attributes(facts: dict[str, str | int | float]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _value(value)} for name, value in facts.items()]


def _value(value: str | float) -> dict[str, Any]:
    if isinstance(value, str):
        return {"stringValue": value}
    return {"intValue": str(value)} if isinstance(value, int) else {"doubleValue": value}

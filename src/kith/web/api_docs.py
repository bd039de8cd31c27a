"""The identity API's description: for programs as OpenAPI, for people as a page."""

from __future__ import annotations

import functools
from typing import Any

import msgspec

from kith.base.exchange import Answer, whole
from kith.base.routing import get
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.web.pages import render


@functools.lru_cache(1)
def _described(base_url: str) -> tuple[bytes, str]:
    document = identity.describe_api(base_url)
    return msgspec.json.encode(document), render("api_docs.html", document=document, areas=_areas(document))


def _areas(document: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    areas: dict[str, list[dict[str, Any]]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            areas.setdefault(operation["tags"][0], []).append({"method": method.upper(), "path": path, **operation})
    return areas


@get("/api/v2/openapi.json")
async def openapi(work: Work) -> Answer:
    return whole(_described(work.settings.base_url)[0], "application/json")


@get("/api/v2/docs")
async def docs(work: Work) -> Answer:
    policy = b"default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'"
    text = _described(work.settings.base_url)[1].encode()
    return whole(text, "text/html; charset=utf-8", headers=((b"content-security-policy", policy),))


routes = [openapi, docs]

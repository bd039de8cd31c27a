"""The identity API's description: for programs as OpenAPI, for people as a page."""

from __future__ import annotations

import functools
from typing import Any

import msgspec
from litestar import MediaType, Response, get
from litestar.di import NamedDependency

from kith.base.work import Work
from kith.identity import face as identity
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
async def openapi(work: NamedDependency[Work]) -> Response[bytes]:
    return Response(_described(work.settings.base_url)[0], media_type="application/json")


@get("/api/v2/docs", media_type=MediaType.HTML)
async def docs(work: NamedDependency[Work]) -> Response[str]:
    policy = "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'"
    return Response(
        _described(work.settings.base_url)[1],
        media_type=MediaType.HTML,
        headers={"Content-Security-Policy": policy},
    )


routes = [openapi, docs]

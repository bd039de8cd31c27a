"""/.well-known/host-meta, /.well-known/nodeinfo and what they lead to. Open to everybody, in secure mode, too."""

from __future__ import annotations

from html import escape

import msgspec

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange, Headers
from kith.base.routing import FromPath, get
from kith.base.work import Work
from kith.federation.discovery import nodeinfo
from kith.social.instance.kept_answers import KeptAnswers
from kith.social.well_known import other_host

_KEPT: Headers = ((b"cache-control", b"public, max-age=3600"),)
_SOON: Headers = ((b"cache-control", b"public, max-age=1800"),)
_encode = msgspec.json.Encoder().encode


def _open(exchange: Exchange, content_type: str, body: bytes, caching: Headers) -> Answer:
    """Open to scripts of every site, whether they say where they run or not."""
    own = () if exchange.header(b"origin") else ((b"access-control-allow-origin", b"*"),)
    return Answer(200, ((b"content-type", content_type.encode()), *caching, *own), body)


def _template(exchange: Exchange) -> str:
    return f"{exchange.server.works.settings.base_url}/.well-known/webfinger?resource={{uri}}"


def _host_meta(exchange: Exchange, *, as_json: bool) -> Answer:
    if (elsewhere := other_host(exchange)) is not None:
        return elsewhere
    template = _template(exchange)
    varying = (*_KEPT, (b"vary", b"Accept"))
    if as_json:
        body = _encode({"links": [{"rel": "lrdd", "template": template}]})
        return _open(exchange, "application/jrd+json; charset=utf-8", body, varying)
    xrd = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<XRD xmlns="http://docs.oasis-open.org/ns/xri/xrd-1.0">\n'
        f'  <Link rel="lrdd" template="{escape(template)}"/>\n</XRD>\n'
    )
    return _open(exchange, "application/xrd+xml; charset=utf-8", xrd.encode(), varying)


@get("/.well-known/host-meta")
async def host_meta(exchange: Exchange) -> Answer:
    accept = exchange.header(b"accept")
    return _host_meta(exchange, as_json=b"json" in accept and b"xrd+xml" not in accept)


@get("/.well-known/host-meta.json")
async def host_meta_as_json(exchange: Exchange) -> Answer:
    return _host_meta(exchange, as_json=True)


@get("/.well-known/nodeinfo")
async def nodeinfo_links(exchange: Exchange) -> Answer:
    if (elsewhere := other_host(exchange)) is not None:
        return elsewhere
    body = _encode(nodeinfo.links(exchange.server.works.settings))
    return _open(exchange, "application/json; charset=utf-8", body, _KEPT)


@get("/nodeinfo/{version}")
async def show_nodeinfo(exchange: Exchange, work: Work, version: FromPath[str]) -> Answer:
    if version not in nodeinfo.VERSIONS:
        raise NotFound

    async def make(work: Work) -> bytes:
        return _encode(nodeinfo.document(work.settings, version, await nodeinfo.usage_of(work)))

    body = await work.find(KeptAnswers).get(work, f"nodeinfo/{version}", make)
    kind = f'application/json; profile="{nodeinfo.SCHEMA}/{version}#"; charset=utf-8'
    return _open(exchange, kind, body, _SOON)


routes = [host_meta, host_meta_as_json, nodeinfo_links, show_nodeinfo]

"""/robots.txt: what search engines need not ask for. Each person's own wish is told with their pages."""

from __future__ import annotations

from kith.base.exchange import Answer, Exchange, whole
from kith.base.routing import get

__all__ = ["routes"]

# What is for one person, for programs, or endless.
_KEPT_OUT = (
    "/admin", "/api/", "/application/", "/auth/", "/authorize_interaction", "/device", "/flows/", "/if/",
    "/media_proxy/", "/oauth/", "/publish", "/recovery", "/saml/", "/search", "/settings", "/setup", "/share",
    "/source/", "/staff/", "/unsubscribe", "/web/",
)  # fmt: skip
CACHED = (b"cache-control", b"public, max-age=3600")


@get("/robots.txt")
async def show_robots(exchange: Exchange) -> Answer:
    """A server that shows strangers nothing has nothing for engines either."""
    kept_out = ("/",) if exchange.server.works.settings.is_members_only else _KEPT_OUT
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in kept_out), ""]
    return whole("\n".join(lines).encode(), "text/plain; charset=utf-8", headers=(CACHED,))


routes = [show_robots]

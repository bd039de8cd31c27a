"""What a WebFinger address means here: somebody's name, the server itself, or nothing."""

from __future__ import annotations

from urllib.parse import unquote

from kith.base.settings import Settings
from kith.federation.vocabulary.outgoing.identifiers import server_name

__all__ = ["SERVER", "name_in"]

SERVER = ""  # what the server's own addresses name
_DOORS = ("/@", "/users/")


def name_in(resource: str, settings: Settings) -> str | None:
    """The name of whoever is meant, if they could live here; `SERVER` for the server, None for whatever is not ours."""
    text = resource.strip()
    if text.lower().startswith(("http://", "https://")):
        return _in_url(text, settings)
    handle = unquote(text[5:] if text.lower().startswith("acct:") else text).removeprefix("@")
    name, at, domain = handle.rpartition("@")
    if not settings.is_own_domain(domain):
        return None
    is_server = not at or settings.is_own_domain(name) or name.lower() == server_name(settings).lower()
    return SERVER if is_server else name or None


def _in_url(url: str, settings: Settings) -> str | None:
    """At the server's own address; at the domain of handles there are no pages."""
    scheme_and_host, path = url[: len(settings.base_url)], url[len(settings.base_url) :]
    if scheme_and_host.lower() != settings.base_url.lower():
        return None
    path = path.partition("?")[0].partition("#")[0]
    if path.rstrip("/") in ("", "/actor"):
        return SERVER
    for door in _DOORS:
        if path.startswith(door):
            name = unquote(path.removeprefix(door)).removesuffix("/")
            return name if name and "/" not in name else None
    return None

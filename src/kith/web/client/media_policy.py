"""The policy of pages that show what people posted: pictures and films may come from where media are kept."""

from __future__ import annotations

from functools import lru_cache

from kith.base.settings import Settings
from kith.web.errors import DIALECT

__all__ = ["media_policy"]


def media_policy(settings: Settings) -> bytes:
    return _policy(settings.media_url or "")


@lru_cache(4)
def _policy(media_url: str) -> bytes:
    usual = dict(DIALECT.headers)[b"content-security-policy"]
    places = " ".join(["'self'", *({_origin(media_url)} if media_url else ())]).encode()
    shown = b"img-src %b data: blob:; media-src %b blob:; connect-src 'self'; manifest-src 'self'; worker-src 'self'"
    return usual.replace(b"img-src 'self' data:", shown % (places, places))


def _origin(url: str) -> str:
    return "/".join(url.split("/")[:3])

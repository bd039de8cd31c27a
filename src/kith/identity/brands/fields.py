"""Fields that only brands have: names of hosts, pictures, and style sheets."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from kith.base.http.urls import parse_url
from kith.identity.rest.fields import InvalidValue, Text

MOST_PICTURE = 65_536
MOST_STYLE = 65_536
_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_HOST = re.compile(rf"{_LABEL}(\.{_LABEL})*")
_PATH = re.compile(r"/(?!/)[A-Za-z0-9._~!$&'()*+,;=:@%/-]*")
_DATA = re.compile(r"data:(image/(?:png|jpeg|gif|webp|svg\+xml|x-icon|vnd\.microsoft\.icon));base64,([A-Za-z0-9+/=]+)")
# What would be fetched from elsewhere. Browsers are told not to in any case; here its author learns why.
_ELSEWHERE = re.compile(r"@import|url\(\s*+[\"']?+\s*+(?:[a-z][a-z0-9+.-]*+:(?<!data:)|//)", re.IGNORECASE)


class Domain(Text, frozen=True, kw_only=True):
    """The name of a host, in lower case; letters beyond ASCII are kept as the name service knows them."""

    most: int | None = 253

    def checked(self, text: str) -> str:
        host = text.lower().rstrip(".")
        if not host.isascii():
            try:
                host = parse_url(f"http://{host}/").raw_host or ""
            except ValueError:
                host = ""
        if len(host) > 253 or not _HOST.fullmatch(host):
            raise InvalidValue("Enter the name of a host such as sign-in.example.org, without a port or a path.")
        return host

    def shape(self) -> dict[str, Any]:
        return Text.shape(self) | {"format": "hostname"}


class BrandPicture(Text, frozen=True, kw_only=True):
    """A path on this server, or the picture itself: pages fetch nothing from elsewhere."""

    most: int | None = MOST_PICTURE

    def checked(self, text: str) -> str:
        if not (_PATH.fullmatch(text) or read_picture(text) is not None):
            raise InvalidValue(
                "Enter a path on this server such as /media/logo.png, or a data: URL with a PNG, JPEG, GIF, WebP, SVG "
                "or ICO picture in base64."
            )
        return text


class StyleSheet(Text, frozen=True, kw_only=True):
    most: int | None = MOST_STYLE
    trim: bool = False

    def checked(self, text: str) -> str:
        if _ELSEWHERE.search(text):
            raise InvalidValue("Pages load nothing from elsewhere: use url() with paths or data:, and no @import.")
        return text


def read_picture(url: str) -> tuple[str, bytes] | None:
    """The type and the bytes of a picture in a data: URL."""
    found = _DATA.fullmatch(url)
    if found is None:
        return None
    try:
        return found[1], base64.b64decode(found[2], validate=True)
    except binascii.Error:
        return None

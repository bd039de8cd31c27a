"""Single values as pages give them, held to sizes; each costs no more than its length."""

from __future__ import annotations

import re
from datetime import datetime
from urllib.parse import urljoin, urlsplit

from kith.base.moments import read_moment

__all__ = ["address", "is_web", "moment", "pixels", "plain_line", "site"]

LONGEST_TITLE, LONGEST_TEXT, LONGEST_NAME, LONGEST_URL = 500, 1500, 200, 2048
MOST_PIXELS = 10_000
_LONGEST_READ = 8192  # what is longer is not squeezed to its length, only cut
_SPACES = re.compile(r"[\s\x00-\x1f\x7f]+")


def is_web(url: str) -> bool:
    if len(url) > LONGEST_URL or not url.lower().startswith(("http://", "https://")):
        return False
    try:
        return bool(urlsplit(url).hostname)
    except ValueError:
        return False


def plain_line(text: object, most: int) -> str:
    return _SPACES.sub(" ", text[:_LONGEST_READ]).strip()[:most] if isinstance(text, str) else ""


def address(given: str, base: str) -> str:
    """A whole address, of one that may be told from `base`; empty if it is none."""
    given = given[:_LONGEST_READ].strip()
    if not given or len(given) > LONGEST_URL:
        return ""
    try:
        url = urljoin(base, given)
    except ValueError:
        return ""
    return url if is_web(url) else ""


def site(given: str) -> str:
    """A site's address, or its name alone."""
    given = given[:_LONGEST_READ].strip()
    url = given if "://" in given or not given else f"https://{given}"
    return url if is_web(url) and not _SPACES.search(url) else ""


def pixels(given: object) -> int:
    text = str(given).strip() if isinstance(given, (str, int)) and len(str(given)) < 20 else ""
    return min(int(text), MOST_PIXELS) if text.isascii() and text.isdigit() and len(text) < 9 else 0


def moment(given: str) -> datetime | None:
    return read_moment(given[:100].strip())

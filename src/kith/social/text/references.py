"""Character references (`&amp;`, `&#8364;`) back to characters."""

from __future__ import annotations

import re
from html import unescape

__all__ = ["unescaped"]

_TOO_LONG = re.compile(r"&#(?:[0-9]{9,}|x[0-9a-f]{9,});?", re.IGNORECASE)


def unescaped(text: str) -> str:
    """As `html.unescape`, which fails on a number of thousands of digits."""
    return unescape(_TOO_LONG.sub("\ufffd", text)) if "&" in text else text

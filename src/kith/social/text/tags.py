"""The start tags of a piece of HTML and their attributes, found without building the tree.

A tag ends at the first angle bracket and is no longer than 8192 characters, so that every character is looked at a
fixed number of times, whatever the text is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kith.social.text.references import unescaped

__all__ = ["start_tags"]

_TAG = re.compile(r"<([a-z]{1,10})\s([^<>]{1,8192})>", re.IGNORECASE)
# A name is not looked for again within a name.
_ATTRIBUTE = re.compile(
    r"""(?<![a-z-])([a-z-]{1,30}+)\s{0,9}+=\s{0,9}+(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+))""", re.IGNORECASE
)


def start_tags(html: str, *names: str) -> Iterator[dict[str, str]]:
    """The attributes of each element of these names, in order; of an attribute given twice, the first counts."""
    for match in _TAG.finditer(html):
        if match[1].lower() in names:
            found: dict[str, str] = {}
            for name, double, single, bare in _ATTRIBUTE.findall(match[2]):
                found.setdefault(name.lower(), unescaped(double or single or bare))
            yield found

"""Names of hosts in ASCII, spelled as browsers do it (UTS #46, non-transitional).

Python's own codec follows rules of 2003, by which `weiß.de` is `weiss.de`: another domain, and perhaps another owner.
And it takes the square of a name's length. Mail, addresses of people, URLs and names of servers are all spelled here.
"""

from __future__ import annotations

import re

import idna

__all__ = ["MOST_IN_HOST", "ascii_host", "spoken_host"]

MOST_IN_HOST = 253
_MOST_IN_LABEL = 63
_SPELLED = re.compile(r"[a-z0-9.-]+")
_JOINERS = re.compile("[\u200c\u200d]")


def ascii_host(name: str) -> str:
    """The name as the name service knows it, in lower case; ValueError where it is too long or cannot be one."""
    if len(name) > MOST_IN_HOST:
        raise ValueError("longer than the names of hosts")
    if name.isascii():
        return name.lower()
    spelled = ".".join(_spelled(label) for label in idna.uts46_remap(name).split("."))
    if len(spelled) > MOST_IN_HOST or not _SPELLED.fullmatch(spelled):
        raise ValueError("not the name of a host")
    return spelled


def spoken_host(name: str) -> str:
    """The name as people write it, of one in ASCII."""
    try:
        return idna.decode(name)
    except UnicodeError:
        return name


def _spelled(label: str) -> str:
    if label.isascii():
        return label
    if len(label) > _MOST_IN_LABEL or label.startswith("xn--"):
        raise ValueError("a part is longer than parts of names are, or spelled already")
    if _JOINERS.search(label):
        idna.check_label(label)  # they cannot be seen, and belong between certain letters only
    spelled = f"xn--{label.encode('punycode').decode()}"
    if len(spelled) > _MOST_IN_LABEL:
        raise ValueError("a part is longer than parts of names are")
    return spelled

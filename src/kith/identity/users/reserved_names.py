"""Usernames that could be mistaken for the server or its staff."""

from __future__ import annotations

import unicodedata

from kith.base.errors import Complaint
from kith.base.unicode import normal_form
from kith.base.work import Work
from kith.identity.users import team
from kith.identity.users.names import username_key

_NAMES = """
    abuse accounts actor admin administrator admins all anonymous api auth billing bot contact daemon everyone
    fediverse guest help helpdesk here hostmaster info instance kith legal mailerdaemon marketing me media mod
    moderation moderator moderators mods nobody noc noreply notifications oauth official operator owner postmaster
    press privacy register relay root sales security server service settings signin signup staff status support
    sysadmin sysop system team trust undefined unknown usenet uucp webmaster www
"""
RESERVED = frozenset(_NAMES.split())

# Letters that look alike, for comparing names.
_ALIKE = str.maketrans(
    {
        "0": "o", "1": "l", "i": "l", "|": "l", "3": "e", "4": "a", "5": "s", "7": "t", "8": "b", "@": "a",
        "_": None, ".": None, "-": None, "+": None, "·": None,
        "а": "a", "в": "b", "е": "e", "ё": "e", "к": "k", "м": "m", "н": "h", "о": "o", "р": "p", "с": "c", "т": "t",
        "у": "y", "х": "x", "і": "l", "ї": "l", "ј": "j", "ѕ": "s", "ԁ": "d", "ԛ": "q", "ԝ": "w", "һ": "h", "г": "r",
        "п": "n", "ӏ": "l", "ɡ": "g", "ı": "l", "ɩ": "l", "ʀ": "r", "ᴏ": "o", "ո": "n", "ս": "u", "օ": "o", "ց": "g",
        "α": "a", "β": "b", "ε": "e", "η": "n", "ι": "l", "κ": "k", "ν": "v", "ο": "o", "ρ": "p", "τ": "t", "υ": "u",
        "χ": "x", "ω": "w", "γ": "y", "σ": "o", "μ": "u", "ø": "o", "đ": "d", "ł": "l", "ħ": "h", "ß": "b",
    }
)  # fmt: skip
_PAIRS = (("rn", "m"), ("vv", "w"))


def skeleton(name: str) -> str:
    """The name with letters that look alike made equal."""
    bare = "".join(
        letter
        for letter in normal_form("NFKD", username_key(name))
        if not unicodedata.combining(letter) and unicodedata.category(letter) != "Cf"
    )
    folded = bare.translate(_ALIKE)
    for pair, letter in _PAIRS:
        folded = folded.replace(pair, letter)
    return folded


_RESERVED = frozenset(map(skeleton, RESERVED))


async def complain_reserved(work: Work, name: str) -> Complaint | None:
    """Complaint about a reserved name, for those who choose their own; staff can give any name."""
    folded = skeleton(name)
    if not folded or folded in _RESERVED or folded in map(skeleton, work.settings.reserved_names):
        return Complaint("is reserved", "reserved")
    if folded in {skeleton(member.username) for member in await team.find_all(work.db)}:
        return Complaint("is reserved", "reserved")
    return None

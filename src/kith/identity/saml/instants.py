"""Times and ids as SAML writes them."""

from __future__ import annotations

import re
import secrets
from datetime import UTC, datetime

from kith.base.moments import read_moment
from kith.identity.saml.errors import SAMLError

_INSTANT = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?(Z|[+-]\d\d:\d\d)?")


def new_id() -> str:
    """An id that nobody can guess; it may not begin with a digit."""
    return f"_{secrets.token_hex(20)}"


def write_instant(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_instant(text: str) -> datetime:
    """An instant; without a zone it is in UTC."""
    found = _INSTANT.fullmatch(text)
    if found is None:
        raise SAMLError("The message has a time that cannot be read.")
    fraction = (found[2] or "")[:7]
    zone = "+00:00" if found[3] in (None, "Z") else found[3]
    at = read_moment(f"{found[1]}{fraction}{zone}")
    if at is None:
        raise SAMLError("The message has a time that cannot be read.")
    return at

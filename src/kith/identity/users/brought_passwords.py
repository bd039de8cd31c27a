"""Hashes of passwords that people brought from another server: bcrypt (Mastodon) and what Django makes (authentik).

They are checked as they are, within limits on what one may cost, and replaced by our own at the first sign-in.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import secrets

__all__ = ["BCRYPT", "MOST_BCRYPT", "MOST_ITERATIONS", "brought", "is_affordable", "is_right", "kind_of", "nobodys"]

BCRYPT = ("$2a$", "$2b$", "$2y$")
BCRYPT_BYTES = 72  # bcrypt has never looked at more
MOST_BCRYPT = 15
MOST_ITERATIONS = 2_000_000  # Django makes a million of them now
MOST_KIBIBYTES, MOST_ROUNDS, MOST_LANES = 131_072, 10, 16  # of argon2
_DIGESTS = {"pbkdf2_sha256": "sha256", "pbkdf2_sha1": "sha1"}
_SHA_BCRYPT = "bcrypt_sha256$"
_PBKDF2 = re.compile(r"(pbkdf2_sha256|pbkdf2_sha1)\$([1-9]\d{0,9})\$([^$\s]{1,200})\$([A-Za-z0-9+/]{20,90}={0,2})")
_BCRYPT = re.compile(r"\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}")
_ARGON2 = re.compile(
    r"\$argon2id?\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})\$[A-Za-z0-9+/]{8,100}\$[A-Za-z0-9+/]{8,200}"
)


def kind_of(stored: str) -> str:
    """How it was made; an empty text for our own."""
    if stored.startswith(BCRYPT):
        return "bcrypt"
    if stored.startswith(_SHA_BCRYPT):
        return "bcrypt_sha256"
    name = stored.partition("$")[0]
    return name if name in _DIGESTS else ""


def is_right(stored: str, password: str) -> bool:
    """Whether `password` belongs to such a hash; one that costs too much never does."""
    given = password.encode("utf-8", "surrogatepass")
    match kind_of(stored):
        case "bcrypt":
            return _is_bcrypt(stored, given)
        case "bcrypt_sha256":
            return _is_bcrypt(stored.removeprefix(_SHA_BCRYPT), hashlib.sha256(given).hexdigest().encode())
    found = _PBKDF2.fullmatch(stored)
    if found is None or int(found[2]) > MOST_ITERATIONS:
        return False
    made = hashlib.pbkdf2_hmac(_DIGESTS[found[1]], given, found[3].encode(), int(found[2]))
    try:
        return hmac.compare_digest(made, base64.b64decode(found[4]))
    except (binascii.Error, ValueError):
        return False


def _is_bcrypt(stored: str, given: bytes) -> bool:
    if not stored[4:6].isdigit() or int(stored[4:6]) > MOST_BCRYPT:
        return False
    import bcrypt  # noqa: PLC0415 - loaded when first used: few servers have such hashes

    try:
        return bcrypt.checkpw(given[:BCRYPT_BYTES], stored.encode())
    except ValueError:
        return False


def nobodys(like: str) -> str:
    """A hash that no password belongs to, and that costs as much as this one."""
    kind = kind_of(like)
    if kind in _DIGESTS:
        found = _PBKDF2.fullmatch(like)
        times = min(int(found[2]), MOST_ITERATIONS) if found else 1
        made = base64.b64encode(secrets.token_bytes(hashlib.new(_DIGESTS[kind]).digest_size)).decode()
        return f"{kind}${times}${secrets.token_hex(8)}${made}"
    import bcrypt  # noqa: PLC0415 - as above

    digits = like.removeprefix(_SHA_BCRYPT)[4:6]
    cost = int(digits) if digits.isdigit() and 4 <= int(digits) <= MOST_BCRYPT else 10
    made = bcrypt.hashpw(secrets.token_urlsafe(16).encode(), bcrypt.gensalt(cost)).decode()
    return made if kind == "bcrypt" else f"{_SHA_BCRYPT}{made}"


def brought(stored: str) -> str | None:
    """What Django has written, as it is kept here; None for what cannot be checked or costs too much."""
    if stored.startswith("argon2$"):
        plain = stored.removeprefix("argon2")
    else:
        plain = stored.removeprefix("bcrypt$") if stored.startswith("bcrypt$$") else stored
    return plain if is_affordable(plain) else None


def is_affordable(stored: str) -> bool:
    """Whether this is a hash as it is kept here, ours or another's, that a sign-in may be made to work out."""
    found = _ARGON2.fullmatch(stored)
    if found is not None:
        kibibytes, rounds, lanes = (int(one) for one in found.groups())
        return kibibytes <= MOST_KIBIBYTES and rounds <= MOST_ROUNDS and lanes <= MOST_LANES
    found = _BCRYPT.fullmatch(stored.removeprefix(_SHA_BCRYPT))
    if found is not None:
        return int(found[1]) <= MOST_BCRYPT
    found = _PBKDF2.fullmatch(stored)
    return found is not None and int(found[2]) <= MOST_ITERATIONS

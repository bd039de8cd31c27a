"""Usernames and addresses: their validation, and the normal forms in which they are compared."""

from __future__ import annotations

import re

from kith.base.errors import Complaint
from kith.base.host_names import ascii_host, spoken_host
from kith.base.unicode import normal_form

_USERNAME = re.compile(r"[\w.@+-]+\Z")
_EMAIL = re.compile(r"[^\s@<>\"(),:;\[\]\\\x00-\x1f\x7f]+@[^\s@<>\"(),:;\[\]\\\x00-\x1f\x7f]+\Z")

MOST_IN_NAME = 500
MOST_IN_KEY = {"username": 300, "email": 254}  # a letter may become many when it is made comparable


def username_key(username: str) -> str:
    """The normal form: names that look alike or differ only in case are the same."""
    return normal_form("NFKC", normal_form("NFKC", username).casefold())


def email_key(email: str) -> str:
    """The normal form: addresses of one mailbox. They differ in case, Unicode form or spelling of the domain."""
    local, at, host = email.strip().rpartition("@")
    return f"{_local_key(local)}{at}{domain_key(host)}"


def _local_key(local: str) -> str:
    """Letters that only look or sound alike are different mailboxes: `straße` is not `strasse`."""
    if local.isascii():
        return local.lower()
    key = normal_form("NFC", normal_form("NFC", local).lower())
    return local if key.isascii() else key


def domain_key(host: str) -> str:
    """The domain in ASCII, or as it is written where it cannot be one."""
    plain = host.strip().rstrip(".")
    try:
        return ascii_host(plain)
    except ValueError:
        return plain


def _is_host(host: str) -> bool:
    try:
        return bool(ascii_host(host))
    except ValueError:
        return False


def spellings(address: str) -> list[str]:
    """What the address may be where it is kept as a name, in the normal form of names."""
    key = email_key(address)
    local, at, host = key.rpartition("@")
    return sorted({username_key(address.strip()), key, username_key(f"{local}{at}{spoken_host(host)}"), f"{key}."})


def typed_key(typed: str) -> str:
    """The normal form of what somebody typed to sign in, for counting tries."""
    return email_key(typed) if "@" in typed else username_key(typed.strip())


def complain_username(username: str) -> Complaint | None:
    if not username:
        return Complaint("This field may not be blank.", "blank")
    if len(username) > 150 or len(username_key(username)) > MOST_IN_KEY["username"]:
        return Complaint("Ensure this field has no more than 150 characters.", "too_long")
    if not _USERNAME.match(username):
        return Complaint(
            "Enter a valid username. This value may contain only letters, numbers, and @/./+/-/_ characters.",
            "invalid",
        )
    return None


def complain_chosen(username: str) -> Complaint | None:
    """Complaint about a username that looks like an address, for those who choose their own."""
    if "@" in username:
        return Complaint("A user name cannot contain @.", "invalid")
    return None


def complain_name(name: str) -> Complaint | None:
    if len(name) > MOST_IN_NAME:
        return Complaint(f"Ensure this field has no more than {MOST_IN_NAME} characters.", "too_long")
    return None


def complain_email(email: str) -> Complaint | None:
    if len(email) > 254 or len(email_key(email)) > MOST_IN_KEY["email"]:
        return Complaint("Ensure this field has no more than 254 characters.", "too_long")
    if email and not (_EMAIL.match(email) and _is_host(email.rpartition("@")[2])):
        return Complaint("Enter a valid email address.", "invalid")
    return None

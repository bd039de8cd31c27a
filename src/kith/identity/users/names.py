"""Names people sign in with: what may be one, and when two are the same."""

from __future__ import annotations

import re

from kith.base.errors import Complaint
from kith.base.unicode import normal_form

_USERNAME = re.compile(r"[\w.@+-]+\Z")
_EMAIL = re.compile(r"[^\s@<>\"(),:;\[\]\\\x00-\x1f\x7f]+@[^\s@<>\"(),:;\[\]\\\x00-\x1f\x7f]+\Z")

MOST_IN_NAME = 500
MOST_IN_KEY = {"username": 300, "email": 254}  # a letter may become many when it is made comparable


def username_key(username: str) -> str:
    """Two names that look alike or differ only in case are one name."""
    return normal_form("NFKC", normal_form("NFKC", username).casefold())


def email_key(email: str) -> str:
    """Two addresses that differ only in case, in how a letter is written or in how their domain is spelled are one."""
    local, at, host = normal_form("NFKC", email.strip()).rpartition("@")
    return f"{username_key(local)}{at}{domain_key(host)}"


def domain_key(host: str) -> str:
    """As the name service writes it."""
    plain = host.strip().rstrip(".").casefold()
    try:
        return plain.encode("idna").decode()
    except UnicodeError:
        return plain


def typed_key(typed: str) -> str:
    """What somebody types to say who they are, in the one form in which it is counted."""
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
    """A name that somebody picks for themselves: never one that looks like somebody's address."""
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
    if email and not _EMAIL.match(email):
        return Complaint("Enter a valid email address.", "invalid")
    return None

"""A request for an account through an app, and its validation."""

from __future__ import annotations

import re
from datetime import date

import msgspec

from kith.base.errors import Complaint, Unavailable
from kith.base.host_names import ascii_host
from kith.base.http.names import Names
from kith.base.places import Full
from kith.base.work import Work
from kith.identity.signups import blocks
from kith.identity.signups.service import MOST_IN_REASON, needs_approval
from kith.identity.users import address_ownership, former_names
from kith.identity.users import store as users
from kith.identity.users.names import complain_email
from kith.identity.users.reserved_names import complain_reserved

MOST_IN_USERNAME = 30
MOST_IN_EMAIL = 320
FEWEST_IN_PASSWORD, MOST_IN_PASSWORD = 8, 72
_USERNAME = re.compile(r"[a-z0-9_]+")
_LOCALE = re.compile(r"[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8}){0,3}")

Complaints = dict[str, list[str]]


class EmailHostNames(Names):
    """Names that strangers give are asked for beside all others: however slow they are, nobody else waits for them."""


class SignupRequest(msgspec.Struct, kw_only=True):
    username: str = ""
    email: str = ""
    password: str = ""
    agreement: bool = False
    locale: str = ""
    reason: str = ""
    date_of_birth: date | None = None
    invite_code: str = ""


async def complain(work: Work, wish: SignupRequest, *, invited: bool, invited_by: int | None = None) -> Complaints:
    """All complaints at once. A missing address counts as an invalid one."""
    settings = work.settings
    found: dict[str, Complaint | list[str] | None] = {
        "username": await _username(work, wish.username),
        "email": await complain_address(work, wish.email) if wish.email else [_blank(), _invalid()],
        "password": _password(wish.password),
        "agreement": None if wish.agreement else Complaint("must be accepted", "accepted"),
        "locale": _locale(wish.locale),
        "reason": _reason(wish.reason, needed=await needs_approval(work, invited=invited, invited_by=invited_by)),
        "date_of_birth": _age(wish.date_of_birth, settings.minimum_age, work.now.date()),
    }
    return {
        name: complaints if isinstance(complaints, list) else [complaints]
        for name, complaints in found.items()
        if complaints is not None
    }


async def _username(work: Work, name: str) -> Complaint | None:
    if not name:
        return _blank()
    if len(name) > MOST_IN_USERNAME:
        return _too_long(MOST_IN_USERNAME)
    if not _USERNAME.fullmatch(name):
        return Complaint("must contain only letters, numbers and underscores", "invalid")
    if await users.find_login(work.db, name) is not None or await former_names.is_of_another(work.db, name):
        return Complaint("has already been taken", "taken")
    return await complain_reserved(work, name)


async def complain_address(work: Work, email: str, *, of: int | None = None) -> Complaint | None:
    """Complaints about an address; `of` is the user who corrects theirs before it is confirmed."""
    if not email:
        return _blank()
    if len(email) > MOST_IN_EMAIL:
        return _too_long(MOST_IN_EMAIL)
    wrong = complain_email(email)
    if wrong is not None:
        return wrong if wrong.code == "too_long" else _invalid()
    if await blocks.is_blocked(work, email):
        return Complaint("contains a disallowed e-mail provider", "blocked")
    owner = await users.owner_of(work.db, email)
    is_anothers = owner is not None and owner.id != of
    if is_anothers or await address_ownership.is_name_of_another(work, email, of or 0):
        return Complaint("has already been taken", "taken")
    if work.settings.check_email_host and not await _resolves(work, email.rpartition("@")[2]):
        return Complaint("does not seem to exist", "unreachable")
    return None


async def _resolves(work: Work, host: str) -> bool:
    try:
        return bool(await work.find(EmailHostNames).resolve(ascii_host(host)))
    except ValueError:
        return False
    except Full as full:
        raise Unavailable from full


def _password(password: str) -> Complaint | None:
    if not password:
        return _blank()
    if len(password) < FEWEST_IN_PASSWORD:
        return Complaint(f"is too short (minimum is {FEWEST_IN_PASSWORD} characters)", "too_short")
    if len(password) > MOST_IN_PASSWORD:
        return Complaint(f"is too long (maximum is {MOST_IN_PASSWORD} characters)", "too_long")
    return Complaint("is invalid", "invalid") if "\0" in password else None


def _locale(locale: str) -> Complaint | None:
    if not locale:
        return _blank()
    return None if _LOCALE.fullmatch(locale) else Complaint("is not included in the list", "inclusion")


def _reason(reason: str, *, needed: bool) -> Complaint | None:
    if needed and not reason.strip():
        return _blank()
    return _too_long(MOST_IN_REASON) if len(reason) > MOST_IN_REASON else None


def _age(born: date | None, least: int, today: date) -> Complaint | None:
    """Complaint about the date of birth, which is not stored."""
    if not least:
        return None
    if born is None:
        return _blank()
    birthday_passed = (today.month, today.day) >= (born.month, born.day)
    age = today.year - born.year - (0 if birthday_passed else 1)
    return None if age >= least else Complaint(f"is below the age limit of {least}", "below_limit")


def _blank() -> Complaint:
    return Complaint("can't be blank", "blank")


def _invalid() -> Complaint:
    return Complaint("is invalid", "invalid")


def _too_long(most: int) -> Complaint:
    return Complaint(f"is too long (maximum is {most} characters)", "too_long")

"""Making and changing users."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

import msgspec

from kith.base.db import Taken
from kith.base.errors import Complaint, Conflict, Invalid, NotFound
from kith.base.news import Fact
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.rights import hold_rights
from kith.identity.users import address_ownership, former_names, security_mails, setup_tokens, store, team
from kith.identity.users.names import complain_email, complain_name, complain_username, username_key
from kith.identity.users.password_copies import PasswordCopies
from kith.identity.users.password_rules import PasswordRules
from kith.identity.users.passwords import MOST_CHARACTERS, Passwords
from kith.identity.users.tables import User

Role = Literal["user", "moderator", "administrator", "owner"]
FEWEST_CHARACTERS = 8


class UserCreated(Fact, frozen=True):
    user_id: int


class UserChanged(Fact, frozen=True):
    user_id: int


class UserBarred(Fact, frozen=True):
    """They may not sign in any more: sessions they had at that moment end, even if they may again soon after.

    Tokens stay, and are refused for as long as it lasts.
    """

    user_id: int
    at: datetime


class UserDeleted(Fact, frozen=True):
    """The user was deleted."""

    user_id: int


class SetupClosed(NotFound):
    code = "setup_closed"
    message = "This set-up link is not valid, or it was used already"


class LastSuperuser(Conflict):
    code = "last_superuser"
    message = "This would leave nobody who can administer this server"


class NewUser(msgspec.Struct, kw_only=True):
    username: str
    name: str = ""
    email: str = ""
    password: str | None = None
    role: Role = "user"
    confirmed: bool = False  # somebody knows that the address is theirs
    enters: bool = False  # they may come in although nobody does
    approved: bool = True


class FirstOwner(msgspec.Struct, kw_only=True):
    """The form for the first administrator."""

    username: str
    email: str
    password: str
    name: str = ""


async def create(
    work: Work, passwords: Passwords, new: NewUser, *, by: int | None = None, by_name: str = "", judged: bool = False
) -> User:
    """Make a person; their password is hashed before the first write, which must not wait for it.

    `judged`: whoever calls has had the password judged, or means to set it whatever the policies say.
    `confirmed` says that the address is theirs, and is refused where somebody else has proven it. Any other address
    only counts where nothing is confirmed, and where it is nobody's.
    """
    _check(new)
    if new.password is not None and not judged:
        known = {"username": new.username, "name": new.name, "email": new.email}
        await check_password(work, new.password, known=known)
    hashed = await passwords.hash(new.password) if new.password is not None else None
    await check_name(work, new.username)
    try:
        user = await store.insert(
            work.db,
            {
                "uuid": str(uuid.uuid4()),
                "username": new.username,
                "name": new.name or new.username,
                "email": new.email,
                "password": hashed,
                "is_active": True,
                "role": new.role,
                "type": "internal",
                "path": "users",
                "attributes": {},
                "created_at": work.now,
                "updated_at": work.now,
                "last_login_at": None,
                "password_changed_at": work.now if hashed else None,
                "confirmed_at": work.now if new.confirmed or new.enters else None,
                "approved_at": work.now if new.approved else None,
            },
        )
    except Taken as error:
        raise Invalid(fields={"username": [Complaint("A user with that username already exists.", "taken")]}) from error
    if new.email and new.confirmed and not await address_ownership.prove(work, user, new.email):
        raise Invalid(fields={"email": [Complaint(address_ownership.TAKEN, "taken")]})
    if new.email and not new.confirmed and not work.settings.confirm_email:
        await address_ownership.claim(work, user, new.email)
    user = await store.get(work.db, user.id)
    await _record(work, "model_created", user, by, by_name, created={"email": user.email, "role": user.role})
    work.announce(UserCreated(user_id=user.id))
    return user


def _check(new: NewUser) -> None:
    complaints = {
        "username": complain_username(new.username),
        "name": complain_name(new.name),
        "email": complain_email(new.email),
        "password": None if new.password is None else complain_password(new.password),
    }
    fields: dict[str, list[str]] = {name: [words] for name, words in complaints.items() if words is not None}
    if fields:
        raise Invalid(fields=fields)


def check_names(changed: Mapping[str, Any]) -> None:
    """New values for what people are called and where their mail goes."""
    complaints = {
        "username": complain_username(changed["username"]) if "username" in changed else None,
        "email": complain_email(changed["email"]) if "email" in changed else None,
    }
    fields: dict[str, list[str]] = {name: [words] for name, words in complaints.items() if words is not None}
    if fields:
        raise Invalid(fields=fields)


async def check_name(work: Work, username: str, user_id: int | None = None) -> None:
    """Refuse a new user name that is somebody else's address; `user_id` is None for whoever is new."""
    complaint = await address_ownership.complain_called(work, username, user_id)
    if complaint is not None:
        raise Invalid(fields={"username": [complaint]})


def complain_password(password: str, *, fewest: int = 1) -> Complaint | None:
    if len(password) < fewest:
        return Complaint(f"Ensure this field has at least {fewest} characters.", "too_short")
    if len(password) > MOST_CHARACTERS:
        return Complaint(f"Ensure this field has no more than {MOST_CHARACTERS} characters.", "too_long")
    if "\x00" in password:
        return Complaint("Null characters are not allowed.", "invalid")
    return None


async def complaints_of(
    work: Work, password: str, *, user_id: int | None = None, known: Mapping[str, str] | None = None
) -> list[Complaint]:
    """What is wrong with a new password, by its form and by the policies. Call it before any write."""
    complaint = complain_password(password)
    if complaint is not None:
        return [complaint]
    rules = work.find(PasswordRules)  # type: ignore[type-abstract]
    return [Complaint(words, "policy") for words in await rules.ask(work, password, user_id, known or {})]


async def check_password(
    work: Work, password: str, *, user_id: int | None = None, known: Mapping[str, str] | None = None
) -> None:
    complaints: list[str] = [*await complaints_of(work, password, user_id=user_id, known=known)]
    if complaints:
        raise Invalid(fields={"password": complaints})


async def rename(work: Work, user: User, username: str) -> dict[str, str]:
    """What is to be written of somebody who chooses another name."""
    await check_name(work, username, user.id)
    if username_key(username) != user.username_key:
        await former_names.keep(work.db, user.id)
    return {"username": username, "username_key": username_key(username)}


async def set_password(
    work: Work,
    passwords: Passwords,
    user: User,
    password: str,
    *,
    by: int | None = None,
    by_name: str = "",
    judged: bool = False,
) -> None:
    """From now on only the new password opens the door; remembered checks of the old one are void at once.

    `judged` as in `create`.
    """
    complaint = complain_password(password)
    if complaint is not None:
        raise Invalid(fields={"password": [complaint]})
    if not judged:
        known = {"username": user.username, "name": user.name, "email": user.email}
        await check_password(work, password, user_id=user.id, known=known)
    await work.find(PasswordCopies).write(work, user, password)  # type: ignore[type-abstract]
    hashed = await passwords.hash(password)
    await _refuse_changed(work, user)
    await store.set_password(work.db, user.id, hashed, work.now)
    await record_password_set(work, user, by=by, by_name=by_name)
    work.announce(UserChanged(user_id=user.id))


async def _refuse_changed(work: Work, user: User) -> None:
    """Refuse what was decided of somebody who was locked or got another password in the meantime."""
    if (await store.hold(work.db, user.id)).guards != user.guards:
        words = "This account was changed meanwhile. Please start again."
        raise Invalid(fields={"password": [Complaint(words, "policy")]})


async def record_password_set(work: Work, user: User, *, by: int | None, by_name: str) -> None:
    """Record that a password was set, and mail its owner."""
    model = {"app": "core", "model_name": "user", "pk": user.id, "name": user.username}
    await audit.record(work, "password_set", "core.users", user_id=by, username=by_name, context={"model": model})
    security_mails.tell(work, security_mails.PASSWORD_CHANGED, user)


async def retire_password(work: Work, user: User) -> None:
    """Remove the password; none works until a new one is set."""
    if user.password is not None and await store.retire_password(work.db, user.id, user.password, work.now):
        diff = audit.difference({"password": user.password}, {"password": None})
        await _record(work, "model_updated", user, None, "", diff=diff)
        work.announce(UserChanged(user_id=user.id))


async def set_role(work: Work, user: User, role: Role, *, by: int | None = None, by_name: str = "") -> None:
    await hold_rights(work.db)
    await _change(work, user, "role", role, by, by_name)


async def set_active(
    work: Work,
    user: User,
    active: bool,
    *,
    by: int | None = None,
    by_name: str = "",
    lifts_end: bool = True,
    source: str | None = None,
) -> None:
    """An inactive user can do nothing, from the next request on. Enabling somebody lifts an end that has passed.

    `source` is the source that says so, if it is one: see `may_set_active`.
    """
    if source is not None and not may_set_active(user, active, source):
        return
    if lifts_end and active and user.expires is not None and user.expires <= work.now:
        await _change(work, user, "expires", None, by, by_name)
    await _change(work, user, "is_active", active, by, by_name)
    if not active:
        await store.write(work.db, user.id, {"disabled_at": work.now, "disabled_by": source}, work.now)
    if user.is_active and not active:
        work.announce(UserBarred(user_id=user.id, at=work.now))


def may_set_active(user: User, active: bool, source: str) -> bool:
    """A source disables whoever is active, and enables again whom it has disabled itself: nobody that staff have
    disabled or locked, or whose end has come, also where it has said that they are disabled as well."""
    return not user.is_active and user.disabled_by == source if active else user.is_active


async def _change(work: Work, user: User, name: str, value: object, by: int | None, by_name: str) -> None:
    before = getattr(user, name)
    if before == value:
        return
    if await team.is_last_superuser(work.db, user.id) and value not in (True, None, *team.STAFF_ROLES):
        raise LastSuperuser
    await store.change(work.db, user.id, name, value, work.now)
    diff = audit.difference({name: before}, {name: value})
    await _record(work, "model_updated", user, by, by_name, diff=diff)
    work.announce(UserChanged(user_id=user.id))


async def _record(work: Work, action: str, user: User, by: int | None, by_name: str, **context: object) -> None:
    model = {"app": "core", "model_name": "user", "pk": user.id, "name": user.username}
    await audit.record(work, action, "core.users", user_id=by, username=by_name, context={"model": model, **context})


async def offer_setup(work: Work) -> str | None:
    """A new one-time token for the first administrator; None if there is one already."""
    await work.db.begin()
    if await team.has_superuser(work.db):
        return None
    token = secrets.token_urlsafe(24)
    await setup_tokens.offer(work.db, _hash(token), work.now)
    return token if await setup_tokens.find_open(work.db) == _hash(token) else None


async def check_setup(work: Work, token: str) -> None:
    expected = await setup_tokens.find_open(work.db)
    if expected is None or not hmac.compare_digest(expected, _hash(token)) or await team.has_superuser(work.db):
        raise SetupClosed


async def use_setup(work: Work, passwords: Passwords, token: str, owner: FirstOwner) -> User:
    """Make the first administrator. Of two requests at once, one is refused."""
    await check_setup(work, token)
    complaint = complain_password(owner.password, fewest=FEWEST_CHARACTERS)
    if complaint is not None:
        raise Invalid(fields={"password": [complaint]})
    if not owner.email:
        raise Invalid(fields={"email": [Complaint("This field may not be blank.", "blank")]})
    new = NewUser(
        username=owner.username,
        name=owner.name,
        email=owner.email,
        password=owner.password,
        role="owner",
        confirmed=True,
    )
    try:
        user = await create(work, passwords, new)
    except Invalid:
        await work.rollback()
        await work.db.begin()
        await check_setup(work, token)  # somebody else may have been faster
        raise
    if not await setup_tokens.use(work.db, _hash(token), work.now):
        raise SetupClosed
    return user


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()

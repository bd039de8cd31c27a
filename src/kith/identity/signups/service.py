"""New accounts: signing up, approval and rejection."""

from __future__ import annotations

import re

import msgspec

from kith.base.errors import Conflict, Forbidden
from kith.base.mail_texts import send
from kith.base.settings import Settings
from kith.base.work import Work
from kith.identity.admission import PeopleGate
from kith.identity.audit import service as audit
from kith.identity.messages import service as messages
from kith.identity.signups import mails, mode, store
from kith.identity.signups.tables import Signup
from kith.identity.users import address_ownership, team
from kith.identity.users import service as users
from kith.identity.users import store as user_store
from kith.identity.users.passwords import Passwords
from kith.identity.users.tables import User

REASON = "signup_reason"  # what a form calls it
MOST_IN_REASON = 420
STAFF_PAGE = "/staff/signups/"
_LOCALE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")


class SignupClosed(Forbidden):
    code = "signup_closed"
    message = "Sign-up is closed."


class NotWaiting(Conflict):
    code = "not_waiting"
    message = "This account does not wait for approval."


class NewSignup(msgspec.Struct, kw_only=True):
    """`invited`: they have an invitation. `confirmed`: it names this address, so it needs no confirmation.

    `invited_by` made the invitation, and with `autofollow` is followed by whoever comes with it.
    """

    username: str
    email: str = ""
    name: str = ""
    password: str | None = None
    reason: str = ""
    locale: str = ""
    client_name: str = ""
    invited: bool = False
    invited_by: int | None = None
    app_id: int | None = None
    confirmed: bool = False
    autofollow: bool = False


async def needs_approval(work: Work, *, invited: bool, invited_by: int | None = None) -> bool:
    """Whether staff must agree: to whoever comes by themselves, or invited by somebody whose word is not enough."""
    if await mode.current(work) != "approval":
        return False
    if not invited or invited_by is None:
        return not invited
    gate = work.find(PeopleGate)  # type: ignore[type-abstract]
    return not await gate.vouches(work, invited_by)


def must_confirm(settings: Settings, user: User) -> bool:
    """Whether the address must be confirmed before they may sign in."""
    return settings.confirm_email and user.confirmed_at is None and bool(user.email)


async def register(work: Work, passwords: Passwords, new: NewSignup, *, judged: bool = False) -> User:
    """Make an account. Staff are told once the address is confirmed."""
    settings = work.settings
    if settings.registrations == "closed" and not new.invited:
        raise SignupClosed
    gate = work.find(PeopleGate)  # type: ignore[type-abstract]
    if await gate.refuses_signup(work, work.origin.address):
        raise SignupClosed
    waits = await needs_approval(work, invited=new.invited, invited_by=new.invited_by)
    if not new.invited and await gate.wants_approval(work, new.email, work.origin.address):
        waits = True
    user = await users.create(
        work,
        passwords,
        users.NewUser(
            username=new.username,
            name=new.name,
            email=new.email,
            password=new.password,
            confirmed=new.confirmed,
            enters=not settings.confirm_email,
            approved=not waits,
        ),
        judged=judged,
    )
    locale = new.locale if len(new.locale) <= 35 and _LOCALE.fullmatch(new.locale) else ""
    reason = new.reason.replace("\0", "").strip()[:MOST_IN_REASON]
    signup = Signup(
        user_id=user.id,
        reason=reason,
        locale=locale,
        client_ip=work.origin.address[:45],
        client_name=new.client_name.replace("\0", "")[:200],
        created_at=work.now,
        invited_by=new.invited_by,
        autofollow=new.autofollow and new.invited_by is not None,
        app_id=new.app_id,
    )
    await store.insert(work.db, signup)
    if waits and not must_confirm(settings, user):
        await _tell_staff(work, user, reason)
    return user


async def confirm(work: Work, user: User) -> bool:
    """Make the address the person's own; False if another account has confirmed it before."""
    if user.is_email_verified:
        return True
    if not await _prove(work, user):
        return False
    work.announce(users.UserChanged(user_id=user.id))
    if user.approved_at is None and user.confirmed_at is None:
        signup = await store.find(work.db, user.id)
        await _tell_staff(work, user, signup.reason if signup is not None else "")
    return True


async def _prove(work: Work, user: User) -> bool:
    if user.email:
        return await address_ownership.prove(work, user, user.email)
    await user_store.change(work.db, user.id, "confirmed_at", user.confirmed_at or work.now, work.now)
    return True


async def _tell_staff(work: Work, user: User, reason: str) -> None:
    link = f"{work.settings.base_url}{STAFF_PAGE}"
    for member in await team.find_all(work.db):
        await messages.leave(work, member.id, f"{user.username} would like to join. See {STAFF_PAGE}", "info")
        send(work, mails.WAITING, member.email, member.locale, person=user.username, reason=reason, link=link)


async def approve(work: Work, user: User, *, by: int | None = None, by_name: str = "") -> None:
    if user.approved_at is not None:
        raise NotWaiting
    await user_store.change(work.db, user.id, "approved_at", work.now, work.now)
    await _record(work, "model_updated", user, by, by_name, "approved")
    work.announce(users.UserChanged(user_id=user.id))
    link = f"{work.settings.base_url}/flows/-/default/authentication/"
    send(work, mails.APPROVED, user.email, user.locale, name=user.username, link=link)


async def reject(work: Work, user: User, *, by: int | None = None, by_name: str = "") -> None:
    """Delete an account that waits for approval."""
    if user.approved_at is not None:
        raise NotWaiting
    await _record(work, "model_deleted", user, by, by_name, "rejected")
    send(work, mails.REJECTED, user.email, user.locale, name=user.username)
    await user_store.remove(work.db, user.id)


async def pending(work: Work, *, most: int) -> list[store.Pending]:
    """Those who wait for approval, longest first."""
    return await store.pending(work.db, most=most)


async def _record(work: Work, action: str, user: User, by: int | None, by_name: str, outcome: str) -> None:
    model = {"app": "core", "model_name": "user", "pk": user.id, "name": user.username}
    context = {"model": model, "signup": outcome, "email": user.email}
    await audit.record(work, action, "core.signups", user_id=by, username=by_name, context=context)

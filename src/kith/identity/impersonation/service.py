"""Impersonation: an owner uses the server as another person, for a reason that is recorded.

The session becomes the other person's, with a row that names who is behind it. Audit events in it name both.
Password, factors, tokens and consents cannot be changed meanwhile.
"""

from __future__ import annotations

from kith.base.errors import Complaint, Forbidden, Invalid
from kith.base.exchange import Exchange, Headers
from kith.base.work import Acting, Work
from kith.identity.caller import ADMINISTRATORS
from kith.identity.groups import store as groups
from kith.identity.sessions import cookies, store
from kith.identity.sessions import service as sessions
from kith.identity.sessions.impersonation_record import record
from kith.identity.sessions.tables import LoginSession
from kith.identity.users import store as users
from kith.identity.users.tables import User

MOST_IN_REASON = 500
END_CALL = "/api/v2/core/users/impersonate_end"
# Forms that stay open during an impersonation; flows are checked stage by stage.
_OPEN_PAGES = ("/settings/impersonate/end", "/settings/language", "/flows/")
# Flows and stages that change what guards the account.
_CLOSED_FLOWS = {"stage_setup", "recovery", "unenrollment", "enrollment"}
_CLOSED_STAGES = {
    "userwrite",
    "userdelete",
    "otp",
    "otptime",
    "otpstatic",
    "webauthn",
    "email",
    "invitation",
    "userlogin",
}


class NotAsSomebodyElse(Forbidden):
    code = "acting_as_somebody_else"
    message = "This is not available while you are viewing as another person"


def refuse_page(exchange: Exchange) -> None:
    """Refuse forms that change something, except for those named above."""
    if exchange.acting is None or exchange.method in ("GET", "OPTIONS"):
        return
    if not exchange.path.startswith(_OPEN_PAGES):
        raise NotAsSomebodyElse


def refuse_call(exchange: Exchange) -> None:
    """Refuse calls of the identity API that change something, except for ending the impersonation."""
    if exchange.acting is None or exchange.method in ("GET", "OPTIONS"):
        return
    if exchange.path.rstrip("/") != END_CALL:
        raise NotAsSomebodyElse


def refuse_flow(session: LoginSession | None, designation: str) -> None:
    if session is not None and session.by_id is not None and designation in _CLOSED_FLOWS:
        raise NotAsSomebodyElse


def is_closed(session: LoginSession, kind: str) -> bool:
    return session.by_id is not None and kind in _CLOSED_STAGES


async def start(exchange: Exchange, username: str, reason: str) -> Headers:
    """Start to act as `username`; returns the header with the new session's cookie."""
    work = exchange.work
    session = await cookies.find(exchange)
    owner = await users.find_by_id(work.db, session.user_id) if session is not None and session.user_id else None
    if session is None or owner is None or owner.role != "owner" or not owner.is_active:
        raise Forbidden("Only an owner may view this server as another person")
    if session.by_id is not None:
        raise NotAsSomebodyElse
    reason = _checked(reason)
    target = await users.find(work.db, username) if "\0" not in username else None
    await _check_target(work, owner, target)
    assert target is not None  # noqa: S101 - checked just above
    method = f"{store.ACTING}{session.auth_method}"[:40]
    held = await sessions.switch_user(work, session, target.id, method=method, address=exchange.address)
    await store.insert_acting(work.db, held.session.session_uuid, by_id=owner.id, reason=reason, now=work.now)
    await record(work, "impersonation_started", Acting(owner.id, owner.username, target.id, target.username), reason)
    return _cookie(work, held)


def _checked(reason: str) -> str:
    text = reason.replace("\0", "").strip()
    if not text or len(text) > MOST_IN_REASON:
        complaint = (
            Complaint("This is too long.", "max_length") if text else Complaint("Please give a reason.", "blank")
        )
        raise Invalid(fields={"reason": [complaint]})
    return text


async def _check_target(work: Work, owner: User, target: User | None) -> None:
    if target is None:
        raise Invalid(fields={"username": [Complaint("There is no user with this name.", "not_found")]})
    if target.id == owner.id:
        raise Invalid(fields={"username": [Complaint("This is your own account.", "self")]})
    if not target.is_active:
        raise Invalid(fields={"username": [Complaint("This account is disabled.", "inactive")]})
    if target.role in ADMINISTRATORS or await groups.is_mighty(work.db, target.id):
        raise Forbidden("You cannot view as somebody who has the same permissions as you")


async def end(exchange: Exchange) -> Headers:
    """End the impersonation in a new session of the owner's own, which expires when the old one would have."""
    work = exchange.work
    session = await cookies.find(exchange)
    acting = exchange.acting
    if session is None or acting is None:
        return ()
    method = session.auth_method.removeprefix(store.ACTING)
    await record(work, "impersonation_ended", acting)
    held = await sessions.switch_user(work, session, acting.id, method=method, address=exchange.address)
    return _cookie(work, held)


def _cookie(work: Work, held: sessions.HeldSession) -> Headers:
    made = cookies.cookie(held, secure=work.settings.base_url.startswith("https"))
    return () if made is None else (made,)

"""The lockdown: everything of one person ends, in one transaction. For when somebody else may have their account."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from kith.base.errors import Complaint, Invalid
from kith.base.jobs import JobKind
from kith.base.mail_texts import MailText, send
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.lockdown import store
from kith.identity.providers.oauth2 import store as oauth
from kith.identity.providers.oauth2.logout import propagation as oauth_logout
from kith.identity.providers.saml import store as saml
from kith.identity.providers.saml.logout import propagation as saml_logout
from kith.identity.sessions import service as sessions
from kith.identity.sessions import store as session_store
from kith.identity.tokens import service as token_service
from kith.identity.tokens import store as tokens
from kith.identity.users import service as user_service
from kith.identity.users import store as users
from kith.identity.users.tables import LOCKED, User

MOST_REASON = 500
OWN_REASON = "Asked for by the person themselves."
AGAIN = timedelta(minutes=1)
_BODY = """Hello {name},

your account at {site} was locked%s. Nobody can sign in to it now: all sessions, apps, tokens and app passwords \
have ended, and the password does not work any more.

To get your account back, please ask the people who run the server: {link}"""
_VALUES = {"name": "ada", "link": "https://our.example/about"}
LOCKED_BY_STAFF = MailText(
    name="account_locked",
    subject="{site}: your account was locked",
    body=_BODY % " by the people who run the server",
    values=_VALUES,
)
LOCKED_ITSELF = MailText(
    name="account_locked_itself",
    subject="{site}: your account was locked",
    body=_BODY % ", as you asked",
    values=_VALUES,
)
TEXTS = (LOCKED_BY_STAFF, LOCKED_ITSELF)


class Lockdown(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody decides: factors may be the owner's own, so they are only removed if that is wanted."""

    reason: str
    remove_factors: bool = False
    notify: bool = True


class LockdownCounts(msgspec.Struct, kw_only=True):
    """How much there was of each."""

    sessions: int = 0
    tokens: int = 0
    grants: int = 0
    saml_sessions: int = 0
    consents: int = 0
    connections: int = 0
    factors: int = 0
    invitations: int = 0
    clients: int = 0  # that they have registered: suspended


class EndAgain(msgspec.Struct):
    """What was begun by a request that was under way during the lockdown ends a minute later."""

    user_id: int


def check_reason(reason: str) -> str:
    words = reason.replace("\0", "").strip()
    if not words:
        raise Invalid(fields={"reason": [Complaint("This field may not be blank.", "blank")]})
    if len(words) > MOST_REASON:
        complaint = Complaint(f"Ensure this field has no more than {MOST_REASON} characters.", "too_long")
        raise Invalid(fields={"reason": [complaint]})
    return words


async def count(work: Work, user_id: int) -> LockdownCounts:
    """What would end."""
    return LockdownCounts(
        sessions=len(await session_store.of_user(work.db, user_id, work.now)),
        tokens=len(await tokens.of_user(work.db, user_id)),
        grants=len(await oauth.grants_of_user(work.db, user_id)),
        saml_sessions=len(await saml.of_user(work.db, user_id)),
        clients=await oauth.count_registered(work.db, user_id),
    )


async def lock(work: Work, user: User, wanted: Lockdown, *, by: int | None, by_name: str) -> LockdownCounts:
    """End everything. Whoever is told of an end (applications, services, devices) is told by jobs of this transaction.

    The last administrator is refused: nobody could let them in again.
    """
    reason = check_reason(wanted.reason)
    user = await users.hold(work.db, user.id)
    await user_service.set_active(work, user, False, by=by, by_name=by_name)
    if not user.is_active:
        work.announce(user_service.UserBarred(user_id=user.id, at=work.now))
    attributes = {**user.attributes, LOCKED: work.now.isoformat()}
    await users.set_attributes(work.db, user.id, attributes, work.now)
    await users.remove_password(work.db, user.id, work.now)
    ended = await _end_everything(work, user.id, by=by, by_name=by_name)
    if wanted.remove_factors:
        ended.factors = await store.remove_factors(work.db, user.id)
    model = {"app": "core", "model_name": "user", "pk": user.id, "name": user.username}
    context = {"model": model, "reason": reason}
    await audit.record(
        work,
        "user_lockdown",
        "core.lockdown",
        user_id=by,
        username=by_name,
        context=context,
        known={"ended": msgspec.to_builtins(ended)},
    )
    if wanted.notify:
        text, link = LOCKED_ITSELF if by == user.id else LOCKED_BY_STAFF, f"{work.settings.base_url}/about"
        send(work, text, user.counted_email, user.locale, name=user.username, link=link)
    work.enqueue(END_AGAIN, EndAgain(user.id), at=work.now + AGAIN)
    return ended


async def _end_everything(work: Work, user_id: int, *, by: int | None, by_name: str) -> LockdownCounts:
    ended = await count(work, user_id)
    await sessions.end_all(work, user_id)  # first: whatever is granted in one holds it, and is found from now on
    await oauth_logout.end_all_of(work, user_id)
    await saml_logout.tell_all(work, await saml.of_user(work.db, user_id))
    for token in await tokens.of_user(work.db, user_id):
        await token_service.revoke(work, token, by=by, by_name=by_name)
    ended.consents = await store.remove_consents(work.db, user_id)
    ended.invitations = await store.remove_invitations(work.db, user_id)
    ended.clients = await oauth.suspend_registered(work.db, user_id, work.now)
    ended.connections = await store.remove_connections(work.db, user_id)
    await store.remove_waiting(work.db, user_id)
    return ended


async def end_again(work: Work, again: EndAgain) -> None:
    """Nothing of somebody who has been let in again meanwhile."""
    user = await users.find_by_id(work.db, again.user_id)
    if user is not None and not user.is_active:
        await work.db.begin()
        await _end_everything(work, user.id, by=None, by_name="kith")


END_AGAIN: JobKind[EndAgain] = JobKind(name="identity.lockdown_again", payload=EndAgain, handler=end_again)

"""Recovery links: whoever runs the server can give a person a link that signs them in."""

from __future__ import annotations

from datetime import timedelta

from kith.base.errors import Conflict, NotFound
from kith.base.exchange import Exchange, Headers
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.guessing import guess_limits as guessing
from kith.identity.links import service as links
from kith.identity.links.tables import OneTimeLink
from kith.identity.messages import service as messages
from kith.identity.sessions import cookies
from kith.identity.sessions import service as sessions
from kith.identity.sessions import store as session_store
from kith.identity.users import store as users
from kith.identity.users.tables import User

PATH = "/recovery/use-token/"


class RecoveryLinkOver(NotFound):
    code = "link_over"
    message = "This link is not valid, or it was used already"


async def offer(work: Work, user: User, *, minutes: int, by_name: str, by: int | None = None) -> str:
    """A link that signs `user` in once, without any flow or policy."""
    if not user.is_active:
        raise Conflict(f"{user.username} is disabled, and would not get in. Enable the account first.")
    if user.approved_at is None:
        raise Conflict(f"{user.username} waits for approval, and would not get in. Approve the account first.")
    key = links.new_key()
    await links.make(work, key, user.id, flow=None, plan="", life=timedelta(minutes=minutes))
    model = {"app": "core", "model_name": "user", "pk": user.id, "name": user.username}
    context = {"message": "A recovery link was made", "model": model, "minutes": minutes}
    await audit.record(work, "recovery_offered", "core.recovery", user_id=by, username=by_name, context=context)
    return f"{work.settings.base_url}{PATH}{key}/"


async def check(work: Work, key: str) -> User:
    """Whom a link would sign in. It is not used up: mail programs open links to show a preview."""
    return await _person_of(work, await links.find(work, key, flow=None))


async def _person_of(work: Work, link: OneTimeLink | None) -> User:
    user = await users.find_by_id(work.db, link.user_id) if link is not None else None
    if user is None or not user.is_active or user.approved_at is None:
        raise RecoveryLinkOver
    return user


async def use(exchange: Exchange, key: str) -> Headers:
    """Sign the link's person in with a new session; returns the header with its cookie."""
    work = exchange.work
    old = await cookies.find(exchange)
    user = await _person_of(work, await links.claim(work, key, flow=None))
    if old is not None:
        await session_store.end(work.db, old.session_uuid)
        work.announce(sessions.SessionEnded(session_uuid=old.session_uuid))
    first = await sessions.begin(work, address=exchange.address)
    held = await sessions.sign_in(work, first.session, user.id, method="recovery", life=None, address=exchange.address)
    await users.signed_in(work.db, user.id, work.now)
    await guessing.entered(work, exchange, user.id, browser=True)
    await audit.record(
        work, "login", "core.recovery", user_id=user.id, username=user.username, context={"auth_method": "recovery"}
    )
    await messages.leave(work, user.id, "You are signed in. Choose a new password now.", "warning")
    made = cookies.cookie(held, secure=work.settings.base_url.startswith("https"))
    return () if made is None else (made,)

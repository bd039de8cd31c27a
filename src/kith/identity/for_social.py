"""All that the social half may know of identity: who a token speaks for, apps and their tokens, signing up by an app,
and what happens to people."""

from __future__ import annotations

from datetime import datetime

import msgspec

from kith.base.caches import UntilWritten
from kith.base.exchange import Exchange
from kith.base.sealing import Sealer
from kith.base.work import Work
from kith.identity import presence, reauthentication
from kith.identity.account_settings.visitor import locale_of
from kith.identity.admission import Admission
from kith.identity.event_notifications.facts import DirectMessageAsked
from kith.identity.messages.service import leave as leave_message
from kith.identity.own_pages import session_of_page
from kith.identity.providers.oauth2.authentication.bearers import find as find_bearer_by_key
from kith.identity.providers.oauth2.authentication.bearers import find_revoked, note_listening, note_use, still_open
from kith.identity.providers.oauth2.authentication.bearers import of_exchange as find_bearer
from kith.identity.providers.oauth2.authentication.bearers import of_session as find_bearer_of_session
from kith.identity.providers.oauth2.authentication.clients import client_of
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients.client import Client
from kith.identity.providers.oauth2.consent.scope_texts import words_for as scope_words
from kith.identity.providers.oauth2.errors import OAuthError
from kith.identity.providers.oauth2.grants.service import Issued
from kith.identity.providers.oauth2.grants.service import revoke as revoke_oauth_token
from kith.identity.providers.oauth2.registration import apps
from kith.identity.providers.oauth2.store import Bearer
from kith.identity.providers.oauth2.token.endpoint import answer_token
from kith.identity.registration.accounts import is_confirmed, send_confirmation
from kith.identity.registration.accounts import register as register_by_app
from kith.identity.registration.signup_request import SignupRequest
from kith.identity.scopes import covers
from kith.identity.sessions.belongings import SessionBelongings
from kith.identity.sessions.cookies import PageSession
from kith.identity.sessions.service import SessionEnded, SessionRenewed
from kith.identity.signups import store as signups
from kith.identity.signups.mode import current as signup_mode
from kith.identity.signups.tables import Signup
from kith.identity.tokens.facts import AccessEnded
from kith.identity.users import members
from kith.identity.users import store as users
from kith.identity.users.pictures import Pictures
from kith.identity.users.service import UserBarred, UserChanged, UserCreated, UserDeleted
from kith.identity.users.team import TEAM

__all__ = [
    "TEAM",
    "AccessEnded",
    "Admission",
    "Bearer",
    "Client",
    "DirectMessageAsked",
    "Issued",
    "OAuthError",
    "PageSession",
    "Pictures",
    "Sealer",
    "SessionBelongings",
    "SessionEnded",
    "SessionRenewed",
    "SignupRequest",
    "UserBarred",
    "UserChanged",
    "UserCreated",
    "UserDeleted",
    "answer_token",
    "apps",
    "client_of",
    "count_members",
    "covers",
    "find_address",
    "find_bearer",
    "find_bearer_by_key",
    "find_bearer_of_session",
    "find_client",
    "find_locale",
    "find_members",
    "find_person",
    "find_revoked",
    "find_signup",
    "has_members",
    "is_confirmed",
    "is_password",
    "joined_since",
    "last_seen",
    "leave_message",
    "note_listening",
    "note_seen",
    "note_use",
    "register_by_app",
    "revoke_oauth_token",
    "scope_words",
    "send_confirmation",
    "session_of_page",
    "signup_mode",
    "still_open",
]


class PersonFacts(msgspec.Struct, frozen=True):
    """What the social half may know of a person's record."""

    id: int
    username: str
    name: str
    role: str
    is_welcome: bool
    created_at: datetime


async def find_person(work: Work, user_id: int) -> PersonFacts | None:
    """`is_welcome`: they have confirmed their address and were approved, so that others may see them."""
    user = await users.find_by_id(work.db, user_id)
    if user is None:
        return None
    welcome = user.is_active and user.confirmed_at is not None and user.approved_at is not None
    return PersonFacts(user.id, user.username, user.name, user.role, welcome, user.created_at)


async def is_shut_out(work: Work, user_id: int) -> bool:
    """Whether somebody is there but may do nothing."""
    user = await users.find_by_id(work.db, user_id)
    return user is not None and not user.is_active


async def is_password(work: Work, user_id: int, given: str) -> bool:
    """Whether this is somebody's password: tries are limited, and whoever has none has no right one."""
    user = await users.find_by_id(work.db, user_id)
    return user is not None and user.password is not None and await reauthentication.is_password(work, user, given)


async def find_locale(work: Work, user_id: int) -> str:
    """The language somebody has chosen for themselves, or nothing."""
    user = await users.find_by_id(work.db, user_id)
    return "" if user is None else locale_of(user)


async def find_signup(work: Work, user_id: int) -> Signup | None:
    """How somebody came to have an account; None for whoever was made by an operator."""
    return await signups.find(work.db, user_id)


async def last_seen(work: Work, user_id: int) -> datetime | None:
    """When somebody was last here, to the day."""
    return await presence.last_seen(work.db, user_id)


async def note_seen(work: Work, user_id: int, at: datetime) -> None:
    await users.seen(work.db, user_id, at)


async def count_members(work: Work) -> int:
    """People with a confirmed address who may sign in."""
    return await members.count(work.db)


async def has_members(work: Work, at_least: int) -> bool:
    """Whether so many are there, without counting all."""
    return len(await members.page(work.db, after=0, limit=at_least)) == at_least


class Addressee(msgspec.Struct, frozen=True):
    """Somebody who can be written to; `email` is empty while none counts as theirs."""

    user_id: int
    email: str
    locale: str


async def joined_since(work: Work, since: datetime) -> list[datetime]:
    """When people became members, whatever has become of them since."""
    return await members.joined_since(work.db, since)


async def find_members(work: Work, *, after: int, limit: int) -> list[Addressee]:
    """People with a confirmed address who may sign in, by their ids."""
    found = await members.page(work.db, after=after, limit=limit)
    return [Addressee(one.id, one.counted_email, locale_of(one)) for one in found]


async def find_client(exchange: Exchange, app_id: int | None, provider_id: int | None) -> Client | None:
    """The client that a token was given to; the token was read at `exchange.version`."""
    memo, kept_as = exchange.find(UntilWritten), ("client", app_id, provider_id)
    found: Client | None = memo.get(exchange.version, kept_as)
    if found is not None:
        return found
    if app_id is not None:
        found = await clients.find_app(exchange.work, app_id)
    elif provider_id is not None:
        found = await clients.find_by_provider(exchange.work, provider_id)
    if found is not None:
        memo.put(exchange.version, kept_as, found, size=2048)
    return found


async def find_address(work: Work, user_id: int) -> str:
    """Where mail for somebody goes, or nothing while no address counts as theirs."""
    user = await users.find_by_id(work.db, user_id)
    return "" if user is None else user.counted_email

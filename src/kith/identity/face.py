"""All that the rest of Kith may know of identity."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from kith.base.caches import UntilWritten
from kith.base.exchange import Exchange, Headers
from kith.base.work import Work
from kith.identity import staff
from kith.identity.applications.library import Entry, library
from kith.identity.audit.tables import Event
from kith.identity.caller import Caller
from kith.identity.collections import ACTIONS, RESOURCES
from kith.identity.errors import DIALECT as API_DIALECT
from kith.identity.executor.api import open_walk
from kith.identity.executor.choosing import find_default, leave
from kith.identity.executor.engine import Ended, Failed, Result, Walk, safe_path
from kith.identity.executor.turn import Challenge, Denied
from kith.identity.factors.tables import Factor
from kith.identity.impersonation import NotAsSomebodyElse, refuse_page
from kith.identity.impersonation import end as end_impersonation
from kith.identity.impersonation import start as start_impersonation
from kith.identity.messages.service import NAMES as LEVELS
from kith.identity.messages.service import leave as leave_message
from kith.identity.messages.service import take as take_messages
from kith.identity.messages.tables import Message
from kith.identity.own.confirming import is_fresh, is_password
from kith.identity.own.consents import Given, list_consents, withdraw_consent
from kith.identity.own.factors import (
    Device,
    get_device,
    list_devices,
    remove_device,
    rename_device,
    set_up_flows,
)
from kith.identity.own.finding import find_visitor, known_visitor
from kith.identity.own.service import (
    choose_language,
    end_all_sessions,
    end_other_sessions,
    end_session,
    list_events,
    list_sessions,
    list_tokens,
    make_key,
    revoke_token,
)
from kith.identity.own.visitor import Visitor, locale_of
from kith.identity.providers.oauth2 import clients
from kith.identity.providers.oauth2 import pages as oauth
from kith.identity.providers.oauth2.apps import NewApp, Registered
from kith.identity.providers.oauth2.apps import register as register_app
from kith.identity.providers.oauth2.apps import shown as app_shown
from kith.identity.providers.oauth2.authenticate import client_of
from kith.identity.providers.oauth2.bearers import note_use, was_revoked
from kith.identity.providers.oauth2.bearers import of_exchange as find_bearer
from kith.identity.providers.oauth2.clients import Client
from kith.identity.providers.oauth2.errors import OAuthError
from kith.identity.providers.oauth2.issuing import RELATION as ISSUER_RELATION
from kith.identity.providers.oauth2.issuing import find_issuer
from kith.identity.providers.oauth2.logout import Go, SignOut, by_front_channel, front_channel
from kith.identity.providers.oauth2.logout import end_session as end_client_session
from kith.identity.providers.oauth2.service import Issued
from kith.identity.providers.oauth2.service import revoke as revoke_oauth_token
from kith.identity.providers.oauth2.store import Bearer
from kith.identity.providers.oauth2.token import answer_token
from kith.identity.recovery import use as use_recovery
from kith.identity.refusals.pages import code_for as code_for_page
from kith.identity.registration.accounts import is_confirmed, send_confirmation
from kith.identity.registration.accounts import register as register_by_app
from kith.identity.registration.wishes import Wish
from kith.identity.rest.openapi import describe
from kith.identity.scopes import covers
from kith.identity.sessions import cookies
from kith.identity.sessions.cookies import find as find_session
from kith.identity.sessions.tables import Session
from kith.identity.signups import service as signups
from kith.identity.signups.addresses import confirm as confirm_address
from kith.identity.signups.addresses import find as find_address
from kith.identity.standing import Admission
from kith.identity.tokens.tables import Token
from kith.identity.users import store as users
from kith.identity.users.passwords import Passwords
from kith.identity.users.pictures import Pictures
from kith.identity.users.service import Owner, UserChanged, UserCreated, UserDeleted, check_setup, use_setup
from kith.identity.users.store import TEAM
from kith.identity.users.tables import User

__all__ = [
    "API_DIALECT",
    "ISSUER_RELATION",
    "LEVELS",
    "TEAM",
    "Admission",
    "Bearer",
    "Caller",
    "Challenge",
    "Client",
    "Denied",
    "Device",
    "Ended",
    "Entry",
    "Event",
    "Factor",
    "Failed",
    "Given",
    "Go",
    "Issued",
    "Message",
    "NewApp",
    "NotAsSomebodyElse",
    "OAuthError",
    "Owner",
    "Passwords",
    "PersonFacts",
    "Pictures",
    "Registered",
    "Result",
    "Session",
    "SignOut",
    "Token",
    "User",
    "UserChanged",
    "UserCreated",
    "UserDeleted",
    "Visitor",
    "Walk",
    "Wish",
    "answer_token",
    "app_shown",
    "by_front_channel",
    "check_setup",
    "choose_language",
    "client_of",
    "code_for_page",
    "confirm_address",
    "count_members",
    "covers",
    "describe_api",
    "end_all_sessions",
    "end_client_session",
    "end_impersonation",
    "end_other_sessions",
    "end_session",
    "find_address",
    "find_bearer",
    "find_client",
    "find_default",
    "find_issuer",
    "find_locale",
    "find_person",
    "find_session",
    "find_user",
    "find_visitor",
    "front_channel",
    "get_device",
    "is_confirmed",
    "is_fresh",
    "is_password",
    "known_visitor",
    "leave",
    "leave_message",
    "library",
    "list_consents",
    "list_devices",
    "list_events",
    "list_sessions",
    "list_tokens",
    "make_key",
    "no_session_cookie",
    "note_use",
    "oauth",
    "open_walk",
    "recognise",
    "refuse_page",
    "register_app",
    "register_by_app",
    "remove_device",
    "rename_device",
    "revoke_oauth_token",
    "revoke_token",
    "safe_path",
    "send_confirmation",
    "session_cookie",
    "set_up_flows",
    "signups",
    "staff",
    "start_impersonation",
    "take_messages",
    "use_recovery",
    "use_setup",
    "was_revoked",
    "withdraw_consent",
]


async def find_user(work: Work, user_id: int) -> User:
    return await users.get(work.db, user_id)


async def count_members(work: Work) -> int:
    """People with a confirmed address who may sign in."""
    return await users.count_members(work.db)


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


def describe_api(base_url: str) -> dict[str, Any]:
    """The identity API in OpenAPI 3.1."""
    return describe(RESOURCES, ACTIONS, base_url)


def session_cookie(exchange: Exchange, walk: Walk) -> Headers:
    """What the browser must learn of its session after a step: a new key, or that there is none any more."""
    secure = exchange.work.settings.base_url.startswith("https")
    if walk.signed_out:
        return (cookies.no_cookie(secure=secure),)
    made = cookies.cookie(walk.held, secure=secure)
    return () if made is None else (made,)


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


async def find_locale(work: Work, user_id: int) -> str:
    """The language somebody has chosen for themselves, or nothing."""
    user = await users.find_by_id(work.db, user_id)
    return "" if user is None else locale_of(user)


def no_session_cookie(work: Work) -> Headers:
    """What tells the browser that its session is over."""
    return (cookies.no_cookie(secure=work.settings.base_url.startswith("https")),)


async def recognise(exchange: Exchange) -> None:
    """Find out whose session it is before anything else, so that even a refusal is written down under their name."""
    await cookies.find(exchange)
    refuse_page(exchange)

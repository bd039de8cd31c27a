"""All that the rest of Kith may know of identity."""

from __future__ import annotations

from typing import Any

from kith.base.edge import Exchange, Headers
from kith.base.work import Work
from kith.identity import staff
from kith.identity.applications.library import Entry, library
from kith.identity.audit.tables import Event
from kith.identity.caller import Caller
from kith.identity.collections import ACTIONS, RESOURCES
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
from kith.identity.own.consents import Given, list_consents, withdraw_consent
from kith.identity.own.factors import (
    Device,
    get_device,
    is_fresh,
    is_password,
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
from kith.identity.own.visitor import Visitor
from kith.identity.recovery import use as use_recovery
from kith.identity.refusals.pages import code_for as code_for_page
from kith.identity.rest.openapi import describe
from kith.identity.sessions import cookies
from kith.identity.sessions.cookies import find as find_session
from kith.identity.sessions.tables import Session
from kith.identity.signups import service as signups
from kith.identity.signups.addresses import confirm as confirm_address
from kith.identity.signups.addresses import find as find_address
from kith.identity.tokens.tables import Token
from kith.identity.users import store as users
from kith.identity.users.passwords import Passwords
from kith.identity.users.service import Owner, check_setup, use_setup
from kith.identity.users.store import TEAM
from kith.identity.users.tables import User

__all__ = [
    "LEVELS",
    "TEAM",
    "Caller",
    "Challenge",
    "Denied",
    "Device",
    "Ended",
    "Entry",
    "Event",
    "Factor",
    "Failed",
    "Given",
    "Message",
    "NotAsSomebodyElse",
    "Owner",
    "Passwords",
    "Result",
    "Session",
    "Token",
    "User",
    "Visitor",
    "Walk",
    "check_setup",
    "choose_language",
    "code_for_page",
    "confirm_address",
    "count_members",
    "describe_api",
    "end_all_sessions",
    "end_impersonation",
    "end_other_sessions",
    "end_session",
    "find_address",
    "find_default",
    "find_session",
    "find_user",
    "find_visitor",
    "get_device",
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
    "open_walk",
    "refuse_page",
    "remove_device",
    "rename_device",
    "revoke_token",
    "safe_path",
    "session_cookie",
    "set_up_flows",
    "signups",
    "staff",
    "start_impersonation",
    "take_messages",
    "use_recovery",
    "use_setup",
    "withdraw_consent",
]


async def find_user(work: Work, user_id: int) -> User:
    return await users.get(work.db, user_id)


async def count_members(work: Work) -> int:
    """People with a confirmed address who may sign in."""
    return await users.count_members(work.db)


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


def no_session_cookie(work: Work) -> Headers:
    """What tells the browser that its session is over."""
    return (cookies.no_cookie(secure=work.settings.base_url.startswith("https")),)

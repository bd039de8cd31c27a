"""All that the rest of Kith may know of identity."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from kith.base.edge import Exchange, Headers
from kith.base.work import Work
from kith.identity.applications.library import Entry, library
from kith.identity.audit.tables import Event
from kith.identity.caller import Caller
from kith.identity.collections import ACTIONS, RESOURCES
from kith.identity.executor.api import open_walk
from kith.identity.executor.choosing import find_default, leave
from kith.identity.executor.engine import Ended, Result, Walk, safe_path
from kith.identity.executor.turn import Challenge, Denied
from kith.identity.messages.service import NAMES as LEVELS
from kith.identity.messages.service import take as take_messages
from kith.identity.messages.tables import Message
from kith.identity.own.finding import find_visitor
from kith.identity.own.service import (
    end_other_sessions,
    end_session,
    list_events,
    list_sessions,
    list_tokens,
    make_app_password,
    revoke_token,
)
from kith.identity.own.visitor import Visitor
from kith.identity.recovery import use as use_recovery
from kith.identity.rest.openapi import describe
from kith.identity.sessions import cookies
from kith.identity.sessions.tables import Session
from kith.identity.tokens.tables import Token
from kith.identity.users import store as users
from kith.identity.users.passwords import Passwords
from kith.identity.users.service import Owner, UserChanged, UserCreated, UserDeleted, check_setup, use_setup
from kith.identity.users.tables import User

__all__ = [
    "LEVELS",
    "Caller",
    "Challenge",
    "Denied",
    "Ended",
    "Entry",
    "Event",
    "Message",
    "Owner",
    "Passwords",
    "PersonFacts",
    "Result",
    "Session",
    "Token",
    "User",
    "UserChanged",
    "UserCreated",
    "UserDeleted",
    "Visitor",
    "Walk",
    "check_setup",
    "count_members",
    "describe_api",
    "end_other_sessions",
    "end_session",
    "find_default",
    "find_person",
    "find_visitor",
    "leave",
    "library",
    "list_events",
    "list_sessions",
    "list_tokens",
    "make_app_password",
    "open_walk",
    "revoke_token",
    "safe_path",
    "session_cookie",
    "take_messages",
    "use_recovery",
    "use_setup",
]


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

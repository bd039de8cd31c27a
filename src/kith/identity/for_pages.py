"""All that the pages may know of identity: who is looking, and the subjects that pages are about.

A subject with many names is one module here: `access_requests`, `account_settings`, `flows`, `oauth`, `saml`,
`signups`, `sources`, `staff`, `impersonation`, `lockdown`.
"""

from __future__ import annotations

from typing import Any

from kith.base.exchange import Exchange, Headers
from kith.base.work import Work
from kith.identity import staff, staff_lists
from kith.identity.access_requests import pages as access_requests
from kith.identity.account_settings import pages as account_settings
from kith.identity.account_settings.visitor import Visitor
from kith.identity.account_settings.visitor_lookup import find_visitor, known_visitor
from kith.identity.applications.library import LibraryEntry, library
from kith.identity.authority.powers import SPECIAL as SPECIAL_POWERS
from kith.identity.authority.powers import power_of
from kith.identity.brands import pages as brands
from kith.identity.collections import ACTIONS, RESOURCES
from kith.identity.errors import DIALECT as API_DIALECT
from kith.identity.executor import pages as flows
from kith.identity.executor.flow_run import safe_path
from kith.identity.for_social import count_members, has_members
from kith.identity.impersonation import service as impersonation
from kith.identity.invites import Invite, find_invite, invite, own_invites
from kith.identity.invites import withdraw_own as withdraw_own_invite
from kith.identity.locations.service import Locations
from kith.identity.lockdown import pages as lockdown
from kith.identity.login_figures import sign_ins_by_day
from kith.identity.messages.service import NAMES as LEVELS
from kith.identity.messages.service import leave as leave_message
from kith.identity.messages.service import take as take_messages
from kith.identity.messages.tables import UserMessage
from kith.identity.policies.decider_names import decider_names
from kith.identity.providers.oauth2 import pages as oauth
from kith.identity.providers.saml import pages as saml
from kith.identity.recovery import check as check_recovery
from kith.identity.recovery import use as use_recovery
from kith.identity.refusals.pages import code_for as code_for_page
from kith.identity.rest import fields
from kith.identity.rest.fields import read_uuid
from kith.identity.rest.openapi import describe
from kith.identity.rights import rights_of
from kith.identity.server_names import home_of
from kith.identity.sessions import cookies, user_agents
from kith.identity.sessions.cookies import carried_key
from kith.identity.signups import pages as signups
from kith.identity.sources import pages as sources
from kith.identity.users import store as users
from kith.identity.users.passwords import Passwords
from kith.identity.users.tables import User
from kith.identity.users.team import TEAM

__all__ = [
    "API_DIALECT",
    "LEVELS",
    "RESOURCES",
    "SPECIAL_POWERS",
    "TEAM",
    "Invite",
    "LibraryEntry",
    "Passwords",
    "UserMessage",
    "Visitor",
    "access_requests",
    "account_settings",
    "brands",
    "carried_key",
    "check_recovery",
    "code_for_page",
    "count_members",
    "decider_names",
    "describe_api",
    "fields",
    "find_invite",
    "find_user",
    "find_visitor",
    "flows",
    "has_members",
    "home_of",
    "impersonation",
    "invite",
    "known_visitor",
    "leave_message",
    "library",
    "lockdown",
    "no_session_cookie",
    "oauth",
    "own_invites",
    "place_of",
    "power_of",
    "read_uuid",
    "recognise",
    "rights_of",
    "safe_path",
    "saml",
    "sign_ins_by_day",
    "signups",
    "sources",
    "staff",
    "staff_lists",
    "take_messages",
    "use_recovery",
    "user_agents",
    "withdraw_own_invite",
]


async def find_user(work: Work, user_id: int) -> User:
    return await users.get(work.db, user_id)


def describe_api(base_url: str) -> dict[str, Any]:
    """The identity API in OpenAPI 3.1."""
    return describe(RESOURCES, ACTIONS, base_url)


def place_of(work: Work, address: str) -> str:
    """Where an address is, in a few words; empty where that is not known."""
    place = work.find(Locations).place(address)
    return ", ".join(word for word in (place.city, place.country) if word) if place is not None else ""


def no_session_cookie(work: Work) -> Headers:
    """What tells the browser that its session is over."""
    return (cookies.no_cookie(secure=work.settings.base_url.startswith("https")),)


async def recognise(exchange: Exchange) -> None:
    """Look up brand and session before anything else, so that a refusal too is recorded with the person's name."""
    await brands.current(exchange)
    await cookies.find(exchange)
    impersonation.refuse_page(exchange)

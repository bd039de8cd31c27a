"""All that the rest of Kith may know of identity."""

from __future__ import annotations

from typing import Any

from kith.base.work import Work
from kith.identity.caller import Caller
from kith.identity.collections import ACTIONS, RESOURCES
from kith.identity.rest.openapi import describe
from kith.identity.users import store as users
from kith.identity.users.passwords import Passwords
from kith.identity.users.service import Owner, check_setup, use_setup
from kith.identity.users.tables import User

__all__ = ["Caller", "Owner", "Passwords", "User", "check_setup", "count_members", "describe_api", "use_setup"]


async def count_members(work: Work) -> int:
    """People with a confirmed address who may sign in."""
    return await users.count_members(work.db)


def describe_api(base_url: str) -> dict[str, Any]:
    """The identity API in OpenAPI 3.1."""
    return describe(RESOURCES, ACTIONS, base_url)

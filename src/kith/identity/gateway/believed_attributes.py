"""Attributes of people and groups that applications behind a gateway believe."""

from __future__ import annotations

from sqlalchemy import select

from kith.base.db import query
from kith.base.work import Work
from kith.identity.providers.kinds.applicationgateway import gateways
from kith.identity.users.identifying_attributes import HEADERS

__all__ = ["BelievedAttributes"]

# Also of gateways that do not use them at the moment: what is turned off shows nobody a password.
_basic_attributes = query(select(gateways.c.basic_auth_user_attribute, gateways.c.basic_auth_password_attribute), tuple)


class BelievedAttributes:
    """Implements `stages.gateway_attributes.GatewayAttributes` and `audit.hidden_attributes.HiddenAttributes`."""

    async def names(self, work: Work) -> set[str]:
        return {HEADERS} | {name for pair in await work.db.all(_basic_attributes) for name in pair if name}

    async def passwords(self, work: Work) -> frozenset[str]:
        return frozenset(password for _, password in await work.db.all(_basic_attributes) if password)

"""What every database has from its first start on."""

from __future__ import annotations

from kith.base.work import Work
from kith.identity.brands import shipped as brands
from kith.identity.event_notifications import defaults as notification_rules
from kith.identity.executor import shipped_flows
from kith.identity.mappings import defaults as mappings
from kith.identity.users import service as users

__all__ = ["offer_start"]


async def offer_start(work: Work) -> str | None:
    """What every database has from its first start on; the token of the set-up link, while nobody has used one."""
    token = await users.offer_setup(work)
    await shipped_flows.ensure(work)
    await mappings.ensure(work)
    await notification_rules.ensure(work)
    await brands.ensure(work)
    return token

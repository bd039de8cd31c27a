"""Annual reports: what somebody's year was like, in figures."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.social.accounts.facts import AccountDeleted
from kith.social.annual_reports import api, service, tasks
from kith.social.errors import DIALECT

ROOM = Room(
    name="annual_reports",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=(service.MAKE, tasks.FORGET_ACCOUNT),
    subscriptions=((AccountDeleted, tasks.FORGET_ACCOUNT),),
)

"""Announcements of the community: what the team tells everybody, and how people react."""

from __future__ import annotations

from datetime import timedelta

from kith.base.jobs import Periodic
from kith.base.rooms import Room
from kith.social.accounts.facts import AccountDeleted
from kith.social.announcements import admin_api, api, mailing, publishing, tasks
from kith.social.errors import DIALECT

ROOM = Room(
    name="announcements",
    dialect=DIALECT,
    routes=(*api.routes, *admin_api.routes),
    jobs=(publishing.SWEEP, mailing.MAIL_ON, tasks.FORGET_ACCOUNT),
    periodic=(Periodic(kind=publishing.SWEEP, every=timedelta(minutes=1), payload=publishing.Sweep()),),
    subscriptions=((AccountDeleted, tasks.FORGET_ACCOUNT),),
)

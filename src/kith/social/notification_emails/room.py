"""E-mail about notifications, for people who have not been here."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.social.errors import DIALECT
from kith.social.notification_emails import api, tasks
from kith.social.notifications.facts import NotificationMade

ROOM = Room(
    name="notification_emails",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=(tasks.MAIL,),
    at_once=((NotificationMade, tasks.plan),),
)

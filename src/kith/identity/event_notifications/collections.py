from __future__ import annotations

from typing import Any

from kith.identity.event_notifications import actions, notifications, rules, transports
from kith.identity.rest import Action, Resource

RESOURCES: tuple[Resource[Any], ...] = (rules.RESOURCE, transports.RESOURCE, notifications.RESOURCE)
ACTIONS: tuple[Action, ...] = actions.ACTIONS

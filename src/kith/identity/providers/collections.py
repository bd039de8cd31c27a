from __future__ import annotations

from kith.identity.rest import Action, Resource

RESOURCES: tuple[Resource, ...] = ()
ACTIONS: tuple[Action, ...] = ()

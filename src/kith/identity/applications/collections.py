from __future__ import annotations

from kith.identity.applications import resources
from kith.identity.rest import Action, Resource

RESOURCES: tuple[Resource, ...] = (resources.RESOURCE,)
ACTIONS: tuple[Action, ...] = ()

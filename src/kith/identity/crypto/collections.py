from __future__ import annotations

from kith.identity.crypto import actions, keypairs
from kith.identity.rest import Action, Resource

RESOURCES: tuple[Resource, ...] = (keypairs.RESOURCE,)
ACTIONS: tuple[Action, ...] = actions.ACTIONS

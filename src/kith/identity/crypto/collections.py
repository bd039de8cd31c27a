from __future__ import annotations

from typing import Any

from kith.identity.crypto import actions, keypairs
from kith.identity.rest import Action, Resource

RESOURCES: tuple[Resource[Any], ...] = (keypairs.RESOURCE,)
ACTIONS: tuple[Action, ...] = actions.ACTIONS

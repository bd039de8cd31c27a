from __future__ import annotations

from typing import Any

from kith.identity.brands import api, resources
from kith.identity.rest import Action, Resource

RESOURCES: tuple[Resource[Any], ...] = (resources.RESOURCE,)
ACTIONS: tuple[Action, ...] = (api.CURRENT,)

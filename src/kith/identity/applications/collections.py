from __future__ import annotations

from typing import Any

from kith.identity.applications import api, entitlements, resources
from kith.identity.rest import Action, Resource

RESOURCES: tuple[Resource[Any], ...] = (resources.RESOURCE, entitlements.RESOURCE)
ACTIONS: tuple[Action, ...] = (api.CHECK_ACCESS,)

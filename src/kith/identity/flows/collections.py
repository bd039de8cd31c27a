from __future__ import annotations

from typing import Any

from kith.identity.flows.resources import BINDINGS, FLOWS
from kith.identity.rest import Action, Resource

RESOURCES: tuple[Resource[Any], ...] = (FLOWS, BINDINGS)
ACTIONS: tuple[Action, ...] = ()

from __future__ import annotations

from kith.identity.flows.resources import BINDINGS, FLOWS
from kith.identity.rest import Action, Resource

RESOURCES: tuple[Resource, ...] = (FLOWS, BINDINGS)
ACTIONS: tuple[Action, ...] = ()

from __future__ import annotations

from kith.identity.policies import bindings
from kith.identity.policies.kinds import dummy
from kith.identity.rest import Action, Resource

RESOURCES: tuple[Resource, ...] = (
    bindings.RESOURCE,
    dummy.RESOURCE,
)
ACTIONS: tuple[Action, ...] = ()

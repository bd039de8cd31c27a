from __future__ import annotations

from typing import Any

from kith.identity.mappings import all_mappings, api
from kith.identity.mappings.kinds import ldap, notification, saml, scope
from kith.identity.rest import Action, Resource

RESOURCES: tuple[Resource[Any], ...] = (
    all_mappings.RESOURCE,
    ldap.RESOURCE,
    notification.RESOURCE,
    saml.RESOURCE,
    scope.RESOURCE,
)
ACTIONS: tuple[Action, ...] = (api.TEST,)

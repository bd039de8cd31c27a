from __future__ import annotations

from typing import Any

from kith.identity.mappings import all_mappings, api
from kith.identity.mappings.kinds import ldap, saml, scim, scope
from kith.identity.rest import Action, Resource

RESOURCES: tuple[Resource[Any], ...] = (
    all_mappings.RESOURCE,
    ldap.RESOURCE,
    saml.RESOURCE,
    scim.RESOURCE,
    scope.RESOURCE,
)
ACTIONS: tuple[Action, ...] = (api.TEST,)

from __future__ import annotations

from typing import Any

from kith.identity.mappings import all_mappings, api
from kith.identity.mappings.kinds import ldap, notification, oauth_source, saml, saml_source, scim, scope
from kith.identity.rest import Action, Resource

RESOURCES: tuple[Resource[Any], ...] = (
    all_mappings.RESOURCE,
    ldap.RESOURCE,
    notification.RESOURCE,
    saml.RESOURCE,
    scim.RESOURCE,
    scope.RESOURCE,
    oauth_source.RESOURCE,
    saml_source.RESOURCE,
)
ACTIONS: tuple[Action, ...] = (api.TEST,)

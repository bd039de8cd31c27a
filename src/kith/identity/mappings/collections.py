from __future__ import annotations

from typing import Any

from kith.identity.mappings import all_mappings, api
from kith.identity.mappings.kinds import ldap, notification, oauth_source, saml, saml_source, scim, scope
from kith.identity.rest import Action, Resource

_KINDS: tuple[Resource[Any], ...] = (
    ldap.RESOURCE,
    notification.RESOURCE,
    saml.RESOURCE,
    scim.RESOURCE,
    scope.RESOURCE,
    oauth_source.RESOURCE,
    saml_source.RESOURCE,
)
RESOURCES: tuple[Resource[Any], ...] = (
    all_mappings.RESOURCE,
    *_KINDS,
)
ACTIONS: tuple[Action, ...] = (api.TEST, *(api.draft_test(one) for one in _KINDS))

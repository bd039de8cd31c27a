from __future__ import annotations

from typing import Any

from kith.identity.rest import Action, Resource
from kith.identity.sources import all_sources, connection_records, connection_test
from kith.identity.sources.kinds import ldap, oauth, saml, scim
from kith.identity.sources.ldap import actions as ldap_actions
from kith.identity.sources.saml import actions as saml_actions
from kith.identity.sources.scim import actions as scim_actions

RESOURCES: tuple[Resource[Any], ...] = (
    *connection_records.RESOURCES,
    all_sources.RESOURCE,
    ldap.RESOURCE,
    oauth.RESOURCE,
    saml.RESOURCE,
    scim.RESOURCE,
)
ACTIONS: tuple[Action, ...] = (
    *ldap_actions.ACTIONS,
    *saml_actions.ACTIONS,
    *scim_actions.ACTIONS,
    *connection_test.ACTIONS,
)

from __future__ import annotations

from typing import Any

from kith.identity.rest import Action, Resource
from kith.identity.sources import all_sources, connection_records
from kith.identity.sources.kinds import ldap, oauth, saml
from kith.identity.sources.ldap import actions

RESOURCES: tuple[Resource[Any], ...] = (
    *connection_records.RESOURCES,
    all_sources.RESOURCE,
    ldap.RESOURCE,
    oauth.RESOURCE,
    saml.RESOURCE,
)
ACTIONS: tuple[Action, ...] = actions.ACTIONS

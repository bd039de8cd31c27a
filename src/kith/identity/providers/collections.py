from __future__ import annotations

from typing import Any

import msgspec

from kith.identity.providers import all_providers, preview, setup_urls
from kith.identity.providers.kinds import applicationgateway, ldap, oauth, openid, radius, saml, scim
from kith.identity.providers.oauth2.logout.propagation import provider_removed
from kith.identity.providers.oauth2.registration import collection as registered_clients
from kith.identity.providers.oauth2.registration import taking_over
from kith.identity.providers.saml import actions as saml_actions
from kith.identity.providers.saml import session_records
from kith.identity.providers.saml.logout.propagation import provider_removed as saml_provider_removed
from kith.identity.providers.scim import actions as scim_actions
from kith.identity.rest import Action, Resource

RESOURCES: tuple[Resource[Any], ...] = (
    all_providers.RESOURCE,
    applicationgateway.RESOURCE,
    *(msgspec.structs.replace(one, removing=provider_removed) for one in (oauth.RESOURCE, openid.RESOURCE)),
    msgspec.structs.replace(saml.RESOURCE, removing=saml_provider_removed),
    session_records.RESOURCE,
    registered_clients.RESOURCE,
    ldap.RESOURCE,
    radius.RESOURCE,
    scim.RESOURCE,
)
ACTIONS: tuple[Action, ...] = (
    *setup_urls.ACTIONS,
    *preview.ACTIONS,
    *taking_over.ACTIONS,
    *saml_actions.ACTIONS,
    *scim_actions.ACTIONS,
)

from __future__ import annotations

from kith.identity.providers import every, setup
from kith.identity.providers.kinds import applicationgateway, oauth, openid, saml
from kith.identity.rest import Action, Resource

RESOURCES: tuple[Resource, ...] = (
    every.RESOURCE,
    applicationgateway.RESOURCE,
    oauth.RESOURCE,
    openid.RESOURCE,
    saml.RESOURCE,
)
ACTIONS: tuple[Action, ...] = setup.ACTIONS

from __future__ import annotations

from typing import Any

from kith.identity.rest import Action, Resource
from kith.identity.sources import every
from kith.identity.sources.kinds import ldap, oauth, saml

RESOURCES: tuple[Resource[Any], ...] = (every.RESOURCE, ldap.RESOURCE, oauth.RESOURCE, saml.RESOURCE)
ACTIONS: tuple[Action, ...] = ()

"""Every collection and action of the identity API, listed by hand."""

from __future__ import annotations

from typing import Any

from kith.identity import recovery_actions
from kith.identity.access_requests import api as access_request_actions
from kith.identity.access_requests import resources as access_requests
from kith.identity.applications import collections as applications
from kith.identity.audit import collection as audit
from kith.identity.blueprints import api as blueprint_actions
from kith.identity.blueprints import collection as blueprints
from kith.identity.brands import collections as brands
from kith.identity.consents import collection as consents
from kith.identity.crypto import collections as crypto
from kith.identity.event_notifications import collections as event_notifications
from kith.identity.executor import inspector
from kith.identity.exports import actions as exports
from kith.identity.factors import api as factors
from kith.identity.flows import collections as flows
from kith.identity.groups import collection as groups
from kith.identity.impersonation import api as impersonation
from kith.identity.lockdown import actions as lockdown
from kith.identity.mappings import collections as mappings
from kith.identity.memberships import api as memberships
from kith.identity.messages import api as messages
from kith.identity.policies import collections as policies
from kith.identity.providers import collections as providers
from kith.identity.rest import Action, Resource
from kith.identity.roles import collection as roles
from kith.identity.sessions import api as session_actions
from kith.identity.sessions import collection as sessions
from kith.identity.signups import api as signups
from kith.identity.signups import blocks
from kith.identity.sources import collections as sources
from kith.identity.stages import collections as stages
from kith.identity.tokens import collection as tokens
from kith.identity.users import api as user_actions
from kith.identity.users import collection as users

_ROOMS = (applications, brands, flows, policies, mappings, providers, sources, stages, crypto, event_notifications)

RESOURCES: tuple[Resource[Any], ...] = (
    users.RESOURCE,
    groups.RESOURCE,
    tokens.RESOURCE,
    consents.RESOURCE,
    audit.RESOURCE,
    roles.RESOURCE,
    blocks.RESOURCE,
    access_requests.OFFERS,
    access_requests.REQUESTS,
    sessions.RESOURCE,
    blueprints.RESOURCE,
    *(resource for room in _ROOMS for resource in room.RESOURCES),
)

ACTIONS: tuple[Action, ...] = (
    *messages.ACTIONS,
    *user_actions.ACTIONS,
    *factors.ACTIONS,
    *memberships.ACTIONS,
    *access_request_actions.ACTIONS,
    *session_actions.ACTIONS,
    *signups.ACTIONS,
    *impersonation.ACTIONS,
    *lockdown.ACTIONS,
    *recovery_actions.ACTIONS,
    *exports.ACTIONS,
    *(action for room in _ROOMS for action in room.ACTIONS),
    *inspector.ACTIONS,
    *blueprint_actions.ACTIONS,
)

"""Every collection and action of the identity API, by hand."""

from __future__ import annotations

from kith.identity.applications import collections as applications
from kith.identity.core import consents, events, groups, impersonate, messages, person, roles, signups, tokens, users
from kith.identity.crypto import collections as crypto
from kith.identity.executor import inspector
from kith.identity.flows import collections as flows
from kith.identity.mappings import collections as mappings
from kith.identity.policies import collections as policies
from kith.identity.providers import collections as providers
from kith.identity.rest import Action, Resource
from kith.identity.signups import blocks
from kith.identity.sources import collections as sources
from kith.identity.stages import collections as stages
from kith.identity.ways_in import guarded

_ROOMS = (applications, flows, policies, mappings, providers, sources, stages, crypto)

RESOURCES: tuple[Resource, ...] = (
    users.RESOURCE,
    groups.RESOURCE,
    tokens.RESOURCE,
    consents.RESOURCE,
    events.RESOURCE,
    roles.RESOURCE,
    blocks.RESOURCE,
    *(guarded(resource) for room in _ROOMS for resource in room.RESOURCES),
)

ACTIONS: tuple[Action, ...] = (
    messages.ACTION,
    *person.ACTIONS,
    *signups.ACTIONS,
    *impersonate.ACTIONS,
    *(action for room in _ROOMS for action in room.ACTIONS),
    *inspector.ACTIONS,
)

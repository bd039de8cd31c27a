"""Every table there is, by hand: what migrations are written for and checked against."""

from kith.base import ids, limits
from kith.base.db import METADATA
from kith.base.jobs import tables as jobs
from kith.identity.audit import tables as audit
from kith.identity.collections import RESOURCES
from kith.identity.consents import tables as consents
from kith.identity.factors import tables as factors
from kith.identity.groups import tables as groups
from kith.identity.links import tables as links
from kith.identity.providers.oauth2 import tables as oauth2
from kith.identity.refusals import tables as refusals
from kith.identity.sessions import tables as sessions
from kith.identity.signups import tables as signups
from kith.identity.tokens import tables as tokens
from kith.identity.users import tables as users

__all__ = [
    "METADATA",
    "RESOURCES",
    "audit",
    "consents",
    "factors",
    "groups",
    "ids",
    "jobs",
    "limits",
    "links",
    "oauth2",
    "refusals",
    "sessions",
    "signups",
    "tokens",
    "users",
]

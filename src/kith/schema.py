"""Every table there is, by hand: what migrations are written for and checked against."""

from kith.base import ids, import_runs, limits, news_rows
from kith.base.backups import tables as backups
from kith.base.db import METADATA
from kith.base.jobs import tables as jobs
from kith.federation.block_lists import tables as federation_block_lists
from kith.federation.delivery import tables as federation_delivery
from kith.federation.ended import tables as federation_ended
from kith.federation.inbox import tables as federation_inbox
from kith.federation.keys import tables as federation_keys
from kith.federation.people import tables as federation_people
from kith.federation.posts import tables as federation_posts
from kith.federation.relays import tables as federation_relays
from kith.identity.access_requests import tables as access_requests
from kith.identity.audit import tables as audit
from kith.identity.collections import RESOURCES
from kith.identity.consents import tables as consents
from kith.identity.event_notifications import tables as event_notifications
from kith.identity.factors import tables as factors
from kith.identity.gateway import tables as gateway
from kith.identity.groups import tables as groups
from kith.identity.guessing import tables as guessing
from kith.identity.hints import tables as hints
from kith.identity.links import tables as links
from kith.identity.providers.oauth2 import tables as oauth2
from kith.identity.providers.saml import tables as saml
from kith.identity.providers.scim import tables as scim
from kith.identity.refusals import tables as refusals
from kith.identity.saml import tables as saml_messages
from kith.identity.sessions import tables as sessions
from kith.identity.signups import tables as signups
from kith.identity.sources import tables as sources
from kith.identity.sources.saml import tables as saml_sources
from kith.identity.sources.scim import tables as scim_sources
from kith.identity.tokens import tables as tokens
from kith.identity.users import tables as users
from kith.social.accounts import tables as social_accounts
from kith.social.admin import tables as social_admin
from kith.social.admission import tables as social_admission
from kith.social.announcements import tables as social_announcements
from kith.social.annual_reports import tables as social_annual_reports
from kith.social.archives import tables as social_archives
from kith.social.cleanup import tables as social_cleanup
from kith.social.collections import tables as social_collections
from kith.social.conversations import tables as social_conversations
from kith.social.emojis import tables as social_emojis
from kith.social.encryption import tables as social_encryption
from kith.social.feeds import tables as social_feeds
from kith.social.filters import tables as social_filters
from kith.social.instance import tables as social_instance
from kith.social.lists import tables as social_lists
from kith.social.media import tables as social_media
from kith.social.moderation import tables as social_moderation
from kith.social.notifications import tables as social_notifications
from kith.social.push import tables as social_push
from kith.social.relationships import tables as social_relationships
from kith.social.roles import tables as social_roles
from kith.social.search import tables as social_search
from kith.social.statuses import tables as social_statuses
from kith.social.suggestions import tables as social_suggestions
from kith.social.tags import tables as social_tags
from kith.social.timelines import tables as social_timelines
from kith.social.transfers import tables as social_transfers
from kith.social.trends import tables as social_trends
from kith.web.levels import tables as web_levels

__all__ = [
    "METADATA",
    "RESOURCES",
    "access_requests",
    "audit",
    "backups",
    "consents",
    "event_notifications",
    "factors",
    "federation_block_lists",
    "federation_delivery",
    "federation_ended",
    "federation_inbox",
    "federation_keys",
    "federation_people",
    "federation_posts",
    "federation_relays",
    "gateway",
    "groups",
    "guessing",
    "hints",
    "ids",
    "import_runs",
    "jobs",
    "limits",
    "links",
    "news_rows",
    "oauth2",
    "refusals",
    "saml",
    "saml_messages",
    "saml_sources",
    "scim",
    "scim_sources",
    "sessions",
    "signups",
    "social_accounts",
    "social_admin",
    "social_admission",
    "social_announcements",
    "social_annual_reports",
    "social_archives",
    "social_cleanup",
    "social_collections",
    "social_conversations",
    "social_emojis",
    "social_encryption",
    "social_feeds",
    "social_filters",
    "social_instance",
    "social_lists",
    "social_media",
    "social_moderation",
    "social_notifications",
    "social_push",
    "social_relationships",
    "social_roles",
    "social_search",
    "social_statuses",
    "social_suggestions",
    "social_tags",
    "social_timelines",
    "social_transfers",
    "social_trends",
    "sources",
    "tokens",
    "users",
    "web_levels",
]

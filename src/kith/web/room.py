"""Pages for people."""

from __future__ import annotations

import msgspec

from kith.base.blobs import Blobs
from kith.base.limits import Limiter
from kith.base.rooms import Part, Room
from kith.base.routing import for_entering
from kith.base.work import Works
from kith.identity.for_pages import API_DIALECT
from kith.web import (
    annual_reports,
    api,
    api_docs,
    assets,
    authorize,
    authorized,
    brands,
    confirmation,
    device,
    flows,
    form_calls,
    health,
    installing,
    interactions,
    invites,
    known_paths,
    logout,
    recovery,
    robots,
    saml,
    saml_sources,
    service_worker,
    settings,
    signups,
    sources,
    staff,
    staff_lockdown,
    start,
    strikes,
    unsubscribe,
    webfinger,
)
from kith.web.admin import (
    applications,
    audit,
    backups,
    blocking,
    blueprints,
    bulk,
    certificates,
    community,
    emoji,
    groups,
    identity_roles,
    index,
    invitations,
    listing_pages,
    machinery,
    mails,
    person,
    records,
    registered_clients,
    reports,
    roles,
    tokens,
    trends,
)
from kith.web.admin import flows as admin_flows
from kith.web.admin import people as admin_people
from kith.web.admin import sources as admin_sources
from kith.web.admin.console_rights import ConsoleDoor
from kith.web.client import (
    about,
    announcements,
    compose,
    conversations,
    deck,
    directory,
    embed,
    emoji_list,
    explore,
    follow_requests,
    held_back,
    lists,
    live,
    menu,
    notifications,
    people,
    post_pages,
    posts,
    profiles,
    report,
    scheduled,
    search,
    shortcuts,
    tags,
    timelines,
)
from kith.web.client.status_html import FeedHtml, StatusHtml
from kith.web.errors import DIALECT
from kith.web.health import Readiness
from kith.web.pages import KeptPages


def _readiness(works: Works) -> Readiness:
    return Readiness(works, works.services[Limiter], works.services[Blobs])


# What is the same for everybody, whoever looks.
ASSETS = msgspec.structs.replace(DIALECT, enter=None)

ROOM = Room(
    name="web",
    dialect=DIALECT,
    parts=(
        Part(Readiness, _readiness),
        Part(KeptPages, lambda _: KeptPages()),
        Part(ConsoleDoor, lambda _: ConsoleDoor()),
        Part(StatusHtml, lambda _: StatusHtml()),
        Part(FeedHtml, lambda _: FeedHtml()),
    ),
    routes=(
        *(
            msgspec.structs.replace(one, dialect=ASSETS)
            for one in (
                *api.routes,
                *assets.routes,
                *brands.routes,
                *health.routes,
                *installing.routes,
                *robots.routes,
                *service_worker.routes,
            )
        ),
        *(msgspec.structs.replace(one, dialect=API_DIALECT) for one in api_docs.routes),
        *webfinger.routes,
        *start.routes,
        *known_paths.routes,
        *for_entering(flows.routes),
        *form_calls.routes,
        *timelines.routes,
        *settings.routes,
        *recovery.routes,
        *confirmation.routes,
        *for_entering(authorize.routes),
        *authorized.routes,
        *for_entering(device.routes),
        *for_entering(logout.routes),
        *for_entering(saml.routes),
        *for_entering(saml_sources.routes),
        *signups.routes,
        *for_entering(sources.routes),
        *staff.routes,
        *staff_lockdown.routes,
        *strikes.routes,
        *unsubscribe.routes,
        *annual_reports.routes,
        *invites.routes,
        *interactions.routes,
        *profiles.routes,
        *posts.routes,
        *applications.routes,
        *registered_clients.routes,
        *blueprints.routes,
        *certificates.routes,
        *admin_flows.routes,
        *admin_sources.routes,
        *index.routes,
        *admin_people.routes,
        *bulk.routes,
        *groups.routes,
        *person.routes,
        *records.routes,
        *audit.routes,
        *blocking.routes,
        *community.routes,
        *emoji.routes,
        *identity_roles.routes,
        *invitations.routes,
        *listing_pages.routes,
        *mails.routes,
        *roles.routes,
        *tokens.routes,
        *machinery.routes,
        *backups.routes,
        *reports.routes,
        *trends.routes,
        *people.routes,
        *compose.routes,
        *deck.routes,
        *embed.routes,
        *emoji_list.routes,
        *live.routes,
        *menu.routes,
        *about.routes,
        *directory.routes,
        *explore.routes,
        *lists.routes,
        *search.routes,
        *tags.routes,
        *announcements.routes,
        *conversations.routes,
        *follow_requests.routes,
        *held_back.routes,
        *notifications.routes,
        *shortcuts.routes,
        *post_pages.routes,
        *report.routes,
        *scheduled.routes,
    ),
)

"""Pages for people."""

from __future__ import annotations

import msgspec

from kith.base.blobs import Blobs
from kith.base.limits import Limiter
from kith.base.rooms import Part, Room
from kith.base.work import Works
from kith.identity.for_pages import API_DIALECT
from kith.web import (
    annual_reports,
    api,
    api_docs,
    authorize,
    authorized,
    brands,
    confirmation,
    device,
    flows,
    health,
    interactions,
    invites,
    known_paths,
    logout,
    profiles,
    recovery,
    saml,
    saml_sources,
    settings,
    signups,
    sources,
    staff,
    staff_lockdown,
    start,
    unsubscribe,
    webfinger,
)
from kith.web.errors import DIALECT
from kith.web.health import Readiness


def _readiness(works: Works) -> Readiness:
    return Readiness(works, works.services[Limiter], works.services[Blobs])


# What is the same for everybody, whoever looks.
ASSETS = msgspec.structs.replace(DIALECT, enter=None)

ROOM = Room(
    name="web",
    dialect=DIALECT,
    parts=(Part(Readiness, _readiness),),
    routes=(
        *(msgspec.structs.replace(one, dialect=ASSETS) for one in (*api.routes, *brands.routes, *health.routes)),
        *(msgspec.structs.replace(one, dialect=API_DIALECT) for one in api_docs.routes),
        *webfinger.routes,
        *start.routes,
        *known_paths.routes,
        *flows.routes,
        *settings.routes,
        *recovery.routes,
        *confirmation.routes,
        *authorize.routes,
        *authorized.routes,
        *device.routes,
        *logout.routes,
        *saml.routes,
        *saml_sources.routes,
        *signups.routes,
        *sources.routes,
        *staff.routes,
        *staff_lockdown.routes,
        *unsubscribe.routes,
        *annual_reports.routes,
        *invites.routes,
        *interactions.routes,
        *profiles.routes,
    ),
)

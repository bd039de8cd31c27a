"""The composition root: every room of the house, listed by hand, and what runs them."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Any, TypeVar

import structlog

from kith.base import vitals
from kith.base.command_news import CommandNews
from kith.base.compression import packed
from kith.base.db import Database, connect
from kith.base.db.sqlite import SQLite
from kith.base.edge import Edge
from kith.base.exchange import Dialect, Server
from kith.base.ids import IDs
from kith.base.jobs import JobKind, Periodic
from kith.base.jobs.worker import Worker
from kith.base.limits import Limiter
from kith.base.log import AccessLog
from kith.base.news import News
from kith.base.own_calls import OwnRoutes
from kith.base.room import ROOM as BASE
from kith.base.rooms import Part, Room
from kith.base.routing import Route, Router
from kith.base.settings import Settings
from kith.base.stored_settings import load_stored
from kith.base.work import Works
from kith.federation.block_lists.room import ROOM as FEDERATION_BLOCK_LISTS
from kith.federation.configuration import models as federation_models
from kith.federation.delivery.room import ROOM as FEDERATION_DELIVERY
from kith.federation.devices.room import ROOM as FEDERATION_DEVICES
from kith.federation.discovery.webfinger import people as webfinger_people
from kith.federation.ended.room import ROOM as FEDERATION_ENDED
from kith.federation.inbox.room import ROOM as FEDERATION_INBOX
from kith.federation.keys.room import ROOM as FEDERATION_KEYS
from kith.federation.outgoing import posts as outgoing
from kith.federation.outgoing.room import ROOM as FEDERATION_OUTGOING
from kith.federation.people.room import ROOM as FEDERATION_PEOPLE
from kith.federation.posts.room import ROOM as FEDERATION_POSTS
from kith.federation.relays.room import ROOM as FEDERATION_RELAYS
from kith.federation.room import ROOM as FEDERATION
from kith.federation.sync.room import ROOM as FEDERATION_SYNC
from kith.identity.access_requests.room import ROOM as ACCESS_REQUESTS
from kith.identity.blueprints import authentik
from kith.identity.blueprints.models import Models
from kith.identity.blueprints.record_model_list import record_models
from kith.identity.blueprints.room import ROOM as BLUEPRINTS
from kith.identity.blueprints.tasks import watch_folder
from kith.identity.brands.room import ROOM as BRANDS
from kith.identity.collections import RESOURCES
from kith.identity.endings.room import ROOM as ENDINGS
from kith.identity.errors import DIALECT as IDENTITY_DIALECT
from kith.identity.event_notifications.room import ROOM as EVENT_NOTIFICATIONS
from kith.identity.gateway.door import GatewayDoor
from kith.identity.gateway.room import ROOM as GATEWAY
from kith.identity.gateway.room import listen_for_changes
from kith.identity.guessing import known_browsers
from kith.identity.providers.oauth2.room import ROOM as OAUTH2
from kith.identity.providers.saml.room import ROOM as SAML
from kith.identity.providers.scim.room import ROOM as SCIM
from kith.identity.room import ROOM as IDENTITY
from kith.identity.sources.room import ROOM as SOURCES
from kith.social.accounts.room import ROOM as ACCOUNTS
from kith.social.admin import webhook_tasks as webhooks
from kith.social.admin.room import ROOM as ADMIN
from kith.social.admission.gate import AddressGate
from kith.social.admission.room import ROOM as ADMISSION
from kith.social.announcements.room import ROOM as ANNOUNCEMENTS
from kith.social.annual_reports.room import ROOM as ANNUAL_REPORTS
from kith.social.apps.room import ROOM as APPS
from kith.social.archives.room import ROOM as ARCHIVES
from kith.social.async_refreshes.room import ROOM as ASYNC_REFRESHES
from kith.social.cleanup.room import ROOM as CLEANUP
from kith.social.collections.room import ROOM as COLLECTIONS
from kith.social.configuration import models as social_models
from kith.social.conversations import tasks as conversations
from kith.social.conversations.room import ROOM as CONVERSATIONS
from kith.social.emails.room import ROOM as EMAILS
from kith.social.emoji_management.room import ROOM as EMOJI_MANAGEMENT
from kith.social.encryption.room import ROOM as ENCRYPTION
from kith.social.errors import DIALECT as SOCIAL_DIALECT
from kith.social.event_messages.room import ROOM as EVENT_MESSAGES
from kith.social.featured.room import ROOM as FEATURED
from kith.social.files.room import ROOM as FILES
from kith.social.filters.room import ROOM as FILTERS
from kith.social.instance import tasks as instance
from kith.social.instance.room import ROOM as INSTANCE
from kith.social.lists.room import ROOM as LISTS
from kith.social.media.room import ROOM as MEDIA
from kith.social.moderation.room import ROOM as MODERATION
from kith.social.moving.room import ROOM as MOVING
from kith.social.notification_emails.room import ROOM as NOTIFICATION_EMAILS
from kith.social.notifications import tasks as notifications
from kith.social.notifications.room import ROOM as NOTIFICATIONS
from kith.social.oembed.room import ROOM as OEMBED
from kith.social.profile.room import ROOM as PROFILE
from kith.social.push.room import ROOM as PUSH
from kith.social.reference.room import ROOM as REFERENCE
from kith.social.registration.room import ROOM as REGISTRATION
from kith.social.relationships.room import ROOM as RELATIONSHIPS
from kith.social.remote_media.room import ROOM as MIRROR
from kith.social.search import tasks as search
from kith.social.search.room import ROOM as SEARCH
from kith.social.statuses import tasks as statuses
from kith.social.statuses.facts import StatusPosted
from kith.social.statuses.room import ROOM as STATUSES
from kith.social.streaming.room import ROOM as STREAMING
from kith.social.suggestions import tasks as suggestions
from kith.social.suggestions.room import ROOM as SUGGESTIONS
from kith.social.tags.room import ROOM as TAGS
from kith.social.timelines import tasks as timelines
from kith.social.timelines.room import ROOM as TIMELINES
from kith.social.transfers.room import ROOM as TRANSFERS
from kith.social.translation.room import ROOM as TRANSLATION
from kith.social.trends.room import ROOM as TRENDS
from kith.social.well_known import Contributors
from kith.web.errors import DIALECT as PAGES_DIALECT
from kith.web.gateway import DIALECT as GATEWAY_DIALECT
from kith.web.levels.room import ROOM as LEVELS
from kith.web.room import ROOM as WEB
from kith.web.webfinger import identity_links

Service = TypeVar("Service")
SECRET_PATHS = (
    "/setup/",
    "/recovery/use-token/",
    "/confirm/",
    "/invite/",
    "/admin/invitations/",
    "/admin/records/stages/invitation/invitations/",
    "/api/v1/admin/invites/",
    "/api/v2/stages/invitation/invitations/",
)
HSTS = ((b"strict-transport-security", b"max-age=31536000"),)

# What follows from every post, in one job: there are many of them, and most parts find little to do.
POSTED: JobKind[StatusPosted] = JobKind(
    name="statuses.posted",
    payload=StatusPosted,
    parts=(
        timelines.CARRY,
        statuses.FOLLOW_UP,
        conversations.ADD_OWN,
        notifications.TELL_OF_POST,
        search.LEARN_POSTED,
        instance.COUNT,
        webhooks.POSTED,
        suggestions.COUNT_POSTS,
        outgoing.CARRY,
    ),
    is_harmless=True,
)


@lru_cache(1)
def blueprint_models() -> Models:
    """Everything that a blueprint can say something about."""
    every = (*record_models(RESOURCES), *social_models.MODELS, *federation_models.MODELS)
    return Models(every, authentik.NAMES)


ROOMS: list[Room] = [
    BASE,
    IDENTITY,
    BRANDS,
    OAUTH2,
    SAML,
    SCIM,
    SOURCES,
    GATEWAY,
    ACCESS_REQUESTS,
    ENDINGS,
    EVENT_NOTIFICATIONS,
    BLUEPRINTS,
    INSTANCE,
    FILES,
    MEDIA,
    MIRROR,
    ACCOUNTS,
    PROFILE,
    RELATIONSHIPS,
    STATUSES,
    TIMELINES,
    LISTS,
    TAGS,
    FEATURED,
    NOTIFICATIONS,
    PUSH,
    STREAMING,
    NOTIFICATION_EMAILS,
    SEARCH,
    TRANSLATION,
    CONVERSATIONS,
    EVENT_MESSAGES,
    ENCRYPTION,
    FILTERS,
    ANNOUNCEMENTS,
    SUGGESTIONS,
    EMOJI_MANAGEMENT,
    OEMBED,
    COLLECTIONS,
    ANNUAL_REPORTS,
    ASYNC_REFRESHES,
    CLEANUP,
    MODERATION,
    MOVING,
    TRANSFERS,
    ARCHIVES,
    TRENDS,
    ADMISSION,
    ADMIN,
    APPS,
    REFERENCE,
    REGISTRATION,
    EMAILS,
    FEDERATION_KEYS,
    FEDERATION_ENDED,
    FEDERATION_DELIVERY,
    FEDERATION_OUTGOING,
    FEDERATION,
    FEDERATION_INBOX,
    FEDERATION_DEVICES,
    FEDERATION_PEOPLE,
    FEDERATION_POSTS,
    FEDERATION_SYNC,
    FEDERATION_RELAYS,
    FEDERATION_BLOCK_LISTS,
    WEB,
    LEVELS,
    Room(
        name="what several rooms do",
        jobs=(POSTED,),
        subscriptions=((StatusPosted, POSTED),),
        parts=(
            Part(Contributors, lambda _: Contributors((webfinger_people, identity_links))),
            Part(Models, lambda _: blueprint_models()),
        ),
    ),
]
ROUTES: list[Route] = [route for room in ROOMS for route in room.spoken_routes()]
KINDS: list[JobKind[Any]] = [kind for room in ROOMS for kind in room.jobs]
PERIODIC: list[Periodic] = [periodic for room in ROOMS for periodic in room.periodic]

_IDENTITY_PATHS = re.compile(
    r"/api/v2/(audit|core|events|flows|policies|propertymappings|providers|sources|stages|crypto|rbac|managed|system"
    r"|openapi\.json|docs|schema)(/|\Z)|/api/v2/?\Z"
)


def dialect_of(path: str) -> Dialect:
    """How to refuse a path that no route has."""
    if path.startswith("/api/"):
        return IDENTITY_DIALECT if _IDENTITY_PATHS.match(path) else SOCIAL_DIALECT
    if path.startswith(("/oauth/authorize", "/oauth/authorized_applications", "/.well-known/change-password")):
        return PAGES_DIALECT
    if path.startswith(("/oauth/", "/.well-known/", "/nodeinfo/")):
        return SOCIAL_DIALECT
    if path.startswith("/source/scim/"):
        return SOURCES.dialect or PAGES_DIALECT
    if path.startswith(("/media/", "/media_proxy/")):
        return FILES.dialect or PAGES_DIALECT
    if path == "/actor" or path.startswith(("/users/", "/emojis/", "/contexts/", "/inbox")):
        return FEDERATION.dialect or PAGES_DIALECT
    return PAGES_DIALECT


def furnish(works: Works) -> None:
    """Make every room's parts, and let each room hear what it subscribes to."""
    for room in ROOMS:
        for part in room.parts:
            made = part.make(works)
            works.services.update(dict.fromkeys((part.kind, *part.also), made))
        for fact, kind in room.subscriptions:
            works.news.subscribe(fact, kind)
        for fact, handler in room.at_once:
            works.news.at_once(fact, handler)


async def clear(works: Works) -> None:
    """Close the parts, the last made first."""
    for room in reversed(ROOMS):
        for part in reversed(room.parts):
            if part.close is not None:
                ended = part.close(works.services[part.kind])
                if inspect.isawaitable(ended):
                    await ended


class House:
    """Everything that runs, opened in order and closed in reverse."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self.settings = settings
        self.database = database
        self.ids = IDs(database)
        self.news = News()
        self.works = Works(settings, database, self.ids, self.news)
        self._app: Edge | GatewayDoor | None = None
        furnish(self.works)

    def find(self, kind: type[Service]) -> Service:
        """One of the server's own parts, by its type."""
        found: Service = self.works.services[kind]
        return found

    async def close(self) -> None:
        await clear(self.works)

    def worker(self) -> Worker:
        """On SQLite no other worker can be alive, so whatever was held by one is free again."""
        return Worker(self.works, KINDS, PERIODIC, alone=self.settings.is_sqlite)

    def asgi(self, access_log: AccessLog) -> Edge | GatewayDoor:
        """What answers requests; with `KITH_GATEWAY` the hosts of gateways, too. The same for every listener."""
        if self._app is None:
            edge = self._edge(access_log)
            self._app = self.gateway(access_log, edge) if self.settings.gateway else edge
        return self._app

    def gateway(self, access_log: AccessLog, edge: Edge | None = None) -> GatewayDoor:
        """Before `edge`, or alone."""
        listen_for_changes(self.works)
        return GatewayDoor(Server(self.works), GATEWAY_DIALECT, access_log, edge)

    def _edge(self, access_log: AccessLog) -> Edge:
        settings = self.settings
        server = Server(
            self.works,
            routes=tuple(ROUTES),
            headers=HSTS if settings.base_url.startswith("https") else (),
            secret_paths=SECRET_PATHS,
            max_body=settings.max_body,
            pack=packed if settings.compresses else None,
            knows_browser=known_browsers.is_one,
        )
        router = Router(server.routes)
        self.works.services[OwnRoutes] = OwnRoutes(server, router)
        return Edge(
            server,
            router,
            dialect_of=dialect_of,
            access_log=access_log,
            turns_away=self.find(AddressGate).turns_away,
        )


@asynccontextmanager
async def open_house(
    settings: Settings, *, connections: int = 16, hears_commands: bool = False
) -> AsyncIterator[House]:
    """`hears_commands`: for the one that serves, which is told what commands beside it do."""
    database = await connect(settings, connections=connections)
    try:
        reserve = database.keep_reserve() if isinstance(database, SQLite) else None
        house = House(settings, database)
        await load_stored(house.works)
        await house.ids.lease()
        chores = [
            _chore(house.ids.keep()),
            _chore(house.find(Limiter).keep()),
            _chore(vitals.tell_forever(house.database)),
        ]
        relay = None
        if hears_commands:
            chores.append(_chore(watch_folder(house.works)))
        if settings.is_sqlite and hears_commands:
            chores.append(_chore(CommandNews(database, house.news).run()))
        if reserve is not None and hears_commands:
            chores.append(_chore(reserve.run()))
        if not settings.is_sqlite:
            from kith.base.relay import relay_for  # noqa: PLC0415 - the driver of PostgreSQL is loaded when first used

            relay = relay_for(database, house.news)
            chores += [_chore(relay.run())] if relay is not None else []
            replicas = getattr(database, "replicas", None)
            chores += [_chore(replicas.watch())] if replicas is not None else []
        try:
            yield house
        finally:
            for chore in chores:
                chore.cancel()
            await asyncio.gather(*chores, return_exceptions=True)
            if relay is not None:
                await relay.deliver()
            await house.close()
            await house.ids.release()
    finally:
        await database.close()


def _chore(coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """Something that runs as long as the house is open; its end before that is a fault, and is told."""
    task = asyncio.create_task(coroutine)

    def tell(ended: asyncio.Task[None]) -> None:
        if not ended.cancelled() and ended.exception() is not None:
            structlog.get_logger().error("chore.ended", exc_info=ended.exception())

    task.add_done_callback(tell)
    return task

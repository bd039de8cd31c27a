"""The composition root: every router, every kind of job and every subscriber, by hand, from top to bottom."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import structlog
from litestar import Litestar, Request, Response
from litestar.di import Provide
from litestar.exceptions import HTTPException
from litestar.routes import HTTPRoute
from litestar.types import ControllerRouterHandler

from kith.base.blobs import Blobs, blobs
from kith.base.db import Database, connect
from kith.base.edge import Answer, App, Edge, Exchange, Face, as_problem, exchange_of
from kith.base.errors import (
    Forbidden,
    Malformed,
    MethodNotAllowed,
    NotFound,
    TooLarge,
    Unauthenticated,
    UnsupportedMedia,
)
from kith.base.express import Express
from kith.base.http import Outgoing
from kith.base.http.names import Names
from kith.base.ids import IDs
from kith.base.jobs import Kind, Periodic
from kith.base.jobs.worker import Worker
from kith.base.keys import Keys
from kith.base.limits import Limiter
from kith.base.log import AccessLog
from kith.base.mail import Mailer, mailer
from kith.base.mailing import SEND_MAIL
from kith.base.memo import Memo
from kith.base.news import News, relay_for
from kith.base.settings import Settings
from kith.base.watchdog import Watchdog
from kith.base.work import Work, Works
from kith.identity import tasks as identity_tasks
from kith.identity.applications.service import ApplicationClosed
from kith.identity.callers import Callers
from kith.identity.collections import ACTIONS, RESOURCES
from kith.identity.consents.service import ConsentWithdrawn
from kith.identity.errors import FACE as IDENTITY
from kith.identity.executor import api as executor
from kith.identity.executor.password_rules import OfTheForm
from kith.identity.expressions.run import Expressions
from kith.identity.impersonation import refuse_page
from kith.identity.policies.calling import Judge
from kith.identity.policies.judging import ByName
from kith.identity.providers.oauth2 import api as oauth2
from kith.identity.providers.oauth2 import granted as oauth_granted
from kith.identity.providers.oauth2 import keys as signing_keys
from kith.identity.providers.oauth2 import leaving as oauth_leaving
from kith.identity.providers.oauth2 import rechecking as oauth_rechecking
from kith.identity.providers.oauth2 import telling as oauth_telling
from kith.identity.providers.oauth2.keys import KeyRing
from kith.identity.rest.api import Rest
from kith.identity.rest.facts import AccessChanged
from kith.identity.sealing import Sealer
from kith.identity.sessions import cookies as sessions
from kith.identity.sessions.service import SessionEnded, SessionRenewed
from kith.identity.stages import mailing as stage_mail
from kith.identity.standing import Admission
from kith.identity.users.passwords import Passwords
from kith.identity.users.pictures import Pictures
from kith.identity.users.rules import PasswordRules
from kith.identity.users.service import UserBarred, UserChanged, UserCreated, UserDeleted
from kith.social.accounts import api as accounts
from kith.social.accounts import leaving, pictures, verification
from kith.social.accounts import tasks as accounts_tasks
from kith.social.accounts.directory import Directory, NoDirectory
from kith.social.accounts.entities import AccountPieces
from kith.social.accounts.faces import Faces
from kith.social.accounts.facts import AccountChanged, AccountDeleted
from kith.social.accounts.portraits import Portraits
from kith.social.apps import api as apps
from kith.social.apps import oauth
from kith.social.emails import api as emails
from kith.social.errors import FACE as SOCIAL
from kith.social.featured import api as featured
from kith.social.files import api as files
from kith.social.files.workshop import Workshop
from kith.social.guards import MemberSeen, Presence, caller_of, member_of
from kith.social.instance import api as instance
from kith.social.instance import tasks as instance_tasks
from kith.social.instance.keeping import Kept
from kith.social.lists import api as lists
from kith.social.lists import tasks as lists_tasks
from kith.social.lists.facts import ListChanged, ListDeleted, ListJoined, ListLeft
from kith.social.media import api as media
from kith.social.media import leaving as media_leaving
from kith.social.media import tasks as media_tasks
from kith.social.mirror import api as mirror
from kith.social.mirror import service as mirroring
from kith.social.notifications import api as notifications
from kith.social.notifications import tasks as notifications_tasks
from kith.social.profile import api as profile
from kith.social.registration import api as registration
from kith.social.relationships import api as relationships
from kith.social.relationships import reading as relationships_reading
from kith.social.relationships import tasks as relationships_tasks
from kith.social.relationships.facts import (
    Blocked,
    DomainBlocked,
    FollowAuthorized,
    FollowChanged,
    Followed,
    FollowRejected,
    FollowRequested,
    FollowWithdrawn,
    Muted,
    Unfollowed,
    Unmuted,
)
from kith.social.search import api as search
from kith.social.search import tasks as search_tasks
from kith.social.standing import Standing
from kith.social.statuses import api as statuses
from kith.social.statuses import purging
from kith.social.statuses import tasks as statuses_tasks
from kith.social.statuses.bodies import StatusPieces
from kith.social.statuses.cards import service as cards
from kith.social.statuses.entities import StatusLines
from kith.social.statuses.facts import (
    PollEnded,
    StatusDeleted,
    StatusEdited,
    StatusFavourited,
    StatusPosted,
    StatusQuoted,
    StatusUnfavourited,
)
from kith.social.statuses.service import schedule
from kith.social.tags import api as tags
from kith.social.tags.facts import TagUnfollowed
from kith.social.timelines import api as timelines
from kith.social.timelines import tasks as timelines_tasks
from kith.social.translation import api as translation
from kith.social.translation.providers import provider_of
from kith.social.translation.service import Translator
from kith.social.webpages.reading import Webpages
from kith.web import api as web
from kith.web import (
    api_docs,
    authorize,
    authorized,
    confirmation,
    device,
    flows,
    health,
    known_paths,
    logout,
    recovery,
    settings,
    signups,
    staff,
    start,
    webfinger,
)
from kith.web.errors import FACE as PAGES
from kith.web.health import Readiness

ROUTES: list[ControllerRouterHandler] = [
    *instance.routes,
    *files.routes,
    *media.routes,
    *accounts.routes,
    *profile.routes,
    *relationships.routes,
    *relationships_reading.routes,
    *statuses.routes,
    *timelines.routes,
    *lists.routes,
    *tags.routes,
    *featured.routes,
    *notifications.routes,
    *search.routes,
    *translation.routes,
    *mirror.routes,
    *apps.routes,
    *oauth.routes,
    *registration.routes,
    *emails.routes,
    *web.routes,
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
    *signups.routes,
    *staff.routes,
    *health.routes,
    *api_docs.routes,
]

WAYS = timelines.ways | statuses.ways | notifications.ways

# What follows from every post, in one job: there are many of them, and most parts find little to do.
POSTED: Kind[StatusPosted] = Kind(
    name="statuses.posted",
    payload=StatusPosted,
    parts=(
        timelines_tasks.CARRY,
        statuses_tasks.FOLLOW_UP,
        notifications_tasks.TELL_OF_POST,
        search_tasks.LEARN_POSTED,
        instance_tasks.COUNT,
    ),
)

KINDS: list[Kind[Any]] = [
    POSTED,
    SEND_MAIL,
    identity_tasks.SWEEP,
    media_tasks.PROCESS,
    media_tasks.FORGET,
    media_tasks.SWEEP,
    media_leaving.LEAVE,
    mirroring.FETCH,
    accounts_tasks.KEEP_UP,
    verification.VERIFY_LINKS,
    pictures.FORGET_FILES,
    leaving.PART,
    relationships_tasks.END_MUTES,
    relationships_tasks.LET_IN,
    relationships_tasks.CUT_TIES,
    relationships_tasks.LEAVE,
    schedule.PUBLISH,
    statuses_tasks.FOLLOW_UP,
    statuses_tasks.LOOK_AGAIN,
    cards.FETCH,
    cards.CREDIT,
    statuses_tasks.CLEAR_UP,
    statuses_tasks.END_POLLS,
    statuses_tasks.SWEEP,
    purging.LEAVE,
    purging.GO_ALONG,
    purging.PURGE,
    timelines_tasks.CARRY,
    timelines_tasks.FAN_OUT,
    timelines_tasks.WITHDRAW,
    timelines_tasks.BUILD,
    timelines_tasks.TIDY,
    timelines_tasks.TAKE_UP,
    timelines_tasks.GIVE_UP,
    timelines_tasks.FOLLOW_ANEW,
    timelines_tasks.HIDE_BLOCKED,
    timelines_tasks.HIDE_MUTED,
    timelines_tasks.HIDE_DOMAIN,
    timelines_tasks.SHOW_AGAIN,
    timelines_tasks.BRING_INTO_LIST,
    timelines_tasks.TAKE_FROM_LIST,
    timelines_tasks.REBUILD_LIST,
    timelines_tasks.DROP_LIST,
    timelines_tasks.DROP_TAG,
    lists_tasks.PART,
    lists_tasks.GIVE_UP,
    lists_tasks.ACCEPT_NO,
    *notifications_tasks.KINDS,
    instance_tasks.COUNT,
    instance_tasks.NOTE_PRESENCE,
    instance_tasks.FORGET,
    search_tasks.LEARN_POSTED,
    search_tasks.LEARN_EDITED,
    search_tasks.FORGET,
    search_tasks.LEARN_CHANGED,
    search_tasks.FORGET_ACCOUNT,
    stage_mail.SEND,
    signing_keys.ROTATE,
    oauth_leaving.SESSION_ENDED,
    oauth_leaving.SESSION_RENEWED,
    oauth_leaving.USER_CHANGED,
    oauth_leaving.USER_BARRED,
    oauth_leaving.USER_DELETED,
    oauth_leaving.APPLICATION_CLOSED,
    oauth_granted.CONSENT_WITHDRAWN,
    oauth_rechecking.ACCESS_CHANGED,
    oauth_rechecking.PERSON_CHANGED,
    oauth_rechecking.RECHECK,
    oauth_leaving.LOOK,
    oauth_telling.BACK_CHANNEL,
]

PERIODIC = [
    Periodic(kind=identity_tasks.SWEEP, every=timedelta(hours=1), payload=identity_tasks.Sweep()),
    Periodic(kind=media_tasks.SWEEP, every=timedelta(hours=1), payload=media_tasks.Sweep()),
    Periodic(kind=statuses_tasks.END_POLLS, every=timedelta(minutes=1), payload=statuses_tasks.EndPolls()),
    Periodic(kind=statuses_tasks.SWEEP, every=timedelta(hours=1), payload=statuses_tasks.Sweep()),
    Periodic(kind=purging.PURGE, every=timedelta(hours=1), payload=purging.Purge()),
    Periodic(kind=timelines_tasks.TIDY, every=timedelta(minutes=10), payload=timelines_tasks.Tidy()),
    Periodic(kind=leaving.PART, every=timedelta(hours=1), payload=leaving.Part()),
    Periodic(kind=relationships_tasks.END_MUTES, every=timedelta(minutes=1), payload=relationships_tasks.EndMutes()),
    Periodic(kind=instance_tasks.FORGET, every=timedelta(days=1), payload=instance_tasks.Forget()),
    Periodic(kind=signing_keys.ROTATE, every=timedelta(hours=6), payload=signing_keys.Rotate()),
    Periodic(kind=oauth_leaving.LOOK, every=timedelta(minutes=1), payload=oauth_leaving.Look()),
]

_IDENTITY_PATHS = re.compile(
    r"/api/v2/(audit|core|flows|policies|propertymappings|providers|sources|stages|crypto|rbac|managed|system"
    r"|openapi\.json|docs|schema)(/|\Z)|/api/v2/?\Z"
)


def face_of(path: str) -> Face:
    if path.startswith("/api/"):
        return IDENTITY if _IDENTITY_PATHS.match(path) else SOCIAL
    if path.startswith(("/oauth/authorize", "/oauth/authorized_applications", "/.well-known/change-password")):
        return PAGES
    if path.startswith(("/oauth/", "/.well-known/", "/nodeinfo/")):
        return SOCIAL
    if path.startswith(("/media/", "/media_proxy/")):
        return files.FACE
    return PAGES


HSTS = ((b"strict-transport-security", b"max-age=31536000"),)


class House:
    """Everything that runs, opened in order and closed in reverse."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self.settings = settings
        self.database = database
        self.keys = Keys(settings.data / "keys")
        self.ids = IDs(database)
        self.news = News()
        self.works = Works(settings, database, self.ids, self.news)
        self.limiter = Limiter(database, enabled=settings.rate_limits)
        self.passwords = Passwords()
        self.expressions = Expressions()
        self.memo = Memo(database)
        self.watchdog = Watchdog()
        self.faces = Faces()
        self.callers = Callers(self.passwords, self.limiter, self.memo)
        self.outgoing = Outgoing(f"Kith ({settings.base_url})", private_hosts=settings.private_hosts)
        self.mailer = mailer(settings.smtp or None, settings.data / "mail", settings.sender)
        self.blobs = blobs(
            settings.media,
            settings.data / "media",
            access_key=settings.media_access_key,
            secret_key=settings.media_secret_key,
        )
        self.works.services = {
            Keys: self.keys,
            Limiter: self.limiter,
            Memo: self.memo,
            Passwords: self.passwords,
            Expressions: self.expressions,
            Judge: ByName(),
            PasswordRules: OfTheForm(),
            Names: Names(),
            Callers: self.callers,
            Sealer: Sealer(self.keys.encryption),
            KeyRing: KeyRing(),
            Outgoing: self.outgoing,
            Mailer: self.mailer,
            Blobs: self.blobs,
            Readiness: Readiness(self.works, self.limiter, self.blobs),
            Workshop: Workshop(settings.data / "workshop"),
            Webpages: Webpages(),
            Watchdog: self.watchdog,
            Faces: self.faces,
            Standing: self.faces,
            Admission: self.faces,
            Presence: Presence(),
            Kept: Kept(self.memo),
            AccountPieces: AccountPieces(),
            StatusPieces: StatusPieces(),
            StatusLines: StatusLines(),
            Directory: NoDirectory(),
            mirroring.Arrivals: mirroring.Arrivals(),
            Pictures: Portraits(),
            Translator: Translator(provider_of(settings, self.outgoing)),
        }
        self._subscribe()
        self._do_at_once()

    def _subscribe(self) -> None:
        """Who does what when something has happened."""
        subscribe = self.news.subscribe
        subscribe(UserCreated, accounts_tasks.KEEP_UP)
        subscribe(UserChanged, accounts_tasks.KEEP_UP)
        subscribe(UserDeleted, leaving.PART)
        subscribe(AccountDeleted, relationships_tasks.LEAVE)
        subscribe(AccountDeleted, media_leaving.LEAVE, purging.LEAVE)
        subscribe(StatusPosted, POSTED)
        subscribe(StatusDeleted, timelines_tasks.WITHDRAW)
        subscribe(Followed, timelines_tasks.TAKE_UP)
        subscribe(Unfollowed, timelines_tasks.GIVE_UP)
        subscribe(FollowChanged, timelines_tasks.FOLLOW_ANEW)
        subscribe(Blocked, timelines_tasks.HIDE_BLOCKED)
        subscribe(Muted, timelines_tasks.HIDE_MUTED)
        subscribe(Unmuted, timelines_tasks.SHOW_AGAIN)
        subscribe(ListJoined, timelines_tasks.BRING_INTO_LIST)
        subscribe(ListLeft, timelines_tasks.TAKE_FROM_LIST)
        subscribe(ListChanged, timelines_tasks.REBUILD_LIST)
        subscribe(ListDeleted, timelines_tasks.DROP_LIST)
        subscribe(TagUnfollowed, timelines_tasks.DROP_TAG)
        subscribe(Unfollowed, lists_tasks.PART)
        subscribe(FollowWithdrawn, lists_tasks.GIVE_UP)
        subscribe(FollowRejected, lists_tasks.ACCEPT_NO)
        subscribe(StatusDeleted, statuses_tasks.CLEAR_UP, notifications_tasks.FORGET_POST)
        subscribe(StatusEdited, statuses_tasks.LOOK_AGAIN, notifications_tasks.TELL_OF_EDIT)
        subscribe(StatusFavourited, notifications_tasks.TELL_OF_FAVOURITE)
        subscribe(StatusUnfavourited, notifications_tasks.TAKE_BACK_FAVOURITE)
        subscribe(StatusQuoted, notifications_tasks.TELL_OF_QUOTE)
        subscribe(PollEnded, notifications_tasks.TELL_OF_END)
        subscribe(Followed, notifications_tasks.TELL_OF_FOLLOW)
        subscribe(Unfollowed, notifications_tasks.TAKE_BACK_FOLLOW)
        subscribe(FollowRequested, notifications_tasks.TELL_OF_REQUEST)
        subscribe(FollowAuthorized, notifications_tasks.FORGET_AUTHORIZED)
        subscribe(FollowRejected, notifications_tasks.FORGET_REJECTED)
        subscribe(FollowWithdrawn, notifications_tasks.FORGET_WITHDRAWN)
        subscribe(Blocked, notifications_tasks.FORGET_BLOCKED)
        subscribe(Muted, notifications_tasks.FORGET_MUTED)
        subscribe(DomainBlocked, timelines_tasks.HIDE_DOMAIN, notifications_tasks.FORGET_DOMAIN)
        subscribe(AccountDeleted, notifications_tasks.FORGET_GONE)
        subscribe(MemberSeen, instance_tasks.NOTE_PRESENCE)
        subscribe(StatusEdited, search_tasks.LEARN_EDITED)
        subscribe(StatusDeleted, search_tasks.FORGET)
        subscribe(AccountChanged, search_tasks.LEARN_CHANGED, cards.CREDIT)
        subscribe(AccountDeleted, search_tasks.FORGET_ACCOUNT)
        self._subscribe_clients()

    def _subscribe_clients(self) -> None:
        """Who leaves us leaves the clients that let them in by us."""
        subscribe = self.news.subscribe
        subscribe(SessionEnded, oauth_leaving.SESSION_ENDED)
        subscribe(SessionRenewed, oauth_leaving.SESSION_RENEWED)
        subscribe(ConsentWithdrawn, oauth_granted.CONSENT_WITHDRAWN)
        subscribe(UserChanged, oauth_leaving.USER_CHANGED, oauth_rechecking.PERSON_CHANGED)
        subscribe(UserBarred, oauth_leaving.USER_BARRED)
        subscribe(UserDeleted, oauth_leaving.USER_DELETED)
        subscribe(ApplicationClosed, oauth_leaving.APPLICATION_CLOSED)
        subscribe(AccessChanged, oauth_rechecking.ACCESS_CHANGED)

    def _do_at_once(self) -> None:
        """What is true when the answer leaves, although it is another room's: it is done before the commit."""
        at_once = self.news.at_once
        at_once(Unfollowed, lists_tasks.part, timelines_tasks.give_up, notifications_tasks.take_back_follow)
        at_once(FollowWithdrawn, lists_tasks.give_up)
        at_once(FollowRejected, lists_tasks.accept_no, notifications_tasks.forget_request)
        at_once(FollowAuthorized, notifications_tasks.forget_request)
        at_once(FollowChanged, timelines_tasks.drop_boosts)
        at_once(Blocked, timelines_tasks.hide_blocked, notifications_tasks.forget_blocked)
        at_once(Muted, timelines_tasks.hide_muted, notifications_tasks.forget_muted)
        at_once(DomainBlocked, timelines_tasks.hide_domain, notifications_tasks.forget_domain)
        at_once(ListJoined, timelines_tasks.keep_member_out)
        at_once(ListLeft, timelines_tasks.leave_list)
        at_once(ListChanged, timelines_tasks.keep_members_out)
        at_once(TagUnfollowed, timelines_tasks.leave_tag)
        at_once(StatusEdited, search_tasks.learn_edit)
        at_once(AccountChanged, search_tasks.learn_changed)
        at_once(UserDeleted, leaving.part)

    def worker(self) -> Worker:
        """On SQLite no other worker can be alive, so whatever was held by one is free again."""
        return Worker(self.works, KINDS, PERIODIC, alone=self.settings.is_sqlite)

    def asgi(self, access_log: AccessLog) -> Edge:
        settings = self.settings
        return Edge(
            recognising(litestar(self)),
            self.works,
            mounts={
                executor.PREFIX: executor.answer,
                oauth2.PREFIX: oauth2.answer,
                webfinger.PATH: webfinger.WebFinger(webfinger.identity_links).answer,
                oauth2.WELL_KNOWN: oauth2.answer_well_known,
                "/api/v2/": Rest(RESOURCES, ACTIONS, self.callers.identify).answer,
                "/api/v1/": Express(WAYS).answer,
            },
            face_of=face_of,
            access_log=access_log,
            headers=HSTS if settings.base_url.startswith("https") else (),
            secret_paths=("/setup/", "/recovery/use-token/", "/confirm/"),
            max_body=settings.max_body,
        )


@asynccontextmanager
async def open_house(settings: Settings, *, connections: int = 16) -> AsyncIterator[House]:
    database = await connect(settings, connections=connections)
    try:
        house = House(settings, database)
        await house.ids.lease()
        chores = [_chore(house.ids.keep()), _chore(house.limiter.keep())]
        relay = relay_for(database, house.news)
        if relay is not None:
            chores.append(_chore(relay.run()))
        try:
            yield house
        finally:
            for chore in chores:
                chore.cancel()
            await asyncio.gather(*chores, return_exceptions=True)
            await house.outgoing.close()
            house.passwords.close()
            house.expressions.close()
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


def litestar(house: House) -> Litestar:
    def work(request: Request[Any, Any, Any]) -> Work:
        return exchange_of(request).work

    def keys() -> Keys:
        return house.keys

    def passwords() -> Passwords:
        return house.passwords

    app = Litestar(
        ROUTES,
        dependencies={
            "work": Provide(work, sync_to_thread=False),
            "keys": Provide(keys, sync_to_thread=False),
            "passwords": Provide(passwords, sync_to_thread=False),
            "caller": Provide(caller_of, sync_to_thread=False),
            "me": Provide(member_of, sync_to_thread=False),
        },
        exception_handlers={Exception: _answer},
        openapi_config=None,
        logging_config=None,
        request_max_body_size=None,
    )
    one_at_a_time(app)
    return app


def recognising(app: App) -> App:
    """Pages know whose session it is before anything else: even one that says no tells who looks through whose eyes."""

    async def recognise(scope: Any, receive: Any, send: Any) -> None:
        exchange: Exchange | None = scope.get("kith")
        if exchange is not None and exchange.face is PAGES and not exchange.path.startswith(("/static/", "/health")):
            await sessions.find(exchange)
            refuse_page(exchange)
        await app(scope, receive, send)

    return recognise


def one_at_a_time(app: Litestar) -> None:
    """Resolve dependencies one after the other.

    Litestar starts a task group for two that do not need each other. That costs more than a whole request
    of ours, whose dependencies are plain look-ups (docs/decisions/0002).
    """
    for route in app.routes:
        if isinstance(route, HTTPRoute):
            for _, model in route.route_handler_map.values():
                model.dependency_batches = [{one} for batch in model.dependency_batches for one in batch]


def _answer(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    exchange = exchange_of(request)
    problem = _in_our_words(error, exchange)
    if isinstance(problem, Forbidden) and exchange.face.refused is not None:
        raise problem  # the edge writes it down before it answers, for which there must be time to wait
    return _response(exchange.face.shape(as_problem(problem, exchange), exchange))


def _response(answer: Answer) -> Response[bytes]:
    headers = {name.decode(): value.decode() for name, value in answer.headers}
    media_type = headers.pop("content-type")
    if media_type.startswith("text/"):
        media_type = media_type.removesuffix("; charset=utf-8")  # which the framework adds to texts
    return Response(answer.body, status_code=answer.status, headers=headers, media_type=media_type)


_FRAMEWORK = {401: Unauthenticated, 403: Forbidden, 404: NotFound, 413: TooLarge, 415: UnsupportedMedia}


def _in_our_words(error: Exception, exchange: Exchange) -> Exception:
    """The framework's own refusals (no such path, no such method) become ours."""
    if not isinstance(error, HTTPException) or error.status_code >= 500:
        return error
    if error.status_code == 405:
        allowed = _methods_at(exchange.path, exchange.scope["litestar_app"])
        return MethodNotAllowed(
            f'Method "{exchange.scope["method"]}" not allowed.', headers={"Allow": ", ".join(allowed)}
        )
    return _FRAMEWORK.get(error.status_code, Malformed)()


def _methods_at(path: str, app: Litestar) -> list[str]:
    """What may be done at `path`, whatever was tried."""
    parts = path.strip("/").split("/")
    found: set[str] = set()
    for route in app.routes:
        components = route.path_components
        same_length = isinstance(route, HTTPRoute) and len(components) == len([part for part in parts if part])
        if same_length and all(
            not isinstance(ours, str) or ours == theirs for ours, theirs in zip(components, parts, strict=True)
        ):
            found.update(route.methods)
    if "GET" in found:
        found.add("HEAD")
    return sorted(found)

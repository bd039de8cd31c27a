"""/source/oauth/: sending people to a service, and what it says when they come back."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit

from kith.base.counted_log import log_counted
from kith.base.errors import NotFound
from kith.base.exchange import Exchange
from kith.base.limits import Limiter, LimitRule, address_key
from kith.base.work import Work
from kith.identity.guessing import known_browsers
from kith.identity.server_names import origin_of
from kith.identity.sessions import cookies
from kith.identity.sessions import service as sessions
from kith.identity.sessions.service import HeldSession
from kith.identity.sources import attempts, store
from kith.identity.sources.admission import refused
from kith.identity.sources.arrival import Arrival, arrive
from kith.identity.sources.attempts import Purpose, SourceAttempt
from kith.identity.sources.oauth import fediverse
from kith.identity.sources.oauth.addresses import may_ask
from kith.identity.sources.oauth.client import NoAnswer, read_id_token, read_profile, trade
from kith.identity.sources.oauth.profiles import read_arrival
from kith.identity.sources.oauth.settings import Service, find_service
from kith.identity.sources.outcomes import SourceError, SourceOutcome, SourceRedirect
from kith.identity.sources.store import Source

STARTS = LimitRule("source-start", most=60, seconds=300)
SERVERS = LimitRule("source-server", most=20, seconds=300)
STATE_FAILED = "State check failed."


def callback_url(work: Work, source: Source, host: str = "") -> str:
    """The address to come back to, under the name at which somebody began, as their cookies are there.

    Each server of the fediverse has an address of its own. With one for all, a hostile server could send people on to
    an honest one, and would be given the code that the honest one sends back.
    """
    return f"{origin_of(work)}/source/oauth/callback/{source.slug}/{_server_part(host)}"


def _server_part(host: str) -> str:
    return f"{hashlib.sha256(host.encode()).hexdigest()[:32]}/" if host else ""


async def find(exchange: Exchange, slug: str) -> tuple[Source, Service]:
    """An enabled source of this kind; anything else is not found."""
    source = await store.find_source(exchange.work.db, slug)
    service = await find_service(exchange.work, source.pbm_uuid) if source is not None else None
    if source is None or service is None:
        raise NotFound
    return source, service


async def begin(exchange: Exchange, slug: str, query: Mapping[str, str], *, link: int | None = None) -> SourceOutcome:
    """Send the browser to the service. `link` is who wants to link their account there."""
    work, limiter = exchange.work, exchange.find(Limiter)
    limiter.spend(STARTS, address_key(exchange.address))
    source, service = await find(exchange, slug)
    extra: dict[str, str] = {}
    if service.provider_type == "mastodon":
        limiter.spend(SERVERS, address_key(exchange.address))
        name, typed = fediverse.read_server(query.get("server", ""))
        if not typed:
            words = "Please enter your handle, such as @name@server.example, or the name of your server."
            return SourceError(title="Sign-in failed", messages=[words])
        try:
            host = await fediverse.find_home(work, name, typed)
            app = await fediverse.registered(work, source, service, host, callback_url(work, source, host))
        except NoAnswer as error:
            return await _failed(exchange, source, error)
        service, extra = (
            fediverse.at_server(work, service, app),
            {
                "host": host,
                "client_id": app.client_id,
                "client_secret": app.client_secret,
            },
        )
    if not service.authorization_url or not may_ask(work.settings, service.access_token_url):
        words = "This way to sign in is not set up yet."
        return await refused(exchange, source, words, "an address is missing", status=400)
    purpose: Purpose = "link" if link is not None else "again" if query.get("again") else "sign_in"
    attempt = SourceAttempt(
        purpose=purpose, user_id=link, next=query.get("next", "")[:2000], secrets={**_secrets(), **extra}
    )
    key = attempts.new_key()
    async with work.aside() as aside:
        session = await cookies.find(exchange)
        if session is not None:
            held = HeldSession(session)
        else:
            browser = known_browsers.any_name(exchange, work.now)
            held = await sessions.begin(aside, address=exchange.address, browser=browser)
        await attempts.begin(aside, source.pbm_uuid, held.session.session_uuid, attempt, key)
    cookie = cookies.cookie(held, secure=work.settings.base_url.startswith("https"))
    return SourceRedirect(_address(work, source, service, attempt, key), () if cookie is None else (cookie,))


def _secrets() -> dict[str, str]:
    return {"verifier": secrets.token_urlsafe(64), "nonce": secrets.token_urlsafe(24)}


def _address(work: Work, source: Source, service: Service, attempt: SourceAttempt, key: str) -> str:
    asked = {
        "client_id": service.client_id,
        "redirect_uri": callback_url(work, source, attempt.secrets.get("host", "")),
        "response_type": "code",
        "state": key,
    }
    if service.scope:
        asked["scope"] = service.scope
    if service.is_openid:
        asked["nonce"] = attempt.secrets["nonce"]
        if attempt.purpose == "again":
            asked["prompt"] = "login"
    if service.pkce != "none":
        verifier = attempt.secrets["verifier"]
        asked["code_challenge"] = verifier if service.pkce == "plain" else challenge_of(verifier)
        asked["code_challenge_method"] = service.pkce
    joint = "&" if urlsplit(service.authorization_url).query else "?"
    return f"{service.authorization_url}{joint}{urlencode(asked)}"


def challenge_of(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


async def come_back(exchange: Exchange, slug: str, query: Mapping[str, str], server: str = "") -> SourceOutcome:
    """Read the answer with which a service sends people back. `server` is the part of the address that tells servers of
    the fediverse apart."""
    work = exchange.work
    source, service = await find(exchange, slug)
    session = await cookies.find(exchange)
    attempt: SourceAttempt | None = None
    if session is not None:
        async with work.aside() as aside:
            attempt = await attempts.claim(aside, source.pbm_uuid, session.session_uuid, query.get("state", ""))
    if attempt is None:
        return await refused(exchange, source, STATE_FAILED, "unknown, used or foreign state", status=400)
    if server != _server_part(attempt.secrets.get("host", "")).rstrip("/"):
        return await refused(exchange, source, STATE_FAILED, "another server answered", status=400)
    if query.get("error"):
        words = query.get("error_description") or query["error"]
        return await refused(exchange, source, words[:300], f"the service said {query['error'][:100]}", status=400)
    if query.get("iss") and service.issuer and query["iss"] != service.issuer:
        return await refused(exchange, source, STATE_FAILED, "another issuer answered", status=400)
    if not 0 < len(query.get("code", "")) <= 4000:
        return await refused(exchange, source, "The other service gave no code.", "no code", status=400)
    try:
        arrival = await _ask(work, source, service, attempt, query["code"])
    except NoAnswer as error:
        return await _failed(exchange, source, error)
    return await arrive(exchange, attempt, arrival)


async def _ask(work: Work, source: Source, service: Service, attempt: SourceAttempt, code: str) -> Arrival:
    host = attempt.secrets.get("host", "")
    back = callback_url(work, source, host)
    if host:
        app = fediverse.RemoteApp(host, attempt.secrets["client_id"], attempt.secrets["client_secret"])
        service = fediverse.at_server(work, service, app)
    tokens = await trade(work, service, code=code, redirect_uri=back, verifier=attempt.secrets["verifier"])
    if host:
        profile = await read_profile(work, service, tokens.access_token)
        return fediverse.read_account(source, host, profile)
    claims = {}
    if service.is_openid:
        claims = await read_id_token(work, source.pbm_uuid, service, tokens, attempt.secrets["nonce"])
    profile = await read_profile(work, service, tokens.access_token) if service.profile_url else {}
    if claims and profile and service.preset.is_openid and profile.get("sub") != claims["sub"]:
        raise NoAnswer("the profile is another person's")
    arrival = read_arrival(source, service.preset, profile, claims, service.group_matching_mode)
    if not arrival.identifier:
        raise NoAnswer("the profile has no id", "Could not determine id.")
    arrival.access_token = tokens.access_token
    arrival.given["client"] = {"provider_type": service.provider_type, "client_id": service.client_id}
    return arrival


async def _failed(exchange: Exchange, source: Source, error: NoAnswer) -> SourceError:
    log_counted("info", "sources.no_answer", source.slug, source=source.slug, reason=str(error)[:300])
    return await refused(exchange, source, error.words, str(error)[:500], status=400)

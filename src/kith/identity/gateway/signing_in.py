"""The gateway's own endpoints: to the sign-in page and back, and out again."""

from __future__ import annotations

import re
from datetime import timedelta
from urllib.parse import parse_qs, quote, urlencode

from kith.base.errors import Forbidden, Malformed
from kith.base.exchange import Answer, Exchange
from kith.base.sealing import Sealer
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.gateway import states, store
from kith.identity.gateway.decisions import Admitted, Decisions, Refused, access_request
from kith.identity.gateway.facts import GatewayLeft
from kith.identity.gateway.gateways import Gateway
from kith.identity.gateway.headers import OUTPOST_NAME
from kith.identity.gateway.logins import PLACE, GatewayLogin, carried_key, find_login
from kith.identity.gateway.paths import OriginalURL, in_domain, read_original
from kith.identity.gateway.states import BadState, SignInState
from kith.identity.gateway.tables import GatewaySession
from kith.identity.providers.oauth2 import store as oauth
from kith.identity.providers.oauth2.access.checks import AccessDenied, check_policies, model_of
from kith.identity.providers.oauth2.claims import claims
from kith.identity.providers.oauth2.clients import client as clients
from kith.identity.providers.oauth2.clients.client import GATEWAY_SCOPES, Client
from kith.identity.providers.oauth2.clients.scopes import split
from kith.identity.providers.oauth2.errors import OAuthError
from kith.identity.providers.oauth2.grants import service as grants
from kith.identity.providers.oauth2.keys import signing as keys
from kith.identity.providers.oauth2.tables import Grant
from kith.identity.users.able_people import find_able

__all__ = ["callback", "new_cookie", "refusal_of", "sign_out", "start", "target_of", "to_sign_in", "to_start"]

LOST = "Your browser did not send the cookie that this sign-in began with. Please allow cookies and try again."
STALE = "This sign-in is too old or was not begun here. Please try again."
USED = "This sign-in could not be finished. Please try again."
CANCELLED = "You have not been signed in."
_MOST_TRIES = 1
_WRITTEN_OUT = re.compile(r"(?:\A|&)rd=(https?://.*)\Z")  # nginx escapes nothing: all that follows belongs to it
_SAFE = "%/:?#[]@!$&'()*+,;=~-._"


class NotSignedIn(Malformed):
    """The sign-in did not work out; `extra["again"]` is where to begin it anew."""

    def __init__(self, message: str, again: str) -> None:
        super().__init__(message, extra={"again": again})


# To the sign-in page


def to_start(gateway: Gateway, target: OriginalURL) -> Answer:
    """Where a browser that nobody knows is sent in proxy mode."""
    return found(f"{gateway.external_host}/outpost.kith/start?{urlencode({'rd': target.text})}")


async def start(exchange: Exchange, gateway: Gateway, asked: OriginalURL) -> Answer:
    """Sign in, or go on at once. Whoever is refused by the application's policies learns that here, with a code."""
    written_out = _WRITTEN_OUT.search(asked.query)
    target = target_of(gateway, written_out[1] if written_out else _parameters(asked).get("rd", ""))
    decision = await exchange.find(Decisions).decide(exchange, gateway)
    if isinstance(decision, Admitted):
        return found(target)
    if isinstance(decision, Refused):
        raise await refusal_of(exchange, gateway, decision)
    return await to_sign_in(exchange, gateway, target)


async def to_sign_in(exchange: Exchange, gateway: Gateway, target: str, *, tries: int = 0) -> Answer:
    """To the authorization endpoint, with a state that only this browser can bring back."""
    key = carried_key(exchange, gateway) or states.new_key()
    text, state = states.sign(gateway, key, target, exchange.work.now, tries=tries)
    asked = {
        "client_id": gateway.client_id,
        "redirect_uri": gateway.callback,
        "response_type": "code",
        "scope": " ".join(GATEWAY_SCOPES),
        "state": text,
        "code_challenge": states.challenge_of(states.verifier_of(gateway, state)),
        "code_challenge_method": "S256",
    }
    url = f"{exchange.work.settings.base_url}/application/o/authorize/?{urlencode(asked)}"
    return found(url, _cookie(gateway, key, states.LASTS_SECONDS))


def target_of(gateway: Gateway, asked: str) -> str:
    """Where to go on afterwards: a place behind this gateway, or else its front page."""
    home = f"{gateway.external_host}/"
    if asked.startswith("/") and not asked.startswith(("//", "/\\")):
        asked = f"{gateway.scheme}://{gateway.place.host}{asked}"
    url = read_original(asked)
    if url is None:
        return home
    if gateway.is_domain:
        is_ours = in_domain(url.host, gateway.cookie_domain)
    else:
        is_ours = url.host == gateway.place.host and url.scheme == gateway.scheme
    return url.text if is_ours and gateway.endpoint_of(url.place) is None else home


async def refusal_of(exchange: Exchange, gateway: Gateway, refused: Refused) -> Forbidden:
    """The no of the application's policies, stored under a code. Raise what this returns."""
    work = exchange.work
    client = await clients.find_by_provider(work, gateway.id)
    user = await find_able(work, refused.login.user_id)
    if client is None or user is None:
        return Forbidden()
    try:
        await check_policies(work, client, user, access_request(gateway, refused.login))
    except AccessDenied as denied:
        return Forbidden(str(denied), extra={"refusal": denied.code})
    return Forbidden()  # they have changed in this moment: the next question is answered with a yes


# And back


async def callback(exchange: Exchange, gateway: Gateway, asked: OriginalURL) -> Answer:
    sent = _parameters(asked)
    home, now = f"{gateway.external_host}/", exchange.work.now
    try:
        state = states.read_state(gateway, sent.get("state", ""), now)
    except BadState as error:
        raise NotSignedIn(STALE, home) from error
    key = carried_key(exchange, gateway)
    if key is None or states.key_hash(key) != state.sid:
        return await _other_browser(exchange, gateway, state)
    if "code" not in sent:
        words = sent.get("error_description", "")[:500]
        raise NotSignedIn(words or CANCELLED, state.redirect)
    return await _enter(exchange, gateway, state, sent["code"])


async def _other_browser(exchange: Exchange, gateway: Gateway, state: SignInState) -> Answer:
    """The cookie is another one: a second window may have signed in meanwhile, or cookies are not taken at all."""
    if await find_login(exchange, gateway) is not None:
        return found(state.redirect)
    if state.tries >= _MOST_TRIES:
        raise NotSignedIn(LOST, state.redirect)
    return await to_sign_in(exchange, gateway, state.redirect, tries=state.tries + 1)


async def _enter(exchange: Exchange, gateway: Gateway, state: SignInState, code: str) -> Answer:
    """Trade the code for a session of the gateway, under a new key."""
    work, key = exchange.work, states.new_key()
    client = await clients.find_by_provider(work, gateway.id)
    try:
        if client is None:
            raise OAuthError("invalid_client", "The gateway has no client.")
        about = await _about(work, client, code)
        verifier = states.verifier_of(gateway, state)
        grant, row = await grants.claim_code(work, client, code[:200], gateway.callback, verifier)
    except OAuthError as error:
        raise NotSignedIn(USED, state.redirect) from error
    if grant.user_id is None or grant.session_uuid is None:
        raise NotSignedIn(USED, state.redirect)
    scopes = split(grant.scopes)
    issued = await grants.issue(work, client, grant, scopes)  # nobody learns it: it keeps the grant alive
    token = await claims.id_token(
        work, client, grant, scopes=scopes, nonce=row.nonce, access=issued.access, about=about
    )
    session = GatewaySession(
        key_hash=states.key_hash(key),
        provider_id=gateway.id,
        user_id=grant.user_id,
        grant_uuid=grant.grant_uuid,
        session_uuid=grant.session_uuid,
        scopes=grant.scopes,
        id_token=work.find(Sealer).seal(token, PLACE),
        created_at=work.now,
        expires_at=work.now + timedelta(seconds=gateway.seconds),
    )
    await store.insert(work.db, session)
    return found(state.redirect, _cookie(gateway, key, gateway.seconds + 1))


async def _about(work: Work, client: Client, code: str) -> dict[str, object]:
    """What the ID token will say: found out, and its key made ready, before anything is written."""
    held = await oauth.find_code(work.db, grants.hash_key(code[:200]))
    grant: Grant | None = await oauth.find_grant(work.db, held.grant_uuid) if held is not None else None
    if grant is None or grant.client_id != client.client_id:
        return {}
    if await find_able(work, grant.user_id) is None:
        raise OAuthError("invalid_grant", "They may not act any more.")
    await keys.ready(work, client)
    return await claims.user_claims(work, client, grant, split(grant.scopes), for_id_token=True)


# Out again


async def sign_out(exchange: Exchange, gateway: Gateway) -> Answer:
    """End all sessions of this person at this gateway, then sign out at the server itself.

    Where another site led them here, nothing ends yet: a page of the server asks, and what ends there ends here, too.
    """
    work = exchange.work
    if not _is_own_wish(exchange):
        end = f"/application/o/{quote(gateway.slug)}/end-session/" if gateway.slug is not None else "/"
        return found(f"{work.settings.base_url}{end}")
    login = await find_login(exchange, gateway) if carried_key(exchange, gateway) is not None else None
    if login is not None:
        await _end(work, gateway, login)
    home, gone = f"{gateway.external_host}/", _cookie(gateway, "", 0)
    if gateway.slug is None:
        return found(home, gone)
    told = {"id_token_hint": login.id_token, "post_logout_redirect_uri": home} if login and login.id_token else {}
    query = f"?{urlencode(told)}" if told else ""
    return found(f"{work.settings.base_url}/application/o/{quote(gateway.slug)}/end-session/{query}", gone)


def _is_own_wish(exchange: Exchange) -> bool:
    """Whether the application itself led here, or the person typed the address. Browsers that do not say are asked."""
    return exchange.header(b"sec-fetch-site") in (b"same-origin", b"none")


async def _end(work: Work, gateway: Gateway, login: GatewayLogin) -> None:
    client = await clients.find_by_provider(work, gateway.id)
    user = await find_able(work, login.user_id)
    await store.end_all(work.db, login.user_id, gateway.id)
    work.announce(GatewayLeft(provider_id=gateway.id))
    await audit.record(
        work,
        "logout",
        "providers.gateway",
        user_id=login.user_id,
        username=user.username if user is not None else "",
        context={
            "logout_reason": "signed out at the gateway",
            "authorized_application": model_of(client) if client is not None else None,
            "outpost": OUTPOST_NAME,
        },
    )


def found(url: str, *cookies: tuple[bytes, bytes]) -> Answer:
    headers = ((b"location", quote(url, safe=_SAFE).encode()), (b"cache-control", b"no-store"), *cookies)
    return Answer(302, headers)


def _cookie(gateway: Gateway, key: str, seconds: int) -> tuple[bytes, bytes]:
    parts = [f"{gateway.cookie}={key}", "Path=/", "HttpOnly", "SameSite=Lax", f"Max-Age={seconds}"]
    if gateway.is_domain:
        parts.append(f"Domain={gateway.cookie_domain}")
    if gateway.is_secure:
        parts.append("Secure")
    return b"set-cookie", "; ".join(parts).encode()


def new_cookie(gateway: Gateway) -> tuple[bytes, bytes]:
    """For a browser that has none: with it a sign-in can begin."""
    return _cookie(gateway, states.new_key(), states.LASTS_SECONDS)


def _parameters(asked: OriginalURL) -> dict[str, str]:
    """Each parameter of the query once; of several the first counts."""
    try:
        read = parse_qs(asked.query, keep_blank_values=True, max_num_fields=50)
    except ValueError as error:
        raise Malformed("There are too many parameters") from error
    return {name: values[0] for name, values in read.items()}

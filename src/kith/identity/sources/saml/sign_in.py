"""/source/saml/: sending people to an identity provider, and what it says when they come back.

Its answer is posted by another site, where our cookies are missing: it is checked and kept, and the browser goes on by
a redirect, with which they come along.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import msgspec

from kith.base.counted_log import log_counted
from kith.base.exchange import Exchange
from kith.base.limits import Limiter, LimitRule, address_key
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.flows.plan import slug_of
from kith.identity.guessing import known_browsers
from kith.identity.saml import store as kept
from kith.identity.saml import stored_requests
from kith.identity.saml.errors import SAMLError
from kith.identity.saml.instants import new_id
from kith.identity.saml.limits import MOST_RELAY_STATE, SKEW_SECONDS
from kith.identity.saml.protocol import TrustedAssertion
from kith.identity.sessions import cookies
from kith.identity.sessions import service as sessions
from kith.identity.sessions.service import HeldSession
from kith.identity.sources import attempts, store
from kith.identity.sources.admission import refused
from kith.identity.sources.arrival import arrive
from kith.identity.sources.attempts import Purpose, SourceAttempt
from kith.identity.sources.outcomes import SourceError, SourceOutcome, SourceRedirect
from kith.identity.sources.saml import identity_provider, pre_authentication, transients
from kith.identity.sources.saml.identity_provider import IdentityProvider, find_by_slug
from kith.identity.sources.saml.outgoing import IdentityProviderForm, authn_request, send
from kith.identity.sources.saml.profiles import is_transient, read_arrival

if TYPE_CHECKING:
    from kith.identity.saml.assertions import Expectation

STARTS = LimitRule("source-start", most=60, seconds=300)
ANSWERS = LimitRule("source-saml-answer", most=120, seconds=300)
ARRIVAL = "arrival"
COMES_ALONG = timedelta(minutes=5)  # for a browser to follow one redirect
NOT_ASKED = "Nobody here asked for this answer. Please start again from the sign-in page."


class KeptArrival(msgspec.Struct, frozen=True):
    """What was posted and found to be true, until the browser comes along with its cookies.

    `trusted_by` is a print of what it was found to be true by: it counts as long as that does.
    """

    source: str
    told: TrustedAssertion
    relay_state: str
    trusted_by: str = ""


async def begin(
    exchange: Exchange, slug: str, query: Mapping[str, str], *, link: int | None = None
) -> SourceOutcome | IdentityProviderForm:
    """Send the browser there, through the flow that the source wants to be run first."""
    exchange.find(Limiter).spend(STARTS, address_key(exchange.address))
    idp = await find_by_slug(exchange.work, slug)
    if query.get(pre_authentication.PASSED):
        passed = await pre_authentication.passed(exchange, idp, query[pre_authentication.PASSED])
        if passed is None:
            return await refused(exchange, idp.source, NOT_ASKED, "another browser began it", status=400)
        return await _send(exchange, idp, passed)
    purpose: Purpose = "link" if link is not None else "again" if query.get("again") else "sign_in"
    attempt = SourceAttempt(purpose=purpose, user_id=link, next=query.get("next", "")[:2000])
    flow = await slug_of(exchange.work, idp.record.pre_authentication_flow)
    if flow is not None:
        return await pre_authentication.run(exchange, idp, flow, attempt)
    return await _send(exchange, idp, attempt)


async def _send(
    exchange: Exchange, idp: IdentityProvider, attempt: SourceAttempt
) -> SourceRedirect | IdentityProviderForm:
    """The id of our request is the key of the attempt: the answer must name it."""
    work, key = exchange.work, new_id()
    async with work.aside() as aside:
        session = await cookies.find(exchange)
        if session is not None:
            held = HeldSession(session)
        else:
            browser = known_browsers.any_name(exchange, work.now)
            held = await sessions.begin(aside, address=exchange.address, browser=browser)
        await attempts.begin(aside, idp.source.pbm_uuid, held.session.session_uuid, attempt, key)
    cookie = cookies.cookie(held, secure=work.settings.base_url.startswith("https"))
    sent = await send(
        work,
        idp,
        idp.record.sso_url,
        "SAMLRequest",
        authn_request(work, idp, key, force=attempt.purpose == "again"),
        in_query=idp.record.binding_type == "REDIRECT",
        waits=idp.record.binding_type == "POST",
    )
    return msgspec.structs.replace(sent, headers=() if cookie is None else (cookie,))


async def receive(exchange: Exchange, slug: str, form: Mapping[str, str]) -> SourceOutcome:
    """The answer of the identity provider. An assertion counts once."""
    exchange.find(Limiter).spend(ANSWERS, address_key(exchange.address))
    idp = await find_by_slug(exchange.work, slug)
    wanted = await _expectation(exchange.work, idp)
    try:
        told = await _read(exchange, wanted, form)
    except SAMLError as error:
        return await _failed(exchange, idp, error)
    if not told.in_response_to and not idp.record.allow_idp_initiated:
        return await refused(exchange, idp.source, NOT_ASKED, "no InResponseTo", status=400)
    unique = hashlib.sha256(f"{told.issuer} {told.id}".encode()).hexdigest()
    until = datetime.fromtimestamp(told.valid_until, UTC) + timedelta(seconds=2 * SKEW_SECONDS)
    relay_state = form.get("RelayState", "")[:MOST_RELAY_STATE]
    arrived = KeptArrival(idp.source.pbm_uuid, told, relay_state, _print_of(wanted))
    async with exchange.work.aside() as work:
        await work.db.begin()
        is_new = await store.is_new_message(work.db, idp.source.pbm_uuid, unique, until)
        key = stored_requests.new_key()
        if is_new:
            content, ends = msgspec.to_builtins(arrived), min(until, work.now + COMES_ALONG)
            await stored_requests.keep(work, ARRIVAL, content, key=key, until=ends)
    if not is_new:
        return await refused(exchange, idp.source, NOT_ASKED, "the assertion was used before", status=400)
    return SourceRedirect(f"{idp.path}acs/?{urlencode({'arrival': key})}")


async def _expectation(work: Work, idp: IdentityProvider) -> Expectation:
    from kith.identity.saml.assertions import Expectation  # noqa: PLC0415 - loaded when first used

    record = idp.record
    return Expectation(
        acs_url=idp.url("acs/"),
        audience=idp.audience,
        issuer=record.idp_issuer,
        certificate=await identity_provider.certificate(work, idp),
        decryption_key=await identity_provider.decryption_key(work, idp),
        signed_response=record.signed_response,
        signed_assertion=record.signed_assertion,
        allow_sha1=idp.allows_sha1,
    )


def _print_of(wanted: Expectation) -> str:
    """A print of what an answer must be like to be believed; it holds no secret."""
    public = msgspec.structs.replace(wanted, decryption_key=None)
    return hashlib.sha256(msgspec.json.encode(public)).hexdigest()


async def _read(exchange: Exchange, wanted: Expectation, form: Mapping[str, str]) -> TrustedAssertion:
    if not form.get("SAMLResponse"):
        raise SAMLError("The SAML response is missing.")
    from kith.identity.saml.assertions import read_response  # noqa: PLC0415 - loaded when first used

    return await asyncio.to_thread(read_response, form["SAMLResponse"], wanted, exchange.work.now)


async def come_back(exchange: Exchange, slug: str, key: str) -> SourceOutcome:
    """The browser, with its cookies: is it the one that asked?"""
    work = exchange.work
    idp = await find_by_slug(work, slug)
    stored = await stored_requests.find(work, ARRIVAL, key)
    arrived = msgspec.convert(stored.content, KeptArrival) if stored is not None else None
    if stored is None or arrived is None or arrived.source != idp.source.pbm_uuid:
        return await refused(exchange, idp.source, NOT_ASKED, "unknown or used answer", status=400)
    async with work.aside() as aside:
        taken = await kept.claim_request(aside.db, stored.request_hash, aside.now)
    if taken is None:  # brought back twice at once: it counts once
        return await refused(exchange, idp.source, NOT_ASKED, "unknown or used answer", status=400)
    if arrived.trusted_by != _print_of(await _expectation(work, idp)):
        return await refused(exchange, idp.source, NOT_ASKED, "the source was changed meanwhile", status=400)
    attempt = await _attempt(exchange, idp, arrived)
    if attempt is None:
        return await refused(exchange, idp.source, NOT_ASKED, "another browser asked", status=400)
    arrival = read_arrival(idp, arrived.told)
    if is_transient(arrived.told):
        await transients.note(work, idp, arrived.told.name_id)
    return await arrive(exchange, attempt, arrival)


async def forget_arrivals(work: Work, source: str, name_id: str, session_indexes: Collection[str]) -> bool:
    """What the identity provider has said of somebody whom it signs out now counts no more, though nobody has come with
    it yet."""
    found = False
    for one in await kept.waiting(work.db, ARRIVAL, work.now):
        arrived = msgspec.convert(one.content, KeptArrival)
        is_named = not session_indexes or arrived.told.session_index in session_indexes
        if (arrived.source, arrived.told.name_id) == (source, name_id) and is_named:
            found = await kept.claim_request(work.db, one.request_hash, work.now) is not None or found
    return found


async def _attempt(exchange: Exchange, idp: IdentityProvider, arrived: KeptArrival) -> SourceAttempt | None:
    """Without a request of ours it goes on to where the other side says, if that is one of our own pages."""
    asked = arrived.told.in_response_to
    if not asked:
        return SourceAttempt(next=arrived.relay_state) if idp.record.allow_idp_initiated else None
    session = await cookies.find(exchange)
    if session is None:
        return None
    async with exchange.work.aside() as aside:
        return await attempts.claim(aside, idp.source.pbm_uuid, session.session_uuid, asked)


async def _failed(exchange: Exchange, idp: IdentityProvider, error: SAMLError) -> SourceError:
    log_counted("info", "sources.saml_refused", idp.source.slug, source=idp.source.slug, reason=error.words)
    if error.is_hostile:
        context = {
            "source": {"pk": idp.source.pbm_uuid, "name": idp.source.name, "slug": idp.source.slug},
            "message": error.words,
        }
        async with exchange.work.aside() as work:
            await audit.record(work, "suspicious_request", "sources.saml", context=context)
    return await refused(exchange, idp.source, error.words, error.words, status=400)

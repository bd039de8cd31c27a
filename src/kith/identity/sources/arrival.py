"""Somebody has proved to a source who they are: who that is here, and what becomes of it. The same for every kind.

A kind of source calls `arrive` once it knows the identifier and what the source says of the person.
"""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.exchange import Exchange
from kith.identity.executor.api import open_run
from kith.identity.executor.flow_run import safe_path
from kith.identity.flows.plan import slug_of
from kith.identity.flows.plan_context import PendingConnection, PlanContext
from kith.identity.sessions import cookies
from kith.identity.sessions.tables import LoginSession
from kith.identity.sources import connections, property_mappings, store
from kith.identity.sources.admission import find_refusal, refused
from kith.identity.sources.attempts import SourceAttempt
from kith.identity.sources.flow_runs import outcome_of
from kith.identity.sources.matching import UserMatch, find_match, usable
from kith.identity.sources.outcomes import SourceError, SourceOutcome, SourceRedirect
from kith.identity.sources.source_groups import SourceGroup
from kith.identity.sources.store import Source
from kith.identity.sources.tables import MOST_IN_IDENTIFIER
from kith.identity.stages import source_connection

DEFAULT_FLOW = "default-source-authentication"
SETTINGS = "/settings/security#sources"
NO_ENROLLMENT = "Source is not configured for enrollment."
ELSEWHERE = "You are signed in as somebody else. Please sign out first."
USE_FIRST = (
    "You have an account here already. Please sign in the way you signed up, and link this one in your settings."
)


class Arrival(msgspec.Struct, kw_only=True):
    """What a source says of somebody.

    `properties` are fields of a user by their names (`username`, `name`, `email`, `attributes.x`). `told` is all that
    the source said, for policies. `groups` None: it says nothing about groups. `email_verified`: the source has
    checked the address. `is_anybodys_word`: whoever runs a server of their own can say it, so that neither a name nor
    an address says who somebody is here. `given` is what the mappings of this kind of source know by name.
    """

    source: Source
    identifier: str
    properties: dict[str, Any]
    told: dict[str, Any] = {}
    groups: list[SourceGroup] | None = None
    group_matching_mode: str = "identifier"
    email_verified: bool = False
    is_anybodys_word: bool = False
    given: dict[str, Any] = {}
    access_token: str = ""
    remote_session: str = ""


async def arrive(exchange: Exchange, attempt: SourceAttempt, arrival: Arrival) -> SourceOutcome:
    """Link, sign in or sign up, as the attempt and the source's settings have it."""
    if not 0 < len(arrival.identifier) <= MOST_IN_IDENTIFIER or not _is_text(arrival.identifier):
        return SourceError(title="Sign-in failed", messages=["Could not determine id."])
    try:
        await property_mappings.apply(exchange.work, arrival)
    except property_mappings.NotWanted:
        words = f"This server does not admit you through {arrival.source.name}."
        return await refused(
            exchange, arrival.source, words, "a mapping of the source left them out, or failed", status=403
        )
    known = await store.find_connection(exchange.work.db, arrival.source.pbm_uuid, arrival.identifier)
    session = await cookies.find(exchange)
    if attempt.purpose == "link":
        return await _link(exchange, attempt, arrival, session, known.user if known is not None else None)
    signed_in = session.user_id if session is not None else None
    if signed_in is not None:
        if known is None or known.user != signed_in:
            return await refused(exchange, arrival.source, ELSEWHERE, "somebody else is signed in", status=403)
        if attempt.purpose != "again":
            return SourceRedirect(safe_path(attempt.next))
    match = UserMatch("known", known.user) if known is not None else await find_match(exchange.work, arrival)
    refusal = await find_refusal(exchange, arrival, match.user_id)
    if refusal is not None:
        return refusal
    match match.decision:
        case "deny":
            return await refused(exchange, arrival.source, match.words or USE_FIRST, match.reason, status=403)
        case "enroll":
            return await _enroll(exchange, attempt, arrival)
        case _:
            return await _authenticate(exchange, attempt, arrival, match)


def _is_text(value: str) -> bool:
    """Whether databases can keep it: JSON can hold zero characters and halves of characters."""
    return "\0" not in value and not any("\ud800" <= one <= "\udfff" for one in value)


async def _link(
    exchange: Exchange, attempt: SourceAttempt, arrival: Arrival, session: LoginSession | None, owner: int | None
) -> SourceOutcome:
    if session is None or session.user_id is None or session.user_id != attempt.user_id:
        return await refused(exchange, arrival.source, ELSEWHERE, "the session changed while linking", status=403)
    if owner is not None and owner != session.user_id:
        words = "This account is linked to another person here."
        return await refused(exchange, arrival.source, words, "identifier of another person", status=403)
    refusal = await find_refusal(exchange, arrival, session.user_id)
    if refusal is not None:
        return refusal
    async with exchange.work.aside() as work:
        linked = await connections.link(work, session, arrival.source, pending(arrival))
    if not linked:
        words = "This account is linked to another person here."
        return await refused(exchange, arrival.source, words, "identifier of another person", status=403)
    return SourceRedirect(SETTINGS)


async def _authenticate(
    exchange: Exchange, attempt: SourceAttempt, arrival: Arrival, match: UserMatch
) -> SourceOutcome:
    slug = await slug_of(exchange.work, arrival.source.authentication_flow) or DEFAULT_FLOW
    context = _context(attempt, arrival)
    context.pending_user = match.user_id
    context.connection = pending(arrival, is_known=match.decision == "known")
    return await _run(exchange, slug, attempt, context)


async def _enroll(exchange: Exchange, attempt: SourceAttempt, arrival: Arrival) -> SourceOutcome:
    slug = await slug_of(exchange.work, arrival.source.enrollment_flow)
    if slug is None:
        return await refused(exchange, arrival.source, NO_ENROLLMENT, "no enrollment flow", status=400)
    context = _context(attempt, arrival)
    context.prompt_data = await usable(exchange.work, arrival)
    return await _run(exchange, slug, attempt, context)


def pending(arrival: Arrival, *, is_known: bool = False) -> PendingConnection:
    email = arrival.properties.get("email")
    return PendingConnection(
        source=arrival.source.pbm_uuid,
        identifier=arrival.identifier,
        access_token=arrival.access_token,
        remote_session=arrival.remote_session[:MOST_IN_IDENTIFIER],
        groups=None if arrival.groups is None else [msgspec.structs.asdict(one) for one in arrival.groups],
        group_matching_mode=arrival.group_matching_mode,
        email=str(email) if email and arrival.email_verified else "",
        is_known=is_known,
    )


def _context(attempt: SourceAttempt, arrival: Arrival) -> PlanContext:
    source = arrival.source
    facts = {"pk": source.pbm_uuid, "name": source.name, "slug": source.slug, "kind": source.kind}
    return PlanContext(
        is_sso=True,
        source=facts,
        oauth_userinfo=arrival.told or None,
        prompt_data=dict(arrival.properties),
        redirect=safe_path(attempt.next),
        auth_method="source",
        auth_method_args={"source": facts},
        connection=pending(arrival),
    )


async def _run(exchange: Exchange, slug: str, attempt: SourceAttempt, context: PlanContext) -> SourceOutcome:
    query = {"again": "true"} if attempt.purpose == "again" else {}
    run = await open_run(exchange, slug, query)
    return outcome_of(exchange, run, await run.begin(context, [source_connection.STEP]) or await run.go(may_act=True))

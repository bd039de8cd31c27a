"""Who may call a route of the social API: `guards=[user("read:accounts")]`.

    user("write:follows")       somebody's token with one of these scopes; the handler finds them as `me`
    optional("read:statuses")   anybody; whoever brings a token needs one of these scopes
    app("write:accounts")       a client's own token, which speaks for nobody
    any_token                   any token that works, whatever its scopes
    anyone                      no token is looked at
    outsider                    no token is looked at either, unless the server answers nobody but its people

A parent scope includes its children. Scopes that begin with `admin:` also need a place in the team. Whoever got past
a guard is the dependency `caller`; the person they speak for is `me`.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from enum import Enum, auto
from functools import lru_cache
from urllib.parse import unquote_plus

from kith.base.errors import Forbidden, Problem, Unauthenticated, Unprocessable
from kith.base.exchange import Exchange
from kith.base.limits import Limiter, LimitRule, Spent, address_key
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.account_standing import Standing
from kith.social.bearer_keys import find_key, header_key
from kith.social.callers import (
    NEEDS_USER,
    NOBODY,
    Caller,
    Member,
    MemberSeen,
    Presence,
    TheCaller,
    TheMember,
    caller_in,
    member_in,
)
from kith.social.errors import PRIVATE
from kith.social.ids import UserId

__all__ = [
    "ANONYMOUS",
    "Caller",
    "Member",
    "MemberSeen",
    "Presence",
    "TheCaller",
    "TheMember",
    "Use",
    "admit",
    "any_token",
    "anyone",
    "app",
    "caller_in",
    "find_key",
    "member_in",
    "optional",
    "outsider",
    "session_use",
    "token_use",
    "user",
]

Check = Callable[[Exchange], Awaitable[None]]

ANONYMOUS = LimitRule("social-anonymous", most=300, seconds=300)
PER_USER = LimitRule("social-user", most=1500, seconds=300)
PER_TOKEN = LimitRule("social-token", most=300, seconds=300)
PAGING = LimitRule("social-paging", most=300, seconds=900)  # whoever reads a list from somewhere in it

INVALID = "The access token is invalid"
REVOKED = "The access token was revoked"
EXPIRED = "The access token expired"
OUTSIDE = "This action is outside the authorized scopes"
NEEDS_APP = "This method requires an client credentials authentication"
UNCONFIRMED = "Your login is missing a confirmed e-mail address"
PENDING = "Your login is currently pending approval"
DISABLED = "Your login is currently disabled"

_PAGES = re.compile(r"(?:^|&)(?:page|min_id|max_id|since_id)=[^&]")


async def anyone(exchange: Exchange) -> None:
    """Open to all, but not without end."""
    _as_nobody(exchange)


async def outsider(exchange: Exchange) -> None:
    if exchange.server.works.settings.is_members_only:
        await _whoever(exchange)
    else:
        _as_nobody(exchange)


async def any_token(exchange: Exchange) -> None:
    bearer = await _bearer(exchange)
    await _check_standing(exchange, bearer)
    await _let_in(exchange, bearer)


class Guard:
    """Lets callers in who have one of `scopes`, for which it asks `check`."""

    __slots__ = ("_check", "is_optional", "scopes")

    def __init__(self, scopes: tuple[str, ...], check: Check, *, is_optional: bool = False) -> None:
        self.scopes = scopes
        self.is_optional = is_optional
        self._check = check

    def __call__(self, exchange: Exchange) -> Awaitable[None]:
        return self._check(exchange)


def user(*scopes: str, unconfirmed: bool = False, by_permission: bool = False) -> Guard:
    """Without a scope, whatever the token's are.

    `unconfirmed`: also open to whoever has yet to confirm their address, or to be approved.
    `by_permission`: whoever calls looks at the person's role, whatever their place in the team.
    """
    needs_team = bool(scopes) and not by_permission and all(scope.startswith("admin:") for scope in scopes)

    async def check(exchange: Exchange) -> None:
        bearer = await _bearer(exchange)
        _check_scopes(bearer, scopes)
        problem = None if unconfirmed and bearer.user_id is not None else _why_not_yet(exchange.work, bearer)
        if problem is not None:
            raise problem
        await _check_standing(exchange, bearer)
        if needs_team and bearer.role not in identity.TEAM:
            raise Forbidden
        await _let_in(exchange, bearer)

    return Guard(scopes, check)


async def admit(exchange: Exchange, key: str | identity.PageSession, *scopes: str) -> identity.Bearer:
    """What `user(...)` does, with a key that was found somewhere else than it looks for one."""
    bearer = await _known(exchange, key)
    _check_scopes(bearer, scopes)
    problem = _why_not_yet(exchange.work, bearer)
    if problem is not None:
        raise problem
    await _check_standing(exchange, bearer)
    await _let_in(exchange, bearer)
    return bearer


def app(*scopes: str) -> Guard:
    async def check(exchange: Exchange) -> None:
        bearer = await _bearer(exchange)
        _check_scopes(bearer, scopes)
        if bearer.user_id is not None:
            raise Forbidden(NEEDS_APP)
        await _let_in(exchange, bearer)

    return Guard(scopes, check)


def optional(*scopes: str) -> Guard:
    """Whoever cannot act for themselves yet sees what strangers see."""

    async def check(exchange: Exchange) -> None:
        await _whoever(exchange, scopes)

    return Guard(scopes, check, is_optional=True)


async def _whoever(exchange: Exchange, scopes: tuple[str, ...] = ()) -> None:
    key = await find_key(exchange)
    is_closed = exchange.server.works.settings.is_members_only
    if not key:
        _as_nobody(exchange)
        if is_closed:
            raise Unauthenticated(NEEDS_USER)
        return
    bearer = await _known(exchange, key)
    _check_scopes(bearer, scopes)
    await _check_standing(exchange, bearer)
    is_member = _why_not_yet(exchange.work, bearer) is None
    if is_closed and not is_member:
        raise Unauthenticated(NEEDS_USER)
    await _let_in(exchange, bearer, with_member=is_member)


class Use(Enum):
    """What a token or session that was let in once is good for now."""

    LET_IN = auto()
    REFUSED = auto()  # for as long as the person may not act
    ENDED = auto()


async def token_use(work: Work, key: str, scope: str) -> Use:
    """Asked before something is sent to whoever holds the token."""
    return await _use_of(work, await identity.find_bearer_by_key(work, key), scope)


async def session_use(work: Work, key_hash: str, scope: str) -> Use:
    """The same of a browser's session."""
    return await _use_of(work, await identity.find_bearer_of_session(work, key_hash), scope)


async def _use_of(work: Work, bearer: identity.Bearer | None, scope: str) -> Use:
    if bearer is None or bearer.user_id is None or bearer.provider_id is not None:
        return Use.ENDED
    if (bearer.expires_at is not None and bearer.expires_at <= work.now) or not _covers(bearer.scopes, (scope,)):
        return Use.ENDED
    if not bearer.is_active or _why_not_yet(work, bearer) is not None:
        return Use.REFUSED
    may_act = await work.find(Standing).may_act(work, bearer.user_id)  # type: ignore[type-abstract]
    return Use.LET_IN if may_act else Use.REFUSED


async def _bearer(exchange: Exchange) -> identity.Bearer:
    return await _known(exchange, header_key(exchange) or await find_key(exchange))


async def _known(exchange: Exchange, key: str | identity.PageSession) -> identity.Bearer:
    """The token behind a key, counted; whoever tries keys that are none is counted by address."""
    exchange.dialect = PRIVATE
    bearer = await identity.find_bearer(exchange, key) if key else None
    if bearer is not None and bearer.provider_id is not None:
        bearer = None  # made for somebody's application, which has no say here
    limiter = exchange.find(Limiter)
    if bearer is None:
        exchange.spent = limiter.spend(ANONYMOUS, address_key(exchange.address))
        raise await _why_invalid(exchange, key)
    if bearer.user_id is None:
        exchange.spent = limiter.spend(PER_TOKEN, bearer.key_hash)
        _count_paging(exchange, address_key(exchange.address))
    else:
        exchange.user_id = bearer.user_id
        exchange.spent = _tighter(
            limiter.spend(PER_USER, str(bearer.user_id)), limiter.spend(PER_TOKEN, bearer.key_hash)
        )
        _count_paging(exchange, str(bearer.user_id))
    if bearer.expires_at is not None and bearer.expires_at <= exchange.work.now:
        raise _refused(EXPIRED)
    return bearer


async def _why_invalid(exchange: Exchange, key: str | identity.PageSession) -> Problem:
    """Whoever was shut out is told so, although their tokens ended with it."""
    revoked = await identity.find_revoked(exchange.work, key) if isinstance(key, str) else None
    if revoked is None:
        return _refused(INVALID)
    if revoked.user_id is not None:
        standing = exchange.find(Standing)  # type: ignore[type-abstract]
        may_act = await standing.may_act(exchange.work, UserId(revoked.user_id))
        if not may_act or await identity.is_shut_out(exchange.work, revoked.user_id):
            return Forbidden(DISABLED)
    return _refused(REVOKED)


def _count_paging(exchange: Exchange, who: str) -> None:
    """Reading on and on is counted apart: it is what a program does that copies everything."""
    query = exchange.query_string
    if query and _PAGES.search(unquote_plus(query.decode("latin-1")) if b"%" in query else query.decode("latin-1")):
        exchange.spent = _tighter(exchange.spent, exchange.find(Limiter).spend(PAGING, who))


def _tighter(one: Spent | None, other: Spent | None) -> Spent | None:
    if one is None or other is None:
        return one or other
    return one if one.remaining <= other.remaining else other


def _refused(words: str) -> Unauthenticated:
    challenge = f'Bearer realm="Kith", error="invalid_token", error_description="{words}"'
    return Unauthenticated(words, headers={"WWW-Authenticate": challenge})


def _check_scopes(bearer: identity.Bearer, needed: tuple[str, ...]) -> None:
    if needed and not _covers(bearer.scopes, needed):
        raise Forbidden(OUTSIDE)


@lru_cache(4096)
def _covers(granted: str, needed: tuple[str, ...]) -> bool:
    """Asked with every request, and of few kinds."""
    words = granted.split()
    return any(identity.covers(words, scope) for scope in needed)


@lru_cache(1024)
def _words(scopes: str) -> frozenset[str]:
    return frozenset(scopes.split())


def _why_not_yet(work: Work, bearer: identity.Bearer) -> Problem | None:
    """What this token's owner has to wait for, if there is anything."""
    if bearer.user_id is None:
        return Unprocessable(NEEDS_USER)
    if bearer.confirmed_at is None and work.settings.confirm_email:
        return Forbidden(UNCONFIRMED)
    if bearer.approved_at is None:
        return Forbidden(PENDING)
    return None


async def _check_standing(exchange: Exchange, bearer: identity.Bearer) -> None:
    """Whoever was shut out, by their record or by what became of their account, does nothing and sees nothing."""
    if bearer.user_id is None:
        return
    standing = exchange.find(Standing)  # type: ignore[type-abstract]
    if not bearer.is_active or not await standing.may_act(exchange.work, bearer.user_id, exchange.kept):
        raise Forbidden(DISABLED)


def _as_nobody(exchange: Exchange) -> None:
    exchange.spent = exchange.find(Limiter).spend(ANONYMOUS, address_key(exchange.address))
    _count_paging(exchange, address_key(exchange.address))
    exchange.caller = NOBODY


async def _let_in(exchange: Exchange, bearer: identity.Bearer, *, with_member: bool = True) -> None:
    member = None
    if with_member and bearer.user_id is not None:
        member = Member(bearer.user_id, bearer.username or "", bearer.role or "user")
    exchange.caller = Caller(
        member,
        bearer.app_id,
        bearer.provider_id,
        _words(bearer.scopes),
        bearer.grant_uuid,
        bearer.key_hash,
        is_browser=bearer.grant_uuid is None and bearer.session_uuid is not None,
    )
    await identity.note_use(exchange.work, bearer)
    # Once a day (and process), beside the request.
    if member is not None and exchange.find(Presence).is_new(member.id, exchange.work.now.toordinal()):
        async with exchange.work.noting() as aside:
            aside.announce(MemberSeen(user_id=member.id, day=aside.now.date().isoformat()))

"""Authentication of the identity API: Basic, Bearer, and the session cookie of our own pages."""

from __future__ import annotations

import asyncio
import base64
import binascii
from datetime import datetime, timedelta
from functools import partial
from typing import NoReturn
from weakref import WeakValueDictionary

import msgspec

from kith.base import csrf
from kith.base.caches import ForAWhile, UntilWritten
from kith.base.errors import Forbidden, Throttled, Unauthenticated
from kith.base.exchange import Exchange
from kith.base.keys import Keys
from kith.base.limits import Limiter, LimitRule, Paid, address_key
from kith.base.work import Work
from kith.identity import reauthentication
from kith.identity.audit import service as audit
from kith.identity.caller import ADMINISTRATORS, ApiCaller, Way
from kith.identity.factors import service as codes
from kith.identity.factors import store as factors
from kith.identity.groups import store as groups
from kith.identity.guessing import guess_limits as guessing
from kith.identity.hints import service as hints
from kith.identity.impersonation.service import refuse_call
from kith.identity.rights import hold_rights, rights_of
from kith.identity.scopes import IDENTITY
from kith.identity.sessions import cookies as sessions
from kith.identity.tokens import store as tokens
from kith.identity.tokens.service import hash_key, may_be_token, scopes_of
from kith.identity.tokens.tables import ApiToken
from kith.identity.users import store as users
from kith.identity.users.passwords import Passwords
from kith.identity.users.store import Login

CHALLENGE = {"WWW-Authenticate": 'Basic realm="api"'}
CALLS = LimitRule("identity", most=1500, seconds=300)
ANONYMOUS_CALLS = LimitRule("anonymous", most=300, seconds=300)
TOUCH_EVERY = timedelta(minutes=5)
MOST_SLOWED = 10_000
SLOWED_SECONDS = 600.0  # as long as the longest window in which tries are counted
MOST_TYPED = 320  # longer than any name or address
CODE_SECONDS = 1.0  # how long a wrong code makes wait at first
_SECRETS = frozenset({"core.view_secret", "crypto.view_certificatekeypair_key"})


class SignInDoor(msgspec.Struct, frozen=True):
    """Through what somebody comes in, as the audit trail says it. `takes_code`: a code may follow the password.

    `is_shared`: a program hands over the passwords of many, all from its own address. `by_name`: it says who comes
    by their user name, so that no address stands for it.
    """

    app: str = "core.api"
    auth_method: str = "basic"
    takes_code: bool = False
    is_shared: bool = False
    by_name: bool = False


_API = SignInDoor()


class CallerAuthenticator:
    def __init__(self, passwords: Passwords, limiter: Limiter, memo: UntilWritten) -> None:
        self._passwords = passwords
        self._memo = memo
        self._limiter = limiter
        self._checking: WeakValueDictionary[bytes, asyncio.Lock] = WeakValueDictionary()  # while somebody waits
        self._slowed: ForAWhile[bool] = ForAWhile("slowed_down", seconds=SLOWED_SECONDS, most=MOST_SLOWED)

    async def identify(self, exchange: Exchange) -> ApiCaller:
        """The person behind this request to the identity API."""
        exchange.version = self._memo.now()
        credentials = exchange.header(b"authorization")
        scheme, _, rest = credentials.partition(b" ")
        match scheme.lower():
            case b"basic":
                caller = await self._basic(exchange, rest)
            case b"bearer":
                caller = await self._bearer(exchange, rest.strip().decode("latin-1"))
            case _:
                caller = await self._session(exchange)
        exchange.with_rights_while(partial(_may_as_much, caller))
        exchange.work.db.when_begun = partial(_look_when_writing, exchange, exchange.work, caller)
        exchange.user_id = caller.id
        exchange.spent = self._limiter.spend(CALLS, str(caller.id))
        return caller

    async def _session(self, exchange: Exchange) -> ApiCaller:
        """The person signed in by the session cookie; a request that changes something needs a CSRF token."""
        session = await sessions.find(exchange)
        if session is None or session.user_id is None:
            exchange.spent = self._limiter.spend(ANONYMOUS_CALLS, address_key(exchange.address))
            raise Unauthenticated(headers=CHALLENGE)
        if exchange.method not in ("GET", "OPTIONS"):
            csrf.check(exchange, exchange.find(Keys).session, None)
        refuse_call(exchange)
        login = await users.find_login_by_id(exchange.work.db, session.user_id)
        if login is None or not login.is_active:
            raise Unauthenticated("User inactive or deleted.", headers=CHALLENGE)
        caller = await self._with_rights(exchange, login)
        fresh = reauthentication.is_fresh(session, exchange.work.now)
        caller = msgspec.structs.replace(caller, way="session", is_fresh=fresh)
        return caller if exchange.acting is None else _without_secrets(caller)

    async def _with_rights(self, exchange: Exchange, login: Login) -> ApiCaller:
        """The caller with the permissions that roles and groups grant at this moment."""
        if login.role in ADMINISTRATORS:
            return ApiCaller(login.id, login.username, login.role, permissions=None)
        version = exchange.version
        key = ("rights", login.id)
        kept: tuple[frozenset[str] | None, datetime | None] | None = self._memo.get(version, key)
        if kept is None or (kept[1] is not None and kept[1] <= exchange.work.now):
            ends = await groups.next_end(exchange.work.db, login.id)
            kept = (await rights_of(exchange.work.db, login.id, login.role), ends)
            self._memo.put(version, key, kept)
        return ApiCaller(login.id, login.username, login.role, permissions=kept[0])

    async def by_password(self, exchange: Exchange, username: str, password: str, door: SignInDoor) -> ApiCaller:
        """Somebody who comes by another door than the API: with their password, or an app password of theirs."""
        exchange.version = self._memo.now()
        exchange.kept[SignInDoor] = door
        caller = await self._named(exchange, username, password)
        if caller.way == "token":
            raise Unauthenticated("Invalid username/password.", headers=CHALLENGE)
        return caller

    async def _basic(self, exchange: Exchange, encoded: bytes) -> ApiCaller:
        return await self._named(exchange, *read_basic(encoded))

    async def _named(self, exchange: Exchange, username: str, password: str) -> ApiCaller:
        username = username[:MOST_TYPED]
        if may_be_token(password):
            found = await self._app_password(exchange, username, password)
            if found is not None:
                return found
        login = await self._login(exchange, username)
        has_factor = await self._has_factor(exchange, login.id if login is not None else 0)
        if login is not None and has_factor and _may_enter(exchange, login) and _door(exchange).takes_code:
            await self._check_with_code(exchange, login, username, password)
            await self._check_unchanged(exchange, login, username)
            return msgspec.structs.replace(await self._with_rights(exchange, login), way="password", is_fresh=True)
        if login is None or has_factor or not _may_enter(exchange, login):
            await self._refuse(exchange, login, username, password, has_factor=has_factor)
        if self._is_slowed_down(exchange, login) or not self._is_remembered(exchange, login, password):
            await self._check_once(exchange, login, username, password)
            await self._check_unchanged(exchange, login, username)
        exchange.known_while(partial(_has_password, login))
        return msgspec.structs.replace(await self._with_rights(exchange, login), way="password", is_fresh=True)

    async def _has_factor(self, exchange: Exchange, user_id: int) -> bool:
        """Whether the person has a second factor: then the password alone is refused, as no code can be asked here."""
        version, key = exchange.version, ("factor", user_id)
        kept: bool | None = self._memo.get(version, key)
        if kept is None:
            kept = await factors.has_any(exchange.work.db, user_id)
            self._memo.put(version, key, kept)
        return kept

    async def _login(self, exchange: Exchange, username: str) -> Login | None:
        version, key = exchange.version, ("name" if _door(exchange).by_name else "login", username)
        login: Login | None = self._memo.get(version, key)
        if login is None or login.is_outdated(exchange.work.now):
            login = await _find_login(exchange, username)
            self._memo.put(version, key, login)
        return login

    def _is_remembered(self, exchange: Exchange, login: Login, password: str) -> bool:
        return self._passwords.is_remembered(login.password, password, address_key(exchange.address))

    def _is_slowed_down(self, exchange: Exchange, login: Login) -> bool:
        """Whether too many guesses at this account came from this address.

        Then a remembered password does not count either.

        Otherwise whoever shares an address with a program that signs in could guess as fast as they like.
        """
        return self._slowed.get((login.id, address_key(exchange.address))) is True

    def _slow_down(self, exchange: Exchange, login: Login, seconds: int) -> None:
        self._slowed.put((login.id, address_key(exchange.address)), True, seconds=seconds)

    async def _check_once(self, exchange: Exchange, login: Login, username: str, password: str) -> None:
        """Check a password; of several equal requests at once only one does the work and is counted."""
        key = self._passwords.memory(login.password or "", password, address_key(exchange.address))
        checking = self._checking.setdefault(key, asyncio.Lock())
        async with checking:
            if self._is_slowed_down(exchange, login) or not self._is_remembered(exchange, login, password):
                await self._slow_check(exchange, login, username, password)

    async def _slow_check(self, exchange: Exchange, login: Login, username: str, password: str) -> None:
        """Hash and compare the password. The try is counted before and given back when it was right."""
        try:
            paid = await _pay(exchange, login, username)
        except Throttled as problem:
            self._slow_down(exchange, login, problem.retry_after)
            raise
        if not await self._passwords.check(login.password, password, where=address_key(exchange.address)):
            await self._fail(exchange, login, username)
        await paid.give_back()
        await guessing.entered_by_program(exchange.work, exchange, login.id)

    async def _check_unchanged(self, exchange: Exchange, login: Login, username: str) -> None:
        """Checking a password may take long: whoever has another one since then, or none, is not let in with this."""
        if not await _has_password(login, exchange.work):
            await self._fail(exchange, login, username)

    async def _check_with_code(self, exchange: Exchange, login: Login, username: str, password: str) -> None:
        """The password, a semicolon and a code. A code counts once, so that nothing is remembered."""
        password, _, code = password.rpartition(";")
        paid = await _pay(exchange, login, username)
        if not await self._passwords.check(login.password, password, anew=True):
            await self._fail(exchange, login, username)
        async with exchange.work.aside() as aside:
            devices = [
                one
                for one in await factors.of_user(aside.db, login.id)
                if not codes.wait_of(one, CODE_SECONDS, aside.now)
            ]
            found = await codes.try_code(aside, devices, code)
        if found is None:
            await self._fail(exchange, login, username)
        await paid.give_back()
        await guessing.entered_by_program(exchange.work, exchange, login.id)

    async def _refuse(
        self, exchange: Exchange, login: Login | None, username: str, password: str, *, has_factor: bool
    ) -> NoReturn:
        """Refuse with the same work and the same answer as for a wrong password, so that nothing is learned from it.

        The try stays counted even if the password was right, or the limits would tell the difference.
        """
        await _pay(exchange, login, username)
        right = await self._passwords.check(login.password if login is not None else None, password, anew=True)
        hints_at = login if right and has_factor and login is not None and _may_enter(exchange, login) else None
        await self._fail(exchange, login, username, hints_at=hints_at)

    async def _fail(
        self, exchange: Exchange, login: Login | None, username: str, *, hints_at: Login | None = None
    ) -> NoReturn:
        """Record a failed sign-in; nothing for unknown names, or anybody could fill the audit trail with them."""
        if login is not None:
            async with exchange.work.aside() as aside:
                door = _door(exchange)
                await audit.record(
                    aside,
                    "login_failed",
                    door.app,
                    user_id=login.id,
                    username=username,
                    context={"username": username[:150], "password": audit.MASK, "auth_method": door.auth_method},
                )
                if hints_at is not None:
                    await hints.tell_app_password(aside, await users.get(aside.db, hints_at.id))
        raise Unauthenticated("Invalid username/password.", headers=CHALLENGE)

    async def _app_password(self, exchange: Exchange, username: str, password: str) -> ApiCaller | None:
        """An app password needs its owner's name; an API token is accepted with any name."""
        work = exchange.work
        token = await tokens.find_live(work.db, hash_key(password), work.now)
        if token is None or token.intent not in ("api", "app_password"):
            return None
        if token.intent == "app_password":
            named = await _find_login(exchange, username)
            if named is None or named.id != token.user_id or not _may_enter(exchange, named):
                return None
            await guessing.entered_by_program(work, exchange, named.id)
        login = await self._owner(work, token)
        return await self._by_token(exchange, login, token)

    async def _bearer(self, exchange: Exchange, key: str) -> ApiCaller:
        token = await tokens.find_live(exchange.work.db, hash_key(key), exchange.work.now) if key else None
        if token is None or token.intent != "api":
            raise Unauthenticated("Invalid token.", headers=CHALLENGE)
        login = await self._owner(exchange.work, token)
        return await self._by_token(exchange, login, token)

    async def _by_token(self, exchange: Exchange, login: Login, token: ApiToken) -> ApiCaller:
        """The owner of a token, limited to what the token's scopes allow."""
        exchange.known_while(partial(_is_token_live, token.key_hash, token.scopes))
        caller = await self._with_rights(exchange, login)
        way: Way = "app_password" if token.intent == "app_password" else "token"
        return msgspec.structs.replace(caller, scopes=_scopes(token), way=way, until=token.expires_at)

    async def _owner(self, work: Work, token: ApiToken) -> Login:
        login = await users.find_login_by_id(work.db, token.user_id)
        if login is None or not login.is_active:
            raise Unauthenticated("User inactive or deleted.", headers=CHALLENGE)
        if token.last_used_at is None or work.now - token.last_used_at > TOUCH_EVERY:
            async with work.noting() as aside:
                await tokens.touch(aside.db, token.token_uuid, work.now)
        return login


async def _has_password(login: Login, work: Work) -> bool:
    """Whether the person may still come in with the password that they had when they were found."""
    now = await users.find_login_by_id(work.db, login.id)
    return now is not None and now.is_active and now.password_changed_at == login.password_changed_at


async def _look_when_writing(exchange: Exchange, work: Work, caller: ApiCaller) -> None:
    """Look at the caller again once they may write: while they waited, they may have lost what they were let in with.
    Some write only when their work is at its end, which is no more the exchange's then.
    """
    if caller.permissions is None or caller.permissions:
        await hold_rights(work.db)
    await exchange.look_again(work)


async def _may_as_much(caller: ApiCaller, work: Work) -> bool:
    """Whether the person may do no less than when they were let in."""
    login = await users.find_login_by_id(work.db, caller.id)
    held = await rights_of(work.db, login.id, login.role) if login is not None else frozenset()
    return held is None or (caller.permissions is not None and caller.permissions <= held)


async def _is_token_live(key_hash: str, scopes: str, work: Work) -> bool:
    token = await tokens.find_live(work.db, key_hash, work.now)
    if token is None or token.scopes != scopes:
        return False
    login = await users.find_login_by_id(work.db, token.user_id)
    return login is not None and login.is_active


async def _find_login(exchange: Exchange, username: str) -> Login | None:
    if "\0" in username:
        return None
    if _door(exchange).by_name:
        return await users.find_login(exchange.work.db, username)
    return await users.find_login_typed(exchange.work.db, username)


async def _pay(exchange: Exchange, login: Login | None, username: str) -> Paid:
    user_id = login.id if login is not None else None
    return await guessing.pay(exchange, exchange.work.db, user_id, username, is_shared=_door(exchange).is_shared)


def _door(exchange: Exchange) -> SignInDoor:
    found: SignInDoor = exchange.kept.get(SignInDoor, _API)
    return found


def _may_enter(exchange: Exchange, login: Login) -> bool:
    """Whether the person is active, approved, and confirmed where addresses are confirmed."""
    return login.is_active and (login.is_confirmed or not exchange.work.settings.confirm_email)


def _without_secrets(caller: ApiCaller) -> ApiCaller:
    """The caller without the right to see secrets: an impersonation never shows any."""
    rights = caller.permissions or frozenset()
    return msgspec.structs.replace(caller, permissions=rights - _SECRETS)


def _scopes(token: ApiToken) -> frozenset[str]:
    scopes = frozenset(scopes_of(token.scopes, token.intent))
    if IDENTITY not in scopes:
        raise Forbidden("This token has no `api` scope, so it does not open the identity API.")
    return scopes


def read_basic(encoded: bytes) -> tuple[str, str]:
    encoded = encoded.strip()
    if not encoded:
        raise Unauthenticated("Invalid basic header. No credentials provided.", headers=CHALLENGE)
    if b" " in encoded:
        raise Unauthenticated("Invalid basic header. Credentials string should not contain spaces.", headers=CHALLENGE)
    try:
        raw = base64.b64decode(encoded, validate=True)
    except binascii.Error as error:
        raise _not_base64() from error
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    username, colon, password = text.partition(":")
    if not colon:
        raise _not_base64()
    return username, password


def _not_base64() -> Unauthenticated:
    return Unauthenticated("Invalid basic header. Credentials not correctly base64 encoded.", headers=CHALLENGE)

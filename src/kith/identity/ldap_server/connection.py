"""One client of the LDAP server: its messages are read, done and answered one after the other."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
import ssl
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager

from kith.base.counted_log import log_counted
from kith.base.errors import Problem
from kith.base.exchange import Exchange, Server
from kith.base.limits import address_key
from kith.base.server.client_places import ClientPlace
from kith.base.server.greetings import Greetings
from kith.base.server.proxies import plain
from kith.base.server.turns import KNOWN, STRANGER, Turns
from kith.identity.distinguished_names import read_name, squeezed
from kith.identity.ldap_server import schema, store
from kith.identity.ldap_server.ber import SEQUENCE, BerError, length_of
from kith.identity.ldap_server.directory import NoSuchObject, SearchCursor, search
from kith.identity.ldap_server.entries import OPERATIONAL, EntryLookup, LdapEntry, is_attribute_name, person_dn
from kith.identity.ldap_server.filters import Equal, Present, SearchFilter, holds
from kith.identity.ldap_server.messages import (
    PAGED,
    BindRequest,
    CompareRequest,
    Control,
    ExtendedRequest,
    LargeRequest,
    LdapMessage,
    LdapRequest,
    ResultCode,
    Scope,
    SearchRequest,
    UnbindRequest,
    WriteRequest,
    entry,
    paged_control,
    read_message,
    result,
)
from kith.identity.ldap_server.pages import BadPage, SearchPages
from kith.identity.ldap_server.sign_in import POLICY_SECONDS, BoundPerson, bind, may_still_enter, refreshed
from kith.identity.ldap_server.store import TreeProvider
from kith.identity.program_sign_in import WRONG, ProgramRefused, exchange_for

__all__ = ["LdapConnection"]

MOST_MESSAGE = 256 << 10
MOST_OF_STRANGERS = 16 << 10  # before somebody has bound
STRANGER_SECONDS = 30.0  # in all, however much they say
KNOWN_SECONDS = 900.0
SEARCH_SECONDS = 120.0
HANDSHAKE_SECONDS = 10.0
TAKE_SECONDS = 60.0  # for a client to take something of what it was answered
START_TLS = "1.3.6.1.4.1.1466.20037"
WHO_AM_I = "1.3.6.1.4.1.4203.1.11.3"
DISCONNECTION = "1.3.6.1.4.1.1466.20036"
_COMPARED = {True: ResultCode.COMPARE_TRUE, False: ResultCode.COMPARE_FALSE}


class _Answered(Exception):  # noqa: N818 - an answer
    """`ends`: the connection ends with it."""

    def __init__(self, code: ResultCode, words: str = "", *, ends: bool = False) -> None:
        super().__init__(words)
        self.code = code
        self.words = words
        self.ends = ends


class LdapConnection:
    """`is_safe`: nobody can read along, because of TLS or because it does not leave the machine."""

    def __init__(
        self,
        server: Server,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        tls: Callable[[], Awaitable[ssl.SSLContext | None]],
        place: ClientPlace,
        turns: Turns,
        greetings: Greetings,
    ) -> None:
        self._server = server
        self._reader = reader
        self._writer = writer
        self._tls = tls
        self._place = place
        self._turns = turns
        self._greetings = greetings
        self._bound: BoundPerson | None = None
        self._is_stranger_until = time.monotonic() + STRANGER_SECONDS
        self._pages = SearchPages()
        self.address = plain(str((writer.get_extra_info("peername") or ("",))[0]))
        self._is_encrypted = writer.get_extra_info("ssl_object") is not None

    async def run(self) -> None:
        try:
            while True:
                data = await self._read()
                if data is None:
                    return
                await self._turn()
                if not await self._do(read_message(data)):
                    return
        except BerError as error:
            await self._say(result(0, 0x78, ResultCode.PROTOCOL_ERROR, str(error), oid=DISCONNECTION))

    async def _turn(self) -> None:
        """Wait for one's turn among all who ask: whoever asks a thousand things at once waits behind themselves.

        However many connections somebody has, one thing is done for them each time the loop goes round.
        """
        bound = self._bound
        rank, who = (STRANGER, address_key(self.address)) if bound is None else (KNOWN, f"user:{bound.user_id}")
        if self._turns.is_free(who):
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._turns.wait(rank, who, lambda: None if turn.done() else turn.set_result(None))
        await turn

    async def _read(self) -> bytes | None:
        """The next whole message; None where there is none in time, or the client is gone."""
        most = MOST_OF_STRANGERS if self._bound is None else MOST_MESSAGE
        try:
            async with self._waiting_for_client(KNOWN_SECONDS):
                head = await self._reader.readexactly(2)
                if head[0] != SEQUENCE:
                    raise BerError("not a message of LDAP")
                while (found := length_of(head, 1, len(head))) is None:
                    head += await self._reader.readexactly(head[1] & 0x7F)
                if found[1] > most:
                    raise BerError("the message is too long")
                return head + await self._reader.readexactly(found[1])
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
            return None

    @asynccontextmanager
    async def _waiting_for_client(self, seconds: float) -> AsyncIterator[None]:
        """So long for whoever has bound, and for a stranger what is left of their time. Others may take the place."""
        now = time.monotonic()
        if self._bound is None:
            seconds = self._is_stranger_until - now
        else:
            self._is_stranger_until = now + STRANGER_SECONDS  # from when they have unbound
        self._place.person = self._bound.user_id if self._bound is not None else None
        self._place.since, self._place.is_busy = now, False
        async with asyncio.timeout(seconds):
            yield

    async def _do(self, message: LdapMessage) -> bool:
        """Do what was asked; False where the connection ends with it."""
        request = message.request
        if isinstance(request, UnbindRequest):
            return False
        if not request.answer:
            return True
        proves = isinstance(request, BindRequest) and bool(request.password)
        self._place.is_busy = proves or self._bound is not None
        try:
            _refuse_unknown(message.controls)
            await self._answer(message)
        except _Answered as answered:
            await self._say(result(message.id, request.answer, answered.code, answered.words))
            return not answered.ends
        except NoSuchObject:
            await self._say(result(message.id, request.answer, ResultCode.NO_SUCH_OBJECT))
        except Problem as problem:
            await self._say(result(message.id, request.answer, ResultCode.UNAVAILABLE, problem.message))
        except (BerError, OSError):
            raise
        except Exception as error:  # noqa: BLE001 - the client is told, and the operator why
            log_counted("error", "ldap.broken", error=error)
            await self._say(result(message.id, request.answer, ResultCode.OTHER, "Something went wrong here."))
        return True

    async def _answer(self, message: LdapMessage) -> None:
        match message.request:
            case BindRequest():
                await self._bind(message.id, message.request)
            case SearchRequest():
                await self._search(message, message.request)
            case CompareRequest():
                await self._compare(message.id, message.request)
            case ExtendedRequest():
                await self._extend(message.id, message.request)
            case LargeRequest(words):
                raise _Answered(ResultCode.ADMIN_LIMIT, words)
            case WriteRequest():
                raise _Answered(ResultCode.UNWILLING, "This tree is read only. People and groups are changed in Kith.")
            case LdapRequest():
                raise _Answered(ResultCode.PROTOCOL_ERROR)

    async def _say(self, data: bytes) -> None:
        """Whoever takes nothing of what they asked for is left: what they have not taken is kept in memory."""
        self._writer.write(data)
        try:
            async with self._waiting_for_client(TAKE_SECONDS):
                await self._writer.drain()
        except TimeoutError as error:
            self._writer.transport.abort()
            raise ConnectionAbortedError("the client takes nothing") from error

    # Who it is

    async def _bind(self, message_id: int, request: BindRequest) -> None:
        self._bound = None
        if request.version != 3:
            raise _Answered(ResultCode.PROTOCOL_ERROR, "Only version 3 of LDAP is spoken here.")
        if request.password is None:
            raise _Answered(ResultCode.AUTH_METHOD_NOT_SUPPORTED, "Bind with a name and a password.")
        if not request.name and not request.password:
            await self._say(result(message_id, 0x61, ResultCode.SUCCESS))
            return
        if not request.password:
            raise _Answered(ResultCode.UNWILLING, "A name without a password proves nothing.")
        if not self._is_safe():
            raise _Answered(ResultCode.CONFIDENTIALITY_REQUIRED, "Use StartTLS or LDAPS before you bind.")
        exchange = exchange_for(self._server, "BIND", "/ldap", self.address)
        try:
            provider, username = await self._who(exchange, request.name)
            self._bound = await bind(exchange, provider, username, request.password)
        except ProgramRefused as refused:
            code = ResultCode.INSUFFICIENT_ACCESS if refused.is_policy else ResultCode.INVALID_CREDENTIALS
            raise _Answered(ResultCode.BUSY if refused.is_throttled else code, refused.words) from refused
        finally:
            await exchange.end()
        await self._say(result(message_id, 0x61, ResultCode.SUCCESS))

    async def _who(self, exchange: Exchange, text: str) -> tuple[TreeProvider, str]:
        """The tree in which a name lies, and whose it is."""
        name = read_name(text)
        for provider in await store.all_providers(exchange.work.db):
            base = read_name(provider.base_dn) or ()
            if name and name[-len(base) :] == base and len(name) == len(base) + 2 and name[1] == ("ou", "users"):
                kind, value = name[0]
                if kind in ("cn", "uid"):
                    return provider, value
        raise _Answered(ResultCode.INVALID_CREDENTIALS, WRONG)

    def _is_safe(self) -> bool:
        try:
            address = ipaddress.ip_address(self.address)
        except ValueError:
            return self._is_encrypted
        return self._is_encrypted or (getattr(address, "ipv4_mapped", None) or address).is_loopback

    async def _who_asks(self) -> tuple[BoundPerson, TreeProvider]:
        """Whoever has bound, as they are now: what was taken from them in the meantime counts at once."""
        bound = self._bound
        if bound is None:
            raise _Answered(ResultCode.INSUFFICIENT_ACCESS, "Bind with a name and a password first.")
        exchange = exchange_for(self._server, "LDAP", "/ldap", self.address)
        try:
            work = exchange.work
            found = await refreshed(work, bound)
            trees = [one for one in await store.all_providers(work.db) if one.id == bound.provider_id]
            if found is not None and trees and time.monotonic() - found.asked_at > POLICY_SECONDS:
                found = await may_still_enter(exchange, trees[0], found)
        finally:
            await exchange.end()
        self._bound = found if trees else None
        if found is None or not trees:
            words = "You may not use this tree any more. Bind again."
            raise _Answered(ResultCode.INSUFFICIENT_ACCESS, words, ends=True)
        return found, trees[0]

    async def _providers(self) -> list[TreeProvider]:
        work = self._server.works.open()
        try:
            return await store.all_providers(work.db)
        finally:
            await work.rollback()

    async def _mapped_names(self) -> list[str]:
        work = self._server.works.open()
        try:
            return [name for name in await store.mapped_names(work.db) if is_attribute_name(name)]
        finally:
            await work.rollback()

    # What is there

    async def _search(self, message: LdapMessage, request: SearchRequest) -> None:
        if request.scope is Scope.BASE and request.base.strip().lower() in ("", schema.NAME):
            await self._describe(message.id, request)
            return
        bound, provider = await self._who_asks()
        try:
            page = self._pages.read(message.controls, request, bound)
        except BadPage as error:
            raise _Answered(ResultCode.UNWILLING, "This page is not known here.") from error
        size, cursor = page.size, page.cursor
        if size == 0:
            await self._say(result(message.id, request.answer, ResultCode.SUCCESS, controls=paged_control(b"")))
            return
        limit = min(request.size_limit or sys.maxsize, size or sys.maxsize)
        controls, code, sent = b"", ResultCode.SUCCESS, 0
        try:
            async with asyncio.timeout(min(request.time_limit or SEARCH_SECONDS, SEARCH_SECONDS)):
                async with aclosing(
                    search(self._server.works, provider, bound, request, cursor, rest=self._turn)
                ) as found:
                    controls = paged_control(b"") if size is not None else b""
                    async for one, after in found:
                        if sent == limit:
                            code = ResultCode.SUCCESS if size == limit else ResultCode.SIZE_LIMIT
                            cookie = self._pages.cookie(cursor, request, bound)
                            controls = paged_control(cookie) if size is not None else b""
                            break
                        await self._say(_shown(message.id, one, request))
                        sent, cursor = sent + 1, after
        except TimeoutError:
            code = ResultCode.TIME_LIMIT
        await self._say(result(message.id, request.answer, code, controls=controls))

    async def _describe(self, message_id: int, request: SearchRequest) -> None:
        """The root and the schema may be read by everybody: they say how to speak with the server."""
        bases = [one.base_dn for one in await self._providers()]
        has_tls = await self._tls() is not None
        is_root = not request.base.strip()
        if is_root:
            told = schema.root(bases, has_tls=has_tls and not self._is_encrypted)
        else:
            told = schema.describe(await self._mapped_names())
        if holds(request.filter, EntryLookup(told)) is True:
            await self._say(_shown(message_id, told, request))
        await self._say(result(message_id, request.answer, ResultCode.SUCCESS))

    async def _compare(self, message_id: int, request: CompareRequest) -> None:
        bound, tree = await self._who_asks()
        test = Equal(request.attribute, squeezed(request.value))
        found = await self._has(tree, bound, request.name, test)
        if not found and not await self._has(tree, bound, request.name, Present("objectclass")):
            raise NoSuchObject
        await self._say(result(message_id, request.answer, _COMPARED[found]))

    async def _has(self, tree: TreeProvider, bound: BoundPerson, name: str, test: SearchFilter) -> bool:
        asked = SearchRequest(name, Scope.BASE, 1, 0, types_only=False, filter=test, attributes=("1.1",))
        try:
            return bool([one async for one in search(self._server.works, tree, bound, asked, SearchCursor())])
        except NoSuchObject:
            return False

    # The rest

    async def _extend(self, message_id: int, request: ExtendedRequest) -> None:
        if request.oid == START_TLS:
            await self._start_tls(message_id)
        elif request.oid == WHO_AM_I:
            name = b""
            if self._bound is not None:
                bound, tree = await self._who_asks()
                name = f"dn:{person_dn(tree, bound.username)}".encode()
            await self._say(result(message_id, request.answer, ResultCode.SUCCESS, value=name))
        else:
            raise _Answered(ResultCode.PROTOCOL_ERROR, "This operation is not known here.")

    async def _start_tls(self, message_id: int) -> None:
        """What was sent in clear before it is forgotten: who has bound there is nobody afterwards.

        Whatever came in clear after the request was put there by somebody in between, to count as encrypted.
        """
        context = await self._tls()
        if self._is_encrypted:
            raise _Answered(ResultCode.OPERATIONS_ERROR, "The connection is encrypted already.")
        if context is None:
            raise _Answered(ResultCode.UNAVAILABLE, "No provider has a certificate.")
        self._bound = None
        self._writer.transport.pause_reading()  # type: ignore[attr-defined]
        if await self._has_more():
            raise BerError("something was sent before the encryption began")
        await self._say(result(message_id, 0x78, ResultCode.SUCCESS, oid=START_TLS))
        # Its own descriptor of the same socket, which can be looked at beside the transport.
        with socket.socket(fileno=os.dup(self._writer.get_extra_info("socket").fileno())) as looked_at:
            await self._greetings.wait(looked_at, self._place.address, HANDSHAKE_SECONDS)
        await self._writer.start_tls(context, ssl_handshake_timeout=HANDSHAKE_SECONDS)
        self._is_encrypted = True

    async def _has_more(self) -> bool:
        """Whether something was read that nobody has asked for yet."""
        try:
            async with asyncio.timeout(0):
                return bool(await self._reader.read(1))
        except TimeoutError:
            return False


def _refuse_unknown(controls: tuple[Control, ...]) -> None:
    for control in controls:
        if control.is_critical and control.oid != PAGED:
            raise _Answered(ResultCode.UNAVAILABLE_CRITICAL_EXTENSION, "This control is not known here.")


def _shown(message_id: int, found: LdapEntry, request: SearchRequest) -> bytes:
    """An entry with as many of its attributes as were asked for."""
    wanted = {one.partition(";")[0].lower() for one in request.attributes}
    has_all, has_operational = not wanted or "*" in wanted, "+" in wanted
    attributes = {
        name: values
        for name, values in found.attributes.items()
        if values
        and (name.lower() in wanted or (has_operational if name.lower() in OPERATIONAL else has_all))
        and wanted != {"1.1"}
    }
    return entry(message_id, found.dn, attributes, types_only=request.types_only)

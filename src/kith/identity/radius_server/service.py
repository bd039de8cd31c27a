"""What a packet asks, and its answer: by a password (PAP), or by one inside of TLS (EAP-TTLS)."""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import secrets
import struct
from collections.abc import Sequence

import msgspec
from cryptography.x509 import load_pem_x509_certificates
from OpenSSL import SSL

from kith.base.caches import ForAWhile
from kith.base.exchange import Server
from kith.base.sealing import Sealer
from kith.base.work import Work, Works
from kith.identity.caller_authentication import SignInDoor
from kith.identity.crypto import keypairs
from kith.identity.crypto.certificates import read_kept_key
from kith.identity.crypto.keypairs import KeyPair
from kith.identity.program_sign_in import ProgramRefused, exchange_for, sign_in
from kith.identity.radius_server import store
from kith.identity.radius_server.packets import (
    PacketCode,
    RadiusError,
    RadiusPacket,
    RadiusType,
    answer_to,
    hide_keys,
    is_authentic,
    reveal_password,
)
from kith.identity.radius_server.store import NetworkProvider
from kith.identity.radius_server.ttls import IDENTITY, NAK, EapCode, TtlsSession, read_eap, write_eap

__all__ = ["RadiusService"]

MOST_SESSIONS = 1_000  # of some 60 kB each, while they are under way
SESSION_SECONDS = 60.0
MOST_CONTEXTS = 64
CONTEXT_SECONDS = 3600.0
PROVIDERS_SECONDS = 2.0  # until a device with a new secret is heard, which asks again
MOST_MESSAGE = 200
_MICROSOFT = 311
_SEND_KEY, _RECEIVE_KEY = 16, 17
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class _Asked(msgspec.Struct, frozen=True):
    """A packet, who may have sent it, and the secret that both sides know."""

    packet: RadiusPacket
    provider: NetworkProvider
    secret: bytes
    address: str

    def say(self, code: PacketCode, *attributes: tuple[int, bytes]) -> bytes:
        return answer_to(self.packet, code, self.secret, list(attributes))


class _Known(msgspec.Struct, frozen=True):
    """A provider, the networks of its devices, and their secret."""

    provider: NetworkProvider
    networks: tuple[_Network, ...]
    secret: bytes


class RadiusService:
    def __init__(self, works: Works) -> None:
        self._works = works
        self._server = Server(works, routes=(), headers=(), secret_paths=(), max_body=0)
        self._contexts: ForAWhile[SSL.Context] = ForAWhile("eap_contexts", seconds=CONTEXT_SECONDS, most=MOST_CONTEXTS)
        self._providers: ForAWhile[tuple[_Known, ...]] = ForAWhile(
            "radius_providers", seconds=PROVIDERS_SECONDS, most=1
        )
        self._reading = asyncio.Lock()
        self._sessions: ForAWhile[TtlsSession] = ForAWhile("eap_sessions", seconds=SESSION_SECONDS, most=MOST_SESSIONS)

    async def answer(self, packet: RadiusPacket, address: str) -> bytes:
        """`RadiusError` for what gets no answer at all: from nobody we know, or not signed with the secret."""
        asked = await self._find_provider(packet, address)
        if packet.code == PacketCode.STATUS_SERVER:
            return asked.say(PacketCode.ACCESS_ACCEPT)
        if packet.code != PacketCode.ACCESS_REQUEST:
            raise RadiusError("only Access-Request and Status-Server are answered")
        if packet.first(RadiusType.EAP_MESSAGE) is not None:
            return await self._eap(asked)
        hidden = packet.first(RadiusType.USER_PASSWORD)
        if hidden is None:
            return _refused(asked, "Only PAP and EAP-TTLS with PAP are spoken here.")
        username = (packet.first(RadiusType.USER_NAME) or b"").decode("utf-8", "replace")
        try:
            await self._sign_in(asked, username, reveal_password(hidden, asked.secret, packet.authenticator))
        except RadiusError as error:
            return _refused(asked, f"This is {error}.")
        except ProgramRefused as refused:
            return _refused(asked, refused.words)
        return asked.say(PacketCode.ACCESS_ACCEPT)

    async def _find_provider(self, packet: RadiusPacket, address: str) -> _Asked:
        """The provider with the narrowest network around the device, whose secret has signed the packet.

        Anybody can send packets, in anybody's name: what no provider of a moment ago has signed costs no reading. What
        one has signed is looked at once more, with the providers as they are now.
        """
        _find_signer(packet, address, await self._providers_lately())
        return _find_signer(packet, address, await self._read_providers())

    async def _providers_lately(self) -> tuple[_Known, ...]:
        async with self._reading:
            found = self._providers.get("all")
            if found is None:
                found = await self._read_providers()
                self._providers.put("all", found)
            return found

    async def _read_providers(self) -> tuple[_Known, ...]:
        work = self._works.open()
        try:
            sealer = work.find(Sealer)
            return tuple(_known(one, sealer) for one in await store.all_providers(work.db))
        finally:
            await work.rollback()

    async def _sign_in(self, asked: _Asked, username: str, password: str) -> None:
        if not password:
            raise ProgramRefused("A name without a password proves nothing.")
        exchange = exchange_for(self._server, "RADIUS", "/radius", asked.address)
        try:
            mfa = asked.provider.mfa_support
            door = SignInDoor("providers.radius", "radius", takes_code=mfa, is_shared=True, by_name=True)
            await sign_in(exchange, asked.provider, username, password, door)
        finally:
            await exchange.end()

    # EAP

    async def _eap(self, asked: _Asked) -> bytes:
        try:
            return await self._converse(asked)
        except RadiusError:
            return _failed(asked)

    async def _converse(self, asked: _Asked) -> bytes:
        message = read_eap(asked.packet.joined(RadiusType.EAP_MESSAGE))
        state = asked.packet.first(RadiusType.STATE)
        if message.code != EapCode.RESPONSE:
            raise RadiusError("EAP that is no answer")
        if message.kind == IDENTITY:
            return await self._begin(asked, message.id)
        session = self._sessions.get((asked.provider.id, state))
        if session is None or session.is_over or state is None or message.kind == NAK:
            raise RadiusError("EAP without a beginning, or of another kind than EAP-TTLS")
        try:
            step = session.take(message)
            keys = session.keys() if step.password is not None else None
        except RadiusError:
            session.end()
            raise
        if step.password is None or keys is None:
            return asked.say(PacketCode.ACCESS_CHALLENGE, (RadiusType.EAP_MESSAGE, step.say), (RadiusType.STATE, state))
        session.end()
        try:
            await self._sign_in(asked, step.username, step.password)
        except ProgramRefused as refused:
            return _failed(asked, message.id, refused.words)
        return _welcome(asked, keys, step.username, message.id)

    async def _begin(self, asked: _Asked, id: int) -> bytes:
        context = await self._context(asked.provider)
        if context is None:
            raise RadiusError("the provider has no certificate")
        session, state = TtlsSession(context), secrets.token_bytes(16)
        self._sessions.put((asked.provider.id, state), session)
        say = session.start((id + 1) % 256)
        return asked.say(PacketCode.ACCESS_CHALLENGE, (RadiusType.EAP_MESSAGE, say), (RadiusType.STATE, state))

    async def _context(self, provider: NetworkProvider) -> SSL.Context | None:
        """What was loaded is kept, but what to load is read every time: a renewed certificate counts at once."""
        if provider.certificate is None:
            return None
        work = self._works.open()
        try:
            pair = await keypairs.find(work, provider.certificate)
            if pair is None or not pair.private_key_available:
                return None
            key = hashlib.sha256(f"{pair.certificate_data}\0{pair.key_data}".encode()).digest()
            found = self._contexts.get(key)
            if found is None:
                found = _load(work, pair)
                self._contexts.put(key, found)
            return found
        finally:
            await work.rollback()


def _load(work: Work, pair: KeyPair) -> SSL.Context:
    context = SSL.Context(SSL.TLS_SERVER_METHOD)
    context.set_min_proto_version(SSL.TLS1_2_VERSION)
    context.set_max_proto_version(SSL.TLS1_2_VERSION)  # the keys of EAP-TTLS over 1.3 are made in another way
    context.set_options(SSL.OP_NO_TICKET | SSL.OP_NO_RENEGOTIATION)  # every conversation proves everything anew
    context.set_session_cache_mode(SSL.SESS_CACHE_OFF)
    first, *chain = load_pem_x509_certificates(pair.certificate_data.encode())
    context.use_certificate(first)
    for one in chain:
        context.add_extra_chain_cert(one)
    key = read_kept_key(keypairs.open_key(work, pair.key_data))
    context.use_privatekey(key)  # type: ignore[arg-type]
    return context


def _known(provider: NetworkProvider, sealer: Sealer) -> _Known:
    networks = tuple(ipaddress.ip_network(one.strip(), strict=False) for one in provider.client_networks.split(","))
    return _Known(provider, networks, sealer.open(provider.shared_secret, store.SECRET_PLACE).encode())


def _find_signer(packet: RadiusPacket, address: str, known: Sequence[_Known]) -> _Asked:
    here = ipaddress.ip_address(address)
    here = getattr(here, "ipv4_mapped", None) or here
    near = sorted(
        (width, one.provider.id, one) for one in known if (width := _nearness(one.networks, here)) is not None
    )
    for _, _, one in near:
        if is_authentic(packet, one.secret):
            return _Asked(packet, one.provider, one.secret, address)
    words = "no provider knows this device" if not near else "the Message-Authenticator is missing or wrong"
    raise RadiusError(words)


def _nearness(networks: Sequence[_Network], here: ipaddress.IPv4Address | ipaddress.IPv6Address) -> int | None:
    """How wide the narrowest network around the address is; None where none is."""
    found = [one.max_prefixlen - one.prefixlen for one in networks if here in one]
    return min(found) if found else None


def _refused(asked: _Asked, words: str) -> bytes:
    return asked.say(PacketCode.ACCESS_REJECT, (RadiusType.REPLY_MESSAGE, words.encode()[:MOST_MESSAGE]))


def _welcome(asked: _Asked, keys: tuple[bytes, bytes], username: str, id: int) -> bytes:
    receive, send = keys
    return asked.say(
        PacketCode.ACCESS_ACCEPT,
        (RadiusType.EAP_MESSAGE, write_eap(EapCode.SUCCESS, id)),
        (RadiusType.USER_NAME, username.encode()[:253]),
        _microsoft(asked, _RECEIVE_KEY, receive),
        _microsoft(asked, _SEND_KEY, send),
    )


def _failed(asked: _Asked, id: int | None = None, words: str = "") -> bytes:
    if id is None:
        eap = asked.packet.joined(RadiusType.EAP_MESSAGE)
        id = eap[1] if len(eap) > 1 else 0
    told = [(RadiusType.REPLY_MESSAGE, words.encode()[:MOST_MESSAGE])] if words else []
    return asked.say(PacketCode.ACCESS_REJECT, (RadiusType.EAP_MESSAGE, write_eap(EapCode.FAILURE, id)), *told)


def _microsoft(asked: _Asked, kind: int, key: bytes) -> tuple[int, bytes]:
    salt = bytes((0x80 | secrets.randbelow(0x80), secrets.randbelow(0x100)))
    hidden = hide_keys(key, asked.secret, asked.packet.authenticator, salt)
    return RadiusType.VENDOR, struct.pack("!IBB", _MICROSOFT, kind, len(hidden) + 2) + hidden

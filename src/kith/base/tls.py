"""TLS at a cost that grows with what it brings, whatever the other side chooses.

Both sides' first words are looked at before the library works out an answer (`tls_hellos`). And what comes later is
given to it a piece at a time: new keys, tickets and the like cost far more than their bytes and bring nothing, so of
these there are only some.
"""

from __future__ import annotations

import ssl
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from kith.base.tls_hellos import check_client, check_server, first_message, is_refusal

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["CostlyTls", "client_context", "server_context"]

PIECE = 8 * 1024
OF_FIRST = 64 * 1024  # more than any first message may have
OF_HANDSHAKE = 160 * 1024  # bytes; certificates may be 100 KB
WITHOUT_DATA = 32 * 1024  # bytes that bring nothing, and as many again with each piece of data
EACH_PIECE = 128  # of data; the frame around a single byte has 22
_T = TypeVar("_T")


class CostlyTls(ssl.SSLError):
    """An error: the other side sends messages that cost too much."""

    def __init__(self, why: str) -> None:
        super().__init__(ssl.SSL_ERROR_SSL, why)


class MeasuredTls(ssl.SSLObject):
    """One side of a connection. `came` is what was received; the library gets of it what it needs."""

    _came: ssl.MemoryBIO
    _taken: ssl.MemoryBIO
    _first: bytes | None
    _spare: int

    def begin(self, came: ssl.MemoryBIO, taken: ssl.MemoryBIO) -> None:
        self._came, self._taken = came, taken
        self._first = b""  # of the other side's first words; None when they have been looked at
        self._spare = OF_HANDSHAKE

    def do_handshake(self) -> None:
        self._go_on(super().do_handshake)
        self._spare = WITHOUT_DATA

    def read(self, len: int = 1024, buffer: WriteableBuffer | None = None) -> bytes | int:  # type: ignore[override]
        read = super().read
        found: bytes | int = self._go_on(lambda: read(len, buffer))
        size = found if isinstance(found, int) else found.__len__()
        self._spare = min(WITHOUT_DATA, self._spare + 2 * size + EACH_PIECE)
        return found

    def unwrap(self) -> None:
        self._go_on(super().unwrap)

    def _go_on(self, act: Callable[[], _T]) -> _T:
        while True:
            try:
                return act()
            except ssl.SSLWantReadError:
                if not self._feed():
                    raise

    def _feed(self) -> bool:
        """Whether the library has got some more."""
        if self._first is None:
            piece = self._came.read(PIECE)
        else:
            self._first += self._came.read(OF_FIRST)
            if not self._first or not self._may_begin(self._first):
                return False
            piece, self._first = self._first, None
        self._spare -= len(piece)
        if self._spare < 0:
            raise CostlyTls("much came that brought nothing")
        self._taken.write(piece)
        return bool(piece)

    def _may_begin(self, first: bytes) -> bool:
        if is_refusal(first):
            return True  # the library has the words for it
        try:
            message = first_message(first)
            if message is not None:
                (check_client if self.server_side else check_server)(message)
        except ValueError as error:
            raise CostlyTls(str(error)) from error
        return message is not None


class _Context(ssl.SSLContext):
    sslobject_class = MeasuredTls

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:
        taken = ssl.MemoryBIO()
        made = super().wrap_bio(taken, outgoing, server_side, server_hostname, session)
        assert isinstance(made, MeasuredTls)  # noqa: S101 - it is made by the class above
        made.begin(incoming, taken)
        return made


def server_context() -> ssl.SSLContext:
    """It has no certificate yet."""
    context = _Context(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    return context


def client_context() -> ssl.SSLContext:
    """As `ssl.create_default_context`, without key exchange of the kind in which servers choose how dear it is.

    It reads every authority that the system trusts: call it in a thread.
    """
    context = _Context(ssl.PROTOCOL_TLS_CLIENT)
    if sys.version_info >= (3, 13):
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | ssl.VERIFY_X509_STRICT
    context.load_default_certs(ssl.Purpose.SERVER_AUTH)
    names = [str(one["name"]) for one in context.get_ciphers()]
    context.set_ciphers(":".join(name for name in names if not name.startswith(("TLS_", "DHE-"))))
    context.options |= ssl.OP_NO_RENEGOTIATION
    return context

"""How a piece is named and stored: compressed where that helps, encrypted where there is a key.

Equal pieces get equal names, so that each is stored once. With a key the names are made with it too: whoever sees the
repository cannot tell whether a file they know is in it. What is opened is checked: it is what was stored, under the
name it is read by, or `Damaged` is raised.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import zlib

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from kith.backup.failures import Damaged

__all__ = ["PieceSealer", "derive"]

_PLAIN, _DEFLATED = b"\0", b"\1"
_NONCE = 12
_DIGEST = 32
_LEVEL = 3
# What is larger is stored as it is: whoever can write into a repository without a key makes nobody unpack more.
MOST_UNPACKED = 64 << 20
_SCRYPT = {"n": 1 << 15, "r": 8, "p": 1}


def derive(passphrase: bytes, salt: bytes) -> bytes:
    """Slow on purpose: a passphrase that people think of can be guessed."""
    return Scrypt(salt=salt, length=32, **_SCRYPT).derive(passphrase)


class PieceSealer:
    """With `key` None everything can be read by whoever has the repository."""

    def __init__(self, key: bytes | None, repository: str) -> None:
        self._name_key = b"" if key is None else _part(key, repository, b"names")
        self._cipher = None if key is None else AESGCM(_part(key, repository, b"content"))

    @property
    def is_encrypting(self) -> bool:
        return self._cipher is not None

    def name(self, data: bytes) -> str:
        return hashlib.blake2b(data, digest_size=_DIGEST, key=self._name_key).hexdigest()

    def seal(self, data: bytes, name: str) -> bytes:
        body = _PLAIN + data
        if len(data) <= MOST_UNPACKED:
            packed = zlib.compress(data, _LEVEL)
            body = _DEFLATED + packed if len(packed) < len(data) * 15 // 16 else body
        if self._cipher is None:
            return hashlib.blake2b(name.encode() + body, digest_size=_DIGEST).digest() + body
        nonce = secrets.token_bytes(_NONCE)
        return nonce + self._cipher.encrypt(nonce, body, name.encode())

    def open(self, sealed: bytes, name: str) -> bytes:
        body = self._opened(sealed, name)
        try:
            return _unpacked(body[1:]) if body[:1] == _DEFLATED else body[1:]
        except zlib.error as error:
            raise Damaged(name) from error

    def _opened(self, sealed: bytes, name: str) -> bytes:
        if self._cipher is not None:
            try:
                return self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], name.encode())
            except (InvalidTag, ValueError) as error:
                raise Damaged(name) from error
        digest, body = sealed[:_DIGEST], sealed[_DIGEST:]
        if not hmac.compare_digest(digest, hashlib.blake2b(name.encode() + body, digest_size=_DIGEST).digest()):
            raise Damaged(name)
        return body

    def open_named(self, sealed: bytes, name: str) -> bytes:
        """A piece whose name says what is in it."""
        data = self.open(sealed, name)
        if self.name(data) != name:
            raise Damaged(name)
        return data


def _unpacked(packed: bytes) -> bytes:
    unpacking = zlib.decompressobj()
    data = unpacking.decompress(packed, MOST_UNPACKED)
    if not unpacking.eof:
        raise zlib.error("it is cut off, or more than was ever packed")
    return data


def _part(key: bytes, repository: str, use: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=32, salt=repository.encode(), info=b"kith backup " + use).derive(key)

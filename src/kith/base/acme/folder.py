"""The folder `tls/`: the account's key, the certificate, answers to challenges, and how the last attempt went.

Several processes of one machine share it. Every file is written whole under another name and then put in its place, so
a process that is killed leaves what was there. A certificate and its key are one file: they change together.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

__all__ = ["Certificate", "LastAttempt", "TlsFolder"]

_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,200}")


class Certificate(msgspec.Struct, frozen=True):
    names: tuple[str, ...]
    begins_at: datetime
    ends_at: datetime
    serial: int

    def is_due(self, now: datetime) -> bool:
        """Whether less than a third of its life is left."""
        return self.ends_at - now < (self.ends_at - self.begins_at) / 3


class LastAttempt(msgspec.Struct, frozen=True):
    failures: int = 0  # since the last one that went well
    next_at: float = 0.0
    error: str = ""


class TlsFolder:
    def __init__(self, data: Path) -> None:
        self.path = data / "tls"
        self.pair = self.path / "certificate.pem"  # the key, then the chain
        self._challenges = self.path / "challenges"
        self._last = self.path / "last_attempt.json"
        self._wish = self.path / "renew"

    def make(self) -> None:
        for folder in (self.path, self._challenges):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """True for the one process that may order now; the system takes that back from one that dies."""
        handle = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True
        finally:
            os.close(handle)

    def remove_drafts(self) -> None:
        """Of keys that a process was killed over. Whoever may order writes keys, so nobody is just writing one."""
        with self.alone() as is_mine:
            for path in [*self.path.glob(".*.key.*"), *self.path.glob(".*.pem.*")] if is_mine else ():
                path.unlink(missing_ok=True)

    def account_key(self) -> ec.EllipticCurvePrivateKey:
        path = self.path / "account.key"
        if not path.exists():
            _write(path, _private_pem(ec.generate_private_key(ec.SECP256R1())))
        key = load_pem_private_key(path.read_bytes(), None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise ValueError(f"{path} is not a key of Kith's")  # noqa: TRY004 - of the file, not of us
        return key

    # The certificate

    def find_certificate(self) -> Certificate | None:
        try:
            found = x509.load_pem_x509_certificate(self.pair.read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        return _read(found)

    def keep(self, key: ec.EllipticCurvePrivateKey, chain: bytes) -> Certificate:
        """What an ACME server gave, if it is for our key."""
        leaf = x509.load_pem_x509_certificate(chain)
        if leaf.public_key() != key.public_key():
            raise ValueError("the certificate is for another key")
        _write(self.pair, _private_pem(key) + chain)
        return _read(leaf)

    @property
    def version(self) -> tuple[int, int]:
        """Differs after every change of the certificate."""
        try:
            stat = self.pair.stat()
        except FileNotFoundError:
            return 0, 0
        return stat.st_ino, stat.st_mtime_ns

    # Challenges

    def show(self, token: str, answer: str) -> None:
        if not _TOKEN.fullmatch(token):
            raise ValueError("the ACME server's token is none")
        _write(self._challenges / token, answer.encode())

    def find_answer(self, token: str) -> bytes | None:
        if not _TOKEN.fullmatch(token):
            return None
        with contextlib.suppress(OSError):
            return (self._challenges / token).read_bytes()
        return None

    def forget_challenges(self) -> None:
        for path in self._challenges.iterdir():
            path.unlink(missing_ok=True)

    # How it went, and what is wished for

    @property
    def last_attempt(self) -> LastAttempt:
        try:
            return msgspec.json.decode(self._last.read_bytes(), type=LastAttempt)
        except (OSError, msgspec.DecodeError):
            return LastAttempt()

    def write_down(self, attempt: LastAttempt) -> None:
        _write(self._last, msgspec.json.encode(attempt))

    @property
    def is_wished_for(self) -> bool:
        return self._wish.exists()

    def wish(self) -> None:
        """Have the running server renew the certificate now."""
        self.make()
        _write(self._wish, b"")

    def wish_is_done(self) -> None:
        self._wish.unlink(missing_ok=True)


def request_for(names: list[str], key: ec.EllipticCurvePrivateKey) -> bytes:
    """What the ACME server is to sign, as DER."""
    made = (
        x509.CertificateSigningRequestBuilder()
        .subject_name(x509.Name([]))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
        .sign(key, hashes.SHA256())
    )
    return made.public_bytes(Encoding.DER)


def _read(found: x509.Certificate) -> Certificate:
    try:
        names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        hosts = tuple(names.get_values_for_type(x509.DNSName))
    except x509.ExtensionNotFound:
        hosts = ()
    return Certificate(
        hosts,
        found.not_valid_before_utc.astimezone(UTC),
        found.not_valid_after_utc.astimezone(UTC),
        found.serial_number,
    )


def _private_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _write(path: Path, data: bytes) -> None:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(handle, data)
        os.fsync(handle)
    finally:
        os.close(handle)
    draft.replace(path)

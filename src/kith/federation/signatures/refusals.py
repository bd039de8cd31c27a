"""Why a signature is not believed. The words are those that other servers' operators know from their logs."""

from __future__ import annotations

from enum import StrEnum

from kith.base.errors import Problem

__all__ = ["Fault", "SignatureRefused", "shown"]

LONGEST_SHOWN = 200


class Fault(StrEnum):
    """What is wrong, for programs; the message of the refusal says it in words."""

    UNSIGNED = "unsigned"
    TOO_LONG = "too_long"
    MALFORMED = "malformed"
    ALGORITHM = "algorithm"
    WINDOW = "window"
    COVERAGE = "coverage"
    HOST = "host"
    DIGEST = "digest"
    MALFORMED_DIGEST = "malformed_digest"
    KEY_ID = "key_id"
    KEY = "key"
    WRONG = "wrong"


class SignatureRefused(Problem):
    """The only error that reading and checking a signature raises, whatever was sent."""

    status = 401
    code = "signature_refused"

    def __init__(self, fault: Fault, message: str) -> None:
        super().__init__(message)
        self.fault = fault
        if fault is Fault.MALFORMED_DIGEST:
            self.status = 400


def shown(sent: bytes | str) -> str:
    """What somebody sent, fit to be told back to them: printable and not too long."""
    text = sent.decode("latin-1") if isinstance(sent, bytes) else sent
    return "".join(one if one.isascii() and one.isprintable() else "?" for one in text[:LONGEST_SHOWN])

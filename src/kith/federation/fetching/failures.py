"""Why something of another server could not be had."""

from __future__ import annotations

from typing import Literal

from kith.base.http import Reason

__all__ = ["FetchFailed", "FetchReason"]

FetchReason = (
    Reason
    | Literal[
        "plain_http",
        "own_domain",
        "blocked",
        "failed_before",
        "over_budget",
        "not_found",
        "gone",
        "forbidden",
        "unavailable",
        "status",
        "wrong_type",
        "wrong_host",
        "wrong_id",
        "wrong_subject",
        "document",
    ]
)

_PASSING = frozenset({"timeout", "connect", "tls", "protocol", "failed_before", "unavailable", "busy"})


class FetchFailed(Exception):  # noqa: N818 - it is an answer
    """`reason` says why in one word. The words are for the log."""

    def __init__(self, reason: FetchReason, words: str) -> None:
        super().__init__(f"{reason}: {words}")
        self.reason: FetchReason = reason

    @property
    def may_pass(self) -> bool:
        """Whether it may go better later."""
        return self.reason in _PASSING

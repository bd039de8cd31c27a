"""The one way in which reading a document from elsewhere can fail."""

from __future__ import annotations

from typing import Literal

__all__ = ["DocumentRefused", "RefusalReason"]

RefusalReason = Literal[
    "too_large",
    "not_json",
    "too_deep",
    "too_many_values",
    "not_an_object",
    "no_context",
    "no_id",
    "unknown_type",
    "no_actor",
    "no_object",
    "no_target",
    "no_username",
    "no_inbox",
    "no_key",
    "no_author",
    "no_content",
    "no_subject",
    "no_link",
    "not_xml",
    "wrong_host",
    "wrong_actor",
]


class DocumentRefused(Exception):  # noqa: N818 - it is an answer
    """The document is not believed; `reason` says why in one word. The words are for the log."""

    def __init__(self, reason: RefusalReason, words: str = "") -> None:
        super().__init__(f"{reason}: {words}" if words else reason)
        self.reason: RefusalReason = reason

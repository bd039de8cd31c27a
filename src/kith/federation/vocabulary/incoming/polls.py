"""The poll in a Question."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from kith.federation.vocabulary.incoming import limits
from kith.federation.vocabulary.incoming.fields import each, read_count, read_instant, read_map, read_text
from kith.federation.vocabulary.incoming.parsing import Document

__all__ = ["IncomingPoll", "IncomingPollOption", "read_poll"]


class IncomingPollOption(msgspec.Struct, frozen=True):
    name: str
    votes: int


class IncomingPoll(msgspec.Struct, frozen=True, kw_only=True):
    """Endless with neither `ends_at` nor `is_closed`; `is_closed` says that it is over without saying since when."""

    options: tuple[IncomingPollOption, ...]
    multiple: bool
    ends_at: datetime | None
    is_closed: bool
    voters_count: int | None


def read_poll(document: Document) -> IncomingPoll | None:
    """None where there is nothing to choose from."""
    multiple = isinstance(document.get("anyOf"), list | dict) and bool(document["anyOf"])
    options = tuple(_options(document["anyOf"] if multiple else document.get("oneOf")))
    if not options:
        return None
    closed = document.get("closed")
    return IncomingPoll(
        options=options,
        multiple=multiple,
        ends_at=read_instant(closed) or read_instant(document.get("endTime")),
        is_closed=closed is True,
        voters_count=read_count(document.get("votersCount")),
    )


def _options(value: Any) -> list[IncomingPollOption]:
    found: list[IncomingPollOption] = []
    for one in each(value, limits.POLL_OPTIONS):
        if not isinstance(one, dict):
            continue
        name = read_text(one.get("name"), limits.OPTION_LENGTH) or read_map(one.get("nameMap"))[0]
        if name:
            found.append(IncomingPollOption(name[: limits.OPTION_LENGTH], _votes(one)))
    if sum(len(one.name) for one in found) > limits.OPTIONS_LENGTH:
        share = limits.OPTIONS_LENGTH // len(found)
        found = [msgspec.structs.replace(one, name=one.name[:share]) for one in found]
    return found


def _votes(option: Document) -> int:
    """Misskey also counts them in a field of its own."""
    replies = option.get("replies")
    given = replies.get("totalItems") if isinstance(replies, dict) else option.get("_misskey_votes")
    return read_count(given) or 0

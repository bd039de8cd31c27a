"""Messages to a person, shown once on the next page."""

from __future__ import annotations

from typing import Literal

from sqlalchemy import bindparam, delete, select

from kith.base.caches import UntilWritten
from kith.base.db import command, insert_into, query
from kith.base.work import Work
from kith.identity.messages.tables import UserMessage, messages

Level = Literal["debug", "info", "success", "warning", "error"]
LEVELS: dict[Level, int] = {"debug": 10, "info": 20, "success": 25, "warning": 30, "error": 40}
NAMES = {number: name for name, number in LEVELS.items()}

_insert = command(insert_into(messages))
_waiting = query(select(messages.c.id).where(messages.c.user_id == bindparam("user")).limit(1), int)
_take = query(delete(messages).where(messages.c.user_id == bindparam("user")).returning(*messages.c), UserMessage)


async def leave(work: Work, user_id: int, text: str, level: Level = "info", *, tags: str = "") -> None:
    row = UserMessage(work.new_id(), user_id, LEVELS[level], text, tags, work.now)
    await work.db.run(_insert, **{name: getattr(row, name) for name in UserMessage.__struct_fields__})


async def _is_waiting(work: Work, user_id: int) -> bool | None:
    """Kept until somebody writes: every page asks, and mostly there is nothing."""

    async def read() -> bool:
        return await work.db.one(_waiting, user=user_id) is not None

    return await work.find(UntilWritten).look_up(work.db, ("messages", user_id), read)


async def take(work: Work, user_id: int) -> list[UserMessage]:
    """All messages, oldest first; each is given to one request only.

    During an impersonation none are taken: they are for the person.
    """
    if not await _is_waiting(work, user_id) or work.origin.acting is not None:
        return []
    return sorted(await work.db.all(_take, user=user_id), key=lambda message: message.id)

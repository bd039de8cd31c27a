"""What flows need of sources: those offered on the sign-in page, and keeping who came from one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kith.base.work import Work
from kith.identity.flows.plan_context import PendingConnection
from kith.identity.sources import connections, store
from kith.identity.sources.offered_sources import offered
from kith.identity.sources.store import Source
from kith.identity.users.tables import User


class RegisteredSources:
    """Implements `stages.sign_in_sources.SignInSources`."""

    async def offered(self, work: Work, chosen: Sequence[str], query: Mapping[str, str]) -> list[dict[str, Any]]:
        return await offered(work, chosen, query)

    async def connect(self, work: Work, user: User, coming: PendingConnection) -> None:
        source = await _find(work, coming)
        if source is not None:
            await connections.connect_new(work, user, source, coming)

    async def arrived(self, work: Work, user: User, coming: PendingConnection, session_uuid: str) -> str:
        source = await _find(work, coming)
        if source is None:
            return ""
        await connections.keep(work, user, source, coming, session_uuid)
        return source.name

    async def is_password(self, work: Work, user: User, given: str) -> bool:  # noqa: ARG002 - no directory is asked
        return False


async def _find(work: Work, coming: PendingConnection) -> Source | None:
    return await store.find_source_by_id(work.db, coming.source)

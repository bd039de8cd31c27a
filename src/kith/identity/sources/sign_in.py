"""What flows need of sources: those offered on the sign-in page, and keeping who came from one."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from kith.base.work import Work
from kith.identity.flows.plan_context import PendingConnection
from kith.identity.sources import connections, store
from kith.identity.sources.admission import ask_policies
from kith.identity.sources.offered_sources import offered
from kith.identity.sources.reach import reach_of
from kith.identity.sources.store import Source
from kith.identity.users.tables import User


class RegisteredSources:
    """Implements `stages.sign_in_sources.SignInSources`."""

    async def offered(self, work: Work, chosen: Sequence[str], query: Mapping[str, str]) -> list[dict[str, Any]]:
        return await offered(work, chosen, query)

    async def gives_address(self, work: Work, coming: PendingConnection) -> bool:
        source = await _find(work, coming)
        return source is not None and await (await reach_of(work, source)).gives_address(work, coming.email, 0)

    async def connect(self, work: Work, user: User, coming: PendingConnection) -> None:
        source = await _find(work, coming)
        if source is not None:
            await connections.connect_new(work, user, source, coming)

    async def admits(
        self, work: Work, user: User, coming: PendingConnection, context: dict[str, Any], *, client_ip: str
    ) -> bool:
        source = await _find(work, coming)
        if source is None or not source.enabled:
            return False
        if coming.is_known and not await connections.is_connected(work, user, coming):
            return False
        told = {**context, "identifier": coming.identifier}
        return (await ask_policies(work, source, user.id, told, client_ip=client_ip)).passing

    async def arrived(self, work: Work, user: User, coming: PendingConnection, session_uuid: str) -> str:
        source = await _find(work, coming)
        if source is None or (coming.is_known and not await connections.is_connected(work, user, coming)):
            return ""
        await connections.keep(work, user, source, coming, session_uuid)
        return source.name

    async def try_password(self, work: Work, user: User, given: str) -> str | None:
        if not given or not await _has_directory(work, user):
            return None
        found: str | None = await _passwords().try_password(work, user, given)
        return found

    async def keep_password(self, work: Work, user: User, source: str, given: str, stamp: str) -> str | None:
        kept: str | None = await _passwords().keep_password(work, user, source, given, stamp)
        return kept

    async def write(self, work: Work, user: User, password: str) -> None:
        """Implements `users.password_copies.PasswordCopies`."""
        if await _has_directory(work, user):
            await _passwords().write_back(work, user, password)


async def _has_directory(work: Work, user: User) -> bool:
    return any(one.kind == "ldap" for one in await store.linked(work.db, user.id))


def _passwords() -> ModuleType:
    """What asks directories is loaded when the first person has one."""
    return importlib.import_module("kith.identity.sources.ldap.passwords")


async def _find(work: Work, coming: PendingConnection) -> Source | None:
    return await store.find_source_by_id(work.db, coming.source)

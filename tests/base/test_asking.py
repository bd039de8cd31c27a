"""On whose behalf things are done, and what is done on nobody's."""

from __future__ import annotations

import ast
import asyncio
from pathlib import Path

from kith.base import asking

SOURCE = Path(__file__).parents[2] / "src" / "kith"
# Tasks that are begun for somebody, and end with what that one asked for; or where nobody has asked yet.
FOR_SOMEBODY = {
    "app.py": "a command's own",
    "backup/places.py": "ends with the backup",
    "base/db/sqlite.py": "ends with the transaction of those who wait",
    "base/jobs/suspects.py": "the worker's",
    "base/jobs/worker.py": "the worker's",
    "base/server/handshakes.py": "a connection's",
    "base/server/http.py": "a request's",
    "base/server/websocket.py": "a connection's",
    "cli/demo/making.py": "a command's own",
    "cli/replacing.py": "begun by a signal, for nobody",
    "cli/running.py": "a command's own",
    "cli/serve.py": "the process's",
    "cli/watching.py": "the process's",
    "federation/inbox/known_keys.py": "ends with the fetching of a key, which counts for who asked first",
    "federation/keys/service.py": "ends with the making of a key",
    "identity/gateway/proxy.py": "ends with the request",
    "identity/gateway/sockets.py": "ends with the socket",
    "identity/ldap_server/listener.py": "a connection's",
    "identity/providers/oauth2/keys/client_keys.py": "ends with the fetching of keys, which counts for who asked first",
    "identity/radius_server/listener.py": "a packet's",
}


class _Asked:
    address = "192.0.2.1"
    user_id: int | None = 7
    is_entering = False
    is_of_known = False

    async def look_again(self) -> None: ...


async def test_what_is_begun_for_everybody_counts_for_nobody() -> None:
    async def who() -> tuple[str | None, str, str]:
        return asking.caller(), asking.owner(), asking.job()

    async def asked() -> list[tuple[str | None, str, str]]:
        asking.answer_for(_Asked())
        with asking.run_job("some.kind", "example.org"):
            return [await asyncio.create_task(who()), await asking.begin_for_everybody(who())]

    inherited, own = await asyncio.create_task(asked())

    assert inherited == ("user:7", "example.org", "some.kind")
    assert own == (None, "", "")


def test_every_task_is_begun_for_everybody_or_ends_with_what_somebody_asked_for() -> None:
    begins = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in (
                "create_task",
                "ensure_future",
            ):
                begins.add(path.relative_to(SOURCE).as_posix())

    assert sorted(begins - {"base/asking.py"}) == sorted(FOR_SOMEBODY)

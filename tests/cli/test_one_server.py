"""One server at a time over an SQLite database."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tests.cli.running import kith
from tests.cli.test_replacing import until_told
from tests.town import build_town
from tests.town.ports import ReservedPort


async def test_a_second_server_is_refused_until_the_first_has_ended(tmp_path: Path) -> None:
    async with build_town("sqlite", tmp_path / "town") as town:
        with ReservedPort() as port:
            elsewhere = {"bind": f"127.0.0.1:{port.number}"}
            refused = await kith(town, "serve", **elsewhere)
            made = await kith(
                town,
                "users",
                "create",
                "beside",
                "--email",
                "beside@example.org",
                "--password",
                "open sesame",
                "--confirmed",
            )
            backed_up = await kith(town, "backup", str(tmp_path / "backups"))

            # a replacement keeps it
            os.kill(town.pid, signal.SIGHUP)
            await until_told(town, "server.stopped", 1)
            assert (await town.http.get("/health")).status_code == 200
            still_refused = await kith(town, "serve", **elsewhere)
            pid = town.pid

        await town.kill()
        await town.start()

    assert (made.code, backed_up.code) == (0, 0), (made, backed_up)
    for answer in (refused, still_refused):
        assert answer.code != 0
        assert f"is served by another process already (pid {pid})" in answer.complained, answer

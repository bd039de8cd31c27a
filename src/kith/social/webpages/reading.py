"""Reading pages from elsewhere: in processes of their own, a few at a time, each with hard limits.

Starting one costs less than a tenth of a second. What takes longer than any honest page, or more memory, is ended,
and says nothing; the server meanwhile answers as always.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

import kith
from kith.base.counted_log import log_counted
from kith.base.http.sites import site_of
from kith.base.http.urls import parse_url
from kith.base.places import Places
from kith.social.webpages.page_facts import PageFacts

__all__ = ["PageFacts", "Webpages"]

AT_ONCE, EACH = 3, {"host": 2}
WAIT_SECONDS = 60.0
MEMORY = 512 << 20
CPU_SECONDS = 2
SECONDS = 20.0
MOST_SAID = 4 << 20


class Webpages:
    def __init__(self) -> None:
        self._places = Places("page_readers", most=AT_ONCE, each=EACH)

    async def page(self, body: bytes, charset: str, url: str) -> PageFacts | None:
        """What a page says about itself; None where it could not be read within the limits."""
        said = await self._run(body, url, craft="page", charset=charset, url=url)
        return None if said is None else msgspec.json.decode(said, type=PageFacts)

    async def own_links(self, body: bytes, url: str) -> list[str]:
        said = await self._run(body, url, craft="own_links")
        return [] if said is None else msgspec.json.decode(said, type=list[str])

    async def _run(self, body: bytes, came_from: str, **job: Any) -> bytes | None:
        """Raises `Full` where pages of others, or of the same host, take too long."""
        job |= {"memory": MEMORY, "seconds": CPU_SECONDS}
        async with self._places.take(seconds=WAIT_SECONDS, host=site_of(parse_url(came_from))):
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",
                "-B",
                "-m",
                "kith.social.webpages.program",
                json.dumps(job),
                cwd="/",
                env={"PYTHONPATH": str(Path(kith.__file__).parents[1]), "LC_ALL": "C.UTF-8"},
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
            try:
                async with asyncio.timeout(SECONDS):
                    said, _ = await process.communicate(body)
            except TimeoutError:
                said = b""
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        if process.returncode == 0 and len(said) <= MOST_SAID:
            return said
        log_counted(
            "warning",
            "webpages.not_read",
            job["craft"],
            craft=job["craft"],
            url=job.get("url"),
            code=process.returncode,
        )
        return None

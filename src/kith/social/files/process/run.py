"""How a program of the workshop runs: confined first, then the one thing it was started for, then a report."""

from __future__ import annotations

import errno
import json
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kith.base.confine import confine
from kith.social.files.process.refusal import NO_ROOM, RefusedFile

Craft = Callable[[Path, Path, str], dict[str, Any]]

TOO_MUCH = "The file needs more memory than there is for it"


def run(crafts: Mapping[str, Craft]) -> None:
    """Do what the first argument says, in the folder this was started in, with its file `source`."""
    job = json.loads(sys.argv[1])
    confine(memory=job["memory"], seconds=job["seconds"], file_bytes=job["file_bytes"])
    try:
        _craft(crafts, job, Path.cwd())
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        sys.exit(NO_ROOM)


def _craft(crafts: Mapping[str, Craft], job: dict[str, Any], folder: Path) -> None:
    try:
        report = crafts[job["craft"]](folder, folder / "source", job["mime"])
    except RefusedFile as refused:
        traceback.print_exception(refused)
        report = {"error": str(refused)}
    except MemoryError:
        traceback.print_exc()
        report = {"error": TOO_MUCH}
    (folder / "report.json").write_text(json.dumps(report), "utf-8")

from __future__ import annotations

import subprocess
import sys

import msgspec

HEAVY = {"sqlalchemy", "asyncpg", "httptools", "rich", "obstore", "aiohttp", "kith.app"}


def test_help_names_every_command_and_loads_none() -> None:
    program = "import json, sys; from kith.cli import main; main(['--help']); print(json.dumps(list(sys.modules)))"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    *help_lines, modules = done.stdout.decode().splitlines()

    assert HEAVY.isdisjoint(msgspec.json.decode(modules))
    named = {line.split()[0] for line in help_lines if line.startswith("  ") and line.split()}
    assert {"serve", "work", "migrate", "users", "tokens", "jobs", "check"} <= named

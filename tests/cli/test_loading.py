"""What each command loads, by names: what it has no use for is not in its memory, and does not delay its start."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable
from pathlib import Path

import httpx
import msgspec
import pytest

from tests.town import Town, build_town
from tests.town.town import Engine

LATER = {
    "PIL", "aiohttp", "aiosmtplib", "alembic", "argon2", "av", "bcrypt", "cryptography", "jinja2", "joserfc", "nh3",
    "obstore", "pydantic_monty", "pyexpat", "re2", "regex", "segno", "webauthn", "yaml", "zxcvbn_rs_py",
    "kith.identity.crypto.certificates", "kith.migrations.runner",
}  # fmt: skip
SERVER = {
    "httptools", "prometheus_client", "rich", "structlog", "uvloop", "yarl",
    "kith.app", "kith.base.edge", "kith.base.http", "kith.base.routing", "kith.social", "kith.web",
}  # fmt: skip
# Prints what is loaded as one line of JSON, when a command ends or a server is told to stop.
_PROGRAM = (
    "import json, sys; from kith.cli import main; main(sys.argv[1:]); "
    # no more than a pipe holds
    "shown = [name for name in sys.modules if name.count('.') <= (3 if name.startswith('kith.') else 0)]; "
    "print(json.dumps(sorted(shown)), file=sys.stderr)"
)


async def _loaded(*words: str, town: Town) -> set[str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        _PROGRAM,
        *words,
        env=town.environment,
        stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )
    _, said = await process.communicate()
    return _modules(said)


def _modules(said: bytes) -> set[str]:
    return set(msgspec.json.decode(said.splitlines()[-1], type=list[str]))


def _of(loaded: set[str], unwanted: Iterable[str]) -> set[str]:
    return loaded & set(unwanted)


@pytest.mark.parametrize("words", [("users", "list"), ("jobs", "list"), ("users", "show", "nobody")])
async def test_a_command_that_looks_loads_the_database_and_what_it_shows(words: tuple[str, ...], town: Town) -> None:
    loaded = await _loaded(*words, town=town)

    assert "kith.base.db" in loaded
    assert _of(loaded, LATER | SERVER) == set()


async def test_a_command_of_one_room_loads_no_other(town: Town) -> None:
    loaded = await _loaded("why", town=town)

    assert "kith.identity.refusals.store" in loaded
    assert _of(loaded, LATER | {"kith.app", "kith.base.routing", "kith.social", "kith.web"}) == set()


async def test_the_list_of_tokens_loads_neither_rooms_nor_what_they_stand_on(town: Town) -> None:
    loaded = await _loaded("tokens", "list", "nobody", town=town)

    assert "kith.identity.tokens.store" in loaded
    assert _of(loaded, LATER | SERVER) == set()


# Prints what is loaded while something is written, by names.
_WHILE_WRITING = """
import json, sys
from kith.base.db import writing

class Watch:
    loaded = []
    def find_spec(self, name, path=None, target=None):
        if writing.is_writing():
            self.loaded.append(name)

sys.meta_path.insert(0, Watch())
from kith.cli import main
main(sys.argv[1:])
print(json.dumps(Watch.loaded), file=sys.stderr)
"""


async def test_a_command_that_writes_loads_before_it_does(tmp_path: Path) -> None:
    """Whoever else writes waits for it: on SQLite everybody."""
    async with build_town("sqlite", tmp_path / "town", start=False) as town:
        await town.sign_up("writer")
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            _WHILE_WRITING,
            *("tokens", "create", "writer", "--scopes", "read"),
            env=town.environment,
            stderr=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
        )
        _, said = await process.communicate()

    assert process.returncode == 0, said.decode()
    assert [name for name in _modules(said) if name.startswith("kith.")] == []


async def test_help_loads_no_command(town: Town) -> None:
    loaded = await _loaded("--help", town=town)

    assert _of(loaded, LATER | SERVER | {"sqlalchemy", "asyncpg", "kith.base.db", "kith.cli.users"}) == set()


async def test_a_server_that_has_answered_has_not_loaded_what_only_some_requests_need(
    engine: Engine, tmp_path: Path
) -> None:
    async with build_town(engine, tmp_path / "town", start=False) as town:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            _PROGRAM,
            "serve",
            env=town.environment,
            stderr=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
        )
        async with asyncio.timeout(120):
            while not await _answers(town):
                await asyncio.sleep(0.05)
        process.terminate()
        _, said = await process.communicate()

    loaded = _modules(said)
    assert "kith.app" in loaded
    assert _of(loaded, LATER | {"rich"} | ({"asyncpg"} if engine == "sqlite" else set())) == set()


async def _answers(town: Town) -> bool:
    try:
        return (await town.http.get("/health")).status_code == 200
    except httpx.TransportError:
        return False

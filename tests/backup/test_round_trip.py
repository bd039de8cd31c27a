"""A server is backed up while people write, and made again from nothing: every recorded answer is the same."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.conftest import TownBuilder
from tests.town import Person, Town, postgres
from tests.town.nursery import run

SECRET = "a key that nobody guesses\n"


def picture(colour: str) -> bytes:
    file = BytesIO()
    Image.new("RGB", (320, 200), colour).save(file, "JPEG")
    return file.getvalue()


class Community:
    """Ada, what she has made, and the answers that tell of it."""

    def __init__(self, town: Town, ada: Person, key: str) -> None:
        self.town, self.ada = town, ada
        self.ours = {"authorization": f"Bearer {key}"}
        self.recorded: dict[str, tuple[int, str, bytes]] = {}

    async def post(self, path: str, **options: Any) -> Any:
        answer = await self.town.http.post(path, headers=self.ours, **options)
        assert answer.status_code < 300, answer.text
        return answer.json()

    async def settle_in(self) -> list[str]:
        """Something of both halves; the addresses that are recorded."""
        uploads = [
            await self.post("/api/v2/media", files={"file": (f"{one}.jpg", picture(one), "image/jpeg")})
            for one in ("teal", "orange")
        ]
        media = {"status": "with pictures #garden", "media_ids": [one["id"] for one in uploads]}
        first = await self.post("/api/v1/statuses", json=media)
        reply = await self.post("/api/v1/statuses", json={"status": "a reply", "in_reply_to_id": first["id"]})
        await self.post(f"/api/v1/statuses/{first['id']}/favourite")
        await self.post(f"/api/v1/statuses/{first['id']}/bookmark")
        listed = await self.post("/api/v1/lists", json={"title": "friends"})
        group = await self.post("/api/v2/core/groups/", json={"name": "Gardeners", "attributes": {"plot": 7}})
        app = await self.post("/api/v2/core/applications/", json={"name": "Wiki", "slug": "wiki"})
        me = (await self.town.http.get("/api/v1/accounts/verify_credentials", headers=self.ours)).json()
        files = [one[name].removeprefix(self.town.base_url) for one in uploads for name in ("url", "preview_url")]
        name = self.ada.username
        provider = (await self.town.http.get("/.well-known/openid-configuration")).json()
        keys = provider["jwks_uri"].removeprefix(self.town.base_url)
        return [
            *files,
            f"/api/v1/statuses/{first['id']}",
            f"/api/v1/statuses/{first['id']}/context",
            f"/api/v1/statuses/{reply['id']}",
            f"/api/v1/accounts/{me['id']}",
            f"/api/v1/accounts/{me['id']}/statuses",
            "/api/v1/timelines/tag/garden",
            "/api/v1/favourites",
            "/api/v1/bookmarks",
            f"/api/v1/lists/{listed['id']}",
            "/api/v1/preferences",
            f"/@{name}/{first['id']}/embed",
            f"/users/{name}",
            f"/users/{name}/statuses/{first['id']}",
            f"/.well-known/webfinger?resource=acct:{name}@127.0.0.1:{self.town.port}",
            "/.well-known/openid-configuration",
            f"/api/v2/core/groups/{group['pk']}/",
            f"/api/v2/core/applications/{app['pk']}/",
            "/api/v2/flows/instances/",
            "/api/v2/stages/all/",
            keys,
        ]

    async def ask(self, town: Town, path: str) -> tuple[int, str, bytes]:
        kind = "application/activity+json" if path.startswith("/users/") else "*/*"
        answer = await town.http.get(path, headers={**self.ours, "accept": kind})
        return answer.status_code, answer.headers.get("content-type", ""), answer.content

    async def record(self, paths: list[str]) -> None:
        self.recorded = {path: await self.ask(self.town, path) for path in paths}


@asynccontextmanager
async def writing(town: Town, key: str) -> AsyncIterator[list[str]]:
    """Somebody else posts all the while; what was accepted."""
    accepted: list[str] = []

    async def write() -> None:
        while True:
            answer = await town.http.post(
                "/api/v1/statuses", json={"status": "x" * 300}, headers={"authorization": f"Bearer {key}"}
            )
            assert answer.status_code == 200, answer.text
            accepted.append(answer.json()["id"])

    task = asyncio.create_task(write())
    try:
        yield accepted
    finally:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


def kill_one_half_way(town: Town, repository: Path) -> None:
    """As when the power fails: some pieces are there, and no manifest."""
    words = [sys.executable, "-c", "import sys; from kith.cli import main; sys.exit(main())", "backup", str(repository)]
    process = subprocess.Popen(words, env=town.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    give_up = time.monotonic() + 60
    while not any(repository.glob("chunks/*/*")) and time.monotonic() < give_up:
        time.sleep(0.005)
    process.kill()
    process.wait()


async def test_a_restored_server_answers_as_the_first_did(new_town: TownBuilder, tmp_path: Path) -> None:
    # given
    repository, key_file = tmp_path / "repository", tmp_path / "secret"
    key_file.write_text(SECRET)
    key_file.chmod(0o600)
    town = await new_town(
        confirm_email="off", backup=str(repository), backup_key_file=str(key_file), backup_keep="9 last"
    )
    ada, noise = await town.owner(), await town.sign_up()
    scopes = ("--scopes", "read write follow admin:read admin:write api")
    tokens = [(await town.kith("tokens", "create", one.username, *scopes)).strip() for one in (ada, noise)]
    community = Community(town, ada, tokens[0])
    await community.record(await community.settle_in())
    assert {path: one[0] for path, one in community.recorded.items() if one[0] != 200} == {}

    # when
    await asyncio.to_thread(kill_one_half_way, town, repository)
    async with writing(town, tokens[1]) as accepted:
        before = len(accepted)
        made = json.loads(await town.kith("backup", "--json"))
        during = len(accepted) - before
        await community.post("/api/v1/admin/backups")  # the console's button: the worker starts a process
        told = await _until_backed_up(community, 2)
    [second, first] = told["backups"]

    # then
    assert during > 0, "nobody could write while the backup was made"
    assert (first["backup"], first["succeeded"], first["encrypted"]) == (made["id"], True, True)
    assert second["succeeded"], second
    assert second["new_bytes"] * 2 < second["size"], "what was there is not written again"
    listed = json.loads(await town.kith("backup", "list", "--json"))
    assert [one["id"] for one in listed] == [first["backup"], second["backup"]]
    assert json.loads(await town.kith("backup", "verify", "--json"))["damaged"] == 0
    await _restored(town, community, made, tmp_path)
    await _tried(town, community)
    await _guarded(town, repository, tmp_path)


async def _until_backed_up(community: Community, count: int) -> dict[str, Any]:
    while True:
        answer = await community.town.http.get("/api/v1/admin/backups", headers=community.ours)
        told: dict[str, Any] = answer.json()
        if len(told["backups"]) >= count:
            return told
        await asyncio.sleep(0.1)


async def _restored(town: Town, community: Community, made: dict[str, Any], tmp_path: Path) -> None:
    """On another machine, under the same address."""
    folder = tmp_path / "restored"
    folder.mkdir()
    async with _empty_database(town) as database:
        again = Town(
            town.engine, folder, database, confirm_email="off", base_url=town.base_url,
            backup=str(tmp_path / "repository"), backup_key_file=str(tmp_path / "secret"),
        )  # fmt: skip
        told = json.loads(await again.kith("restore", str(tmp_path / "repository"), "--backup", made["id"], "--json"))
        assert (told["differences"], told["rows"]) == ([], made["rows"])
        refused = await again.kith("restore", str(tmp_path / "repository"), expect=1)
        assert "empty" in refused
        await again.start()
        try:
            for path, expected in community.recorded.items():
                assert await community.ask(again, path) == expected, path
            posted = await again.http.post("/api/v1/statuses", json={"status": "on"}, headers=community.ours)
            assert posted.status_code == 200
        finally:
            await again.close()


@asynccontextmanager
async def _empty_database(town: Town) -> AsyncIterator[str]:
    if town.engine == "sqlite":
        yield "sqlite"
    else:
        async with postgres.fresh_database() as url:
            yield url


async def _tried(town: Town, community: Community) -> None:
    """The rehearsal restores, starts, compares, says so, and leaves nothing."""
    told = json.loads(await town.kith("backup", "rehearse", "--json"))
    assert "are as they were" in told["found"]
    assert [one for one in Path(town.folder).iterdir() if one.name.startswith(("rehearsal", "backup-in"))] == []
    findings = json.loads(await town.kith("check", "--json"))
    about = [one for one in findings if one["check"] == "backups"]
    assert [one["state"] for one in about] == ["ok", "ok", "ok"], about  # made, rehearsed, and the key file
    page = await town.http.get("/api/v1/admin/backups", headers=community.ours)
    assert [one["succeeded"] for one in page.json()["rehearsals"]] == [True]


async def _guarded(town: Town, repository: Path, tmp_path: Path) -> None:
    """A wrong key, a changed piece and an interrupted restore are all noticed."""
    wrong = tmp_path / "wrong"
    wrong.write_text("some other words\n")
    assert "not the key" in await town.kith("backup", "list", "--key-file", str(wrong), expect=1)
    victim = max(repository.glob("chunks/*/*"), key=lambda path: path.stat().st_size)
    content = bytearray(victim.read_bytes())
    content[len(content) // 2] ^= 1
    victim.write_bytes(bytes(content))
    verdict = await town.kith("backup", "verify", "--drop-damaged", expect=1)
    assert "1 are damaged" in verdict
    (Path(town.folder) / "restoring").write_text("an id")
    assert "interrupted" in await town.kith("backup", expect=1)
    (Path(town.folder) / "restoring").unlink()
    made = json.loads(await town.kith("backup", "--json"))
    # An earlier one stays damaged where nothing of today is like the piece that it lost.
    verified = await run("backup", "verify", "--json", environment=town.environment)
    found = json.loads(verified.said)
    assert found["damaged"] <= 1  # the one piece that was dropped
    assert made["id"] not in found["damaged_backups"]

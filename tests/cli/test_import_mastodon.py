from __future__ import annotations

from pathlib import Path

import pyotp
import pytest

from tests.cli.mastodon_server import KEYS, PASSWORD, RELEASES, TOKEN, TOTP_SECRET, MastodonServer
from tests.conftest import TownBuilder
from tests.town import Town, postgres
from tests.town.nursery import Done, run


async def bring(town: Town, source: str, *words: str, keys: bool = True) -> Done:
    environment = town.environment | (KEYS if keys else {})
    done = await run("import", "mastodon", source, *words, "--json", environment=environment)
    assert done.code == 0, done.complained
    return done


@pytest.mark.parametrize("release", RELEASES)
async def test_a_mastodon_server_moves_in(new_town: TownBuilder, tmp_path: Path, release: str) -> None:
    town = await new_town(start=False)
    old = MastodonServer(release, town.base_url)
    media = str(old.write_media(tmp_path / "system"))
    database = ""
    if release == "4.5":
        database = f"mastodon_{town.port}"
        source = await postgres.create_database(database)
        await old.create(source)
    else:
        source = str(old.dump(tmp_path / ("mastodon.sql.gz" if release == "4.3" else "mastodon.sql")))
    try:
        rehearsed = await bring(town, source, "--media", media, "--rehearse")
        done = await bring(town, source, "--media", media)
    finally:
        if database:
            await postgres.drop_database(database)
    print(done.json)
    assert rehearsed.json["taken"] == done.json["taken"]

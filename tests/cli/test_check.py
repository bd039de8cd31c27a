from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path

from sqlalchemy import text

from kith.base.db import command
from kith.base.jobs.tables import READY
from kith.base.keys import Keys
from tests.cli.running import database, kith, settle
from tests.cli.test_jobs import LETTER, bury
from tests.conftest import TownBuilder
from tests.identity.address_files import CITIES, write
from tests.town import build_town
from tests.town.nursery import Done

Findings = dict[tuple[str, str], list[str]]


def of(done: Done) -> Findings:
    """What was found, by check and state: what is so, and how to mend it."""
    found: Findings = {}
    for finding in done.json:
        words = f"{finding['what']} -> {finding['mend']}"
        found.setdefault((finding["check"], finding["state"]), []).append(words)
    return found


async def test_a_sound_server_passes_while_it_runs(new_town: TownBuilder) -> None:
    town = await new_town()
    await settle(town, "sound", role="owner")

    done = await kith(town, "check", "--json")

    assert done.code == 0, done
    assert {state for _, state in of(done)} == {"ok", "warning"}
    sound = {"settings", "keys", "disk", "address", "database", "schema", "people", "servers", "worker", "media"}
    assert sound <= {check for check, state in of(done) if state == "ok"}
    assert {check for check, state in of(done) if state == "warning"} <= {"data", "mail", "backups", "source"}


async def test_a_stopped_server_with_worries_is_explained_and_left_alone(new_town: TownBuilder) -> None:
    town = await new_town(start=False)
    Keys(town.folder / "keys")
    await bury(town, LETTER, 1)
    await bury(town, LETTER, 2, state=READY)
    (town.folder / "keys" / "session.key").chmod(0o644)
    (town.folder / "keys" / "signing.key").unlink()
    before = _files(town.folder)

    later = await new_town(start=False)
    async with database(later) as db:
        await db.run(command(text("UPDATE alembic_version SET version_num = '9999'")))

    worried, newer = await asyncio.gather(kith(town, "check", "--json"), kith(later, "check", "--json"))

    assert worried.code == newer.code == 1
    assert _files(town.folder) == before
    found = of(worried)
    open_key, lost_key = found["keys", "problem"]
    assert "session.key (mode 0644) -> chmod 600" in open_key
    assert "signing.key is missing" in lost_key
    [nobody] = found["people", "warning"]
    assert "set-up link that `kith serve` prints" in nobody
    assert "`kith jobs list --state dead`" in found["jobs", "warning"][0]
    assert "no worker is running (last seen: never)" in found["worker", "warning"][0]
    assert found.keys() & {("database", "problem"), ("schema", "problem")} == set()
    [refused] = of(newer)["schema", "problem"]
    assert "newer than this version of Kith (it is at 9999" in refused


async def test_a_list_of_allowed_servers_that_is_empty_is_told(new_town: TownBuilder) -> None:
    town = await new_town(start=False, federation="allow-list")

    done = await kith(town, "check", "--json")
    assert [one for one in of(done)[("servers", "warning")] if "kith federation allow" in one]

    await town.kith("federation", "allow", "good.example")
    done = await kith(town, "check", "--json")
    assert of(done)[("servers", "ok")] == ["only 1 allowed servers are talked to -> "]


async def test_files_of_addresses_are_looked_at(new_town: TownBuilder, tmp_path: Path) -> None:
    broken = tmp_path / "networks.mmdb"
    broken.write_bytes(b"<html>Please sign in to download</html>")
    town = await new_town(start=False, geoip_file=write(tmp_path / "cities.mmdb", CITIES), geoip_asn_file=str(broken))

    found = of(await kith(town, "check", "--json"))

    [good], [bad] = found["locations", "ok"], found["locations", "problem"]
    assert "cities.mmdb, made on 20" in good
    assert "networks.mmdb cannot be used" in bad
    assert "unset KITH_GEOIP_ASN_FILE" in bad


async def test_each_broken_setting_is_named_with_its_cure(tmp_path: Path) -> None:
    garbage, nowhere = tmp_path / "garbage", tmp_path / "nowhere"
    garbage.write_bytes(b"this was never a database" * 100)
    outside = {"smtp": "smtp://127.0.0.1:1", "base_url": "http://kith.example"}
    bucket = {"media": "s3://bucket?endpoint=http://127.0.0.1:1"}
    keys = {"media_access_key": "one", "media_secret_key": "hush"}
    cases: list[tuple[dict[str, str], list[tuple[str, str, str]]]] = [
        ({"baseurl": "http://localhost"}, [("settings", "problem", "did you mean KITH_BASE_URL?")]),
        (
            {"data": str(nowhere)},
            [("data", "problem", "`kith serve` creates it"), ("database", "problem", "run `kith migrate`")],
        ),
        (
            {"database": "postgresql://x:hush@127.0.0.1:1/y"},
            [("database", "problem", "-> make sure that PostgreSQL is running")],
        ),
        (
            bucket,
            [("settings", "problem", "set KITH_MEDIA_ACCESS_KEY and KITH_MEDIA_SECRET_KEY")],
        ),
        (
            {"database": f"sqlite:///{garbage}", **outside, **bucket, **keys},
            [
                ("database", "problem", "file is not a database -> make sure that"),
                ("mail", "problem", "127.0.0.1:1 does not answer"),
                ("mail", "warning", "set KITH_MAIL_FROM"),
                ("media", "problem", "-> check KITH_MEDIA"),
                ("address", "warning", "does not use https"),
                ("address", "warning", "set KITH_TRUSTED_PROXIES=127.0.0.1"),
            ],
        ),
    ]
    async with build_town("sqlite", tmp_path / "town", start=False) as town:
        done = await asyncio.gather(*(kith(town, "check", "--json", **broken) for broken, _ in cases))

    for (_, expected), one in zip(cases, done, strict=True):
        assert one.code == 1
        assert "hush" not in one.said
        for check, state, words in expected:
            assert any(words in found for found in of(one)[check, state]), one
    assert not nowhere.exists()


def _files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }

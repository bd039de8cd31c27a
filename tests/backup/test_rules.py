"""What needs no server: when backups are due, which stay, how pieces are named, cut and sealed."""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import asyncpg
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kith.backup import restoring, sqlite_moment
from kith.backup.failures import BadRepository, Damaged, NotEmpty, RepositoryInUse
from kith.backup.making import Silent, work_folder
from kith.backup.manifest import Manifest, TableData
from kith.backup.places import BackupPlace
from kith.backup.postgres_moment import Cutter, fill
from kith.backup.recorded_settings import as_toml, record
from kith.backup.repository import Repository
from kith.backup.restoring import with_place
from kith.backup.sealing import MOST_UNPACKED, PieceSealer
from kith.base.backups.retention import read_keep, superfluous
from kith.base.backups.schedule import is_due, read_schedule
from kith.base.settings import BadSettings, load
from kith.migrations import HEAD, LAST_UNRELEASED
from tests.town import postgres

MONDAY = datetime(2026, 11, 16, 2, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("words", "now", "last_due"),
    [
        ("daily at 03:00", MONDAY, "2026-11-15T03:00"),
        ("daily at 03:00", MONDAY + timedelta(hours=1), "2026-11-16T03:00"),
        ("Daily", MONDAY + timedelta(hours=5), "2026-11-16T03:00"),
        ("weekly on sunday at 23:30", MONDAY, "2026-11-15T23:30"),
        ("weekly on monday at 23:30", MONDAY, "2026-11-09T23:30"),
        ("every 6h", MONDAY, "2026-11-15T20:00"),
        ("hourly", MONDAY, "2026-11-16T01:00"),
    ],
)
def test_when_a_backup_should_have_been_made(words: str, now: datetime, last_due: str) -> None:
    schedule = read_schedule(words)
    assert schedule is not None
    assert f"{schedule.last_due(now):%Y-%m-%dT%H:%M}" == last_due


def test_one_that_failed_is_tried_again_after_a_while() -> None:
    schedule = read_schedule("daily at 01:00")
    assert schedule is not None
    yesterday, soon, later = MONDAY - timedelta(days=1), MONDAY - timedelta(minutes=10), MONDAY - timedelta(minutes=40)
    assert is_due(schedule, MONDAY, succeeded_at=None, tried_at=None)
    assert not is_due(schedule, MONDAY, succeeded_at=soon, tried_at=soon)
    assert is_due(schedule, MONDAY, succeeded_at=yesterday, tried_at=yesterday)
    assert not is_due(schedule, MONDAY, succeeded_at=yesterday, tried_at=soon)
    assert is_due(schedule, MONDAY, succeeded_at=yesterday, tried_at=later)


@pytest.mark.parametrize("words", ["sometimes", "every 1m", "daily at 25:00", "weekly on moonday at 03:00", "every 0h"])
def test_a_schedule_that_says_nothing_is_refused(words: str) -> None:
    with pytest.raises(BadSettings, match="schedule of backups"):
        read_schedule(words)
    assert read_schedule("off") is read_schedule("") is None


def _ids(*moments: datetime) -> list[str]:
    return [f"{at:%Y%m%dT%H%M%SZ}-abcdef" for at in moments]


def test_of_each_day_week_and_month_the_newest_stays() -> None:
    hourly = _ids(*(MONDAY - timedelta(hours=hours) for hours in range(24 * 70)))

    gone = superfluous(hourly, read_keep("3 daily, 2 weekly, 3 monthly"))

    kept = sorted(set(hourly) - set(gone), reverse=True)
    assert [one[:11] for one in kept] == ["20261116T02", "20261115T23", "20261114T23", "20261031T23", "20260930T23"]
    assert superfluous(hourly[:1], read_keep("")) == []
    with pytest.raises(BadSettings):
        read_keep("seven daily")


@given(st.lists(st.integers(0, 10**8), max_size=30), st.integers(0, 5))
def test_the_newest_always_stays(seconds: list[int], count: int) -> None:
    ids = _ids(*(MONDAY + timedelta(seconds=one) for one in seconds))
    gone = superfluous(ids, read_keep(f"{count} weekly"))
    assert not ids or max(ids) not in gone
    assert set(gone) <= set(ids)


@given(st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=60), st.integers(1, 50))
def test_lines_that_were_cut_are_the_same_lines(lines: list[bytes], step: int) -> None:
    data = b"".join(line + b"\n" for line in lines)
    cutter = Cutter()
    pieces = [piece for at in range(0, len(data), step) for piece in cutter.feed(data[at : at + step])]
    assert b"".join([*pieces, *cutter.end()]) == data


def test_a_line_more_at_the_start_moves_few_cuts() -> None:
    lines = [
        f"{number}\t{zlib.crc32(bytes([number % 251])):x} some words of a row\n".encode() for number in range(60_000)
    ]

    def cut(all_lines: list[bytes]) -> set[bytes]:
        cutter = Cutter()
        return {*cutter.feed(b"".join(all_lines)), *cutter.end()}

    before, after = cut(lines), cut([b"-1\tnew\n", *lines])
    assert len(before) > 5
    assert len(before & after) >= len(before) - 2


@pytest.mark.parametrize("key", [None, b"k" * 32])
@pytest.mark.parametrize("data", [b"", b"text " * 1000, bytes(range(256)) * 3])
def test_what_was_sealed_is_opened_under_its_own_name_only(key: bytes | None, data: bytes) -> None:
    sealer = PieceSealer(key, "repository")
    name = sealer.name(data)
    sealed = sealer.seal(data, name)
    assert sealer.open_named(sealed, name) == data
    for wrong in (sealed[:-1] + bytes([sealed[-1] ^ 1]), sealed[:5], b""):
        with pytest.raises(Damaged):
            sealer.open_named(wrong, name)
    with pytest.raises(Damaged):
        sealer.open(sealed, "another name")
    other = PieceSealer(b"o" * 32, "repository")
    assert other.name(data) != name
    with pytest.raises(Damaged):
        other.open(sealed, name)


def test_a_piece_that_unpacks_to_too_much_is_damaged() -> None:
    sealer = PieceSealer(None, "repository")
    packed = b"\1" + zlib.compress(bytes(MOST_UNPACKED + 1))
    digest = hashlib.blake2b(b"bomb" + packed, digest_size=32).digest()
    with pytest.raises(Damaged):
        sealer.open(digest + packed, "bomb")
    large = bytes(MOST_UNPACKED + 1)
    assert sealer.open(sealer.seal(large, "large"), "large") == large


@pytest.mark.parametrize(
    ("table", "column", "words"),
    [
        ('social_emojis"; DROP TABLE social_emojis; --', "id", "no table of Kith"),
        ("pg_authid", "rolname", "no table of Kith"),
        ("alembic_version", "version_num", "no table of Kith"),
        ("social_emojis", "nonsense", "columns of social_emojis"),
    ],
)
async def test_rows_go_to_tables_of_ours_only(tmp_path: Path, table: str, column: str, words: str) -> None:
    repository = await Repository.open_or_create(BackupPlace(str(tmp_path), load({})), None)
    async with postgres.fresh_database() as url:
        connection = await asyncpg.connect(url)
        await connection.execute(
            "CREATE TABLE social_emojis (id bigint); CREATE TABLE alembic_version (version_num text);"
            "INSERT INTO social_emojis VALUES (1)"
        )
        with pytest.raises(BadRepository, match=words):
            await fill(url, repository, (TableData(table, (column,), ()),), (), lambda _: None)
        assert await connection.fetchval("SELECT count(*) FROM social_emojis") == 1
        await connection.close()


def test_secrets_of_the_environment_are_only_named() -> None:
    given = {"KITH_TITLE": "Our town", "KITH_SMTP": "smtp://u:hunter2@mail.example.org", "KITH_DATA": "/srv"}
    replicas = {
        "KITH_DATABASE": "postgresql://u:hunter2@db/kith",
        "KITH_DATABASE_REPLICAS": "postgresql://u:hunter2@r/k",
    }
    settings = load(given | replicas)
    recorded = record(settings)
    assert recorded.secret == ("database", "database_replicas", "smtp")
    assert with_place(settings, Path("/srv"), "postgresql://db/rehearsal").database_replicas == ()
    text = as_toml(recorded)
    assert 'title = "Our town"' in text
    assert "# smtp =" in text
    assert "hunter2" not in text


@pytest.mark.parametrize("is_there", [False, True])
async def test_nobody_else_can_read_a_backup_that_is_not_encrypted(tmp_path: Path, is_there: bool) -> None:
    folder = tmp_path / "backups"
    if is_there:
        folder.mkdir(mode=0o755)
    place = BackupPlace(str(folder), load({}))
    async with place.lock():
        repository = await Repository.open_or_create(place, None)
        await repository.add(b"the server's own key")
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) == 4
    assert {path.stat().st_mode & 0o077 for path in files} == {0}
    assert is_there or folder.stat().st_mode & 0o077 == 0


async def test_a_log_that_another_database_left_is_not_put_over_a_restored_one(tmp_path: Path) -> None:
    # given a database in a repository, and where it is to go the log of one that was killed
    settings = load({"KITH_DATA": str(tmp_path / "data")})
    path, kept = settings.sqlite_path, tmp_path / "kept"
    path.parent.mkdir()
    with closing(sqlite3.connect(kept)) as db:
        db.executescript("CREATE TABLE a (b); INSERT INTO a VALUES ('restored')")
    repository = await Repository.open_or_create(BackupPlace(str(tmp_path / "backups"), settings), None)
    chunks = await sqlite_moment.store(repository, kept, lambda _: None)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.executescript("PRAGMA journal_mode=WAL; CREATE TABLE a (b); INSERT INTO a VALUES ('of another database')")
        log = path.with_name(f"{path.name}-wal").read_bytes()
    path.unlink()
    path.with_name(f"{path.name}-wal").write_bytes(log)
    manifest = Manifest(
        id="1", made_at=MONDAY, version="", revision=HEAD, engine="sqlite", base_url="", domain="", counts={},
        database=chunks, settings=record(settings),
    )  # fmt: skip

    # when
    await restoring._sqlite(settings, repository, manifest, Silent())

    # then
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT b FROM a").fetchall() == [("restored",)]


async def test_an_interrupted_restore_goes_on_in_its_own_database_only(tmp_path: Path) -> None:
    settings = load({"KITH_DATA": str(tmp_path)})
    other = msgspec.structs.replace(settings, database=f"sqlite:///{tmp_path}/live.sqlite3")
    manifest = Manifest(
        id="1", made_at=MONDAY, version="", revision=HEAD, engine="sqlite", base_url="", domain="", counts={},
        settings=record(settings),
    )  # fmt: skip
    settings.restore_mark.write_text(restoring._mark_of(settings, manifest))
    for path in (settings.sqlite_path, other.sqlite_path):
        path.touch()
    await restoring.refuse_filled(settings, manifest)
    with pytest.raises(NotEmpty):
        await restoring.refuse_filled(other, manifest)


async def test_backups_of_schemas_before_the_first_release_are_refused_but_for_the_last(tmp_path: Path) -> None:
    settings = load({"KITH_DATA": str(tmp_path)})
    last = Manifest(
        id="1", made_at=MONDAY, version="", revision=LAST_UNRELEASED, engine="sqlite", base_url="", domain="", counts={},
        settings=record(settings),
    )  # fmt: skip

    await restoring.refuse_filled(settings, last)
    with pytest.raises(BadSettings, match=r"a version before 0\.1\.0 \(it is at 0031\)"):
        await restoring.refuse_filled(settings, msgspec.structs.replace(last, revision="0031"))


def test_one_run_at_a_time_copies_the_database(tmp_path: Path) -> None:
    with work_folder(tmp_path) as first, pytest.raises(RepositoryInUse), work_folder(tmp_path):
        pass
    assert not first.exists()
    with work_folder(tmp_path) as second:
        assert second.stat().st_mode & 0o777 == 0o700

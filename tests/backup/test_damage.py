"""What is damaged in a folder of backups hides nothing else in it; a backup before an upgrade counts as any other."""

from __future__ import annotations

import os
from pathlib import Path

from kith.base.settings import load
from kith.migrations import FIRST, HEAD
from kith.migrations.runner import upgrade
from tests.town.nursery import Done, run

KEY = "a key that nobody guesses\n"


async def _kith(folder: Path, *words: str, **settings: str) -> Done:
    given = {name: value for name, value in os.environ.items() if not name.startswith("KITH_")}
    ours = {"KITH_DATA": str(folder / "data")} | {f"KITH_{name.upper()}": value for name, value in settings.items()}
    return await run(*words, environment=given | ours)


async def _backed_up_twice(tmp_path: Path) -> tuple[Path, list[str], dict[str, str]]:
    """A folder of backups, their ids, and the settings that name both."""
    backups, key_file = tmp_path / "backups", tmp_path / "backup.key"
    key_file.write_text(KEY)
    key_file.chmod(0o600)
    set_here = {"backup": str(backups), "backup_key_file": str(key_file)}
    await upgrade(load({"KITH_DATA": str(tmp_path / "data")}))
    ids = [(await _kith(tmp_path, "backup", "--json", **set_here)).json["id"] for _ in range(2)]
    return backups, ids, set_here


def _damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))


async def test_a_damaged_manifest_hides_no_other(tmp_path: Path) -> None:
    # given
    backups, [first, second], here = await _backed_up_twice(tmp_path)
    pieces = sum(1 for _ in backups.glob("chunks/*/*"))
    _damage(backups / "manifests" / second)

    # when
    listed = await _kith(tmp_path, "backup", "list", "--json", **here)
    pruned = await _kith(tmp_path, "backup", "prune", "--keep", "1 daily", "--json", **here)
    checked = await _kith(tmp_path, "check", "--inside", "--json", **here)
    restored = await _kith(tmp_path, "restore", str(backups), "--data", str(tmp_path / "again"), "--json", **here)

    # then
    assert [one["id"] for one in listed.json] == [first]
    assert f"{second} is damaged" in listed.complained
    assert pruned.json == {"backups": [], "pieces": 0, "damaged_backups": [second]}
    assert sum(1 for _ in backups.glob("chunks/*/*")) == pieces
    assert [one["what"] for one in checked.json if one["check"] == "backups" and one["state"] == "problem"] == [
        f"the backup {second} is damaged"
    ]
    assert restored.code == 0, restored
    assert restored.json["id"] == first
    assert second in restored.complained

    # and what nobody can read is removed by who says so
    dropped = await _kith(tmp_path, "backup", "verify", "--drop-damaged", "--json", **here)
    assert (dropped.code, dropped.json["damaged_backups"]) == (1, [second])
    assert (await _kith(tmp_path, "backup", "verify", **here)).code == 0


async def test_either_description_may_be_lost_or_damaged(tmp_path: Path) -> None:
    backups, ids, here = await _backed_up_twice(tmp_path)
    first, copy = backups / "kith-backup.json", backups / "manifests" / "kith-backup.json"
    sound = first.read_bytes()
    assert copy.read_bytes() == sound

    for lost in (first, copy):
        for content in (None, b"", sound.replace(b'"salt":"', b'"salt":"AAAA'), b"\xff{"):
            lost.unlink(missing_ok=True)
            if content is not None:
                lost.write_bytes(content)
            listed = await _kith(tmp_path, "backup", "list", "--json", **here)
            assert (listed.code, [one["id"] for one in listed.json]) == (0, ids), listed
        lost.write_bytes(sound)
    first.unlink()
    made = await _kith(tmp_path, "backup", "--json", **here)

    assert made.code == 0, made
    assert first.read_bytes() == copy.read_bytes() == sound

    # without either there is no other key for what is there
    first.unlink()
    copy.unlink()
    refused = await _kith(tmp_path, "backup", **here)
    assert (refused.code, "put one of them back" in refused.complained) == (1, True), refused
    assert not first.exists()


async def test_a_key_file_that_others_may_read_is_warned_of(tmp_path: Path) -> None:
    backups, _, here = await _backed_up_twice(tmp_path)
    Path(here["backup_key_file"]).chmod(0o644)
    told = f"every user of this machine can read {here['backup_key_file']} (mode 0644)"

    checked = await _kith(tmp_path, "check", "--inside", "--json", **here)
    made = await _kith(tmp_path, "backup", "--json", **here)
    restored = await _kith(tmp_path, "restore", str(backups), "--data", str(tmp_path / "again"), **here)

    assert [one["state"] for one in checked.json if told in one["what"]] == ["warning"]
    assert told in made.complained
    assert told in restored.complained
    assert (made.code, restored.code) == (0, 0)


async def test_a_key_that_is_not_there_is_told_before_a_backup_is_due(tmp_path: Path) -> None:
    here = {"backup": str(tmp_path / "backups"), "backup_key_file": str(tmp_path / "gone.key")}
    assert (await _kith(tmp_path, "migrate")).code == 0

    checked = await _kith(tmp_path, "check", "--inside", "--json", **here)
    served = await _kith(tmp_path, "serve", **here)

    assert [one["state"] for one in checked.json if "gone.key cannot be read" in one["what"]] == ["problem"]
    assert (served.code, "gone.key cannot be read" in served.complained) == (1, True)


async def test_only_a_backup_that_is_there_is_verified(tmp_path: Path) -> None:
    backups, _, here = await _backed_up_twice(tmp_path)

    done = await _kith(tmp_path, "backup", "verify", str(backups), "--backup", "another", **here)

    assert (done.code, done.said) == (1, "")
    assert "there is no backup another" in done.complained


async def test_a_backup_before_an_upgrade_is_encrypted_and_counts(tmp_path: Path) -> None:
    # given a database of an older version
    await upgrade(load({"KITH_DATA": str(tmp_path / "data")}), to=FIRST)
    key_file = tmp_path / "backup.key"
    key_file.write_text(KEY)
    key_file.chmod(0o600)

    # when
    backups = tmp_path / "backups"
    upgraded = await _kith(tmp_path, "migrate", "--backup", str(backups), "--key-file", str(key_file), "--json")

    # then
    assert (upgraded.code, upgraded.json) == (0, {"from": FIRST, "to": HEAD}), upgraded
    assert "without a key" not in upgraded.complained
    [made] = (await _kith(tmp_path, "backup", "list", str(backups), "--key-file", str(key_file), "--json")).json
    assert made["revision"] == FIRST
    refused = await _kith(tmp_path, "backup", "list", str(backups))
    assert "these backups are encrypted" in refused.complained
    checked = await _kith(tmp_path, "check", "--inside", "--json")
    told = [one["what"] for one in checked.json if one["check"] == "backups"]
    assert any(words.startswith("the last backup is of") for words in told), told
    assert not any("never been backed up" in words or "not encrypted" in words for words in told), told

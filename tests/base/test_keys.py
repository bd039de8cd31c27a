"""The server's secrets: made once, whoever comes first, and for nobody else's eyes."""

from __future__ import annotations

import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kith.base.keys import NAMES, SIZE, Keys

PROGRAM = """
import sys
from pathlib import Path
from kith.base.keys import Keys
sys.stdin.readline()
keys = Keys(Path(sys.argv[1]))
print(keys.session.hex(), keys.signing.hex(), keys.encryption.hex(), keys.vapid.hex())
"""


def test_the_first_start_makes_keys_and_the_next_finds_them(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "keys"
    first, second = Keys(folder), Keys(folder)

    made = (first.session, first.signing, first.encryption, first.vapid)
    assert made == (second.session, second.signing, second.encryption, second.vapid)
    assert len(set(made)) == 4
    assert {len(key) for key in made} == {SIZE}


def test_only_the_owner_may_read_them(tmp_path: Path) -> None:
    Keys(tmp_path / "keys")

    assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o700
    assert {path.name for path in (tmp_path / "keys").iterdir()} == {f"{name}.key" for name in NAMES}
    for path in (tmp_path / "keys").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_threads_that_start_together_agree(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda _: Keys(tmp_path / "keys"), range(32)))

    assert len({(keys.session, keys.signing, keys.encryption, keys.vapid) for keys in made}) == 1
    assert len(list((tmp_path / "keys").iterdir())) == len(NAMES)


def test_processes_that_start_together_agree(tmp_path: Path) -> None:
    words = [sys.executable, "-c", PROGRAM, str(tmp_path / "keys")]
    processes = [subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    said = set()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        said.add(out)

    assert len(said) == 1
    assert len(list((tmp_path / "keys").iterdir())) == len(NAMES)


def test_a_key_that_was_cut_short_is_refused_and_not_replaced(tmp_path: Path) -> None:
    Keys(tmp_path / "keys")
    path = tmp_path / "keys" / "session.key"
    path.write_bytes(b"short")

    with pytest.raises(ValueError, match=r"session\.key is not a key of 32 bytes; restore it"):
        Keys(tmp_path / "keys")
    assert path.read_bytes() == b"short"

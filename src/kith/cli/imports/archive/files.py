"""An archive as somebody brings it: ZIP or tar.gz, from a stranger's hands.

Nothing is written under a name of the archive's own, and nothing is read before its size is known.
"""

from __future__ import annotations

import shutil
import tarfile
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any, Protocol

from kith.base.errors import Invalid

__all__ = ["OpenedArchive", "open_archive"]

MOST_ENTRIES = 200_000
MOST_BYTES = 64 << 30  # unpacked, all together
MOST_JSON = 512 << 20
MOST_RATIO = 1000  # how much smaller text may have been made: more is a trap
_FREE = 1 << 20  # of which nothing is asked
MOST_TAR_RATIO, _FREE_TAR = 100, 256 << 20  # a tar archive is written to the disk whole
# Names and the like are read at a cost that grows with the square of their length: what long ones of them may cost.
MOST_HEAD, USUAL_HEAD, MOST_SQUARES = 32 << 10, 1 << 10, 1 << 31


class OpenedArchive(Protocol):
    def names(self) -> list[str]: ...

    def size(self, name: str) -> int: ...

    def open(self, name: str) -> IO[bytes]: ...

    def close(self) -> None: ...


def open_archive(path: Path) -> OpenedArchive:
    if not path.is_file():
        raise Invalid(f"there is no file {path}")
    try:
        if zipfile.is_zipfile(path):
            return _Zip(path)
        return _Tar(path)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, OSError, ValueError, RecursionError) as error:
        raise Invalid(f"{path} is neither a ZIP archive nor a tar.gz archive that can be read ({error})") from error


def _plain(name: str) -> str:
    """Names are only compared; a folder before them all does not matter."""
    return name.replace("\\", "/").removeprefix("./").lstrip("/")


class _Zip:
    def __init__(self, path: Path) -> None:
        self._zip = zipfile.ZipFile(path)
        entries = self._zip.infolist()
        if len(entries) > MOST_ENTRIES or sum(one.file_size for one in entries) > MOST_BYTES:
            raise Invalid(f"{path} holds too much: at most {MOST_ENTRIES} files of {MOST_BYTES >> 30} GB together")
        self._entries = {_plain(one.filename): one for one in entries if not one.is_dir()}
        for one in self._entries.values():
            if one.file_size > _FREE and one.file_size > one.compress_size * MOST_RATIO:
                raise Invalid(f"{path} holds a file that is packed too tightly to be what it says")

    def names(self) -> list[str]:
        return list(self._entries)

    def size(self, name: str) -> int:
        return self._entries[name].file_size

    def open(self, name: str) -> IO[bytes]:
        """A file that says less of its size than it holds ends where it said."""
        try:
            return self._zip.open(self._entries[name])
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
            raise Invalid(f"{name} cannot be read: {error}") from error

    def close(self) -> None:
        self._zip.close()


class _TarEntry(tarfile.TarInfo):
    """Long names and the like are entries of their own, which are read whole: as long as they say they are."""

    def _proc_member(self, tar: tarfile.TarFile) -> Any:
        if self.type not in tarfile.REGULAR_TYPES and self.size > USUAL_HEAD:
            spent = getattr(tar, "squares_spent", 0) + self.size**2
            if self.size > MOST_HEAD or spent > MOST_SQUARES:
                raise tarfile.ReadError("the name of an entry is too long")
            tar.squares_spent = spent  # type: ignore[attr-defined]
        return super()._proc_member(tar)  # type: ignore[misc] # the one place where all kinds of entries come by


class _Tar:
    """Unpacked once, since one cannot jump about in it; under numbers, in a folder that goes away."""

    def __init__(self, path: Path) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="kith-archive-"))
        self._files: dict[str, Path] = {}
        try:
            self._unpack(path)
        except BaseException:
            self.close()
            raise

    def _unpack(self, path: Path) -> None:
        left = min(MOST_BYTES, max(_FREE_TAR, path.stat().st_size * MOST_TAR_RATIO))
        with tarfile.open(path, "r|*", tarinfo=_TarEntry) as tar:
            for number, one in enumerate(tar):
                left -= max(one.size, 0)
                if number >= MOST_ENTRIES or left < 0:
                    raise Invalid(
                        f"{path} holds too much: at most {MOST_ENTRIES} files of {MOST_BYTES >> 30} GB, "
                        f"and no more than {MOST_TAR_RATIO} times its own size"
                    )
                source = tar.extractfile(one) if one.isfile() else None
                if source is not None:
                    kept = self._folder / str(number)
                    with kept.open("xb") as target:
                        shutil.copyfileobj(source, target, 1 << 18)
                    self._files[_plain(one.name)] = kept

    def names(self) -> list[str]:
        return list(self._files)

    def size(self, name: str) -> int:
        return self._files[name].stat().st_size

    def open(self, name: str) -> IO[bytes]:
        return self._files[name].open("rb")

    def close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


def read_json(archive: OpenedArchive, name: str) -> bytes:
    if archive.size(name) > MOST_JSON:
        raise Invalid(f"{name} is larger than {MOST_JSON >> 20} MB")
    with archive.open(name) as file:
        try:
            return file.read(MOST_JSON + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise Invalid(f"{name} cannot be read: {error}") from error

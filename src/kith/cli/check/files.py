"""The data folder, the keys, and room on the disk. Only looked at, never touched."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from kith.base.keys import NAMES, SIZE
from kith.base.settings import Settings
from kith.cli.check.findings import Finding, cause, ok, problem, warning
from kith.identity.locations.mmdb import open_file
from kith.identity.policies import breach_list as breaches

OLD_ADDRESSES = timedelta(days=180)
ROOM = 500 * 1024 * 1024
LEAST_ROOM = 100 * 1024 * 1024


def data_folder(settings: Settings) -> Iterator[Finding]:
    folder = settings.data
    if not folder.is_dir():
        yield problem(
            "data", f"there is no data folder at {folder.absolute()}", "`kith serve` creates it; or set KITH_DATA"
        )
        return
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        yield problem(
            "data", f"{folder} cannot be written to", f"give it to the user that runs Kith: chown -R USER {folder}"
        )
    elif _mode(folder) & 0o007:
        yield warning("data", f"every user of this machine can read {folder}", f"chmod o-rwx {folder}")
    else:
        yield ok("data", f"{folder} can be written to, and other users cannot read it")
    database = settings.sqlite_path
    if settings.is_sqlite and database.is_file() and _mode(database) & 0o007:
        yield warning("data", f"every user of this machine can read {database}", f"chmod 600 {database}")


def keys(settings: Settings) -> Iterator[Finding]:
    """A server without any keys has not been started yet; one without some of them has lost them."""
    paths = [settings.data / "keys" / f"{name}.key" for name in NAMES]
    missing = [path for path in paths if not path.is_file()]
    if missing == paths:
        yield warning(
            "keys",
            f"there are no keys in {paths[0].parent} yet",
            "they are created at the first start; if the server has run before, restore them from a backup",
        )
        return
    found = [finding for path in paths for finding in _key(path)]
    yield from found or [ok("keys", "all keys are there, and only their owner can read them")]


def _key(path: Path) -> Iterator[Finding]:
    if not path.is_file():
        yield problem("keys", f"{path} is missing", "restore it from a backup")
    elif path.stat().st_size != SIZE:
        yield problem("keys", f"{path} is not a key of {SIZE} bytes", "restore it from a backup")
    elif not os.access(path, os.R_OK):
        yield problem("keys", f"{path} cannot be read", f"chown USER {path}, the user that runs Kith")
    elif _mode(path) & 0o077:
        yield problem("keys", f"other users can read {path} (mode {_mode(path):04o})", f"chmod 600 {path}")


def disk(settings: Settings) -> Iterator[Finding]:
    folders = [settings.data, *([settings.sqlite_path.parent] if settings.is_sqlite else [])]
    disks = {folder.stat().st_dev: folder for folder in map(_nearest, reversed(folders))}
    for folder in disks.values():
        free = shutil.disk_usage(folder).free
        words = f"{free // (1024 * 1024)} MB are free on the disk of {folder}"
        if free < LEAST_ROOM:
            yield problem("disk", f"{words}: it is full", "free some space now, or move KITH_DATA to a larger disk")
        else:
            yield ok("disk", words) if free >= ROOM else warning("disk", words, "free some space, or move KITH_DATA")


def media_budget(settings: Settings) -> Iterator[Finding]:
    """Whether what may be kept of other servers' media fits on the disk, beside what is there."""
    if settings.media or not settings.media_budget:
        return
    free = shutil.disk_usage(_nearest(settings.data)).free
    words = f"up to {settings.media_budget // 10**6} MB of other servers' media are kept"
    if settings.media_budget > free + _kept(settings.data / "media"):
        words += f", but only {free // 10**6} MB are free"
        yield warning("disk", words, "set KITH_MEDIA_BUDGET lower, or get a larger disk")
    else:
        yield ok("disk", words)


def _kept(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else 0


def breach_list(settings: Settings) -> Iterator[Finding]:
    """What breach checks are made with; most servers ask the public service and have nothing to look at."""
    if settings.breach_file:
        try:
            breaches.examine(Path(settings.breach_file))
        except (OSError, breaches.BadList) as error:
            words = f"the list of breached passwords at {settings.breach_file} cannot be used: {cause(error)}"
            yield problem("breaches", words, "download it again, ordered by hash, or unset KITH_BREACH_FILE")
        else:
            yield ok("breaches", f"breached passwords are looked up in {settings.breach_file}")
    elif not settings.breach_url:
        yield warning(
            "breaches",
            "there is no list of breached passwords to check against",
            "set KITH_BREACH_FILE or KITH_BREACH_URL",
        )


def address_files(settings: Settings) -> Iterator[Finding]:
    """Files that say where addresses are; most servers have none."""
    for path, name in ((settings.geoip_file, "KITH_GEOIP_FILE"), (settings.geoip_asn_file, "KITH_GEOIP_ASN_FILE")):
        if not path:
            continue
        try:
            opened = open_file(path)
        except (OSError, ValueError) as error:
            words = f"the file of addresses at {path} cannot be used: {cause(error)}"
            yield problem("locations", words, f"download it again, or unset {name}")
            continue
        made = datetime.fromtimestamp(opened.metadata().build_epoch, UTC)
        opened.close()
        words = f"addresses are looked up in {path}, made on {made:%Y-%m-%d}"
        old = datetime.now(UTC) - made > OLD_ADDRESSES
        yield warning("locations", words, "get a newer one: addresses move") if old else ok("locations", words)


def media_folder(settings: Settings) -> Finding:
    """It is made with the first file, so one that is not there is as good as the folder it will be in."""
    folder = settings.data / "media"
    place = _nearest(folder)
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        return problem("media", f"files cannot be stored in {folder}", f"make it writable: chown -R USER {place}")
    return ok("media", f"files are stored in {folder}")


def _nearest(path: Path) -> Path:
    """The path itself, or as much of it as there is."""
    path = path.absolute()
    return next((place for place in (path, *path.parents) if place.exists()), Path("/"))


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)

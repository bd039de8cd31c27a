"""What there is in a repository, whether it is sound, and what of it may go."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.backup.failures import BadRepository, Damaged
from kith.backup.making import BackupProgress
from kith.backup.manifest import Manifest
from kith.backup.places import shown
from kith.backup.repository import Repository
from kith.base.backups.retention import read_keep, superfluous

__all__ = ["Pruned", "RepositoryVerdict", "prune_repository", "show", "verify_repository"]


class Pruned(msgspec.Struct, frozen=True):
    """Which backups went, how many pieces, and which are damaged, so that no piece could go."""

    backups: list[str]
    pieces: int
    damaged_backups: list[str]


class RepositoryVerdict(msgspec.Struct, frozen=True):
    backups: int
    pieces: int
    damaged: int
    damaged_backups: list[str]


def show(manifest: Manifest) -> dict[str, Any]:
    names = ("id", "made_at", "version", "revision", "engine", "base_url", "files_count", "files_gone", "size")
    told = {name: getattr(manifest, name) for name in (*names, "new_bytes", "new_chunks", "database_bytes")}
    return told | {"rows": sum(manifest.counts.values())}


async def verify_repository(
    repository: Repository, only: str | None, progress: BackupProgress, *, is_dropping: bool
) -> RepositoryVerdict:
    """Every piece is read once, however many backups name it."""
    ids = [only] if only is not None else await repository.ids()
    needs: dict[str, set[str]] = {}
    broken: list[str] = []
    if only is not None and only not in await repository.ids():
        raise BadRepository(f"there is no backup {only} at {shown(repository.place.target)}; see `kith backup list`")
    for id in ids:
        try:
            needs[id] = await repository.names(await repository.manifest(id))
        except (BadRepository, Damaged):
            broken.append(id)
    names = set().union(*needs.values())
    progress.begin("Reading", len(names))
    damaged = await repository.check(names, progress.advance)
    if is_dropping:
        await repository.remove(damaged)
        await repository.forget(broken)  # of what tells nothing nothing can be restored
    broken += [id for id, needed in needs.items() if needed & damaged]
    return RepositoryVerdict(len(ids), len(names), len(damaged), sorted(broken))


async def prune_repository(repository: Repository, keep: str, *, is_trying: bool = False) -> Pruned:
    """A damaged backup counts for nothing: no good one goes because of it."""
    manifests, damaged = await repository.readable()
    gone = superfluous([one.id for one in manifests], read_keep(keep))
    return Pruned(gone, 0 if is_trying else await repository.drop(gone), damaged)

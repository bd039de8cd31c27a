"""Whether what is here is also somewhere else."""

from __future__ import annotations

from collections.abc import Iterator

from kith.base.settings import Settings
from kith.cli.check.findings import Finding, ok

__all__ = ["backup_age"]


def backup_age(settings: Settings) -> Iterator[Finding]:
    """How old the newest backup is. Those that the operator makes by other means cannot be seen from here."""
    if settings.backups:
        yield ok("backups", "you make backups by yourself (KITH_BACKUPS is on); put one back now and then to be sure")

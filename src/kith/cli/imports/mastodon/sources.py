"""Where a Mastodon server is read from: only the tables and columns that are wanted."""

from __future__ import annotations

from pathlib import Path

from kith.cli.imports import postgres_sources
from kith.cli.imports.mastodon.wanted import WANTED
from kith.cli.imports.postgres_sources import PostgresSource, Told

__all__ = ["Dump", "MastodonSource", "Told", "source_for"]

MastodonSource = PostgresSource


class Dump(postgres_sources.PostgresDump):
    def __init__(self, path: Path) -> None:
        super().__init__(path, WANTED)


def source_for(where: str) -> MastodonSource:
    return postgres_sources.source_for(where, WANTED)

"""What a backup says of the settings, and what a restored machine is given of them.

Settings of the environment belong to the machine and to whoever runs it: their values are recorded where they are no
secret, the names of the others are. `kith.toml` is recorded whole, for it is a file like the keys beside it.
"""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from kith.backup.manifest import RecordedSettings
from kith.base.settings import Settings, config_file

__all__ = ["as_toml", "record"]

SECRET = frozenset({"database", "database_replicas", "smtp"})
_SECRET_ENDS = ("_key", "_secret", "_password")
# What belongs to the machine, so that another one seldom wants the same.
_OF_THE_MACHINE = frozenset({"data", "bind", "processes", "metrics_bind", "worker", "backup_key_file"})


def record(settings: Settings) -> RecordedSettings:
    given = sorted(settings.given)
    values = {name: _plain(getattr(settings, name)) for name in given if not _is_secret(name)}
    secret = tuple(name for name in given if _is_secret(name))
    file = config_file()
    return RecordedSettings(values, secret, file.read_text("utf-8") if file is not None else None)


def _plain(value: object) -> object:
    return str(value) if isinstance(value, Path) else msgspec.to_builtins(value)


def _is_secret(name: str) -> bool:
    return name in SECRET or name.endswith(_SECRET_ENDS)


def as_toml(recorded: RecordedSettings) -> str:
    """A draft of a `kith.toml`: what was set, with gaps for secrets and for what the new machine decides."""
    lines = ["# What was set when the backup was made. Look it over, then use it as kith.toml.", ""]
    for name, value in recorded.values.items():
        mark = "# of the machine: " if name in _OF_THE_MACHINE else ""
        lines.append(f"{mark}{name} = {json.dumps(value, ensure_ascii=False)}")
    if recorded.secret:
        lines += ["", "# These were set too. They are secrets, so they are not written here:"]
        lines += [f"# {name} =" for name in recorded.secret]
    return "\n".join(lines) + "\n"

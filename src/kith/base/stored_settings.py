"""Settings that the team changes on pages: kept in the database, and true in every process as soon as they are.

What the operator has set where the server is started (`kith.toml`, environment) wins, and cannot be changed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Column, String, Table, bindparam, delete, select

from kith.base.db import METADATA, Document, Instant, Session, command, query, upsert
from kith.base.news import Fact
from kith.base.settings import Settings
from kith.base.work import Work, Works

__all__ = [
    "BY_COMMANDS",
    "STORABLE",
    "SettingsChanged",
    "StoredSettings",
    "effective",
    "load_stored",
    "read_stored",
    "store_settings",
]

STORABLE = (
    "title",
    "description",
    "contact_email",
    "registrations",
    "confirm_email",
    "minimum_age",
    "mail_footer",
    "backups",
    "publish_peers",
    "publish_activity",
    "publish_directory",
    "publish_domain_blocks",
)
# Stored by commands of the operator; the team neither sees nor changes them.
BY_COMMANDS = ("backup", "backup_schedule", "backup_keep", "backup_key_file")
_TYPES = {field.name: field.type for field in msgspec.structs.fields(Settings)}

stored_settings = Table(
    "base_settings",
    METADATA,
    Column("name", String(60), primary_key=True),
    Column("value", Document, nullable=False),
    Column("updated_at", Instant, nullable=False),
)
_every = query(select(stored_settings.c.name, stored_settings.c.value), tuple)
_new = upsert(stored_settings).values(
    name=bindparam("name"),
    value=bindparam("value", type_=Document()),
    updated_at=bindparam("updated_at", type_=Instant()),
)
_write = command(
    _new.on_conflict_do_update(
        index_elements=[stored_settings.c.name],
        set_={"value": _new.excluded.value, "updated_at": _new.excluded.updated_at},
    ).inline()
)
_forget = command(delete(stored_settings).where(stored_settings.c.name == bindparam("which")))


class SettingsChanged(Fact, frozen=True):
    """`values` is everything that is stored now; it is short."""

    values: dict[str, Any]


def effective(operator: Settings, values: Mapping[str, Any]) -> Settings:
    """The operator's settings with what is stored, where they left it open; without what is not understood."""
    usable: dict[str, Any] = {}
    for name in (*STORABLE, *BY_COMMANDS):
        if name not in values or name in operator.given:
            continue
        try:
            usable[name] = msgspec.convert(values[name], _TYPES[name])
        except msgspec.ValidationError:
            continue  # written by another version of this program
    return msgspec.structs.replace(operator, **usable)


async def read_stored(db: Session) -> dict[str, Any]:
    return dict(await db.all(_every))


async def load_stored(works: Works) -> None:
    """Have the stored settings count from now on."""
    async with works.begin() as work:
        works.stored = await read_stored(work.db)
        works.settings = effective(works.operator_settings, works.stored)


async def store_settings(work: Work, values: Mapping[str, Any], now: datetime) -> None:
    """Those that are named. None takes one back to what the operator or the program says."""
    for name, value in values.items():
        if value is None:
            await work.db.run(_forget, which=name)
        else:
            await work.db.run(_write, name=name, value=value, updated_at=now)
    work.announce(SettingsChanged(values=await read_stored(work.db)))


class StoredSettings:
    """Keeps the settings of this process as they are stored."""

    def __init__(self, works: Works) -> None:
        self._works = works
        works.news.listen(SettingsChanged, self._change)

    def _change(self, fact: SettingsChanged) -> None:
        self._works.stored = fact.values
        self._works.settings = effective(self._works.operator_settings, fact.values)

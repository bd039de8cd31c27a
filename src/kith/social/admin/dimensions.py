"""What figures are made up of: languages, ways to sign up, servers, space, versions."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import BindParameter, and_, bindparam, distinct, func, literal_column, select

from kith import __version__
from kith.base.db import Instant, Query, query
from kith.base.work import Work
from kith.identity import for_staff
from kith.social.accounts.tables import accounts
from kith.social.admin.measures import subject_of
from kith.social.admin.periods import Period, is_about_then
from kith.social.instance.tables import presence
from kith.social.relationships import figures as follows
from kith.social.statuses.tables import statuses
from kith.social.tags.tables import status_tags
from kith.social.text.languages import NAMES

_start, _end = bindparam("start", type_=Instant()), bindparam("end", type_=Instant())
_about: BindParameter[Any] = bindparam("about")
_within = and_(
    statuses.c.created_at >= _start,
    statuses.c.created_at < _end,
    is_about_then(statuses.c.id),
    statuses.c.deleted_at.is_(None),
)
_authored = statuses.join(accounts, accounts.c.id == statuses.c.account_id)
_tagged = status_tags.join(statuses, statuses.c.id == status_tags.c.status_id)
_count = func.count()
_here = query(
    select(distinct(presence.c.user_id)).where(
        and_(presence.c.day >= bindparam("first"), presence.c.day <= bindparam("last"))
    ),
    int,
)


def _top(source: Any, what: Any, clause: Any) -> Query[Any]:
    return query(
        select(what, _count)
        .select_from(source)
        .where(and_(_within, clause, what.is_not(None)))
        .group_by(what)
        .order_by(_count.desc(), what)
        .limit(bindparam("limit")),
        tuple,
    )


_of_tag = and_(status_tags.c.tag_id == _about, is_about_then(status_tags.c.status_id))
_TOPS: dict[str, tuple[Query[Any], str, str]] = {
    "servers": (_top(_authored, accounts.c.domain, statuses.c.id.is_not(None)), "", "domain"),
    "tag_servers": (
        _top(_tagged.join(accounts, accounts.c.id == statuses.c.account_id), accounts.c.domain, _of_tag),
        "id",
        "domain",
    ),
    "tag_languages": (_top(_tagged, statuses.c.language, _of_tag), "id", "language"),
    "instance_languages": (_top(_authored, statuses.c.language, accounts.c.domain == _about), "domain", "language"),
    "instance_accounts": (follows.MOST_FOLLOWED, "domain", "name"),
}
_size = {
    True: query(
        select(literal_column("(SELECT page_count FROM pragma_page_count) * (SELECT page_size FROM pragma_page_size)")),
        int,
    ),
    False: query(select(func.pg_database_size(func.current_database())), int),
}
_version = {
    True: query(select(func.sqlite_version()), str),
    False: query(select(func.current_setting(literal_column("'server_version'"))), str),
}
KEYS = ("languages", "sources", "space_usage", "software_versions", *_TOPS)


async def dimensions(
    work: Work, keys: Sequence[str], period: Period, about: Mapping[str, Mapping[str, str]], limit: int
) -> list[dict[str, Any]]:
    return [
        {"key": key, "data": await _data(work, key, period, about.get(key, {}), limit)} for key in keys if key in KEYS
    ]


async def _data(work: Work, key: str, period: Period, about: Mapping[str, str], limit: int) -> list[dict[str, Any]]:
    if key == "languages":
        here = await work.db.slow(_here, first=period.first.isoformat(), last=period.last.isoformat())
        counted = await for_staff.staff_view.count_locales(work.db, here)
        return [_entry(code, NAMES.get(code, code), value) for code, value in counted[:limit]]
    if key == "sources":
        counted = await for_staff.staff_view.count_sources(work.db, period.start, period.end)
        return [_entry(name or "web", name or "Website", value) for name, value in counted[:limit]]
    if key == "space_usage":
        size = (await work.db.slow(_size[work.settings.is_sqlite]))[0]
        name = "SQLite" if work.settings.is_sqlite else "PostgreSQL"
        return [_entry(name.lower(), name, size) | {"unit": "bytes", "human_value": _human(size)}]
    if key == "software_versions":
        name = "SQLite" if work.settings.is_sqlite else "PostgreSQL"
        database = (await work.db.slow(_version[work.settings.is_sqlite]))[0]
        found = (
            ("kith", "Kith", __version__),
            ("python", "Python", platform.python_version()),
            (name.lower(), name, database),
        )
        return [_entry(key, human, value) | {"human_value": str(value)} for key, human, value in found]
    return await _top_of(work, key, period, about, limit)


async def _top_of(work: Work, key: str, period: Period, about: Mapping[str, str], limit: int) -> list[dict[str, Any]]:
    statement, kind, shown_as = _TOPS[key]
    whom = subject_of(about.get(kind, ""), kind)
    rows = await work.db.slow(statement, **period.bounds(), about=whom, limit=limit)
    own = work.settings.domain
    return [
        _entry(
            name or own if shown_as == "domain" else name,
            NAMES.get(name, name) if shown_as == "language" else name or own,
            value,
        )
        for name, value in rows
    ]


def _entry(key: str, human: str, value: Any) -> dict[str, Any]:
    return {"key": key, "human_key": human, "value": str(value)}


def _human(size: float) -> str:
    for unit in ("Bytes", "KB", "MB", "GB"):
        if size < 1024:
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.4g} TB"

"""Which other servers are known here, without those that are blocked."""

from __future__ import annotations

import msgspec
from sqlalchemy import Text, and_, bindparam, distinct, or_, select

from kith.base.db import Query, Session, alias_of, any_row, query
from kith.base.exchange import Answer
from kith.base.routing import FromQuery, get
from kith.base.work import Work
from kith.social.accounts.tables import accounts
from kith.social.admission.tables import server_blocks
from kith.social.guards import outsider
from kith.social.instance.kept_answers import kept, told
from kith.social.remote_servers import is_of_server

MOST = 10
_encode = msgspec.json.Encoder().encode


class Prefix(msgspec.Struct, kw_only=True):
    q: str = ""


_block = alias_of(server_blocks)
_is_blocked = any_row(
    _block,
    or_(
        is_of_server(accounts.c.domain, _block.c.domain),
        accounts.c.domain.like(bindparam("below", "%.") + _block.c.domain),
        accounts.c.domain.like(bindparam("below", "%.") + _block.c.domain + bindparam("at_port", ":%")),
    ),
)
_known = (
    select(distinct(accounts.c.domain)).where(and_(accounts.c.domain != "", ~_is_blocked)).order_by(accounts.c.domain)
)
_all: Query[str] = query(_known, str)
_like: Query[str] = query(
    _known.where(accounts.c.domain.like(bindparam("pattern", type_=Text()), escape="!")).limit(bindparam("limit")), str
)


async def peers(db: Session) -> list[str]:
    return await db.slow(_all)


async def peers_beginning(db: Session, text: str, limit: int) -> list[str]:
    escaped = text.lower().replace("!", "!!").replace("_", "!_").replace("%", "!%")
    return await db.slow(_like, pattern=f"{escaped}%", limit=limit)


@get("/api/v1/instance/peers", guards=[outsider])
async def show_peers(work: Work) -> Answer:
    async def make(work: Work) -> bytes:
        return _encode(await peers(work.db))

    if not work.settings.publish_peers:
        return told(work.settings, b"", status=404)
    return await kept(work, "peers", make)


@get("/api/v1/peers/search", guards=[outsider])
async def find_peers(work: Work, prefix: FromQuery[Prefix]) -> Answer:
    if not work.settings.publish_peers:
        return told(work.settings, b"", status=404)
    text = prefix.q.strip().replace("\0", "")
    return told(work.settings, _encode(await peers_beginning(work.db, text, MOST) if text else []))


routes = [show_peers, find_peers]

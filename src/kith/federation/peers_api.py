"""Other servers, for the team: how it goes with each, and what to do about those with which it does not."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import NotFound
from kith.base.routing import FromPath, FromQuery, get, post
from kith.base.work import Work
from kith.federation.delivery import operators
from kith.federation.peers import PeersFound, find_peer, find_peers
from kith.social.errors import DIALECT
from kith.social.staff import TheStaff, record, staff

PATH = "/api/v1/admin/peers"
SEE = staff("manage_federation", scope="admin:read")
CHANGE = staff("manage_federation", scope="admin:write")
MOST = 500
FARTHEST = 1_000_000_000


class PeerQuery(msgspec.Struct, kw_only=True):
    """`state` is one of those of deliveries; `troubled` stands for all that are not well, `waiting` for a backlog."""

    q: str = ""
    state: str = ""
    offset: int = 0
    limit: int = 100


@get(PATH, guards=[SEE])
async def show_peers(work: Work, asked: FromQuery[PeerQuery]) -> PeersFound:
    """`total` counts all that fit, `waiting` what is to be delivered to any server."""
    words, most = asked.q.strip().lower().replace("\0", "")[:255], min(abs(asked.limit) or 1, MOST)
    return await find_peers(work, words, asked.state, offset=min(max(asked.offset, 0), FARTHEST), most=most)


@get(f"{PATH}/{{domain}}", guards=[SEE])
async def show_peer(work: Work, domain: FromPath[str]) -> dict[str, Any]:
    """One of them, with all that is remembered of the deliveries."""
    name = domain.lower()
    peer = await find_peer(work, name) if "\0" not in name else None
    if peer is None:
        raise NotFound
    host = (await operators.find_hosts(work, [name])).get(name)
    return {**msgspec.structs.asdict(peer), "delivery": host}


@post(f"{PATH}/{{domain}}/retry", guards=[CHANGE])
async def retry(work: Work, by: TheStaff, domain: FromPath[str]) -> dict[str, Any]:
    """Send what waits for it at once, also if it was given up."""
    count = await operators.retry_now(work, domain.lower()[:255])
    await record(work, by, "retry_deliveries", domain=domain.lower()[:255], count=count)
    return {"count": count}


@post(f"{PATH}/{{domain}}/purge", guards=[CHANGE])
async def purge(work: Work, by: TheStaff, domain: FromPath[str]) -> dict[str, Any]:
    """Forget what waits for it."""
    count = await operators.purge_host(work, domain.lower()[:255])
    await record(work, by, "purge_deliveries", domain=domain.lower()[:255], count=count)
    return {"count": count}


routes = [msgspec.structs.replace(one, dialect=DIALECT) for one in (show_peers, show_peer, retry, purge)]

from __future__ import annotations

import msgspec

from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromRequest, post
from kith.base.work import Work
from kith.social.accounts.viewers import Actor
from kith.social.guards import user
from kith.social.moving import service
from kith.social.pages import answer
from kith.social.profile.entities import render_own


class AliasForm(msgspec.Struct, kw_only=True):
    also_known_as_uris: list[str] = []


class MoveForm(msgspec.Struct, kw_only=True):
    moved_to_uri: str = ""
    password: str = ""


@post("/api/v1/accounts/alias", guards=[user("write:accounts")])
async def set_aliases(exchange: Exchange, work: Work, account: Actor, sent: FromRequest[AliasForm]) -> Answer:
    """All of them at once: what is left out is no alias any more."""
    now = await service.set_aliases(work, account, sent.also_known_as_uris)
    return answer(exchange, await render_own(work, now))


@post("/api/v1/accounts/move", guards=[user("write:accounts")])
async def move(exchange: Exchange, work: Work, account: Actor, sent: FromRequest[MoveForm]) -> Answer:
    """Those who follow go along over time, so that the move has only begun."""
    now = await service.move_out(work, account, uri=sent.moved_to_uri, password=sent.password)
    return answer(exchange, await render_own(work, now), status=202)


routes = [set_aliases, move]

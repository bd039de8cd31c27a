from __future__ import annotations

from typing import Any

import msgspec
from litestar import Request, post
from litestar.di import NamedDependency
from litestar.params import FromPath

from kith.base.edge import Exchange, exchange_of
from kith.base.errors import NotFound
from kith.base.params import params
from kith.base.work import Work
from kith.identity import face as identity
from kith.social.accounts.viewers import account_of
from kith.social.guards import Member, user
from kith.social.pages import number
from kith.social.statuses import store as statuses
from kith.social.translation.entities import render_translation
from kith.social.translation.service import translate

AnyRequest = Request[Any, Any, Any]
DEFAULT = "en"


class Wish(msgspec.Struct, kw_only=True):
    lang: str = ""


@post(
    "/api/v1/statuses/{id:str}/translate", guards=[user("read:statuses")], dependencies={"wish": params(Wish)},
    status_code=200,
)  # fmt: skip
async def translate_status(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], wish: NamedDependency[Wish],
    id: FromPath[str],
) -> dict[str, Any]:  # fmt: skip
    account = await account_of(work, me)
    status = await statuses.find_visible(work.db, number(id), account)
    if status is not None and status.reblog_of_id is not None:
        status = await statuses.find_visible(work.db, status.reblog_of_id, account)
    if status is None:
        raise NotFound
    return render_translation(await translate(work, status, await _language(exchange_of(request), work, me, wish)))


async def _language(exchange: Exchange, work: Work, me: Member, wish: Wish) -> str:
    """What was asked for, else what they have chosen here, else what their app speaks."""
    accepted = exchange.header(b"accept-language").decode("latin-1").partition(",")[0].partition(";")[0].strip(" *")
    return wish.lang.strip() or await identity.find_locale(work, me.id) or accepted or DEFAULT


routes = [translate_status]

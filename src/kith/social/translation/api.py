from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import NotFound
from kith.base.exchange import Exchange
from kith.base.routing import FromPath, FromRequest, post
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.accounts.user_accounts import id_of
from kith.social.guards import Member, TheMember, user
from kith.social.ids import StatusId
from kith.social.statuses import store as statuses
from kith.social.translation.entities import render_translation
from kith.social.translation.service import translate

DEFAULT = "en"


class TranslationForm(msgspec.Struct, kw_only=True):
    lang: str = ""


@post("/api/v1/statuses/{id}/translate", guards=[user("read:statuses")], status=200)
async def translate_status(
    exchange: Exchange,
    work: Work,
    me: TheMember,
    wish: FromRequest[TranslationForm],
    id: FromPath[StatusId],
) -> dict[str, Any]:
    account_id = await id_of(work, me.id)
    status = await statuses.find_visible(work.db, id, account_id)
    if status is not None and status.reblog_of_id is not None:
        status = await statuses.find_visible(work.db, status.reblog_of_id, account_id)
    if status is None:
        raise NotFound
    return render_translation(await translate(work, status, await _language(exchange, work, me, wish)))


async def _language(exchange: Exchange, work: Work, me: Member, wish: TranslationForm) -> str:
    """What was asked for, else what they have chosen here, else what their app speaks."""
    accepted = exchange.header(b"accept-language").decode("latin-1").partition(",")[0].partition(";")[0].strip(" *")
    return wish.lang.strip() or await identity.find_locale(work, me.id) or accepted or DEFAULT


routes = [translate_status]

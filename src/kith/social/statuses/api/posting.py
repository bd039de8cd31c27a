"""Posting, editing and deleting."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.params import BodyLimits, Loose, Upload
from kith.base.routing import FromPath, FromRequest, RequestBody, delete, post, put
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.accounts import entities as account_entities
from kith.social.accounts.tables import Account
from kith.social.accounts.viewers import Actor, Me
from kith.social.guards import Caller, TheCaller, user
from kith.social.ids import StatusId
from kith.social.languages import language_of
from kith.social.media.service import MediaChange
from kith.social.pages import answer, joined
from kith.social.statuses import entities, shapes
from kith.social.statuses.api.common import DELETING, POSTING, encode, shown_as_is, spend
from kith.social.statuses.service import edit as editing
from kith.social.statuses.service import idempotency, quotes, remove
from kith.social.statuses.service import schedule as scheduling
from kith.social.statuses.service.post import StatusDraft, Unexpected

WITH_THUMBNAILS = BodyLimits(max_file_bytes=20 * 1024 * 1024, max_files=4)


class StatusForm(StatusDraft, kw_only=True):
    scheduled_at: datetime | None = None


class Described(Loose, kw_only=True):
    id: int
    description: str | None = None
    focus: str | None = None
    thumbnail: Upload | None = None


class Edited(editing.Changes, kw_only=True):
    media_attributes: list[Described] = msgspec.field(default_factory=list)


class Removal(msgspec.Struct, kw_only=True):
    delete_media: bool = False


class Policy(msgspec.Struct, kw_only=True):
    quote_approval_policy: str = ""


@post("/api/v1/statuses", guards=[user("write:statuses")], status=200)
async def create_status(
    exchange: Exchange,
    work: Work,
    author: Actor,
    caller: TheCaller,
    new: FromRequest[StatusForm],
) -> Answer:
    """With an `Idempotency-Key`, whoever sends it again within the hour gets the same answer."""
    key = exchange.header(b"idempotency-key").decode("latin-1")
    made = await idempotency.find(work, author.id, key)
    if made is None:
        spend(exchange, POSTING, author.id)
        try:
            made = await idempotency.create(work, author, await _posting(work, caller, new, key))
        except Unexpected as unexpected:
            return await _unexpected(exchange, work, unexpected)
    return await _shown(exchange, work, author, made)


async def _posting(work: Work, caller: Caller, new: StatusForm, key: str) -> idempotency.Posting:
    return idempotency.Posting(
        draft=msgspec.convert({name: getattr(new, name) for name in StatusDraft.__struct_fields__}, StatusDraft),
        at=new.scheduled_at if scheduling.is_later(work, new.scheduled_at) else None,
        application=await identity.apps.shown(work, caller.app_id),
        app_id=caller.app_id,
        key=key,
    )


async def _shown(exchange: Exchange, work: Work, author: Account, made: idempotency.Made) -> Answer:
    status_id, planned_id = made
    if planned_id is not None:
        planned = await scheduling.find_own(work, author.id, planned_id)
        return answer(exchange, encode((await shapes.scheduled(work, [planned]))[0]))
    return await shown_as_is(exchange, status_id or StatusId(0), author.id)


async def _unexpected(exchange: Exchange, work: Work, unexpected: Unexpected) -> Answer:
    shown = await account_entities.render(work, unexpected.accounts)
    words = language_of(exchange).say(str(unexpected))
    body = b'{"error":%b,"unexpected_accounts":%b}' % (encode(words), joined(shown))
    return answer(exchange, body, status=422)


@put("/api/v1/statuses/{id}", guards=[user("write:statuses")])
async def edit_status(
    exchange: Exchange,
    work: Work,
    author: Actor,
    changes: Annotated[Edited, RequestBody(WITH_THUMBNAILS)],
    id: FromPath[StatusId],
) -> Answer:
    status = await remove.find_own(work, author.id, id)
    if status.reblog_of_id is not None:
        raise NotFound
    spend(exchange, POSTING, author.id)
    await editing.edit(work, author, status, changes, {one.id: _description(one) for one in changes.media_attributes})
    return await shown_as_is(exchange, status.id, author.id)


def _description(of: Described) -> MediaChange:
    return MediaChange(of.description, of.focus, of.thumbnail.file if of.thumbnail else None)


@delete("/api/v1/statuses/{id}", guards=[user("write:statuses")], status=200)
async def delete_status(
    exchange: Exchange,
    work: Work,
    me: Me,
    removal: FromRequest[Removal],
    id: FromPath[StatusId],
) -> Answer:
    status = await remove.find_own(work, me, id)
    spend(exchange, DELETING, me)
    shown = await entities.render_own_past(work, status.id, me)
    if shown is None:
        raise NotFound  # a boost of what is gone, which is about to go as well
    await remove.remove(work, status, with_media=removal.delete_media)
    return answer(exchange, shapes.with_source(shown, status))


@put("/api/v1/statuses/{id}/interaction_policy", guards=[user("write:statuses")])
async def change_policy(
    exchange: Exchange,
    work: Work,
    me: Me,
    policy: FromRequest[Policy],
    id: FromPath[StatusId],
) -> Answer:
    spend(exchange, POSTING, me)  # it is told to as many as an edit is
    await quotes.change_policy(work, me, id, policy.quote_approval_policy)
    return await shown_as_is(exchange, id, me)


routes = [create_status, edit_status, delete_status, change_policy]

from __future__ import annotations

import msgspec

from kith.base.errors import Complaint, Invalid
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, FromQuery, FromRequest, delete, get, post
from kith.base.work import Work
from kith.social.accounts import lookup
from kith.social.accounts.entities import render
from kith.social.accounts.viewers import Actor, Me
from kith.social.guards import user
from kith.social.ids import AccountId
from kith.social.pages import answer
from kith.social.relationships import store, tasks
from kith.social.relationships.entities import render_one
from kith.social.relationships.limits import not_too_many
from kith.social.relationships.service import apart, esteem, follow
from kith.social.text.languages import is_language

FOLLOWS, BLOCKS, MUTES, ACCOUNTS = "write:follows", "write:blocks", "write:mutes", "write:accounts"


class FollowForm(msgspec.Struct, kw_only=True):
    reblogs: bool | None = None
    notify: bool | None = None
    languages: list[str] | None = None


class How(msgspec.Struct, kw_only=True):
    """`hide_notifications` is the older name of `notifications`."""

    notifications: bool | None = None
    hide_notifications: bool | None = None
    duration: int = 0


class Comment(msgspec.Struct, kw_only=True):
    comment: str = ""


class Uri(msgspec.Struct, kw_only=True):
    uri: str = ""


class NamedDomain(msgspec.Struct, kw_only=True):
    domain: str = ""


async def _answer(exchange: Exchange, work: Work, me: AccountId, other: AccountId) -> Answer:
    """What there is between the two now."""
    return answer(exchange, await render_one(work, me, other))


# Following


@post("/api/v1/accounts/{id}/follow", status=200, guards=[user(FOLLOWS), not_too_many])
async def follow_account(
    exchange: Exchange, work: Work, account: Actor, id: FromPath[AccountId],
    wanted: FromRequest[FollowForm],
) -> Answer:  # fmt: skip
    options = follow.Options(wanted.reblogs, wanted.notify, _languages(wanted.languages))
    await follow.follow(work, account, id, options)
    return await _answer(exchange, work, account.id, id)


def _languages(given: list[str] | None) -> list[str] | None:
    if given is None:
        return None
    kept = [code for code in given if code]
    if not all(is_language(code) for code in kept):
        raise Invalid(fields={"languages": [Complaint("is not included in the list", "inclusion")]})
    return list(dict.fromkeys(kept))


@post("/api/v1/accounts/{id}/unfollow", status=200, guards=[user(FOLLOWS)])
async def unfollow_account(exchange: Exchange, work: Work, account: Actor, id: FromPath[AccountId]) -> Answer:
    await follow.unfollow(work, account, id)
    return await _answer(exchange, work, account.id, id)


@post("/api/v1/accounts/{id}/remove_from_followers", status=200, guards=[user(FOLLOWS)])
async def remove_follower(exchange: Exchange, work: Work, account: Actor, id: FromPath[AccountId]) -> Answer:
    await follow.remove_follower(work, account, id)
    return await _answer(exchange, work, account.id, id)


@post("/api/v1/follows", status=200, guards=[user(FOLLOWS), not_too_many])
async def follow_by_name(exchange: Exchange, work: Work, account: Actor, sent: FromRequest[Uri]) -> Answer:
    """The account that was named, not what there is to it: an older way to follow."""
    other = await lookup.find_anywhere(work, sent.uri)
    await follow.follow(work, account, other.id, follow.Options())
    [shown] = await render(work, [await lookup.find_anywhere(work, sent.uri)])
    return answer(exchange, shown)


@post("/api/v1/follow_requests/{id}/authorize", status=200, guards=[user(FOLLOWS)])
async def authorize_request(exchange: Exchange, work: Work, account: Actor, id: FromPath[AccountId]) -> Answer:
    await follow.authorize(work, account, id)
    return await _answer(exchange, work, account.id, id)


@post("/api/v1/follow_requests/{id}/reject", status=200, guards=[user(FOLLOWS)])
async def reject_request(exchange: Exchange, work: Work, account: Actor, id: FromPath[AccountId]) -> Answer:
    await follow.reject(work, account, id)
    return await _answer(exchange, work, account.id, id)


# Keeping apart


@post("/api/v1/accounts/{id}/block", status=200, guards=[user(BLOCKS)])
async def block_account(exchange: Exchange, work: Work, account: Actor, id: FromPath[AccountId]) -> Answer:
    await apart.block(work, account, id)
    return await _answer(exchange, work, account.id, id)


@post("/api/v1/accounts/{id}/unblock", status=200, guards=[user(BLOCKS)])
async def unblock_account(exchange: Exchange, work: Work, account: Actor, id: FromPath[AccountId]) -> Answer:
    await apart.unblock(work, account, id)
    return await _answer(exchange, work, account.id, id)


@post("/api/v1/accounts/{id}/mute", status=200, guards=[user(MUTES)])
async def mute_account(
    exchange: Exchange, work: Work, account: Actor, id: FromPath[AccountId],
    how: FromRequest[How],
) -> Answer:  # fmt: skip
    said = how.hide_notifications if how.notifications is None else how.notifications
    await apart.mute(work, account, id, hide_notifications=said is not False, seconds=how.duration)
    return await _answer(exchange, work, account.id, id)


@post("/api/v1/accounts/{id}/unmute", status=200, guards=[user(MUTES)])
async def unmute_account(exchange: Exchange, work: Work, account: Actor, id: FromPath[AccountId]) -> Answer:
    await apart.unmute(work, account, id)
    return await _answer(exchange, work, account.id, id)


@post("/api/v1/domain_blocks", status=200, guards=[user(BLOCKS)])
async def block_domain(work: Work, account: Actor, sent: FromRequest[NamedDomain]) -> dict[str, str]:
    domain = apart.read_domain(sent.domain)
    if await apart.block_domain(work, account, domain):
        work.enqueue(tasks.CUT_TIES, tasks.CutTies(account_id=account.id, domain=domain))
    return {}


@delete("/api/v1/domain_blocks", status=200, guards=[user(BLOCKS)])
async def unblock_domain(work: Work, actor: Actor, sent: FromRequest[NamedDomain]) -> dict[str, str]:
    await apart.unblock_domain(work, actor, sent.domain)
    return {}


@get("/api/v1/domain_blocks/preview", guards=[user(BLOCKS)])
async def preview_domain_block(work: Work, me: Me, sent: FromQuery[NamedDomain]) -> dict[str, int]:
    following, followers = await store.count_at_domain(work.db, me, apart.read_domain(sent.domain))
    return {"following_count": following, "followers_count": followers}


# Esteem


@post("/api/v1/accounts/{id}/pin", aliases=("/api/v1/accounts/{id}/endorse",), guards=[user(ACCOUNTS)])
async def endorse_account(exchange: Exchange, work: Work, account: Actor, id: FromPath[AccountId]) -> Answer:
    await esteem.endorse(work, account, id)
    return await _answer(exchange, work, account.id, id)


@post("/api/v1/accounts/{id}/unpin", aliases=("/api/v1/accounts/{id}/unendorse",), guards=[user(ACCOUNTS)])
async def unendorse_account(exchange: Exchange, work: Work, account: Actor, id: FromPath[AccountId]) -> Answer:
    await esteem.unendorse(work, account, id)
    return await _answer(exchange, work, account.id, id)


@post("/api/v1/accounts/{id}/note", status=200, guards=[user(ACCOUNTS)])
async def note_account(
    exchange: Exchange, work: Work, account: Actor, id: FromPath[AccountId],
    sent: FromRequest[Comment],
) -> Answer:  # fmt: skip
    await esteem.note(work, account, id, sent.comment)
    return await _answer(exchange, work, account.id, id)


routes = [
    follow_account,
    unfollow_account,
    remove_follower,
    follow_by_name,
    authorize_request,
    reject_request,
    block_account,
    unblock_account,
    mute_account,
    unmute_account,
    block_domain,
    unblock_domain,
    preview_domain_block,
    endorse_account,
    unendorse_account,
    note_account,
]

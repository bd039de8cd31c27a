from __future__ import annotations

from typing import Any

import msgspec
from litestar import Request, delete, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from kith.base.edge import exchange_of
from kith.base.errors import Complaint, Invalid
from kith.base.params import params, query
from kith.base.work import Work
from kith.social.accounts import finding
from kith.social.accounts.entities import render
from kith.social.accounts.viewers import account_of, acting
from kith.social.guards import Member, user
from kith.social.pages import answer, number
from kith.social.relationships import store, tasks
from kith.social.relationships.entities import render_one
from kith.social.relationships.limits import not_too_many
from kith.social.relationships.service import apart, esteem, follow
from kith.social.text.languages import is_language

AnyRequest = Request[Any, Any, Any]
FOLLOWS, BLOCKS, MUTES, ACCOUNTS = "write:follows", "write:blocks", "write:mutes", "write:accounts"


class Wanted(msgspec.Struct, kw_only=True):
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


class Domain(msgspec.Struct, kw_only=True):
    domain: str = ""


async def _answer(request: AnyRequest, work: Work, me: int, other: int) -> ASGIResponse:
    """What there is between the two now."""
    return answer(exchange_of(request), await render_one(work, me, other))


# Following


@post(
    "/api/v1/accounts/{id:str}/follow",
    status_code=200,
    guards=[user(FOLLOWS), not_too_many],
    dependencies={"wanted": params(Wanted)},
)
async def follow_account(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str],
    wanted: NamedDependency[Wanted],
) -> ASGIResponse:  # fmt: skip
    account, other = await acting(work, me), number(id)
    options = follow.Options(wanted.reblogs, wanted.notify, _languages(wanted.languages))
    await follow.follow(work, account, other, options)
    return await _answer(request, work, account.id, other)


def _languages(given: list[str] | None) -> list[str] | None:
    if given is None:
        return None
    kept = [code for code in given if code]
    if not all(is_language(code) for code in kept):
        raise Invalid(fields={"languages": [Complaint("is not included in the list", "inclusion")]})
    return list(dict.fromkeys(kept))


@post("/api/v1/accounts/{id:str}/unfollow", status_code=200, guards=[user(FOLLOWS)])
async def unfollow_account(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> ASGIResponse:
    account, other = await acting(work, me), number(id)
    await follow.unfollow(work, account, other)
    return await _answer(request, work, account.id, other)


@post("/api/v1/accounts/{id:str}/remove_from_followers", status_code=200, guards=[user(FOLLOWS)])
async def remove_follower(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> ASGIResponse:
    account, other = await acting(work, me), number(id)
    await follow.remove_follower(work, account, other)
    return await _answer(request, work, account.id, other)


@post("/api/v1/follows", status_code=200, guards=[user(FOLLOWS), not_too_many], dependencies={"sent": params(Uri)})
async def follow_by_name(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], sent: NamedDependency[Uri]
) -> ASGIResponse:
    """The account that was named, not what there is to it: an older way to follow."""
    account, other = await acting(work, me), await finding.find_anywhere(work, sent.uri)
    await follow.follow(work, account, other.id, follow.Options())
    [shown] = await render(work, [await finding.find_anywhere(work, sent.uri)])
    return answer(exchange_of(request), shown)


@post("/api/v1/follow_requests/{id:str}/authorize", status_code=200, guards=[user(FOLLOWS)])
async def authorize_request(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> ASGIResponse:
    account, other = await acting(work, me), number(id)
    await follow.authorize(work, account, other)
    return await _answer(request, work, account.id, other)


@post("/api/v1/follow_requests/{id:str}/reject", status_code=200, guards=[user(FOLLOWS)])
async def reject_request(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> ASGIResponse:
    account, other = await acting(work, me), number(id)
    await follow.reject(work, account, other)
    return await _answer(request, work, account.id, other)


# Keeping apart


@post("/api/v1/accounts/{id:str}/block", status_code=200, guards=[user(BLOCKS)])
async def block_account(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> ASGIResponse:
    account, other = await acting(work, me), number(id)
    await apart.block(work, account, other)
    return await _answer(request, work, account.id, other)


@post("/api/v1/accounts/{id:str}/unblock", status_code=200, guards=[user(BLOCKS)])
async def unblock_account(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> ASGIResponse:
    account, other = await acting(work, me), number(id)
    await apart.unblock(work, account, other)
    return await _answer(request, work, account.id, other)


@post("/api/v1/accounts/{id:str}/mute", status_code=200, guards=[user(MUTES)], dependencies={"how": params(How)})
async def mute_account(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str],
    how: NamedDependency[How],
) -> ASGIResponse:  # fmt: skip
    account, other = await acting(work, me), number(id)
    said = how.hide_notifications if how.notifications is None else how.notifications
    await apart.mute(work, account, other, hide_notifications=said is not False, seconds=how.duration)
    return await _answer(request, work, account.id, other)


@post("/api/v1/accounts/{id:str}/unmute", status_code=200, guards=[user(MUTES)])
async def unmute_account(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> ASGIResponse:
    account, other = await acting(work, me), number(id)
    await apart.unmute(work, account, other)
    return await _answer(request, work, account.id, other)


@post("/api/v1/domain_blocks", status_code=200, guards=[user(BLOCKS)], dependencies={"sent": params(Domain)})
async def block_domain(
    work: NamedDependency[Work], me: NamedDependency[Member], sent: NamedDependency[Domain]
) -> dict[str, str]:
    account = await acting(work, me)
    domain = apart.read_domain(sent.domain)
    if await apart.block_domain(work, account, domain):
        work.enqueue(tasks.CUT_TIES, tasks.CutTies(account_id=account.id, domain=domain))
    return {}


@delete("/api/v1/domain_blocks", status_code=200, guards=[user(BLOCKS)], dependencies={"sent": params(Domain)})
async def unblock_domain(
    work: NamedDependency[Work], me: NamedDependency[Member], sent: NamedDependency[Domain]
) -> dict[str, str]:
    await apart.unblock_domain(work, await acting(work, me), sent.domain)
    return {}


@get("/api/v1/domain_blocks/preview", guards=[user(BLOCKS)], dependencies={"sent": query(Domain)})
async def preview_domain_block(
    work: NamedDependency[Work], me: NamedDependency[Member], sent: NamedDependency[Domain]
) -> dict[str, int]:
    account = await account_of(work, me)
    following, followers = await store.count_at_domain(work.db, account, apart.read_domain(sent.domain))
    return {"following_count": following, "followers_count": followers}


# Esteem


@post(["/api/v1/accounts/{id:str}/pin", "/api/v1/accounts/{id:str}/endorse"], status_code=200, guards=[user(ACCOUNTS)])
async def endorse_account(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> ASGIResponse:
    account, other = await acting(work, me), number(id)
    await esteem.endorse(work, account, other)
    return await _answer(request, work, account.id, other)


@post(
    ["/api/v1/accounts/{id:str}/unpin", "/api/v1/accounts/{id:str}/unendorse"],
    status_code=200,
    guards=[user(ACCOUNTS)],
)
async def unendorse_account(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> ASGIResponse:
    account, other = await acting(work, me), number(id)
    await esteem.unendorse(work, account, other)
    return await _answer(request, work, account.id, other)


@post(
    "/api/v1/accounts/{id:str}/note",
    status_code=200,
    guards=[user(ACCOUNTS)],
    dependencies={"sent": params(Comment)},
)
async def note_account(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str],
    sent: NamedDependency[Comment],
) -> ASGIResponse:  # fmt: skip
    account, other = await acting(work, me), number(id)
    await esteem.note(work, account, other, sent.comment)
    return await _answer(request, work, account.id, other)


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

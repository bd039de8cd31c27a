"""The routes that change something between people, as one table at the end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, FromQuery, FromRequest, Route, delete, get, post
from kith.base.routing.route import Guard
from kith.base.work import Work
from kith.social.accounts import lookup
from kith.social.accounts.entities import render
from kith.social.accounts.tables import Account
from kith.social.accounts.viewers import Actor, Me
from kith.social.guards import user
from kith.social.ids import AccountId
from kith.social.pages import answer
from kith.social.relationships.entities import render_one
from kith.social.relationships.limits import not_too_many
from kith.social.relationships.service import apart, domains, esteem, follow

Verb = Callable[[Work, Account, AccountId], Awaitable[object]]
FOLLOWS, BLOCKS, MUTES, ACCOUNTS = (user(f"write:{what}") for what in ("follows", "blocks", "mutes", "accounts"))
PERSON, REQUEST, DOMAINS = "/api/v1/accounts/{id}", "/api/v1/follow_requests/{id}", "/api/v1/domain_blocks"


class FollowForm(msgspec.Struct, kw_only=True):
    reblogs: bool | None = None
    notify: bool | None = None
    languages: list[str] | None = None


class MuteForm(msgspec.Struct, kw_only=True):
    """`hide_notifications` is the older name of `notifications`."""

    notifications: bool | None = None
    hide_notifications: bool | None = None
    duration: int = 0

    @property
    def hides_notifications(self) -> bool:
        said = self.hide_notifications if self.notifications is None else self.notifications
        return said is not False


class NoteForm(msgspec.Struct, kw_only=True):
    comment: str = ""


class FollowByName(msgspec.Struct, kw_only=True):
    uri: str = ""


class NamedDomain(msgspec.Struct, kw_only=True):
    domain: str = ""


def _between(template: str, guard: Guard, do: Verb, *, aliases: Sequence[str] = ()) -> Route:
    """Somebody does something to another; the answer is what there is between the two then."""

    async def handler(exchange: Exchange, work: Work, account: Actor, id: FromPath[AccountId]) -> Answer:
        await do(work, account, id)
        return await _answer(exchange, work, account.id, id)

    return post(template, guards=[guard], aliases=tuple(aliases))(handler)


async def _answer(exchange: Exchange, work: Work, me: AccountId, other: AccountId) -> Answer:
    return answer(exchange, await render_one(work, me, other))


async def _follow(
    exchange: Exchange, work: Work, account: Actor, id: FromPath[AccountId], sent: FromRequest[FollowForm]
) -> Answer:
    await follow.follow(work, account, id, follow.Options(sent.reblogs, sent.notify, sent.languages), by_hand=True)
    return await _answer(exchange, work, account.id, id)


async def _follow_by_name(exchange: Exchange, work: Work, account: Actor, sent: FromRequest[FollowByName]) -> Answer:
    """The account that was named, not what there is to it: an older way to follow."""
    other = await lookup.find_anywhere(work, sent.uri)
    await follow.follow(work, account, other.id, follow.Options(), by_hand=True)
    [shown] = await render(work, [await lookup.find_anywhere(work, sent.uri)])
    return answer(exchange, shown)


async def _mute(
    exchange: Exchange, work: Work, account: Actor, id: FromPath[AccountId], sent: FromRequest[MuteForm]
) -> Answer:
    await apart.mute(work, account, id, hide_notifications=sent.hides_notifications, seconds=sent.duration)
    return await _answer(exchange, work, account.id, id)


async def _note(
    exchange: Exchange, work: Work, account: Actor, id: FromPath[AccountId], sent: FromRequest[NoteForm]
) -> Answer:
    await esteem.note(work, account, id, sent.comment)
    return await _answer(exchange, work, account.id, id)


async def _block_domain(work: Work, account: Actor, sent: FromRequest[NamedDomain]) -> dict[str, str]:
    await domains.block(work, account, sent.domain)
    return {}


async def _unblock_domain(work: Work, account: Actor, sent: FromRequest[NamedDomain]) -> dict[str, str]:
    await domains.unblock(work, account, sent.domain)
    return {}


async def _preview_domain_block(work: Work, me: Me, sent: FromQuery[NamedDomain]) -> dict[str, int]:
    following, followers = await domains.count_follows(work, me, sent.domain)
    return {"following_count": following, "followers_count": followers}


routes = [
    post(f"{PERSON}/follow", guards=[FOLLOWS, not_too_many])(_follow),
    post("/api/v1/follows", guards=[FOLLOWS, not_too_many])(_follow_by_name),
    _between(f"{PERSON}/unfollow", FOLLOWS, follow.unfollow),
    _between(f"{PERSON}/remove_from_followers", FOLLOWS, follow.remove_follower),
    _between(f"{REQUEST}/authorize", FOLLOWS, follow.authorize),
    _between(f"{REQUEST}/reject", FOLLOWS, follow.reject),
    _between(f"{PERSON}/block", BLOCKS, apart.block),
    _between(f"{PERSON}/unblock", BLOCKS, apart.unblock),
    post(f"{PERSON}/mute", guards=[MUTES])(_mute),
    _between(f"{PERSON}/unmute", MUTES, apart.unmute),
    post(DOMAINS, guards=[BLOCKS])(_block_domain),
    delete(DOMAINS, guards=[BLOCKS])(_unblock_domain),
    get(f"{DOMAINS}/preview", guards=[BLOCKS])(_preview_domain_block),
    _between(f"{PERSON}/pin", ACCOUNTS, esteem.endorse, aliases=[f"{PERSON}/endorse"]),
    _between(f"{PERSON}/unpin", ACCOUNTS, esteem.unendorse, aliases=[f"{PERSON}/unendorse"]),
    post(f"{PERSON}/note", guards=[ACCOUNTS])(_note),
]

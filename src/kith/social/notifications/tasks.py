"""What has happened, told to whom it concerns; and what is undone, told no more.

Everything is looked up again before it is told, for it may have been undone meanwhile. Where it may concern many,
they are told a stretch at a time, each stretch a job of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.facts import AccountDeleted
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId, StatusId
from kith.social.notifications import request_store, service, store
from kith.social.notifications.service import Notice
from kith.social.relationships import store as relationships
from kith.social.relationships.facts import (
    Blocked,
    DomainBlocked,
    FollowAuthorized,
    Followed,
    FollowRejected,
    FollowRequested,
    FollowWithdrawn,
    Muted,
    Unfollowed,
)
from kith.social.statuses import polls
from kith.social.statuses import store as statuses
from kith.social.statuses.facts import (
    PollEnded,
    StatusDeleted,
    StatusEdited,
    StatusFavourited,
    StatusPosted,
    StatusQuoted,
    StatusUnfavourited,
)
from kith.social.statuses.tables import PRIVATE, Status

STRETCH = 200
EDITS_APART = 300  # seconds


class Wave(msgspec.Struct):
    """The next of those whom a thing concerns: after this one."""

    of: Literal["status", "update", "quoted_update", "poll"]
    about: int  # a status, or a poll
    after: int = 0
    told: int = 0  # of edits: the one that was told last


# Posts


async def tell_of_posts(work: Work, facts: Sequence[StatusPosted]) -> None:
    """Most posts concern nobody in particular."""
    concerning = await store.concerning_anyone(work.db, [fact.status_id for fact in facts])
    for fact in facts:
        if fact.status_id in concerning:
            await _tell_of_post(work, fact)


async def _tell_of_post(work: Work, fact: StatusPosted) -> None:
    status = await _there(work, fact.status_id)
    author = await accounts.find(work.db, fact.account_id)
    if status is None or author is None:
        return
    if status.reblog_of_id is not None:
        await _tell_of_boost(work, status, author)
        return
    await _mention(work, status, author, await _named(work, status))
    if status.visibility <= PRIVATE and status.in_reply_to_account_id in (None, author.id):
        await tell_on(work, Wave("status", status.id))


async def _there(work: Work, status_id: StatusId) -> Status | None:
    found = await statuses.find(work.db, status_id)
    return None if found is None or found.deleted_at is not None else found


async def _named(work: Work, status: Status) -> list[AccountId]:
    found = await statuses.mentions_of(work.db, [status.id])
    return [account_id for account_id, *_ in found.get(status.id, [])]


async def _mention(work: Work, status: Status, author: Account, named: Sequence[AccountId]) -> None:
    notices = [Notice(id, f"mention:{status.id}:{id}", status.id) for id in named]
    await service.tell(work, "mention", author.id, notices, about_id=status.id, mention_from=author.role)


async def _tell_of_boost(work: Work, boost: Status, booster: Account) -> None:
    """Not where somebody follows a group, whose boosts are how it speaks."""
    original = None if boost.reblog_of_id is None else await _there(work, boost.reblog_of_id)
    if original is None:
        return
    is_group = booster.actor_type == "Group"
    if is_group and await relationships.is_following(work.db, original.account_id, booster.id):
        return
    notice = Notice(original.account_id, f"reblog:{boost.id}", original.id)
    await service.tell(work, "reblog", booster.id, [notice], about_id=original.id)


async def tell_on(work: Work, wave: Wave) -> None:
    teller = {"status": _posts, "update": _edits, "quoted_update": _quoted_edits, "poll": _ends}[wave.of]
    last = await teller(work, wave)
    if last is not None:
        work.enqueue(TELL_ON, msgspec.structs.replace(wave, after=last))


def _rest(found: store.Stretch) -> int | None:
    """After whom to go on, where there may be more."""
    return found[-1][1] if len(found) == STRETCH else None


async def _posts(work: Work, wave: Wave) -> int | None:
    """Those who want to hear of everything somebody posts. Whoever is mentioned hears of it as that."""
    status = await _there(work, StatusId(wave.about))
    if status is None:
        return None
    found = await relationships.observers(work.db, status.account_id, wave.after, STRETCH, before=status.id)
    named = set(await _named(work, status)) if found else set()
    notices = [Notice(id, f"status:{status.id}:{id}", status.id) for id, _ in found if id not in named]
    await service.tell(work, "status", status.account_id, notices, about_id=status.id)
    return _rest(found)


# Edits


async def tell_of_edit(work: Work, fact: StatusEdited) -> None:
    status = await _there(work, fact.status_id)
    author = await accounts.find(work.db, fact.account_id)
    if status is None or author is None:
        return
    still = set(await _named(work, status)) if fact.new_mentions else set()
    await _mention(work, status, author, [id for id in fact.new_mentions if id in still])
    if status.edited_at is not None:
        await tell_on(work, Wave("update", status.id))
        await tell_on(work, Wave("quoted_update", status.id))


async def _edited(work: Work, id: StatusId) -> tuple[Status, int] | None:
    """As it is now, and since when. Of two who tell of the same post one waits, for it would not see the other's."""
    await work.db.hold(f"notifications.edits:{id}")
    status = await _there(work, id)
    if status is None or status.edited_at is None:
        return None
    return status, int(status.edited_at.timestamp() * 1000)


async def _edits(work: Work, wave: Wave) -> int | None:
    edited = await _edited(work, StatusId(wave.about))
    if edited is None:
        return None
    status, at = edited
    if at == wave.told:
        return None
    found = await store.boosters(work.db, status.id, wave.after, STRETCH)
    notices = [Notice(id, f"update:{status.id}:{id}:{_span(work)}", status.id) for id, _ in found]
    await _replace(work, "update", status, notices)
    if found:
        _look_again(work, wave, at)
    return _rest(found)


async def _quoted_edits(work: Work, wave: Wave) -> int | None:
    """About their own post, whose quote reads differently now."""
    edited = await _edited(work, StatusId(wave.about))
    if edited is None:
        return None
    status, at = edited
    if at == wave.told:
        return None
    found = await store.quoters(work.db, status.id, wave.after, STRETCH)
    for id, quoting in found:
        key = f"quoted_update:{quoting}:{_span(work)}"
        await _replace(work, "quoted_update", status, [Notice(id, key, StatusId(quoting))])
    if found:
        _look_again(work, wave, at)
    return _rest(found)


def _span(work: Work) -> int:
    """Within it edits of a post are told once: at the first of them, and the last of the others when it is over."""
    return int(work.now.timestamp()) // EDITS_APART


def _look_again(work: Work, wave: Wave, at: int) -> None:
    then = datetime.fromtimestamp((_span(work) + 1) * EDITS_APART, UTC)
    work.enqueue(TELL_ON, Wave(wave.of, wave.about, told=at), at=then, key=f"{wave.of}:{wave.about}")


async def _replace(work: Work, type: str, status: Status, notices: Sequence[Notice]) -> None:
    """Of several edits, only the last one is told."""
    if notices:
        subject = notices[0].status_id or status.id
        people, keys = [one.account_id for one in notices], [one.key for one in notices]
        await store.forget_older(work.db, type, subject, people, keys)
        await service.tell(work, type, status.account_id, notices, about_id=status.id)


# What is done to posts


async def tell_of_favourites(work: Work, facts: Sequence[StatusFavourited]) -> None:
    await service.tell_of_favourites(work, [(fact.account_id, fact.status_id) for fact in facts])


async def take_back_favourite(work: Work, fact: StatusUnfavourited) -> None:
    if await store.author_of_favourite(work.db, fact.account_id, fact.status_id) is None:
        await store.forget_keys(work.db, [service.favourite_key(fact.status_id, fact.account_id)])


async def tell_of_quote(work: Work, fact: StatusQuoted) -> None:
    quoting = await _there(work, fact.status_id)
    quoted = await _there(work, fact.quoted_id)
    if quoting is None or quoted is None or quoting.quote_state != "accepted":
        return
    notice = Notice(quoted.account_id, f"quote:{quoting.id}", quoting.id)
    await service.tell(work, "quote", quoting.account_id, [notice], about_id=quoting.id)


async def forget_post(work: Work, fact: StatusDeleted) -> None:
    """With a boost goes what was told of it; with a post everything that was told about it."""
    if fact.reblog_of_id is not None:
        await store.forget_keys(work.db, [f"reblog:{fact.status_id}"])
    else:
        await store.forget_status(work.db, fact.status_id)


async def tell_of_end(work: Work, fact: PollEnded) -> None:
    poll = (await polls.find_all(work.db, [fact.poll_id])).get(fact.poll_id)
    if poll is None or await _there(work, fact.status_id) is None:
        return
    notice = Notice(poll.account_id, f"poll:{poll.id}:{poll.account_id}", poll.status_id)
    await service.tell(work, "poll", poll.account_id, [notice], about_id=poll.status_id, own=True)
    await tell_on(work, Wave("poll", poll.id))


async def _ends(work: Work, wave: Wave) -> int | None:
    poll = (await polls.find_all(work.db, [wave.about])).get(wave.about)
    if poll is None:
        return None
    found = await store.voters(work.db, poll.id, wave.after, STRETCH)
    notices = [Notice(id, f"poll:{poll.id}:{id}", poll.status_id) for id, _ in found]
    await service.tell(work, "poll", poll.account_id, notices, about_id=poll.status_id)
    return _rest(found)


# Follows


async def tell_of_follow(work: Work, fact: Followed) -> None:
    follow = await relationships.find_follow(work.db, fact.account_id, fact.target_id)
    if follow is not None and follow.id == fact.follow_id:
        notice = Notice(fact.target_id, f"follow:{fact.follow_id}")
        await service.tell(work, "follow", fact.account_id, [notice])


async def take_back_follow(work: Work, fact: Unfollowed) -> None:
    await store.forget_keys(work.db, [f"follow:{fact.follow_id}"])


async def tell_of_request(work: Work, fact: FollowRequested) -> None:
    request = await relationships.find_request(work.db, fact.account_id, fact.target_id)
    if request is not None and request.id == fact.request_id:
        notice = Notice(fact.target_id, f"follow_request:{fact.request_id}")
        await service.tell(work, "follow_request", fact.account_id, [notice])


async def forget_request(work: Work, fact: FollowAuthorized | FollowRejected | FollowWithdrawn) -> None:
    """It was answered, or taken back."""
    await store.forget_keys(work.db, [f"follow_request:{fact.request_id}"])


# People


async def forget_blocked(work: Work, fact: Blocked) -> None:
    await _forget_between(work, fact.account_id, fact.target_id)


async def _forget_between(work: Work, me: AccountId, other: AccountId) -> None:
    await store.forget_between(work.db, me, other)
    await request_store.drop_between(work.db, me, other)


async def forget_muted(work: Work, fact: Muted) -> None:
    """Only where what they do is not to be heard of either."""
    if fact.hide_notifications:
        await _forget_between(work, fact.account_id, fact.target_id)


async def forget_domain(work: Work, fact: DomainBlocked) -> None:
    await store.forget_domain(work.db, fact.account_id, fact.domain)


async def forget_gone(work: Work, fact: AccountDeleted) -> None:
    await store.forget_account(work.db, fact.account_id)
    await request_store.forget_account(work.db, fact.account_id)


TELL_ON: JobKind[Wave] = JobKind(name="notifications.tell_on", payload=Wave, handler=tell_on)
TELL_OF_POST: JobKind[StatusPosted] = JobKind(name="notifications.post", payload=StatusPosted, many=tell_of_posts)
TELL_OF_EDIT: JobKind[StatusEdited] = JobKind(name="notifications.edit", payload=StatusEdited, handler=tell_of_edit)
TELL_OF_FAVOURITE: JobKind[StatusFavourited] = JobKind(
    name="notifications.favourite", payload=StatusFavourited, many=tell_of_favourites
)
TAKE_BACK_FAVOURITE: JobKind[StatusUnfavourited] = JobKind(
    name="notifications.unfavourite", payload=StatusUnfavourited, handler=take_back_favourite
)
TELL_OF_QUOTE: JobKind[StatusQuoted] = JobKind(name="notifications.quote", payload=StatusQuoted, handler=tell_of_quote)
FORGET_POST: JobKind[StatusDeleted] = JobKind(
    name="notifications.forget_post", payload=StatusDeleted, handler=forget_post
)
TELL_OF_END: JobKind[PollEnded] = JobKind(name="notifications.poll", payload=PollEnded, handler=tell_of_end)
TELL_OF_FOLLOW: JobKind[Followed] = JobKind(name="notifications.follow", payload=Followed, handler=tell_of_follow)
TAKE_BACK_FOLLOW: JobKind[Unfollowed] = JobKind(
    name="notifications.unfollow", payload=Unfollowed, handler=take_back_follow
)
TELL_OF_REQUEST: JobKind[FollowRequested] = JobKind(
    name="notifications.request", payload=FollowRequested, handler=tell_of_request
)
FORGET_AUTHORIZED: JobKind[FollowAuthorized] = JobKind(
    name="notifications.authorized", payload=FollowAuthorized, handler=forget_request
)
FORGET_REJECTED: JobKind[FollowRejected] = JobKind(
    name="notifications.rejected", payload=FollowRejected, handler=forget_request
)
FORGET_WITHDRAWN: JobKind[FollowWithdrawn] = JobKind(
    name="notifications.withdrawn", payload=FollowWithdrawn, handler=forget_request
)
FORGET_BLOCKED: JobKind[Blocked] = JobKind(name="notifications.blocked", payload=Blocked, handler=forget_blocked)
FORGET_MUTED: JobKind[Muted] = JobKind(name="notifications.muted", payload=Muted, handler=forget_muted)
FORGET_DOMAIN: JobKind[DomainBlocked] = JobKind(
    name="notifications.domain", payload=DomainBlocked, handler=forget_domain
)
FORGET_GONE: JobKind[AccountDeleted] = JobKind(name="notifications.gone", payload=AccountDeleted, handler=forget_gone)

KINDS = (
    TELL_ON, TELL_OF_POST, TELL_OF_EDIT, TELL_OF_FAVOURITE, TAKE_BACK_FAVOURITE, TELL_OF_QUOTE, FORGET_POST,
    TELL_OF_END, TELL_OF_FOLLOW, TAKE_BACK_FOLLOW, TELL_OF_REQUEST, FORGET_AUTHORIZED, FORGET_REJECTED,
    FORGET_WITHDRAWN, FORGET_BLOCKED, FORGET_MUTED, FORGET_DOMAIN, FORGET_GONE,
)  # fmt: skip

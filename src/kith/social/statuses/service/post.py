"""Posting: one transaction for the status, what belongs to it, the author's own feed and the jobs that carry it on."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Literal

import msgspec

from kith.base.errors import Complaint, Forbidden, Invalid, NotFound
from kith.base.work import Work
from kith.social.account_standing import PostingPermission
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account, Preferences
from kith.social.addresses import status_uri, status_url
from kith.social.feeds import store as feeds
from kith.social.ids import AccountId, StatusId
from kith.social.media import service as media
from kith.social.relationships import store as relationships
from kith.social.statuses import polls, store
from kith.social.statuses.facts import StatusPosted, StatusQuoted
from kith.social.statuses.languages import is_language
from kith.social.statuses.service import wording
from kith.social.statuses.service.poll import PollDraft, check_poll
from kith.social.statuses.tables import DIRECT, PRIVATE, PUBLIC, UNLISTED, VISIBILITIES, Poll, Status
from kith.social.tags import store as tags
from kith.social.versions import FIRST

Visibility = Literal["public", "unlisted", "private", "direct"]
QuotePolicy = Literal["public", "followers", "nobody"]
NO_PARENT = "The post you are trying to reply to does not appear to exist."
NO_QUOTED = "The post you are trying to quote does not appear to exist."


class StatusDraft(msgspec.Struct, kw_only=True):
    """What a member wants to post; what is left out is as their settings say."""

    status: str = ""
    media_ids: list[int] = []
    poll: PollDraft | None = None
    in_reply_to_id: StatusId | None = None
    sensitive: bool | None = None
    spoiler_text: str = ""
    visibility: Visibility | None = None
    language: str | None = None
    quoted_status_id: StatusId | None = None
    quote_approval_policy: QuotePolicy | None = None
    allowed_mentions: list[AccountId] | None = None


class Unexpected(Exception):  # noqa: N818 - it is whom it would reach
    """Somebody would be mentioned whom the author did not name beforehand."""

    def __init__(self, accounts: list[Account]) -> None:
        super().__init__("Post would be sent to unexpected accounts")
        self.accounts = accounts


class Ready(msgspec.Struct):
    """A draft that passed every check, before anything is written."""

    text: str
    spoiler: str
    visibility: int
    sensitive: bool
    language: str | None
    parent: Status | None
    quoted: Status | None
    wording: wording.Wording
    attached: list[int]
    poll: PollDraft | None
    quote_policy: str


async def post(
    work: Work,
    author: Account,
    draft: StatusDraft,
    *,
    application: dict[str, Any] | None = None,
    held_by: int | None = None,
) -> Status:
    """`held_by`: the scheduled status whose media these are."""
    ready = await prepare(work, author, draft, held_by=held_by)
    return await put(work, author, ready, application)


async def put(work: Work, author: Account, ready: Ready, application: dict[str, Any] | None) -> Status:
    """Write what was prepared; nothing is announced before all of it is written."""
    await work.db.begin()
    noted = await wording.note_tags(work, ready.wording)
    status = _row(work, author, ready, application)
    await store.insert(work.db, status)
    await store.mention(work.db, status.id, [one.id for one in ready.wording.mentioned])
    await tags.link(work.db, status.id, author.id, [tag.id for tag in noted])
    if status.visibility in (PUBLIC, UNLISTED):
        await tags.note_open_use(work.db, author.id, [tag.id for tag in noted], work.now)
    await media.attach(work, ready.attached, status.id)
    if status.poll_id is not None and ready.poll is not None:
        await polls.insert(work.db, _poll(work, status, ready.poll))
    await _count(work, author, status, ready)
    own = feeds.entry(author.id, status.id, original_id=status.id, author_id=author.id)
    await feeds.add(work.db, [own])
    is_direct = status.visibility == DIRECT
    work.announce(StatusPosted(status_id=status.id, account_id=author.id, is_direct=is_direct))
    if ready.quoted is not None:
        work.announce(StatusQuoted(status_id=status.id, quoted_id=ready.quoted.id, account_id=author.id))
    return status


async def prepare(
    work: Work,
    author: Account,
    draft: StatusDraft,
    *,
    held_by: int | None = None,
    replaces: StatusId | None = None,
) -> Ready:
    """Check everything, with reads alone. `replaces`: the status that is to go, and leaves its media to this one."""
    posting = work.find(PostingPermission)  # type: ignore[type-abstract]
    if author.user_id is not None and not await posting.may_post(work, author.user_id):
        raise Forbidden
    kept = await accounts.find_preferences(work.db, author.id)
    text, spoiler = draft.status.strip(), draft.spoiler_text.strip()
    warned = bool(spoiler)
    if not text and spoiler and draft.quoted_status_id is None:
        text, spoiler = spoiler, ""
    if not text and not draft.media_ids and draft.quoted_status_id is None:
        raise Invalid(fields={"text": [Complaint("can't be blank", "blank")]})
    wording.check_length(text, spoiler)
    if draft.poll is not None:
        check_poll(draft.poll)
    parent = await _parent(work, author, draft.in_reply_to_id)
    understood = await wording.understand(work, author, text)
    visibility = _visibility(author, kept, draft)
    quoted = await _quoted(work, author, draft.quoted_status_id, visibility, understood)
    if quoted is not None and quoted.visibility == PRIVATE and visibility in (PUBLIC, UNLISTED):
        visibility = PRIVATE
    _check_mentions(understood, draft.allowed_mentions, author)
    attached = await media.claimable(work, author.id, draft.media_ids, status_id=replaces, held_by=held_by)
    policy = draft.quote_approval_policy or kept.quote_policy
    return Ready(
        text=text,
        spoiler=spoiler,
        visibility=visibility,
        sensitive=warned or (kept.sensitive if draft.sensitive is None else draft.sensitive),
        language=_language(draft.language, kept),
        parent=parent,
        quoted=quoted,
        wording=understood,
        attached=attached,
        poll=draft.poll,
        quote_policy=policy if visibility in (PUBLIC, UNLISTED) else "nobody",
    )


async def _parent(work: Work, author: Account, id: StatusId | None) -> Status | None:
    """A reply to a boost is a reply to what it boosts."""
    if id is None:
        return None
    parent = await store.find_visible(work.db, id, author.id)
    if parent is not None and parent.reblog_of_id is not None:
        parent = await store.find_visible(work.db, parent.reblog_of_id, author.id)
    if parent is None:
        raise NotFound(NO_PARENT)
    return parent


async def _quoted(
    work: Work, author: Account, id: StatusId | None, visibility: int, understood: wording.Wording
) -> Status | None:
    if id is None:
        return None
    quoted = await store.find_visible(work.db, id, author.id)
    if quoted is not None and quoted.reblog_of_id is not None:
        quoted = await store.find_visible(work.db, quoted.reblog_of_id, author.id)
    if (
        quoted is None
        or (quoted.visibility >= PRIVATE and quoted.account_id != author.id)
        or (quoted.visibility == DIRECT)
    ):
        raise NotFound(NO_QUOTED)
    if quoted.account_id == author.id:
        return quoted
    if visibility == DIRECT and quoted.account_id not in {one.id for one in understood.mentioned}:
        words = "Cannot quote a non-mentioned user in a Private Mention post."
        raise Invalid(fields={"base": [Complaint(words)]})
    if not await may_quote(work, author.id, quoted):
        raise Forbidden
    return quoted


async def may_quote(work: Work, me: AccountId, quoted: Status) -> bool:
    if quoted.account_id == me:
        return quoted.visibility != DIRECT
    if quoted.visibility not in (PUBLIC, UNLISTED) or quoted.quote_policy == "nobody":
        return False
    if await relationships.blocks_between(work.db, me, quoted.account_id):
        return False
    if quoted.quote_policy in ("public", "manual"):  # some want to be asked, and answer later
        return True
    return await relationships.is_following(work.db, me, quoted.account_id)


def _visibility(author: Account, kept: Preferences, draft: StatusDraft) -> int:
    named = draft.visibility or kept.privacy or ("private" if author.locked else "public")
    visibility = VISIBILITIES.index(named)
    return UNLISTED if visibility == PUBLIC and author.silenced_at is not None else visibility


def _language(given: str | None, kept: Preferences) -> str | None:
    return given if given and is_language(given) else kept.language


def _check_mentions(understood: wording.Wording, allowed: list[AccountId] | None, author: Account) -> None:
    """A client that says whom it means to mention is told when there would be others."""
    if allowed is None:
        return
    others = [one for one in understood.mentioned if one.id not in allowed and one.id != author.id]
    if others:
        raise Unexpected(others)


def _row(work: Work, author: Account, ready: Ready, application: dict[str, Any] | None) -> Status:
    id, parent = StatusId(work.new_id()), ready.parent
    return Status(
        id=id,
        version=FIRST,
        account_id=author.id,
        local=True,
        uri=status_uri(author.uri, id),
        url=status_url(work.settings, author.username, id),
        visibility=ready.visibility,
        in_reply_to_id=parent.id if parent else None,
        in_reply_to_account_id=_answered(author, parent),
        reblog_of_id=None,
        conversation_id=parent.conversation_id if parent else id,
        text=ready.text,
        content=ready.wording.content,
        spoiler_text=ready.spoiler,
        sensitive=ready.sensitive,
        language=ready.language,
        media_ids=ready.attached,
        tag_names=list(ready.wording.tags),
        poll_id=work.new_id() if ready.poll else None,
        card_id=None,
        quoted_id=ready.quoted.id if ready.quoted else None,
        quote_state=_quote_state(author, ready.quoted),
        quote_policy=ready.quote_policy,
        application=application,
        replies_count=0,
        reblogs_count=0,
        favourites_count=0,
        quotes_count=0,
        created_at=work.now,
        edited_at=None,
        deleted_at=None,
        fetched_at=None,
    )


def _quote_state(author: Account, quoted: Status | None) -> str | None:
    """Whoever lives elsewhere is asked by their server, and answers later."""
    if quoted is None:
        return None
    return "accepted" if quoted.local or quoted.account_id == author.id else "pending"


def _answered(author: Account, parent: Status | None) -> AccountId | None:
    """Whom a thread answers: whoever goes on with their own answer still answers the same person."""
    if parent is None:
        return None
    if parent.account_id == author.id and parent.in_reply_to_account_id is not None:
        return parent.in_reply_to_account_id
    return parent.account_id


def _poll(work: Work, status: Status, draft: PollDraft) -> Poll:
    assert status.poll_id is not None  # noqa: S101 - made beside it
    return Poll(
        id=status.poll_id,
        status_id=status.id,
        account_id=status.account_id,
        options=draft.options,
        tallies=[0] * len(draft.options),
        voters_count=0,
        multiple=draft.multiple,
        hide_totals=draft.hide_totals,
        expires_at=_ends(work.now, draft),
        ended_at=None,
        fetched_at=None,
    )


def _ends(now: datetime, draft: PollDraft) -> datetime:
    return now + timedelta(seconds=draft.expires_in)


async def _count(work: Work, author: Account, status: Status, ready: Ready) -> None:
    await accounts.posted(work.db, author.id, work.now, counts=status.visibility != DIRECT)
    if ready.parent is not None and status.visibility in (PUBLIC, UNLISTED):
        await store.count(work.db, ready.parent.id, replies=1)
    if ready.quoted is not None and status.quote_state == "accepted":
        await store.count(work.db, ready.quoted.id, quotes=1)

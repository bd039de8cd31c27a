"""Posts from elsewhere as rows: everything on them, in few statements, and the same news as of a post from here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kith.base.work import Work
from kith.federation.known import Known, Missing
from kith.federation.people import store as people
from kith.federation.people.tables import RemoteActor
from kith.federation.posts import rows, store, threads
from kith.federation.posts.arrived import ARRIVED
from kith.federation.posts.facts import RepliesSeen
from kith.federation.posts.linking import await_answers
from kith.federation.posts.quoting import FoundQuote, find_quote, follow_quote
from kith.federation.posts.tables import RemotePost
from kith.federation.vocabulary.incoming import IncomingNote
from kith.federation.vocabulary.incoming.ids import PUBLIC as EVERYBODY
from kith.federation.vocabulary.incoming.ids import same_domain
from kith.federation.vocabulary.incoming.tags import IncomingEmoji
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.emojis import remote as remote_emojis
from kith.social.ids import AccountId, StatusId
from kith.social.remote_media.service import is_rejected
from kith.social.statuses import polls
from kith.social.statuses import store as statuses
from kith.social.statuses.cards import service as cards
from kith.social.statuses.facts import StatusPosted, StatusQuoted
from kith.social.statuses.tables import DIRECT, LIMITED, NOT_KNOWN, PUBLIC, UNLISTED, VISIBILITIES, Status
from kith.social.tags import store as tags
from kith.social.tags.tables import Tag
from kith.social.versions import FIRST

__all__ = ["Meant", "add_note", "add_recipient", "followers_of", "meant_by", "note_emojis", "note_tags", "store_note"]

FETCHED_MENTIONS = 50  # of those whom nobody here knows
FEW_MENTIONS = 3  # of those whom a post names that another one has led to
INLINE_REPLIES = 5


class Meant(msgspec.Struct):
    """Whom a post is for: who is named, and who sees it silently."""

    visibility: int
    named: list[AccountId]
    silent: list[AccountId]
    actor: RemoteActor | None

    @property
    def rows(self) -> dict[AccountId, bool]:
        return dict.fromkeys(self.silent, True) | dict.fromkeys(self.named, False)


async def store_note(
    work: Work,
    known: Known,
    author: Account,
    note: IncomingNote,
    *,
    delivered_to: AccountId | None = None,
    live: bool = True,
    steps: int = 0,
) -> Status:
    """The post as it is kept, or the one there was; raises `Missing` for people whom it mentions and nobody knows.

    `live`: it was delivered, so that it comes home to followers whatever time it says it is from. `steps`: how many
    posts have led here one by one, for what leads on is followed so far and no further.
    """
    found = await statuses.find_by_uri(work.db, note.id)
    if found is not None:
        if delivered_to is not None and found.account_id == author.id:
            await add_recipient(work, found, delivered_to)
        return found
    parent = await threads.find_parent(work, note)
    return await add_note(work, known, author, note, parent, delivered_to=delivered_to, live=live, steps=steps)


async def add_note(
    work: Work,
    known: Known,
    author: Account,
    note: IncomingNote,
    parent: Status | None,
    *,
    delivered_to: AccountId | None = None,
    live: bool = True,
    steps: int = 0,
) -> Status:
    """One that is not here yet."""
    most = FETCHED_MENTIONS if steps <= 1 else FEW_MENTIONS
    meant = await meant_by(work, known, author, note, delivered_to, most=most)
    quote = await find_quote(work, author, note)
    conversation = None if parent is not None else await threads.find_conversation(work, note)
    await work.db.begin()
    noted = await note_tags(work, note)
    await note_emojis(work, author.domain, note.tags.emojis)
    status = _row(work, author, note, meant, parent, conversation, noted, quote)
    files = note.attachments.files
    withheld = bool(files) and await is_rejected(work, author.domain)
    attached = [rows.media_row(work.new_id(), author.id, status.id, one, work.now, withheld=withheld) for one in files]
    status.media_ids = [one.id for one in attached]
    await statuses.insert(work.db, status)
    await store.save(work.db, _beside(status, note, parent, quote))
    await store.add_media(work.db, attached)
    await store.add_mentions(work.db, status.id, meant.rows)
    await tags.link(work.db, status.id, author.id, [tag.id for tag in noted.values()])
    if status.visibility in (PUBLIC, UNLISTED):
        await tags.note_open_use(work.db, author.id, [tag.id for tag in noted.values()], status.created_at)
    if status.poll_id is not None and note.poll is not None:
        await polls.insert(work.db, rows.poll_row(status.poll_id, status.id, author.id, note.poll, work.now))
    await _count(work, author, status, parent)
    await await_answers(work, status)
    if note.attachments.link is not None:
        await cards.look_at(work, status, note.attachments.link)
    _tell(work, status, live=live)
    _follow_up(work, status, note, parent, quote, steps)
    return status


async def meant_by(
    work: Work,
    known: Known,
    author: Account,
    note: IncomingNote,
    delivered_to: AccountId | None = None,
    *,
    most: int = FETCHED_MENTIONS,
) -> Meant:
    """Who is mentioned and unknown has to be fetched; who is only addressed matters as far as they are known."""
    audience = note.audience
    is_open = audience.is_public_to or audience.is_public_cc
    actor = None if is_open and not _names_collections(note) else await people.find_actor(work.db, author.id)
    followers = actor.followers if actor is not None else None
    mentioned = [one.href for one in note.tags.mentions]
    addressed = [] if is_open else list(note.silent_recipients(followers))
    found = await store.people(work.db, list(dict.fromkeys(mentioned + addressed)))
    ours = f"{work.settings.base_url}/"
    for uri in mentioned[:most]:
        if uri not in found and not uri.startswith(ours) and not known.is_unreachable(uri):
            raise Missing("actor", uri)
    named = [found[uri].id for uri in mentioned if uri in found and not found[uri].is_gone]
    silent = [found[uri].id for uri in addressed if uri in found and found[uri].id not in (*named, author.id)]
    visibility = VISIBILITIES.index(note.visibility(followers))
    if visibility in (DIRECT, LIMITED):
        if delivered_to is not None and delivered_to not in (*named, *silent):
            silent.append(delivered_to)
        visibility = LIMITED if silent else DIRECT
    return Meant(visibility, named, silent, actor)


def _names_collections(note: IncomingNote) -> bool:
    """Whether it matters which collections are the author's followers and whom they follow."""
    approval = note.policy.can_quote if note.policy is not None else None
    if approval is None:
        return False
    return any(uri not in (EVERYBODY, note.author) for uri in (*approval.automatic, *approval.manual))


async def followers_of(work: Work, author: Account) -> str | None:
    actor = await people.find_actor(work.db, author.id)
    return None if actor is None else actor.followers


async def note_tags(work: Work, note: IncomingNote) -> dict[str, Tag]:
    """By their names; those that nobody is to use are left out."""
    spelled = rows.tags_of(note.tags.hashtags)
    if not spelled:
        return {}
    noted = await tags.note(work.db, spelled, ids=[work.new_id() for _ in spelled], now=work.now)
    return {name: noted[name] for name in spelled if noted[name].usable}


async def note_emojis(work: Work, domain: str, emojis: Sequence[IncomingEmoji]) -> None:
    """Pictures of another server, unless the team wants none of it."""
    if emojis and not await is_rejected(work, domain):
        await remote_emojis.remember(work, domain, emojis)


def _row(
    work: Work,
    author: Account,
    note: IncomingNote,
    meant: Meant,
    parent: Status | None,
    conversation: int | None,
    noted: Mapping[str, Tag],
    quote: FoundQuote,
) -> Status:
    at = rows.created_at(note.published, work.now)
    id = rows.id_of(at, work.now)
    is_open = meant.visibility in (PUBLIC, UNLISTED)
    edited_at = note.updated if note.updated is not None and at < note.updated <= work.now else None
    return Status(
        id=id,
        version=FIRST,
        account_id=author.id,
        local=False,
        uri=note.id,
        url=note.url or note.id,
        visibility=meant.visibility,
        in_reply_to_id=_answered_post(note, parent),
        in_reply_to_account_id=threads.answered(author.id, parent, note),
        reblog_of_id=None,
        conversation_id=parent.conversation_id if parent is not None else conversation or id,
        text="",
        content=rows.content_of(note),
        spoiler_text=rows.warning_of(note),
        sensitive=note.is_sensitive or bool(note.content.warning),
        language=rows.language_of(note),
        media_ids=[],
        tag_names=list(noted),
        poll_id=work.new_id() if note.poll is not None else None,
        card_id=None,
        quoted_id=quote.status.id if quote.status is not None else None,
        quote_state=quote.state,
        quote_policy=rows.quote_policy(note, meant.actor) if is_open else "nobody",
        application=None,
        replies_count=0,
        reblogs_count=note.shares_count or 0,
        favourites_count=note.likes_count or 0,
        quotes_count=0,
        created_at=at,
        edited_at=edited_at,
        deleted_at=None,
        fetched_at=work.now,
    )


def _answered_post(note: IncomingNote, parent: Status | None) -> StatusId | None:
    if parent is not None:
        return parent.id
    return StatusId(NOT_KNOWN) if note.in_reply_to is not None else None


def _beside(status: Status, note: IncomingNote, parent: Status | None, quote: FoundQuote) -> RemotePost:
    return RemotePost(
        status_id=status.id,
        parent=note.in_reply_to if parent is None else None,
        conversation=note.context or note.conversation,
        replies=note.replies.id if note.replies is not None else None,
        quoted=quote.unknown,
        stamp=quote.stamp,
    )


async def _count(work: Work, author: Account, status: Status, parent: Status | None) -> None:
    last = max(status.created_at, author.last_status_at or status.created_at)
    await accounts.posted(work.db, author.id, last, counts=status.visibility != DIRECT)
    if parent is not None and status.visibility in (PUBLIC, UNLISTED):
        await statuses.count(work.db, parent.id, replies=1)
    if status.quoted_id is not None and status.quote_state == "accepted":
        await statuses.count(work.db, status.quoted_id, quotes=1)


def _tell(work: Work, status: Status, *, live: bool) -> None:
    """What is old and was only looked up comes home to nobody, but can be found."""
    fact = StatusPosted(status_id=status.id, account_id=status.account_id)
    if live or status.created_at > work.now - rows.FRESH:
        work.announce(fact)
        if status.quoted_id is not None and status.quote_state == "accepted":
            work.announce(StatusQuoted(status.id, status.quoted_id, status.account_id))
    else:
        work.enqueue(ARRIVED, fact)


def _follow_up(
    work: Work, status: Status, note: IncomingNote, parent: Status | None, quote: FoundQuote, steps: int
) -> None:
    """What has to be asked of other servers, later."""
    is_sought = note.in_reply_to is not None and parent is None
    if note.in_reply_to is not None and is_sought:
        threads.seek_parent(work, note.in_reply_to, steps)
    follow_quote(work, status, quote, steps, is_aside=is_sought)
    page = None if note.replies is None else note.replies.first_page or note.replies
    items = [one.id for one in (page.items if page is not None else ()) if one.id and same_domain(one.id, note.id)]
    if items and steps == 0:
        work.announce(RepliesSeen(status_id=status.id, uris=tuple(items[:INLINE_REPLIES])))


async def add_recipient(work: Work, status: Status, account_id: AccountId) -> None:
    """A post that is known already was delivered to somebody, who may see it from now on."""
    if status.visibility not in (DIRECT, LIMITED) or status.deleted_at is not None:
        return
    if account_id in await statuses.mentioned_in(work.db, status.id):
        return
    await work.db.begin()
    await store.add_mentions(work.db, status.id, {account_id: True})
    changed: dict[str, Any] = {"visibility": LIMITED} if status.visibility == DIRECT else {}
    if changed:
        await statuses.change(work.db, status.id, changed)

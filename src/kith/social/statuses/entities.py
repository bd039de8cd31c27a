"""Statuses on the wire. What is shown of one is made once per version; counts, author and the viewer's own flags are
put in between. A page is a fixed number of queries, however long it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from kith.base.fragments import Fragments
from kith.base.work import Work
from kith.social.accounts.entities import pieces_of, splice
from kith.social.addresses import tag_url
from kith.social.emojis import service as emojis
from kith.social.media import entities as media
from kith.social.moments import maybe, moment
from kith.social.statuses import polls, store
from kith.social.statuses.cards.entities import render_cards
from kith.social.statuses.lines import Line, by_ids, unguarded
from kith.social.statuses.tables import VISIBILITIES, Status

MOST_BYTES = 32 << 20
_encode = msgspec.json.Encoder().encode
_lines = {anonymous: by_ids(anonymous=anonymous) for anonymous in (False, True)}
_unguarded = unguarded()

Key = tuple[int, int, int]


class Body(msgspec.Struct, frozen=True):
    """A status in one version: its JSON, open at the end, and what must be looked up to finish it."""

    piece: bytes
    account_id: int
    conversation_id: int
    visibility: int
    poll_id: int | None
    quoted_id: int | None
    quote_state: str | None
    quote_policy: str
    is_boost: bool


class StatusPieces(Fragments[Body]):
    def __init__(self) -> None:
        super().__init__(MOST_BYTES)


class _View:
    """What one viewer has to do with the statuses of one page."""

    def __init__(self, me: int | None, flags: Iterable[tuple[int, int]]) -> None:
        self.me = me
        self.flags = frozenset(flags)
        self.polls: dict[int, bytes] = {}
        self.quoted: dict[int, bytes] = {}
        self.standing: dict[int, str] = {}


async def render(work: Work, rows: Sequence[Sequence[Any]], me: int | None) -> list[bytes]:
    """Each line as a Status, in the order they came."""
    return await _render(work, [Line(*row[:20]) for row in rows], me, nested=False)


async def render_ids(work: Work, ids: Sequence[int], me: int | None) -> list[bytes]:
    """Those of `ids` that the viewer may see, in their order."""
    found = await render_by_id(work, ids, me)
    return [found[id] for id in ids if id in found]


async def render_by_id(work: Work, ids: Sequence[int], me: int | None, *, nested: bool = False) -> dict[int, bytes]:
    if not ids:
        return {}
    rows = await work.db.all(_lines[me is None], ids=list(dict.fromkeys(ids)), me=me)
    lines = [Line(*row) for row in rows]
    return dict(zip((line.id for line in lines), await _render(work, lines, me, nested=nested), strict=True))


async def render_own_past(work: Work, status_id: int, me: int) -> bytes | None:
    """A status whose viewer has just undone what they did to it, whether they may still see it or not."""
    rows = await work.db.all(_unguarded, ids=[status_id])
    shown = await _render(work, [Line(*row) for row in rows], me, nested=False)
    return shown[0] if shown else None


async def _render(work: Work, lines: Sequence[Line], me: int | None, *, nested: bool) -> list[bytes]:
    if not lines:
        return []
    wanted: dict[Key, None] = {}
    authors: dict[int, int] = {}
    for line in lines:
        wanted[line.subject_id, line.subject_version, line.subject_author_version] = None
        authors[line.subject_account_id] = line.subject_author_version
        if line.id != line.subject_id:
            wanted[line.id, line.version, line.author_version] = None
            authors[line.account_id] = line.author_version
    bodies = await _bodies(work, list(wanted))
    pieces = await pieces_of(work, authors)
    view = await _view(work, [bodies[line.subject_id] for line in lines if line.subject_id in bodies], lines, me,
                       nested=nested)  # fmt: skip
    return [_whole(line, bodies, pieces, view, nested=nested) for line in lines]


async def _view(work: Work, subjects: Sequence[Body], lines: Sequence[Line], me: int | None, *, nested: bool) -> _View:
    """Polls and quotes are only asked for where there are any."""
    flags: list[tuple[int, int]] = []
    if me is not None:
        conversations = {body.conversation_id for body in subjects}
        followed = {body.account_id for body in subjects if body.quote_policy == "followers"}
        flags = await store.flags_of(
            work.db, me, list({line.subject_id for line in lines}), list(conversations), list(followed)
        )
    view = _View(me, flags)
    asked = [body.poll_id for body in subjects if body.poll_id is not None]
    if asked:
        view.polls = await polls.render(work, asked, me)
    quoted = [body.quoted_id for body in subjects if body.quoted_id is not None and body.quote_state == "accepted"]
    if quoted:
        view.standing = await store.standing_of(work.db, me, quoted, work.now)
        if not nested:
            there = [id for id, state in view.standing.items() if state != "deleted"]
            view.quoted = await render_by_id(work, there, me, nested=True)
    return view


def _whole(line: Line, bodies: dict[int, Body], pieces: dict[int, bytes], view: _View, *, nested: bool) -> bytes:
    author = splice(
        pieces[line.subject_account_id], line.subject_author_statuses, line.subject_author_followers,
        line.subject_author_following, line.subject_author_last,
    )  # fmt: skip
    subject = bodies[line.subject_id]
    counts = b'"replies_count":%d,"reblogs_count":%d,"favourites_count":%d,"quotes_count":%d' % (
        line.replies_count, line.reblogs_count, line.favourites_count, line.quotes_count,
    )  # fmt: skip
    flags = _flags(view, line.subject_id, subject)
    whole = b'%b,%b%b,"reblog":null,"poll":%b,"quote":%b,"quote_approval":%b,"account":%b}' % (
        subject.piece, counts, flags, _poll(view, subject), _quote(view, subject, nested=nested),
        _approval(view, subject), author,
    )  # fmt: skip
    if line.id == line.subject_id:
        return whole
    booster = splice(
        pieces[line.account_id], line.author_statuses, line.author_followers, line.author_following, line.author_last
    )
    return b'%b,%b%b,"reblog":%b,"poll":null,"quote":null,"quote_approval":%b,"account":%b}' % (
        bodies[line.id].piece, counts, _flags(view, line.subject_id, subject, wrapper=True), whole,
        _approval(view, subject), booster,
    )  # fmt: skip


def _flags(view: _View, id: int, body: Body, *, wrapper: bool = False) -> bytes:
    if view.me is None:
        return b""
    flags = view.flags
    told = b',"favourited":%b,"reblogged":%b,"muted":%b,"bookmarked":%b,"filtered":[]' % (
        _bool((store.FAVOURITED, id) in flags), _bool((store.REBLOGGED, id) in flags),
        _bool((store.MUTED, body.conversation_id) in flags), _bool((store.BOOKMARKED, id) in flags),
    )  # fmt: skip
    if not wrapper and body.account_id == view.me and body.visibility <= 2:
        told += b',"pinned":%b' % _bool((store.PINNED, id) in flags)
    return told


def _bool(value: bool) -> bytes:
    return b"true" if value else b"false"


def _poll(view: _View, body: Body) -> bytes:
    return view.polls.get(body.poll_id, b"null") if body.poll_id is not None else b"null"


def _quote(view: _View, body: Body, *, nested: bool) -> bytes:
    """What is quoted inside of a quoted status is only named."""
    if body.quote_state is None:
        return b"null"
    state = body.quote_state
    quoted_id = None
    if state == "accepted":
        state = "deleted" if body.quoted_id is None else view.standing.get(body.quoted_id, "unauthorized")
        quoted_id = None if state in ("deleted", "unauthorized") else body.quoted_id
    if nested:
        return _encode({"state": state, "quoted_status_id": _id(quoted_id)})
    quoted = b"null" if quoted_id is None else view.quoted.get(quoted_id, b"null")
    return b'{"state":"%b","quoted_status":%b}' % (state.encode(), quoted)


def _approval(view: _View, body: Body) -> bytes:
    policy = body.quote_policy if body.visibility <= 1 else "nobody"
    automatic = b"[]" if policy == "nobody" else b'["%b"]' % policy.encode()
    return b'{"automatic":%b,"manual":[],"current_user":"%b"}' % (automatic, _may_quote(view, body, policy))


def _may_quote(view: _View, body: Body, policy: str) -> bytes:
    if view.me is None:
        return b"unknown" if policy == "followers" else b"automatic" if policy == "public" else b"denied"
    if body.account_id == view.me:
        return b"automatic" if body.visibility <= 2 else b"denied"
    allowed = policy == "public" or (policy == "followers" and (store.FOLLOWED, body.account_id) in view.flags)
    return b"automatic" if allowed else b"denied"


# Bodies


async def _bodies(work: Work, wanted: Sequence[Key]) -> dict[int, Body]:
    kept = work.find(StatusPieces)
    found: dict[int, Body] = {}
    missing: dict[int, Key] = {}
    for key in wanted:
        body = kept.get(key)
        if body is None:
            missing[key[0]] = key
        else:
            found[key[0]] = body
    if missing:
        rows = await store.find_all(work.db, list(missing))
        for body_id, body in (await _make(work, list(rows.values()))).items():
            found[body_id] = body
            kept.put(missing[body_id], body, len(body.piece))
    return found


async def _make(work: Work, rows: Sequence[Status]) -> dict[int, Body]:
    attached = await media.render(work, [id for row in rows for id in row.media_ids])
    named = await store.mentions_of(work.db, [row.id for row in rows])
    cards = await render_cards(work, [row.card_id for row in rows if row.card_id is not None])
    domains = await store.domains_of(work.db, [row.account_id for row in rows])
    places = [domains.get(row.account_id, ("", False)) for row in rows]
    used = await emojis.used_in_each(
        work, [((row.content, row.spoiler_text), domain) for row, (domain, _) in zip(rows, places, strict=True)]
    )
    made: dict[int, Body] = {}
    for row, (_, sensitized), told in zip(rows, places, used, strict=True):
        shape = _shape(work, row, sensitized=sensitized) | {
            "media_attachments": [attached[id] for id in row.media_ids if id in attached],
            "mentions": [_mention(one) for one in named.get(row.id, [])],
            "tags": [{"name": name, "url": tag_url(work.settings, name)} for name in row.tag_names],
            "emojis": told,
            "card": cards.get(row.card_id or 0),
        }
        made[row.id] = Body(
            piece=_encode(shape)[:-1], account_id=row.account_id, conversation_id=row.conversation_id,
            visibility=row.visibility, poll_id=row.poll_id, quoted_id=row.quoted_id, quote_state=row.quote_state,
            quote_policy=row.quote_policy, is_boost=row.reblog_of_id is not None,
        )  # fmt: skip
    return made


def _shape(_work: Work, row: Status, *, sensitized: bool) -> dict[str, Any]:
    visibility = VISIBILITIES[row.visibility]
    return {
        "id": str(row.id),
        "created_at": moment(row.created_at),
        "edited_at": maybe(row.edited_at),
        "in_reply_to_id": _id(row.in_reply_to_id),
        "in_reply_to_account_id": _id(row.in_reply_to_account_id),
        "sensitive": row.sensitive or (sensitized and bool(row.media_ids)),
        "spoiler_text": row.spoiler_text,
        "visibility": "private" if visibility == "limited" else visibility,
        "language": row.language,
        "uri": row.uri,
        "url": row.url,
        "content": row.content,
        "application": row.application,
        "tagged_collections": [],
    }


def _id(id: int | None) -> str | None:
    return None if id is None else str(id)


def _mention(one: tuple[int, str, str, str]) -> dict[str, str]:
    id, username, domain, url = one
    return {"id": str(id), "username": username, "url": url, "acct": f"{username}@{domain}" if domain else username}

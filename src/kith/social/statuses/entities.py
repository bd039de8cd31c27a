"""Statuses on the wire. What is shown of one is made once per version; counts, author and the viewer's own flags are
put in between. A page is a fixed number of queries, however long it is.

Most lines are the same for all but their author and those who marked them: such a line is kept whole, with gaps where
the viewer's flags go, and once more as its author sees it. What depends on more (polls, quotes, whether the viewer
follows) is put together anew each time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from kith.base.caches import ByVersion
from kith.base.work import Work
from kith.social.accounts.entities import is_kept, pieces_of, splice
from kith.social.ids import AccountId, StatusId
from kith.social.statuses import lines, polls, store
from kith.social.statuses.bodies import Body, Key, bodies_of, key_of
from kith.social.statuses.lines import WIDTH, Line, Person, Row, by_ids, unguarded
from kith.social.statuses.tables import PRIVATE, UNLISTED

MOST_BYTES = 24 << 20
_encode = msgspec.json.Encoder().encode
_lines = {anonymous: by_ids(anonymous=anonymous) for anonymous in (False, True)}
_unguarded = unguarded()

NOTHING_MARKED = b',"favourited":false,"reblogged":false,"muted":false,"bookmarked":false,"filtered":[]'
_AUTOMATIC = {policy: b'["%b"]' % policy.encode() for policy in ("public", "followers")}


class Shown(msgspec.Struct, frozen=True):
    """A line in pieces between which the viewer's flags go."""

    pieces: tuple[bytes, ...]
    account_id: AccountId
    subject_id: int
    conversation_id: int
    has_pin: bool  # whether the viewer is told if it is pinned: its author alone


class StatusLines(ByVersion[Shown]):
    """Lines by their rows, which tell the version of everything in them, and for whom: their author, or all others."""

    def __init__(self) -> None:
        super().__init__("status_lines", MOST_BYTES)

    def find_all(self, rows: Sequence[Row], me: AccountId | None) -> list[Shown | None]:
        """As the viewer sees them."""
        found = [self.get(row[:WIDTH]) for row in rows]
        return [
            self.get((row[:WIDTH], me)) if one is not None and one.account_id == me else one
            for row, one in zip(rows, found, strict=True)
        ]


class _Made(msgspec.Struct, frozen=True):
    """A line with all that is shown of it to everybody. `booster` is whose boost it is, where it is one."""

    line: Line
    subject: Body
    author: bytes
    boost: Body | None
    booster: bytes


class _View:
    """What one viewer has to do with the statuses of one page."""

    def __init__(self, me: AccountId | None) -> None:
        self.me = me
        self.unmarked = b"" if me is None else NOTHING_MARKED
        self.flags: frozenset[tuple[int, int]] = frozenset()
        self.marked: frozenset[int] = frozenset()
        self.polls: dict[int, bytes] = {}
        self.quoted: dict[int, bytes] = {}
        self.standing: dict[int, str] = {}


async def render(work: Work, rows: Sequence[Row], me: AccountId | None) -> list[bytes]:
    """Each line as a Status, in the order they came."""
    return [whole for _, whole in await _render(work, rows, me, nested=False)]


async def _render(work: Work, rows: Sequence[Row], me: AccountId | None, *, nested: bool) -> list[tuple[int, bytes]]:
    """By their ids; what has just left the database is left out."""
    if not rows:
        return []
    shown = work.find(StatusLines).find_all(rows, me)
    missing = [row[0] for row, one in zip(rows, shown, strict=True) if one is None]
    made = await _make(work, missing, me) if missing else {}
    view = await _view(work, shown, made, me, nested=nested)
    return [
        (row[0], _filled(one if one is not None else _shown(made[row[0]], view, nested=nested), view))
        for row, one in zip(rows, shown, strict=True)
        if one is not None or row[0] in made
    ]


async def render_ids(work: Work, ids: Sequence[int], me: AccountId | None) -> list[bytes]:
    """Those of `ids` that the viewer may see, in their order."""
    found = await render_by_id(work, ids, me)
    return [found[id] for id in ids if id in found]


async def render_by_id(
    work: Work, ids: Sequence[int], me: AccountId | None, *, nested: bool = False
) -> dict[int, bytes]:
    if not ids:
        return {}
    rows = await work.db.all(_lines[me is None], ids=list(dict.fromkeys(ids)), me=me)
    return dict(await _render(work, rows, me, nested=nested))


async def render_for_staff(work: Work, ids: Sequence[int], me: AccountId | None) -> dict[int, bytes]:
    """Whether the viewer may see them or not: what was reported to the team."""
    if not ids:
        return {}
    rows = await work.db.all(_unguarded, ids=list(dict.fromkeys(ids)))
    return dict(await _render(work, rows, me, nested=False))


async def render_own_past(work: Work, status_id: StatusId, me: AccountId) -> bytes | None:
    """A status whose viewer has just undone what they did to it, whether they may still see it or not."""
    shown = await render(work, await work.db.all(_unguarded, ids=[status_id]), me)
    return shown[0] if shown else None


# Lines


async def _make(work: Work, ids: Sequence[int], me: AccountId | None) -> dict[int, _Made]:
    read = await lines.read(work.db, ids)
    wanted: dict[Key, None] = {}
    people: dict[AccountId, int] = {}
    for _, line in read:
        wanted[key_of(line.subject_id, line.subject_version, line.subject_author.version)] = None
        people[line.subject_author.id] = line.subject_author.version
        if line.is_boost:
            wanted[key_of(line.id, line.version, line.author.version)] = None
            people[line.author.id] = line.author.version
    bodies = await bodies_of(work, list(wanted))
    pieces = await pieces_of(work, people)
    made: dict[int, _Made] = {}
    for row, line in read:
        if (
            line.id in bodies
            and line.subject_id in bodies
            and {line.author.id, line.subject_author.id} <= pieces.keys()
        ):
            made[line.id] = one = _made(line, bodies, pieces)
            _keep(work, row, one, me)
    return made


def _made(line: Line, bodies: Mapping[StatusId, Body], pieces: Mapping[AccountId, bytes]) -> _Made:
    return _Made(
        line, bodies[line.subject_id], _whole(pieces, line.subject_author),
        bodies[line.id] if line.is_boost else None, _whole(pieces, line.author) if line.is_boost else b"",
    )  # fmt: skip


def _whole(pieces: Mapping[AccountId, bytes], person: Person) -> bytes:
    return splice(pieces[person.id], person.statuses, person.followers, person.following, person.last)


def _keep(work: Work, row: Row, made: _Made, me: AccountId | None) -> None:
    """What depends on nothing else; and only if its people are settled: one who moved is shown as they are now."""
    subject, line = made.subject, made.line
    if subject.poll_id is not None or subject.quote_state is not None or _policy(subject) == "followers":
        return
    if not all(is_kept(work, person.id, person.version) for person in (line.author, line.subject_author)):
        return
    for viewer, key in ((None, row), (me, (row, me))):
        if viewer is None or viewer == subject.account_id:
            shown = _shown(made, _View(viewer), nested=False)
            work.find(StatusLines).put(key, shown, sum(len(piece) for piece in shown.pieces))


def _pieces(made: _Made, poll: bytes, quote: bytes, approval: bytes) -> tuple[bytes, ...]:
    """A status, open where the viewer's flags go; a boost is open there once more."""
    line = made.line
    counts = b'"replies_count":%d,"reblogs_count":%d,"favourites_count":%d,"quotes_count":%d' % (
        line.replies_count, line.reblogs_count, line.favourites_count, line.quotes_count,
    )  # fmt: skip
    begin = b"%b,%b" % (made.subject.piece, counts)
    end = b',"reblog":null,"poll":%b,"quote":%b,"quote_approval":%b,"account":%b}' % (
        poll,
        quote,
        approval,
        made.author,
    )
    if made.boost is None:
        return begin, end
    close = b',"poll":null,"quote":null,"quote_approval":%b,"account":%b}' % (approval, made.booster)
    return b"%b,%b" % (made.boost.piece, counts), b',"reblog":%b' % begin, end + close


def _shown(made: _Made, view: _View, *, nested: bool) -> Shown:
    subject = made.subject
    pieces = _pieces(
        made, _poll(view, subject), _quote(view, subject, nested=nested), _approval(subject, _may_quote(view, subject))
    )
    has_pin = subject.account_id == view.me and subject.visibility <= PRIVATE
    return Shown(pieces, subject.account_id, made.line.subject_id, subject.conversation_id, has_pin)


def _filled(shown: Shown, view: _View) -> bytes:
    """The boost of a status tells of the status' marks, but not of its pin."""
    marks, pieces = view.unmarked, shown.pieces
    if view.marked:
        marks = _marks(view, shown.subject_id, shown.conversation_id)
    if not shown.has_pin:
        return marks.join(pieces)
    own = b'%b,"pinned":%b' % (marks, _bool((store.PINNED, shown.subject_id) in view.flags))
    return own.join(pieces) if len(pieces) == 2 else pieces[0] + marks + own.join(pieces[1:])


# The viewer


async def _view(
    work: Work, shown: Sequence[Shown | None], made: Mapping[int, _Made], me: AccountId | None, *, nested: bool
) -> _View:
    """Polls and quotes are only asked for where there are any."""
    view = _View(me)
    subjects = [one.subject for one in made.values()]
    if me is not None:
        there = [one for one in shown if one is not None]
        ids = [one.subject_id for one in there] + [one.line.subject_id for one in made.values()]
        conversations = [one.conversation_id for one in there] + [body.conversation_id for body in subjects]
        followed = [body.account_id for body in subjects if _policy(body) == "followers"]
        flags = await store.flags_of(work.db, me, ids, conversations, followed)
        if flags:
            view.flags, view.marked = frozenset(flags), frozenset(id for _, id in flags)
    asked = [body.poll_id for body in subjects if body.poll_id is not None]
    if asked:
        view.polls = await polls.render(work, asked, me)
    quoted = [body.quoted_id for body in subjects if body.quoted_id is not None and body.quote_state == "accepted"]
    if quoted:
        view.standing = await store.standing_of(work.db, me, quoted, work.now)
        if not nested:
            welcome = [id for id, state in view.standing.items() if state == "accepted"]
            view.quoted = await render_by_id(work, welcome, me, nested=True)
    return view


def _marks(view: _View, id: int, conversation: int) -> bytes:
    if id not in view.marked and conversation not in view.marked:
        return view.unmarked
    flags = view.flags
    return b',"favourited":%b,"reblogged":%b,"muted":%b,"bookmarked":%b,"filtered":[]' % (
        _bool((store.FAVOURITED, id) in flags), _bool((store.REBLOGGED, id) in flags),
        _bool((store.MUTED, conversation) in flags), _bool((store.BOOKMARKED, id) in flags),
    )  # fmt: skip


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
        quoted_id = body.quoted_id if state == "accepted" else None
    if nested:
        return _encode({"state": state, "quoted_status_id": None if quoted_id is None else str(quoted_id)})
    quoted = b"null" if quoted_id is None else view.quoted.get(quoted_id, b"null")
    return b'{"state":"%b","quoted_status":%b}' % (state.encode(), quoted)


def _policy(body: Body) -> str:
    """Who may quote; what is not for everybody is quoted by nobody."""
    return body.quote_policy if body.visibility <= UNLISTED else "nobody"


def _approval(body: Body, current: bytes) -> bytes:
    return b'{"automatic":%b,"manual":[],"current_user":"%b"}' % (_AUTOMATIC.get(_policy(body), b"[]"), current)


def _may_quote(view: _View, body: Body) -> bytes:
    if body.account_id == view.me:
        return b"automatic" if body.visibility <= PRIVATE else b"denied"
    policy = _policy(body)
    if policy == "followers" and view.me is None:
        return b"unknown"
    allowed = policy == "public" or (policy == "followers" and (store.FOLLOWED, body.account_id) in view.flags)
    return b"automatic" if allowed else b"denied"

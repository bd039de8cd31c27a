"""Statuses on the wire. What is shown of one is made once per version; what the viewer has to do with it is put in
between. A page is a fixed number of queries, however long it is.

Most lines are the same for all members but their author: such a line is kept as somebody sees it who has marked
nothing, with the places of the viewer's marks (`shapes.UNMARKED`), and apart from that as its author and as strangers
see it. What depends on more (polls, quotes, whether the viewer follows) is put together anew each time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from kith.base.caches import ByVersion
from kith.base.json_templates import Settled, Template
from kith.base.work import Work
from kith.social.accounts.entities import is_kept, render_versions
from kith.social.ids import AccountId, StatusId
from kith.social.statuses import lines, polls, store
from kith.social.statuses.bodies import Body, BodyKey, bodies_of, body_key
from kith.social.statuses.filtering import Filtered, ViewerFilters
from kith.social.statuses.lines import Key, Row, StatusLine, by_ids, key_of, unguarded
from kith.social.statuses.shapes import COUNTS, UNMARKED, Quote, QuoteApproval, ShallowQuote
from kith.social.statuses.store import Stretch
from kith.social.statuses.tables import PRIVATE, UNLISTED
from kith.social.versions import without_counts

MOST_BYTES = 20 << 20
_encode = msgspec.json.Encoder().encode
_lines = {anonymous: by_ids(anonymous=anonymous) for anonymous in (False, True)}
_unguarded = unguarded()
_TRUE, _NULL = b"true", b"null"
_AUTOMATIC = ("public", "followers")
_MARKS = (
    ("favourited", store.FAVOURITED),
    ("reblogged", store.REBLOGGED),
    ("bookmarked", store.BOOKMARKED),
    ("pinned", store.PINNED),
)


class Shown(msgspec.Struct, frozen=True, gc=False):
    """A line as one kind of viewer sees it: a stranger, a member, or its author.

    Its last key is `account`; of that value there is one copy for all lines, so that it stands apart.
    """

    json: Settled  # ends where the account begins
    account: bytes
    account_id: AccountId
    subject_id: StatusId
    subject_version: int  # without counts
    conversation_id: int

    @property
    def size(self) -> int:
        """What it takes in memory, about: lines share the accounts of a few versions."""
        return self.json.size + len(self.account) // 4


class StatusLines(ByVersion[Shown]):
    """Lines by the versions of everything in them, and for whom they are."""

    def __init__(self) -> None:
        super().__init__("status_lines", MOST_BYTES)

    def find(self, key: Key, me: AccountId | None) -> Shown | None:
        """As this viewer sees it: what is kept for all members is not for its author."""
        found = None if me is None else self.get(key)
        if found is None or found.account_id == me:
            return self.get((key, me))
        return found


class _Made(msgspec.Struct, frozen=True):
    """A line with all that is shown of it to everybody. `booster` is whose boost it is, where it is one."""

    line: StatusLine
    subject: Body
    author: bytes
    boost: Body | None
    booster: bytes


class View:
    """What one viewer has to do with the statuses of one page."""

    def __init__(self, me: AccountId | None) -> None:
        self.me = me
        self.flags: frozenset[tuple[int, int]] = frozenset()
        # Which of the viewer's filters match, by the status that is shown or boosted.
        self.filtered: Mapping[StatusId, Filtered] = {}
        self.hidden: frozenset[StatusId] = frozenset()  # left out, unless they are the viewer's own
        self.marked: frozenset[int] = frozenset()  # statuses and conversations that anything above is about
        self.polls: dict[int, bytes] = {}
        self.quoted: dict[StatusId, bytes] = {}
        self.standing: dict[int, str] = {}

    def hides(self, shown: Shown) -> bool:
        return shown.subject_id in self.hidden and shown.account_id != self.me


async def render(work: Work, rows: Sequence[Row], me: AccountId | None, *, context: str = "") -> list[bytes]:
    """Each line as a Status, in the order they came; those that a filter hides in this context are left out."""
    return [whole for _, whole in await _render(work, rows, me, nested=False, context=context)]


async def _render(
    work: Work, rows: Sequence[Row], me: AccountId | None, *, nested: bool, context: str = ""
) -> list[tuple[StatusId, bytes]]:
    """By their ids; what has just left the database is left out."""
    if not rows:
        return []
    kept = work.find(StatusLines)
    shown = [kept.find(key_of(row), me) for row in rows]
    missing = [row.id for row, one in zip(rows, shown, strict=True) if one is None]
    made = await _make(work, missing, me) if missing else {}
    view = await _view(work, shown, made, me, nested=nested, context=context)
    found: list[tuple[StatusId, bytes]] = []
    for row, one in zip(rows, shown, strict=True):
        if one is None and row.id in made:
            one = kept.find(key_of(row), me) or _shown(made[row.id], view, nested=nested)  # noqa: PLW2901
        if one is not None and not view.hides(one):
            found.append((row.id, b"%b%b}" % (seen(one, view), one.account)))
    return found


async def render_rows(
    work: Work, rows: Sequence[Row], me: AccountId | None, *, context: str = ""
) -> dict[StatusId, bytes]:
    """The same by their ids; what has just left the database is left out."""
    return dict(await _render(work, rows, me, nested=False, context=context))


async def find_lines(work: Work, rows: Sequence[Row], me: AccountId | None) -> dict[StatusId, Shown]:
    """Those that are kept as this viewer sees them, or can be, by their ids; the viewer's marks are yet to come."""
    kept = work.find(StatusLines)
    missing = [row.id for row in rows if kept.find(key_of(row), me) is None]
    if missing:
        await _make(work, missing, me)
    return {row.id: one for row in rows if (one := kept.find(key_of(row), me)) is not None}


async def render_ids(work: Work, ids: Sequence[int], me: AccountId | None) -> list[bytes]:
    """Those of `ids` that the viewer may see, in their order."""
    found = await render_by_id(work, ids, me)
    return [found[StatusId(id)] for id in ids if id in found]


async def render_by_id(
    work: Work, ids: Sequence[int], me: AccountId | None, *, nested: bool = False, context: str = ""
) -> dict[StatusId, bytes]:
    """Those that the viewer may see; what their filters hide in this context is left out."""
    if not ids:
        return {}
    rows = await work.db.all(_lines[me is None], ids=list(dict.fromkeys(ids)), me=me)
    return dict(await _render(work, rows, me, nested=nested, context=context))


async def render_for_staff(work: Work, ids: Sequence[int], me: AccountId | None) -> dict[int, bytes]:
    """Whether the viewer may see them or not: what was reported to the team."""
    if not ids:
        return {}
    rows = await work.db.all(_unguarded, ids=list(dict.fromkeys(ids)))
    return dict(await _render(work, rows, me, nested=False))


async def render_own_past(work: Work, status_id: StatusId, me: AccountId) -> bytes | None:
    """A status whose viewer has just undone what they did to it, whether they may still see it or not."""
    rows = await work.db.all(_unguarded, ids=[status_id])
    shown = await render(work, rows, me)
    return shown[0] if shown else None


# Lines


async def _make(work: Work, ids: Sequence[int], me: AccountId | None) -> dict[StatusId, _Made]:
    read = await lines.read(work.db, ids)
    wanted: dict[BodyKey, None] = {}
    people: dict[AccountId, int] = {}
    for _, line in read:
        wanted[body_key(line.subject_id, line.subject_version, line.subject_author_version)] = None
        people[line.subject_account_id] = line.subject_author_version
        if line.is_boost:
            wanted[body_key(line.id, line.version, line.author_version)] = None
            people[line.account_id] = line.author_version
    bodies = await bodies_of(work, list(wanted))
    shown = await render_versions(work, people)
    made: dict[StatusId, _Made] = {}
    for key, line in read:
        if (
            line.id in bodies
            and line.subject_id in bodies
            and {line.account_id, line.subject_account_id} <= shown.keys()
        ):
            made[line.id] = one = _Made(
                line,
                bodies[line.subject_id],
                shown[line.subject_account_id],
                bodies[line.id] if line.is_boost else None,
                shown[line.account_id] if line.is_boost else b"",
            )
            _keep(work, key, one, me)
    return made


def _keep(work: Work, key: Key, made: _Made, me: AccountId | None) -> None:
    """What depends on nothing else, and can no longer be rolled back.

    And only if its people are settled: one who moved is shown as they are now.
    """
    subject, line = made.subject, made.line
    if subject.poll_id is not None or subject.quote_state is not None or _policy(subject) == "followers":
        return
    people = ((line.account_id, line.author_version), (line.subject_account_id, line.subject_author_version))
    if work.db.is_writing or not all(is_kept(work, id, version) for id, version in people):
        return
    is_for_all = me is not None and me != subject.account_id
    shown = _shown(made, View(me), nested=False)
    work.find(StatusLines).put(key if is_for_all else (key, me), shown, shown.size)


def _shown(made: _Made, view: View, *, nested: bool) -> Shown:
    """A boost tells of the marks on what it boosts, but not of its pin."""
    subject, line = made.subject, made.line
    shared: dict[str, bytes | Template] = {name: b"%d" % getattr(line, name) for name in COUNTS}
    shared["quote_approval"] = _approval(subject, _may_quote(view, subject))
    own = {"poll": _poll(view, subject), "quote": _quote(view, subject, nested=nested)}
    whole, account = subject.template.fill({**shared, **own, "reblog": _NULL}), made.author
    if subject.account_id != view.me or subject.visibility > PRIVATE:
        whole = whole.without("pinned")
    if made.boost is not None:
        boost = made.boost.template.without("pinned")
        whole = whole.fill({"account": made.author})
        whole, account = boost.fill({**shared, "poll": _NULL, "quote": _NULL, "reblog": whole}), made.booster
    if view.me is None:
        whole = whole.without(*UNMARKED)
    json = whole.up_to("account").settle(UNMARKED)
    version = without_counts(line.subject_version)
    return Shown(json, account, subject.account_id, line.subject_id, version, subject.conversation_id)


def seen(shown: Shown, view: View) -> bytes:
    """A line up to its account, with the viewer's marks, if there are any."""
    id, conversation_id = shown.subject_id, shown.conversation_id
    if id not in view.marked and conversation_id not in view.marked:
        return shown.json.usual
    values = {name: _TRUE for name, flag in _MARKS if (flag, id) in view.flags}
    if (store.MUTED, conversation_id) in view.flags:
        values["muted"] = _TRUE
    if id in view.filtered:
        values["filtered"] = view.filtered[id].json
    return shown.json.but(values)


# The viewer


async def view_of(
    work: Work, stretch: Stretch, me: AccountId | None, authors: Sequence[AccountId] = (), *, context: str = ""
) -> View:
    """What the viewer has to do with some statuses, but for their polls and quotes."""
    view = View(me)
    if me is None:
        return view
    flags = await store.flags_of(work.db, me, stretch, authors)
    if flags:
        view.flags, view.marked = frozenset(flags), frozenset(flag.id for flag in flags)
    filtered = await work.find(ViewerFilters).matches(work, me, stretch.ids, stretch.versions)
    if filtered:
        view.filtered, view.marked = filtered, view.marked | filtered.keys()
        view.hidden = frozenset(id for id, one in filtered.items() if context in one.hidden_in)
    return view


async def _view(
    work: Work,
    shown: Sequence[Shown | None],
    made: Mapping[StatusId, _Made],
    me: AccountId | None,
    *,
    nested: bool,
    context: str,
) -> View:
    """Polls and quotes are only asked for where there are any."""
    subjects = [one.subject for one in made.values()]
    there = [(one.subject_id, one.subject_version, one.conversation_id) for one in shown if one is not None]
    there += [
        (one.line.subject_id, without_counts(one.line.subject_version), one.subject.conversation_id)
        for one in made.values()
    ]
    if not there:
        return View(me)
    followed = [body.account_id for body in subjects if _policy(body) == "followers"]
    view = await view_of(work, Stretch.of(there), me, followed, context=context)
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


def _poll(view: View, body: Body) -> bytes:
    return view.polls.get(body.poll_id, b"null") if body.poll_id is not None else b"null"


def _quote(view: View, body: Body, *, nested: bool) -> bytes:
    """What is quoted inside of a quoted status is only named."""
    if body.quote_state is None:
        return b"null"
    state = body.quote_state
    quoted_id = None
    if state == "accepted":
        state = "deleted" if body.quoted_id is None else view.standing.get(body.quoted_id, "unauthorized")
        quoted_id = body.quoted_id if state == "accepted" else None
    if nested:
        return _encode(ShallowQuote(state, None if quoted_id is None else str(quoted_id)))
    quoted = None if quoted_id is None else view.quoted.get(quoted_id)
    return _encode(Quote(state, None if quoted is None else msgspec.Raw(quoted)))


def _policy(body: Body) -> str:
    """Who may quote; what is not for everybody is quoted by nobody."""
    return body.quote_policy if body.visibility <= UNLISTED else "nobody"


def _approval(body: Body, current: str) -> bytes:
    policy = _policy(body)
    manual = ["public"] if policy == "manual" else []
    return _encode(QuoteApproval([policy] if policy in _AUTOMATIC else [], manual, current))


def _may_quote(view: View, body: Body) -> str:
    if body.account_id == view.me:
        return "automatic" if body.visibility <= PRIVATE else "denied"
    policy = _policy(body)
    if policy == "followers" and view.me is None:
        return "unknown"
    if policy == "manual":
        return "manual"
    allowed = policy == "public" or (policy == "followers" and (store.FOLLOWED, body.account_id) in view.flags)
    return "automatic" if allowed else "denied"

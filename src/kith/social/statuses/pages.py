"""Pages of statuses, from the rows of a list in one piece of JSON.

The rows tell the version of everything on the page, so that a page which was put together once is kept by them. Only
what the viewer has to do with its statuses is asked for each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from kith.base.caches import ByVersion
from kith.base.work import Work
from kith.social.ids import AccountId, StatusId
from kith.social.pages import fitting, ids_of, joined
from kith.social.statuses import entities
from kith.social.statuses.entities import Shown, StatusLines, View
from kith.social.statuses.lines import StatusRow, key_of
from kith.social.statuses.store import Stretch

MOST_BYTES = 16 << 20
_rows = msgspec.json.Decoder(list[StatusRow])


class StatusPage(msgspec.Struct, frozen=True, gc=False):
    """As one kind of viewer sees it. `ids` are those of the rows, newest first."""

    ids: tuple[StatusId, ...]
    lines: tuple[Shown, ...]
    author_ids: frozenset[AccountId]
    stretch: Stretch


class StatusPages(ByVersion[StatusPage]):
    """Pages by their rows, and for whom they are: strangers, members, or somebody who wrote some of it."""

    def __init__(self) -> None:
        super().__init__("status_pages", MOST_BYTES)

    def find(self, rows: str, me: AccountId | None) -> StatusPage | None:
        found = self.get((rows, me))
        if found is None and me is not None:
            found = self.get(rows)
            if found is not None and me in found.author_ids:
                return None
        return found


class RenderedPage(NamedTuple):
    """A JSON array of Statuses, newest first, and the ids of all rows, also of what could not be shown.

    One that would be too long ends before: then there are more.
    """

    body: bytes
    ids: Sequence[StatusId]
    is_cut: bool = False


async def render(
    work: Work, rows: str | None, me: AccountId | None, *, is_ascending: bool = False, context: str = ""
) -> RenderedPage:
    """What a filter of the viewer hides in this context is left out."""
    if not rows:
        return RenderedPage(b"[]", ())
    page = work.find(StatusPages).find(rows, me)
    if page is not None:
        view = await entities.view_of(work, page.stretch, me, context=context)
        return _joined(page, view, is_ascending=is_ascending)
    read = _rows.decode(rows)
    if is_ascending:
        read.reverse()
    found = await entities.render_rows(work, read, me, context=context)
    if not work.db.is_writing:
        _keep(work, rows, read, me)
    ids, shown, there = [row.id for row in read], list(found.values()), list(found)
    part = fitting([len(one) for one in shown], from_the_end=is_ascending)
    if part is None:
        return RenderedPage(joined(shown), ids)
    return RenderedPage(joined(shown[part]), ids_of(ids, there[part], from_the_end=is_ascending), is_cut=True)


def _joined(page: StatusPage, view: View, *, is_ascending: bool) -> RenderedPage:
    """All pieces of a page are copied once."""
    lines, ids = page.lines, page.ids
    part = fitting([len(one.json.usual) + len(one.account) for one in lines], from_the_end=is_ascending)
    if part is not None:
        lines, ids = lines[part], ids[part]
    if view.hidden:
        lines = tuple(line for line in lines if not view.hides(line))
    if not lines:
        return RenderedPage(b"[]", ids, is_cut=part is not None)
    parts = [b"["]
    for line in lines:
        parts += (entities.seen(line, view) if view.marked else line.json.usual, line.account, b"},")
    parts[-1] = b"}]"
    return RenderedPage(b"".join(parts), ids, is_cut=part is not None)


def _keep(work: Work, rows: str, read: Sequence[StatusRow], me: AccountId | None) -> None:
    """If all of its lines are."""
    kept = work.find(StatusLines)
    page = _page(read, [kept.find(key_of(row), me) for row in read])
    if page is None:
        return
    is_for_all = me is not None and me not in page.author_ids
    size = len(rows) + sum(line.size for line in page.lines)
    work.find(StatusPages).put(rows if is_for_all else (rows, me), page, size)


def _page(read: Sequence[StatusRow], lines: Sequence[Shown | None]) -> StatusPage | None:
    there = tuple(line for line in lines if line is not None)
    if not there or len(there) < len(read):
        return None
    return StatusPage(
        tuple(row.id for row in read),
        there,
        frozenset(line.account_id for line in there),
        Stretch.of((line.subject_id, line.subject_version, line.conversation_id) for line in there),
    )

"""The facts that the groups room announces."""

from __future__ import annotations

from collections.abc import Iterable

from kith.base.news import Fact
from kith.base.work import Work

AT_ONCE = 500


class GroupChanged(Fact, frozen=True):
    """A group was made, changed or deleted; `user_ids` are those who joined or left it."""

    group_uuid: str
    user_ids: tuple[int, ...] = ()


def announce_group(work: Work, group_uuid: str, moved: Iterable[int]) -> None:
    """`moved` are those who joined or left; a fact names some of them only, so that it stays small."""
    user_ids = sorted(moved)
    for at in range(0, max(len(user_ids), 1), AT_ONCE):
        work.announce(GroupChanged(group_uuid=group_uuid, user_ids=tuple(user_ids[at : at + AT_ONCE])))

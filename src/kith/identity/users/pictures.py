"""A port for people's pictures and profiles, which the social half keeps.

A picture's address in a person's attributes comes first.
"""

from __future__ import annotations

from kith.base.ids import UserId
from kith.base.work import Work
from kith.identity.users.tables import User

_NAMES = ("picture", "avatar")


class Pictures:
    """Knows no pictures and no profiles; another implementation is put in its place."""

    async def find(self, work: Work, user_id: UserId) -> str | None:  # noqa: ARG002 - for those who know
        return None

    async def find_page(self, work: Work, user_id: UserId) -> str | None:  # noqa: ARG002 - for those who know
        """The address of their profile."""
        return None


async def picture_of(work: Work, user: User) -> str | None:
    for name in _NAMES:
        kept = user.attributes.get(name)
        if isinstance(kept, str) and kept.startswith(("https://", "http://")):
            return kept
    return await work.find(Pictures).find(work, user.id)


async def page_of(work: Work, user: User) -> str | None:
    return await work.find(Pictures).find_page(work, user.id)

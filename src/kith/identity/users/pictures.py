"""What people look like. Identity keeps no pictures: whoever does is introduced where the server is put together.

An address that stands among somebody's attributes goes before that.
"""

from __future__ import annotations

from kith.base.ids import UserId
from kith.base.work import Work
from kith.identity.users.tables import User

_NAMES = ("picture", "avatar")


class Pictures:
    """Knows nobody's; whoever does is asked in its place."""

    async def find(self, work: Work, user_id: UserId) -> str | None:  # noqa: ARG002 - for those who know
        return None


async def picture_of(work: Work, user: User) -> str | None:
    for name in _NAMES:
        kept = user.attributes.get(name)
        if isinstance(kept, str) and kept.startswith(("https://", "http://")):
            return kept
    return await work.find(Pictures).find(work, user.id)

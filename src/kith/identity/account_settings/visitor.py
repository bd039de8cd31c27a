from __future__ import annotations

import msgspec

from kith.identity.sessions.tables import LoginSession
from kith.identity.users.tables import User


class Visitor(msgspec.Struct, frozen=True):
    """Somebody who is signed in, and the session they are signed in with."""

    user: User
    session: LoginSession
    is_superuser: bool = False

    @property
    def is_acting(self) -> bool:
        """Whether this session is an impersonation: somebody else acts as this person."""
        return self.session.by_id is not None

    @property
    def locale(self) -> str:
        return locale_of(self.user)

    @property
    def timezone(self) -> str:
        """The time zone the person has chosen, or an empty text."""
        return self.user.timezone


def locale_of(user: User) -> str:
    """The language the person has chosen, or an empty text."""
    return user.locale

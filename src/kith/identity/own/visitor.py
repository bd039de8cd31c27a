from __future__ import annotations

import msgspec

from kith.identity.sessions.tables import Session
from kith.identity.users.tables import User


class Visitor(msgspec.Struct, frozen=True):
    """Somebody who is signed in, and the session they are signed in with."""

    user: User
    session: Session

"""The person behind a request to the identity API."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

ADMINISTRATORS = ("administrator", "owner")

# How somebody came: this server itself, with the password, signed in, with an API token, with an app password.
Way = Literal["system", "password", "session", "token", "app_password"]


class ApiCaller(msgspec.Struct, frozen=True):
    """A person whose credentials were right; `scopes` is None where the whole person speaks.

    `permissions` holds what roles and groups grant; None means everything. `until` is when a token ends (None:
    never). `is_fresh` says that the person has proved lately who they are.
    """

    id: int
    username: str
    role: str
    scopes: frozenset[str] | None = None
    permissions: frozenset[str] | None = frozenset()
    way: Way = "token"
    until: datetime | None = None
    is_fresh: bool = False

    def may(self, permission: str) -> bool:
        return self.permissions is None or permission in self.permissions

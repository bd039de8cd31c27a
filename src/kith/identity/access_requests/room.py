"""Access on request."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.identity.access_requests import expiry
from kith.identity.users.service import UserBarred

ROOM = Room(name="access requests", at_once=((UserBarred, expiry.close_of),))

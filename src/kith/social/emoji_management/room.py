"""The community's own emoji, for those who bring them."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.social.emoji_management import api, tasks
from kith.social.errors import DIALECT

ROOM = Room(name="emoji management", dialect=DIALECT, routes=tuple(api.routes), jobs=(tasks.FORGET_UNUSED,))

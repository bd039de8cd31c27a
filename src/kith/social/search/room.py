"""Finding people, posts and hashtags."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.social.accounts.facts import AccountChanged, AccountDeleted
from kith.social.errors import DIALECT
from kith.social.search import api, tasks
from kith.social.statuses.facts import StatusDeleted, StatusEdited

ROOM = Room(
    name="search",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=(tasks.LEARN_POSTED, tasks.LEARN_EDITED, tasks.FORGET, tasks.LEARN_CHANGED, tasks.FORGET_ACCOUNT),
    subscriptions=(
        (StatusEdited, tasks.LEARN_EDITED),
        (StatusDeleted, tasks.FORGET),
        (AccountChanged, tasks.LEARN_CHANGED),
        (AccountDeleted, tasks.FORGET_ACCOUNT),
    ),
    at_once=(
        (StatusEdited, tasks.learn_edit),
        (AccountChanged, tasks.learn_changed),
    ),
)

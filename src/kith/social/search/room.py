"""Finding people, posts and hashtags."""

from __future__ import annotations

from kith.base.rooms import Part, Room
from kith.social.accounts.facts import AccountChanged, AccountDeleted
from kith.social.errors import DIALECT
from kith.social.search import api, tasks
from kith.social.search.elsewhere import Elsewhere, NothingElsewhere
from kith.social.statuses.facts import StatusDeleted, StatusEdited

ROOM = Room(
    name="search",
    parts=(Part(Elsewhere, lambda _: NothingElsewhere()),),
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

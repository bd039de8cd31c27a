"""Trends: tags, links and posts that many people take up at the moment, reviewed by the team."""

from __future__ import annotations

from datetime import timedelta

from kith.base.jobs import Periodic
from kith.base.rooms import Room
from kith.social.accounts.facts import AccountChanged, AccountDeleted
from kith.social.errors import DIALECT
from kith.social.statuses.facts import StatusDeleted, TagsRecounted
from kith.social.trends import admin_api, api, tasks

ROOM = Room(
    name="trends",
    dialect=DIALECT,
    routes=(*api.routes, *admin_api.routes),
    jobs=(
        tasks.REFRESH,
        tasks.REQUEST_REVIEW,
        tasks.WITHOUT_USES,
        tasks.WITHOUT_SHARE,
        tasks.WITHOUT_CHANGED,
        tasks.WITHOUT_ACCOUNT,
    ),
    periodic=(
        Periodic(kind=tasks.REFRESH, every=timedelta(minutes=5), payload=tasks.RefreshTrends()),
        Periodic(kind=tasks.REQUEST_REVIEW, every=timedelta(hours=1), payload=tasks.RequestReview()),
    ),
    subscriptions=(
        (TagsRecounted, tasks.WITHOUT_USES),
        (StatusDeleted, tasks.WITHOUT_SHARE),
        (AccountChanged, tasks.WITHOUT_CHANGED),
        (AccountDeleted, tasks.WITHOUT_ACCOUNT),
    ),
)

"""What people are told."""

from __future__ import annotations

from kith.base.rooms import Part, Room
from kith.social.accounts.facts import AccountDeleted
from kith.social.errors import DIALECT
from kith.social.notifications import api, group_api, request_api, requests, tasks
from kith.social.notifications.entities import NotificationHeads, NotificationPages
from kith.social.notifications.group_entities import GroupPages
from kith.social.relationships.facts import (
    Blocked,
    DomainBlocked,
    FollowAuthorized,
    Followed,
    FollowRejected,
    FollowRequested,
    FollowWithdrawn,
    Muted,
    Unfollowed,
)
from kith.social.statuses.facts import (
    PollEnded,
    StatusDeleted,
    StatusEdited,
    StatusFavourited,
    StatusQuoted,
    StatusUnfavourited,
)

ROOM = Room(
    name="notifications",
    dialect=DIALECT,
    routes=(*api.routes, *request_api.routes, *group_api.routes),
    jobs=(*tasks.KINDS, requests.MERGE),
    subscriptions=(
        (StatusDeleted, tasks.FORGET_POST),
        (StatusEdited, tasks.TELL_OF_EDIT),
        (StatusFavourited, tasks.TELL_OF_FAVOURITE),
        (StatusUnfavourited, tasks.TAKE_BACK_FAVOURITE),
        (StatusQuoted, tasks.TELL_OF_QUOTE),
        (PollEnded, tasks.TELL_OF_END),
        (Followed, tasks.TELL_OF_FOLLOW),
        (Unfollowed, tasks.TAKE_BACK_FOLLOW),
        (FollowRequested, tasks.TELL_OF_REQUEST),
        (FollowAuthorized, tasks.FORGET_AUTHORIZED),
        (FollowRejected, tasks.FORGET_REJECTED),
        (FollowWithdrawn, tasks.FORGET_WITHDRAWN),
        (Blocked, tasks.FORGET_BLOCKED),
        (Muted, tasks.FORGET_MUTED),
        (DomainBlocked, tasks.FORGET_DOMAIN),
        (AccountDeleted, tasks.FORGET_GONE),
    ),
    parts=(
        Part(NotificationHeads, lambda _: NotificationHeads()),
        Part(NotificationPages, lambda _: NotificationPages()),
        Part(GroupPages, lambda _: GroupPages()),
    ),
    at_once=(
        (Unfollowed, tasks.take_back_follow),
        (FollowRejected, tasks.forget_request),
        (FollowAuthorized, tasks.forget_request),
        (Blocked, tasks.forget_blocked),
        (Muted, tasks.forget_muted),
        (DomainBlocked, tasks.forget_domain),
    ),
)

"""Timelines, and the feeds that are kept for them."""

from __future__ import annotations

from datetime import timedelta

from kith.base.jobs import Periodic
from kith.base.rooms import Room
from kith.social.errors import DIALECT
from kith.social.lists.facts import ListChanged, ListDeleted, ListJoined, ListLeft
from kith.social.relationships.facts import Blocked, DomainBlocked, FollowChanged, Followed, Muted, Unfollowed, Unmuted
from kith.social.statuses.facts import StatusDeleted
from kith.social.tags.facts import TagUnfollowed
from kith.social.timelines import api, filling, tasks

ROOM = Room(
    name="timelines",
    dialect=DIALECT,
    routes=tuple(api.routes),
    jobs=(
        tasks.CARRY,
        tasks.FAN_OUT,
        tasks.WITHDRAW,
        filling.BUILD,
        filling.BRING_HOME,
        filling.BRING_TO_LIST,
        filling.FILL_LIST,
        tasks.TIDY,
        tasks.TAKE_UP,
        tasks.GIVE_UP,
        tasks.FOLLOW_ANEW,
        tasks.HIDE_BLOCKED,
        tasks.HIDE_MUTED,
        tasks.HIDE_DOMAIN,
        tasks.SHOW_AGAIN,
        tasks.BRING_INTO_LIST,
        tasks.TAKE_FROM_LIST,
        tasks.REBUILD_LIST,
        tasks.DROP_LIST,
        tasks.DROP_TAG,
    ),
    periodic=(Periodic(kind=tasks.TIDY, every=timedelta(minutes=10), payload=tasks.Tidy()),),
    subscriptions=(
        (StatusDeleted, tasks.WITHDRAW),
        (Followed, tasks.TAKE_UP),
        (Unfollowed, tasks.GIVE_UP),
        (FollowChanged, tasks.FOLLOW_ANEW),
        (Blocked, tasks.HIDE_BLOCKED),
        (Muted, tasks.HIDE_MUTED),
        (Unmuted, tasks.SHOW_AGAIN),
        (DomainBlocked, tasks.HIDE_DOMAIN),
        (ListJoined, tasks.BRING_INTO_LIST),
        (ListLeft, tasks.TAKE_FROM_LIST),
        (ListChanged, tasks.REBUILD_LIST),
        (ListDeleted, tasks.DROP_LIST),
        (TagUnfollowed, tasks.DROP_TAG),
    ),
    at_once=(
        (Unfollowed, tasks.give_up),
        (FollowChanged, tasks.drop_boosts),
        (Blocked, tasks.hide_blocked),
        (Muted, tasks.hide_muted),
        (DomainBlocked, tasks.hide_domain),
        (ListJoined, tasks.keep_member_out),
        (ListLeft, tasks.leave_list),
        (ListChanged, tasks.keep_members_out),
        (TagUnfollowed, tasks.leave_tag),
    ),
)

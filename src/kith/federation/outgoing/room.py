"""What people here do, told elsewhere. New posts are told with all that follows from a post (`kith.app`)."""

from __future__ import annotations

from kith.base.rooms import Room
from kith.federation.keys.facts import ActorKeyRotated
from kith.federation.outgoing import changes, marks, people, posts, quotes, relations, reports, severed
from kith.social.accounts.facts import AccountChanged, AccountDeleted, AccountMoved
from kith.social.admission.facts import ServerLetIn
from kith.social.moderation.facts import ReportCreated
from kith.social.statuses.facts import (
    BoostWithdrawn,
    PollEnded,
    PollVoted,
    QuoteRevoked,
    StatusDeleted,
    StatusEdited,
    StatusFavourited,
    StatusPinned,
    StatusQuoted,
    StatusUnfavourited,
)
from kith.social.tags.facts import TagFeatured

ROOM = Room(
    name="federation outgoing",
    jobs=(
        posts.CARRY,
        *changes.KINDS,
        *marks.KINDS,
        *relations.KINDS,
        *people.KINDS,
        *reports.KINDS,
        *quotes.KINDS,
        *severed.KINDS,
    ),
    subscriptions=(
        (PollEnded, changes.POLL_ENDED),
        (StatusDeleted, changes.DELETED),
        (BoostWithdrawn, changes.WITHDRAWN),
        (AccountMoved, people.MOVED),
        (ReportCreated, reports.REPORTED),
        (StatusQuoted, quotes.QUOTED),
        (QuoteRevoked, quotes.REVOKED),
    ),
    at_once=(
        *relations.AT_ONCE,
        (StatusEdited, changes.tell_of_edit_later),
        (PollVoted, marks.count_elsewhere),
        (StatusPinned, marks.tell_of_pin_later),
        (TagFeatured, marks.tell_of_tag_later),
        (StatusFavourited, marks.like_elsewhere),
        (StatusUnfavourited, marks.unlike_elsewhere),
        (AccountChanged, people.tell_of_profile_later),
        (ActorKeyRotated, people.tell_of_key),
        (AccountDeleted, people.tell_of_end),
        (ServerLetIn, severed.tell_of_severed_later),
    ),
)

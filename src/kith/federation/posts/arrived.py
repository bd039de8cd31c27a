"""What follows from posts that do not come home to anybody, or come late."""

from __future__ import annotations

from kith.base.jobs import JobKind
from kith.social.search import tasks as search
from kith.social.statuses import tasks as statuses
from kith.social.statuses.facts import StatusPosted
from kith.social.timelines import tasks as timelines

__all__ = ["ARRIVED", "CARRY"]

# Old ones that were looked up: they can be found, and show the card of their link.
ARRIVED: JobKind[StatusPosted] = JobKind(
    name="federation_posts.arrived",
    payload=StatusPosted,
    parts=(statuses.FOLLOW_UP, search.LEARN_POSTED),
    is_harmless=True,
)
# Answers whose parent came after them.
CARRY: JobKind[StatusPosted] = JobKind(
    name="federation_posts.carry", payload=StatusPosted, many=timelines.carry, is_harmless=True
)

"""What happens at once when an event is recorded."""

from __future__ import annotations

from kith.base.work import Work
from kith.identity.audit.facts import EventRecorded
from kith.identity.event_notifications.rule_watch import RuleWatch
from kith.identity.event_notifications.tasks import MATCH


async def hear(work: Work, fact: EventRecorded) -> None:
    """Have the rules asked about an event, in a job of the event's own transaction."""
    if await work.find(RuleWatch).wants(work, fact.action):
        work.enqueue(MATCH, fact)

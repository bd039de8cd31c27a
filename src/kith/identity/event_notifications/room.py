"""Notification rules: which events of the audit trail somebody is told of."""

from __future__ import annotations

from kith.base.rooms import Part, Room
from kith.identity.audit.facts import EventRecorded
from kith.identity.event_notifications import tasks, watch
from kith.identity.event_notifications.rule_watch import RuleWatch

ROOM = Room(
    name="event notifications",
    jobs=(tasks.MATCH, tasks.TELL_HELD, tasks.DELIVER, tasks.CALL),
    at_once=((EventRecorded, watch.hear),),
    parts=(Part(RuleWatch, lambda works: RuleWatch(works.news)),),
)

"""A webhook mapping: the body or the headers with which a notification is sent to an address."""

from __future__ import annotations

from kith.identity.mappings.family import MAPPINGS, MappingRecord
from kith.identity.rest import Resource


class NotificationWebhookMapping(MappingRecord, kw_only=True):
    """A mapping that is given `notification`; it has no fields of its own."""


RESOURCE = Resource(
    path="/propertymappings/notification/",
    name="NotificationWebhookMapping",
    record=NotificationWebhookMapping,
    key="pm_uuid",
    family=MAPPINGS,
    kind="notification",
    table=None,
    fields=(),
    exact=("name",),
)

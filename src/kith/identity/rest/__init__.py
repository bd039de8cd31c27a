"""The identity API: what a collection is, as data, and the operations on it."""

from kith.identity.rest.record import Record
from kith.identity.rest.record_draft import RecordDraft
from kith.identity.rest.resource import (
    ALL,
    READ,
    Action,
    Family,
    ListFilter,
    Resource,
    kind_table,
    link_table,
    record_table,
)

__all__ = [
    "ALL",
    "READ",
    "Action",
    "Family",
    "ListFilter",
    "Record",
    "RecordDraft",
    "Resource",
    "kind_table",
    "link_table",
    "record_table",
]

"""Where the records of every kind of stage are kept."""

from __future__ import annotations

from kith.identity.rest.shelf import Shelf
from kith.identity.stages import collections

STAGE_SHELVES: dict[str, Shelf] = {
    resource.kind: Shelf(resource) for resource in collections.RESOURCES if resource.kind
}

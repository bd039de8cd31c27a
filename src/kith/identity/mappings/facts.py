"""The facts that the mappings room announces."""

from __future__ import annotations

from kith.base.news import Fact


class ScimMappingChanged(Fact, frozen=True):
    """What services are told of people or groups is no longer what they were told."""

    pm_uuid: str

"""Relays and subscriptions to lists of servers to block. Whether a relay has agreed, and what a list has done, are not
configuration: they are asked and fetched anew."""

from __future__ import annotations

from typing import Any, ClassVar

from kith.base.work import Work
from kith.federation.block_lists import store as block_lists
from kith.federation.block_lists import subscribing
from kith.federation.relays import joining
from kith.federation.relays import store as relays
from kith.identity.for_configuration import BadBlueprint, BlueprintRun, Model, StoredValues, Values
from kith.social.configuration.listed import ListedModel
from kith.social.staff import Staff

__all__ = ["MODELS"]

FILE = "a8-federation"


class RelayModel(ListedModel):
    name, file, permission, key = "federation.relay", FILE, "manage_federation", ("inbox_url",)
    fields: ClassVar[dict[str, Any]] = {"inbox_url": str}

    async def every(self, work: Work) -> list[StoredValues]:
        return [StoredValues(one.id, {"inbox_url": one.inbox}) for one in await relays.every(work.db)]

    async def add(self, run: BlueprintRun, by: Staff, values: Values) -> Any:
        return (await joining.add(run.work, by, values["inbox_url"])).id

    async def change(self, _run: BlueprintRun, _by: Staff, _stored: StoredValues, _values: Values) -> None:
        raise BadBlueprint("the address of a relay cannot be changed into another")

    async def delete(self, run: BlueprintRun, by: Staff, stored: StoredValues) -> None:
        await joining.remove(run.work, by, stored.pk)


class BlockListModel(ListedModel):
    name, file, permission, key = "federation.blocklist", FILE, "manage_federation", ("url",)
    fields: ClassVar[dict[str, Any]] = {"url": str}

    async def every(self, work: Work) -> list[StoredValues]:
        lists = await block_lists.every(work.db)
        return [StoredValues(one.id, {"url": one.url}) for one in lists if one.state != "leaving"]

    async def add(self, run: BlueprintRun, by: Staff, values: Values) -> Any:
        return (await subscribing.add(run.work, by, values["url"])).id

    async def change(self, _run: BlueprintRun, _by: Staff, _stored: StoredValues, _values: Values) -> None:
        raise BadBlueprint("the address of a list cannot be changed into another")

    async def delete(self, run: BlueprintRun, by: Staff, stored: StoredValues) -> None:
        await subscribing.remove(run.work, by, stored.pk)


MODELS: tuple[Model, ...] = (RelayModel(), BlockListModel())

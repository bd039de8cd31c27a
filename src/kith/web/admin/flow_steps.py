"""The stages of a flow in their order, and putting one somewhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kith.base.errors import NotFound
from kith.base.exchange import Exchange
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.admin.bound import Decider
from kith.web.admin.words.lookup import kind_name

__all__ = ["FlowStep", "add", "move", "order_at", "remove", "stage_words", "steps_of"]

_BINDINGS = "/api/v2/flows/bindings/"
STEP = 10
MOST_STEPS = 200


def stage_words(kind: str) -> str:
    """What a stage of this kind does."""
    return kind_name(identity.RESOURCES, "stages", kind).about or kind


class FlowStep(msgspec.Struct, kw_only=True):
    """A binding of a flow, with its stage."""

    pk: str
    target: str
    order: int
    stage: str
    name: str
    kind: str
    form: str  # the address of the stage's own page
    mode: str
    deciders: list[Decider] = msgspec.field(default_factory=list)
    told: Mapping[str, Any] | None = None  # by a rehearsal

    @property
    def words(self) -> str:
        return stage_words(self.kind)


async def steps_of(
    exchange: Exchange, flow: str, stages: Mapping[str, Mapping[str, Any]], paths: Mapping[str, str]
) -> list[FlowStep]:
    found = await own_api.ask(exchange, _BINDINGS, flow=flow, ordering="order", limit=MOST_STEPS)
    return [_step(one, stages.get(one["stage"], {}), paths) for one in found["results"]]


def _step(binding: Mapping[str, Any], stage: Mapping[str, Any], paths: Mapping[str, str]) -> FlowStep:
    kind = stage.get("__type__", "")
    return FlowStep(
        pk=binding["pk"],
        target=binding["pbm_uuid"],
        order=binding["order"],
        stage=binding["stage"],
        name=stage.get("name", binding["stage"]),
        kind=kind,
        form=f"/admin/records{paths[kind]}{binding['stage']}" if kind in paths else "",
        mode=binding["policy_engine_mode"],
    )


def order_at(orders: Sequence[int], place: int) -> int | None:
    """The number of whatever comes to this place among those with these numbers; None where there is no room."""
    before = orders[place - 1] if place > 0 else None
    after = orders[place] if place < len(orders) else None
    if before is None:
        return after - STEP if after is not None else 0
    if after is None:
        return before + STEP
    middle = (before + after) // 2
    return middle if before < middle < after else None


async def move(exchange: Exchange, steps: Sequence[FlowStep], pk: str, before: str) -> None:
    """Puts a step in front of another, or at the end. A step that is gone by now is not found."""
    moved = next((one for one in steps if one.pk == pk), None)
    if moved is None:
        raise NotFound
    if before == pk:
        return
    rest = [one for one in steps if one.pk != pk]
    order = await _make_room(exchange, rest, _place_of(rest, before), _highest(steps))
    await _renumber(exchange, pk, order)


async def add(exchange: Exchange, flow: str, steps: Sequence[FlowStep], stage: str, before: str) -> str:
    order = await _make_room(exchange, steps, _place_of(steps, before), _highest(steps))
    made = await own_api.call(exchange, "POST", _BINDINGS, json={"flow": flow, "stage": stage, "order": order})
    return str(msgspec.json.decode(made.body)["pk"])


async def remove(exchange: Exchange, pk: str) -> None:
    await own_api.call(exchange, "DELETE", f"{_BINDINGS}{pk}/")


def _highest(steps: Sequence[FlowStep]) -> int:
    return max((one.order for one in steps), default=0)


def _place_of(steps: Sequence[FlowStep], before: str) -> int:
    if not before:
        return len(steps)
    place = next((number for number, one in enumerate(steps) if one.pk == before), None)
    if place is None:
        raise NotFound
    return place


async def _make_room(exchange: Exchange, steps: Sequence[FlowStep], place: int, highest: int) -> int:
    """The number for a step at this place. Without room all get new ones, above all old ones, so that none meets."""
    order = order_at([one.order for one in steps], place)
    if order is not None:
        return order
    first = highest + STEP
    for number, one in enumerate(steps):
        await _renumber(exchange, one.pk, first + STEP * (number + (number >= place)))
    return first + STEP * place


async def _renumber(exchange: Exchange, pk: str, order: int) -> None:
    await own_api.call(exchange, "PATCH", f"{_BINDINGS}{pk}/", json={"order": order})

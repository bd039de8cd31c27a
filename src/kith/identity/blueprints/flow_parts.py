"""What belongs to a flow: its steps, their stages, the prompts and policies of those."""

from __future__ import annotations

from kith.base.work import Work
from kith.identity.blueprints.models import Model, Models, RecordLink, StoredValues

__all__ = ["parts_of"]


async def parts_of(work: Work, flow_uuid: str) -> tuple[str, list[tuple[Model, StoredValues]]] | None:
    """The flow's slug and its records; None where there is no such flow."""
    records = [
        (model, one)
        for model in work.find(Models).listed
        if model.file and model.name.partition(".")[0] in ("flows", "stages", "policies")
        for one in await model.every(work)
    ]
    by_key = {(to, key): place for place, (_, one) in enumerate(records) for to, key in one.keys.items()}
    flow = by_key.get(("identity_flows.flow_uuid", flow_uuid))
    if flow is None:
        return None
    chosen, targets = {flow}, {records[flow][1].keys["identity_policy_targets.pbm_uuid"]}
    for place, (model, one) in enumerate(records):
        if model.name == "flows.flowstagebinding" and one.values["flow"].key == flow_uuid:
            chosen.add(place)
            chosen |= _below(records, by_key, place)
    targets = {records[place][1].keys.get("identity_policy_targets.pbm_uuid") for place in chosen} - {None}
    for place, (model, one) in enumerate(records):
        if model.name == "policies.policybinding" and one.values["target"].key in targets:
            chosen.add(place)
            chosen |= _below(records, by_key, place)
    return str(records[flow][1].values["slug"]), [records[place] for place in sorted(chosen)]


def _below(records: list[tuple[Model, StoredValues]], by_key: dict[tuple[str, object], int], start: int) -> set[int]:
    """Stages, prompts and policies that a record refers to, and those that these refer to."""
    found: set[int] = set()
    waiting = [start]
    while waiting:
        for value in records[waiting.pop()][1].values.values():
            for link in value if isinstance(value, list) else [value]:
                place = by_key.get((link.to, link.key)) if isinstance(link, RecordLink) else None
                if place is not None and place not in found and records[place][0].name.startswith(("stages.", "polic")):
                    found.add(place)
                    waiting.append(place)
    return found

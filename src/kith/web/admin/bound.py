"""Who may enter an application, take a step or use a source: the policies, groups and people bound to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kith.base.errors import Invalid
from kith.base.exchange import Exchange
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.admin.console_rights import known_rights
from kith.web.admin.questions import Option
from kith.web.settings.forms import text_field
from kith.web.translation import translatable

__all__ = [
    "MOST",
    "Decider",
    "bind",
    "count_naming",
    "deciders",
    "find_person",
    "group_options",
    "policy_options",
    "unbind",
]

_BINDINGS = "/api/v2/policies/bindings/"
MOST = 200
STEP = 10
_KIND_WORDS = {"policy": translatable("policy"), "group": translatable("group"), "user": translatable("person")}


class Decider(msgspec.Struct, frozen=True):
    """One binding, with the name of whom or what it is about; `is_gone`: of whom it was about, and who was deleted."""

    pk: str
    target: str
    kind: str
    about: str
    name: str
    negate: bool
    enabled: bool
    order: int
    expires: str | None
    is_gone: bool

    @property
    def words(self) -> str:
        return _KIND_WORDS[self.kind]


async def deciders(exchange: Exchange, targets: Sequence[str]) -> dict[str, list[Decider]]:
    """By their target, in the order in which they are asked."""
    query = [("targets", target) for target in targets]
    answer = await own_api.call(
        exchange, "GET", _BINDINGS, query=[*query, ("ordering", "order"), ("limit", "1000")] if query else []
    )
    found = msgspec.json.decode(answer.body)["results"] if query else []
    names = await identity.decider_names(exchange.work, found)
    told: dict[str, list[Decider]] = {target: [] for target in targets}
    for one in found:
        told[one["target"]].append(_decider(one, names))
    return told


def _decider(one: Mapping[str, Any], names: Mapping[str, str]) -> Decider:
    kind = next((name for name in _KIND_WORDS if one[name] is not None), one["gone_kind"] or "group")
    about = "" if one["gone"] else str(one[kind])
    return Decider(
        pk=one["pk"],
        target=one["target"],
        kind=kind,
        about=about,
        name=(one["gone_name"] or "?") if one["gone"] else names.get(about, about),
        negate=one["negate"],
        enabled=one["enabled"],
        order=one["order"],
        expires=one["expires"],
        is_gone=one["gone"],
    )


async def count_naming(exchange: Exchange, path: str, key: str) -> int:
    """How many bindings would lose whom they name if this person or group were deleted; 0 for who may not see them."""
    kind = {"/core/groups/": "group", "/core/users/": "user"}.get(path)
    if kind is None or not known_rights(exchange).may("policies.view_policybinding"):
        return 0
    return int((await own_api.ask(exchange, _BINDINGS, **{kind: key, "limit": 1}))["count"])


async def bind(exchange: Exchange, target: str, form: Mapping[str, Any]) -> None:
    """Adds what the form names in `policy`, `group` or `user`; a person by their user name."""
    there = (await deciders(exchange, [target]))[target]
    values: dict[str, Any] = {"target": target, "negate": text_field(dict(form), "negate") == "true"}
    values["order"] = max((one.order for one in there), default=-STEP) + STEP
    for kind in ("policy", "group"):
        if form.get(kind):
            values[kind] = form[kind]
    if form.get("user"):
        values["user"] = await find_person(exchange, text_field(dict(form), "user"))
    if not any(name in values for name in _KIND_WORDS):
        raise Invalid(fields={"user": [translatable("Choose a group or a policy, or type a user name.")]})
    await own_api.call(exchange, "POST", _BINDINGS, json=values)


async def unbind(exchange: Exchange, pk: str) -> None:
    await own_api.call(exchange, "DELETE", f"{_BINDINGS}{pk}/")


async def find_person(exchange: Exchange, username: str) -> int:
    found = await own_api.ask(exchange, "/api/v2/core/users/", username=username, limit=1)
    if not username or not found["results"]:
        raise Invalid(fields={"user": [translatable("There is no user with this name.")]})
    return int(found["results"][0]["pk"])


async def group_options(exchange: Exchange) -> list[Option]:
    found = await own_api.ask(exchange, "/api/v2/core/groups/", limit=MOST, ordering="name")
    return [Option(one["pk"], one["name"]) for one in found["results"]]


async def policy_options(exchange: Exchange) -> list[Option]:
    found = await own_api.ask(exchange, "/api/v2/policies/all/", limit=MOST, ordering="name")
    return [Option(one["pk"], one["name"]) for one in found["results"]]

"""/admin/flows: how people sign in, sign up and so on, as pictures that can be edited, with a rehearsal beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from kith.base.errors import Forbidden, Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get, post
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.admin import bound, flow_steps
from kith.web.admin.bound import Decider
from kith.web.admin.flow_steps import FlowStep
from kith.web.admin.frame import admin_page, enter
from kith.web.admin.words import of_kinds
from kith.web.admin.words.choices import CHOICES
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_form, text_field
from kith.web.translation import translatable

__all__ = ["routes"]

PLACE = "/admin/flows"
_FLOWS = "/api/v2/flows/instances/"
MOST_FLOWS = 500
MOST_STAGES = 1000
MOST_CONTEXT = 64 << 10
_FOR = CHOICES["designation"]
_WHO = CHOICES["authentication"]
_THEN = {
    "authentication": translatable("Signed in: on to where they wanted to go"),
    "enrollment": translatable("The account is there"),
    "recovery": translatable("Back in the account"),
    "authorization": translatable("On to the application"),
    "stage_setup": translatable("Back to the settings"),
    "invalidation": translatable("Signed out"),
    "unenrollment": translatable("The account is gone"),
}
_paths = {
    one.kind: one.path for one in identity.RESOURCES if one.area == "stages" and one.family is not None and one.kind
}


@get("/admin/flows")
async def show_all(exchange: Exchange) -> Answer:
    visitor = await enter(exchange)
    if visitor is None:
        return admin_page(exchange, "flows.html", None)
    found = (await own_api.ask(exchange, _FLOWS, limit=MOST_FLOWS, ordering="slug"))["results"]
    groups = [(words, [one for one in found if one["designation"] == kind]) for kind, words in _FOR.items()]
    return admin_page(
        exchange,
        "flows.html",
        visitor,
        heading=translatable("Flows"),
        groups=[(words, flows) for words, flows in groups if flows],
    )


@get("/admin/flows/{slug}")
async def show(exchange: Exchange, slug: FromPath[str]) -> Answer:
    visitor = await enter(exchange)
    if visitor is None:
        return admin_page(exchange, "flow.html", None)
    return await _page(exchange, visitor, await _read(exchange, slug))


@post("/admin/flows/{slug}", status=200)
async def act(exchange: Exchange, slug: FromPath[str]) -> Answer:
    visitor, form = await read_own_form(exchange)
    if visitor is None:
        return admin_page(exchange, "flow.html", None)
    await enter(exchange)
    picture = await _read(exchange, slug)
    does = text_field(form, "do")
    try:
        if does == "rehearse":
            return await _page(exchange, visitor, picture, sent=form, told=await _rehearse(exchange, slug, form))
        at = await _edit(exchange, picture, does, form)
    except Invalid as problem:
        await exchange.end_work(commit=False)
        picture = await _read(exchange, slug)
        return await _page(exchange, visitor, picture, sent=form, errors=problem.fields, did=does)
    return see_other(f"{PLACE}/{slug}{f'#s-{at}' if at else ''}")


class FlowPicture(msgspec.Struct):
    flow: dict[str, Any]
    steps: list[FlowStep]
    deciders: list[Decider]  # of the flow itself
    stages: list[dict[str, Any]]  # that can be added


async def _read(exchange: Exchange, slug: str) -> FlowPicture:
    found = (await own_api.ask(exchange, _FLOWS, slug=slug, limit=1))["results"]
    if not found:
        raise NotFound
    flow = found[0]
    stages = (await own_api.ask(exchange, "/api/v2/stages/all/", limit=MOST_STAGES, ordering="name"))["results"]
    steps = await flow_steps.steps_of(exchange, flow["pk"], {one["pk"]: one for one in stages}, _paths)
    targets = [flow["pbm_uuid"], *(one.target for one in steps)]
    try:
        deciders = await bound.deciders(exchange, targets)
    except Forbidden:
        deciders = {}
    for step in steps:
        step.deciders = deciders.get(step.target, [])
    return FlowPicture(flow, steps, deciders.get(flow["pbm_uuid"], []), stages)


async def _edit(exchange: Exchange, picture: FlowPicture, does: str, form: dict[str, Any]) -> str:
    """What a form asks for; the step to look at afterwards."""
    step, before = text_field(form, "step"), text_field(form, "before")
    targets: dict[str, str] = {one.target: one.pk for one in picture.steps} | {picture.flow["pbm_uuid"]: ""}
    if does == "move":
        await flow_steps.move(exchange, picture.steps, step, before)
        return step
    if does == "add":
        if not text_field(form, "stage"):
            raise Invalid(fields={"stage": [translatable("Choose a stage.")]})
        return await flow_steps.add(exchange, picture.flow["pk"], picture.steps, text_field(form, "stage"), before)
    if does == "remove" and step in {one.pk for one in picture.steps}:
        await flow_steps.remove(exchange, step)
        return ""
    if does == "bind" and text_field(form, "target") in targets:
        await bound.bind(exchange, text_field(form, "target"), form)
        return targets[text_field(form, "target")]
    if does == "unbind":
        await bound.unbind(exchange, text_field(form, "binding"))
        return ""
    raise NotFound


async def _rehearse(exchange: Exchange, slug: str, form: dict[str, Any]) -> dict[str, Any]:
    username, context = text_field(form, "user"), text_field(form, "context")
    person = await bound.find_person(exchange, username) if username else None
    try:
        known = msgspec.json.decode(context[:MOST_CONTEXT] or "{}", type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as error:
        raise Invalid(fields={"context": [f"This is not a JSON object: {error}"]}) from error
    values = {"user": person, "context": known}
    answer = await own_api.call(exchange, "POST", f"/api/v2/flows/inspector/{slug}/", json=values)
    told: dict[str, Any] = msgspec.json.decode(answer.body)
    return told


async def _page(
    exchange: Exchange,
    visitor: identity.Visitor,
    picture: FlowPicture,
    *,
    sent: Mapping[str, Any] | None = None,
    told: dict[str, Any] | None = None,
    errors: Mapping[str, Any] | None = None,
    did: str = "",
) -> Answer:
    flow = picture.flow
    outcomes = {one["binding"]: one for one in told["stages"]} if told is not None else {}
    for step in picture.steps:
        step.told = outcomes.get(step.pk)
    return admin_page(
        exchange,
        "flow.html",
        visitor,
        kind_words=of_kinds,
        status=400 if errors else 200,
        heading=flow["name"],
        flow=flow,
        picture=picture,
        who=_WHO.get(flow["authentication"], flow["authentication"]),
        then=_THEN.get(flow["designation"], ""),
        words_for=_FOR.get(flow["designation"], flow["designation"]),
        kinds=[(f"/admin/records{path}new", flow_steps.stage_words(kind)) for kind, path in _paths.items()],
        stage_words=flow_steps.stage_words,
        groups=await bound.group_options(exchange),
        policies=await bound.policy_options(exchange),
        sent={name: str((sent or {}).get(name, "")) for name in ("user", "context")},
        told=told,
        errors=errors or {},
        did=did,
    )


routes = [show_all, show, act]

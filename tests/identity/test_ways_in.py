"""What leads people in is for superusers, whatever it is called and whoever names it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from sqlalchemy import func, select, update

import kith.schema  # noqa: F401 - so that every table is known
from kith.base.db import METADATA, command, query
from kith.identity.authority.ways_in import NAMING_NOTHING, find_ways_in
from kith.identity.collections import RESOURCES
from kith.identity.flows.resources import flows
from kith.identity.rest.fields import Reference, References
from tests.identity.flow_browser import Browser
from tests.identity.ladders.scenery import Scenery
from tests.identity.records import (
    API,
    make,
    make_binding,
    make_flow,
    make_stage,
    new_name,
    owner_of,
    person_who_may,
    results,
)
from tests.identity.saml_keys import pair
from tests.identity.saml_services import store_pair
from tests.town import Person, Town

VERBS = ("view", "add", "change", "delete")
WORD = "a word that is nobody's but mine"


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


async def refuse_all(person: Person, *calls: tuple[str, str, Any]) -> None:
    for method, path, body in calls:
        answer = await person.call(method, API + path, json=body)
        assert answer.status_code == 403, (method, path, body, answer.text)
        assert answer.json()["code"] == "permission_denied"


async def flow_builder(town: Town, ada: Person) -> Person:
    kinds = ("promptstage", "prompt", "dummystage", "denystage")
    rights = [f"stages.{verb}_{one}" for one in kinds for verb in VERBS]
    rights += [f"flows.{verb}_{one}" for one in ("flow", "flowstagebinding") for verb in VERBS]
    policies = ("policybinding", "dummypolicy", "expressionpolicy")
    return await person_who_may(town, ada, *rights, *(f"policies.{verb}_{one}" for one in policies for verb in VERBS))


async def test_whatever_names_a_flow_makes_it_a_way_in(town: Town, ada: Person) -> None:
    """Over all tables: a field that is new counts too, or is said to name nothing."""
    flow = await make_flow(ada, "authorization")
    async with town.house() as house:
        assert await Scenery(town, house, ada).make_everything()  # so that there is a row of each kind
        await make(ada, "/stages/invitation/invitations/", name=new_name("i"))
        naming = [
            key.parent
            for table in METADATA.tables.values()
            for key in table.foreign_keys
            if key.column is flows.c.flow_uuid and table.name not in NAMING_NOTHING
        ]
        assert len(naming) > 15
        for column in naming:
            async with house.works.begin() as work:
                await work.db.begin()
                assert flow["pk"] not in (await find_ways_in(work.db)).flows
                assert await work.db.one(query(select(func.count()).select_from(column.table), int)), column
                await work.db.run(command(update(column.table).values({column: flow["pk"]})))
                assert flow["pk"] in (await find_ways_in(work.db)).flows, column
                await work.db.rollback()


def test_every_field_for_flows_is_kept_where_it_is_looked_for() -> None:
    stored = {
        (key.parent.table.name, key.parent.name)
        for table in METADATA.tables.values()
        for key in table.foreign_keys
        if key.column is flows.c.flow_uuid
    }
    for resource in RESOURCES:
        for field in resource.all_fields:
            if isinstance(field, Reference | References) and field.to == "identity_flows.flow_uuid":
                name = field.stored_as or field.name
                assert any((table.name, name) in stored for table in resource.tables), (resource.path, field.name)


async def test_the_flow_before_a_source_is_for_superusers(town: Town, ada: Person) -> None:
    """A step in it that denies keeps strangers from the source."""
    flow, deny = await make_flow(ada, "authorization"), await make_stage(ada, "deny")
    place, name = await make_binding(ada, flow, deny), new_name("idp")
    key = await store_pair(ada, pair("before"))
    await make(
        ada,
        "/sources/saml/",
        name=name,
        slug=name,
        sso_url="https://idp.example/sso",
        signing_kp=key,
        pre_authentication_flow=flow["pk"],
    )
    builder = await flow_builder(town, ada)
    always = await make(builder, "/policies/dummy/", name=new_name("p"), result=False)
    await refuse_all(
        builder,
        ("DELETE", f"/flows/bindings/{place['pk']}/", None),
        ("PATCH", f"/flows/bindings/{place['pk']}/", {"order": 7}),
        ("DELETE", f"/flows/instances/{flow['pk']}/", None),
        ("PATCH", f"/flows/instances/{flow['pk']}/", {"denied_action": "continue"}),
        ("PATCH", f"/stages/deny/{deny['pk']}/", {"name": new_name("deny")}),
        ("POST", "/policies/bindings/", {"policy": always["pk"], "target": place["pbm_uuid"], "order": 0}),
    )
    assert (await Browser(town).http.get(f"/source/saml/{name}/")).status_code == 403


async def test_nobody_else_puts_steps_into_a_flow_that_applications_share(town: Town, ada: Person) -> None:
    """Whoever opens an application would be asked there, on a page of this server, for whatever somebody likes."""
    flow, name = await make_flow(ada, "authorization"), new_name("app")
    await make(ada, "/providers/ldap/", name=name, base_dn=f"dc={name}", authorization_flow=flow["pk"])
    builder = await flow_builder(town, ada)
    asked = await make(builder, "/stages/prompt/prompts/", **question("word", "text"))
    form = await make(builder, "/stages/prompt/stages/", name=new_name("f"), fields=[asked["pk"]])
    await refuse_all(
        builder, ("POST", "/flows/bindings/", {"flow": flow["pk"], "stage": form["stage_uuid"], "order": 0})
    )
    own = await make_flow(builder, "authorization")
    await make_binding(builder, own, form)


def question(key: str, kind: str, **fields: Any) -> dict[str, Any]:
    given = {"field_key": key, "type": kind, "label": "Your session is old. Please enter your password", "order": 0}
    return given | {"placeholder": "x", "required": False} | fields


async def test_nobody_else_asks_for_a_password(town: Town, ada: Person) -> None:
    builder = await flow_builder(town, ada)
    [shipped] = await results(ada, "/stages/prompt/prompts/", name="default-password")
    hers = await make(ada, "/stages/prompt/prompts/", **question("word", "password"))
    form = await make(ada, "/stages/prompt/stages/", name=new_name("f"), fields=[hers["pk"]])
    flow, prompts = await make_flow(builder, "authorization"), "/stages/prompt/prompts/"
    asked = await make(builder, prompts, **question("word", "text"))
    own = await make(builder, "/stages/prompt/stages/", name=new_name("f"), fields=[asked["pk"]])
    place = await make_binding(builder, flow, own)
    spy = await make(builder, "/policies/expression/", name=new_name("p"), expression="return True")
    await refuse_all(
        builder,
        ("POST", prompts, question("word", "password")),
        ("POST", prompts, question("password", "text")),
        ("PATCH", f"{prompts}{asked['pk']}/", {"type": "password"}),
        ("PATCH", f"{prompts}{hers['pk']}/", {"type": "text"}),
        *(
            ("POST", "/stages/prompt/stages/", {"name": new_name("f"), "fields": [one["pk"]]})
            for one in (shipped, hers)
        ),
        ("PATCH", f"/stages/prompt/stages/{own['pk']}/", {"fields": [asked["pk"], hers["pk"]]}),
        ("POST", "/flows/bindings/", {"flow": flow["pk"], "stage": form["stage_uuid"], "order": 1}),
        ("PATCH", f"/flows/bindings/{place['pk']}/", {"stage": form["stage_uuid"]}),
        ("POST", "/policies/bindings/", {"policy": spy["pk"], "target": form["pk"], "order": 0}),
    )
    await make_binding(ada, flow, form, order=1)  # from now on what else is in it could read the password
    await refuse_all(
        builder,
        ("POST", "/flows/bindings/", {"flow": flow["pk"], "stage": own["stage_uuid"], "order": 2}),
        ("PATCH", f"{prompts}{asked['pk']}/", {"initial_value": "return 1", "initial_value_expression": True}),
        ("POST", "/policies/bindings/", {"policy": spy["pk"], "target": place["pbm_uuid"], "order": 0}),
    )


async def test_what_is_typed_as_a_password_is_told_nowhere(town: Town, ada: Person) -> None:
    """Neither in an event that an expression makes, nor on a later page, nor in what is kept of a refusal."""
    flow, browser, action = await make_flow(ada, "authorization"), Browser(town), new_name("n").replace("-", "_")
    asked = await make(ada, "/stages/prompt/prompts/", **question("word", "password"))
    tells = f"create_event('{action}', said=str(prompt_context.get('word')))\nreturn str(prompt_context.get('word'))"
    later = await make(
        ada, "/stages/prompt/prompts/", **question("x", "text", initial_value=tells, initial_value_expression=True)
    )
    first, second = [
        await make(ada, "/stages/prompt/stages/", name=new_name("f"), fields=[one["pk"]]) for one in (asked, later)
    ]
    told = f"create_event('{action}', said='it is ' + request.context['prompt_data']['word'])\n"
    policies = [
        await make(ada, "/policies/expression/", name=new_name("p"), expression=told + words)
        for words in ("return True", "ak_logger.info(request.context['prompt_data']['word'])\nreturn False")
    ]
    await make(ada, "/policies/bindings/", target=first["pk"], policy=policies[0]["pk"], order=0)
    for order, stage in enumerate((first, second)):
        place = await make_binding(ada, flow, stage, order=order)
    last = await make_binding(ada, flow, await make_stage(ada, "deny"), order=9, re_evaluate_policies=True)
    await make(ada, "/policies/bindings/", target=last["pbm_uuid"], policy=policies[1]["pk"], order=0)
    assert place["pk"] != last["pk"]

    await browser.see(flow["slug"])
    shown = await browser.answer(flow["slug"], component="prompt", word=WORD)
    assert (shown["component"], WORD in str(shown)) == ("prompt", False), shown
    await browser.answer(flow["slug"], component="prompt", x="y")
    events = await results(ada, "/audit/events/", ordering="-created")
    made = [one for one in events if one["action"] == f"custom_{action}"]
    assert len(made) >= 3
    assert WORD not in msgspec.json.encode(events).decode()

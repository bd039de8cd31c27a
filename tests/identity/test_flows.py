"""Flows and their bindings: what leads where, what goes with what, and what a list can be asked for."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.identity.records import API, make, make_binding, make_flow, make_stage, new_name, owner_of, results
from tests.town import Town

BINDINGS = "/flows/bindings/"
_NOT_THERE = "Select a valid choice. That choice is not one of the available choices."


async def test_a_flow_tells_its_stages_in_the_order_of_its_bindings(town: Town) -> None:
    ada = await owner_of(town)
    flow = await make_flow(ada, "authentication")
    first, second = await make_stage(ada), await make_stage(ada)
    await make_binding(ada, flow, second, order=20)
    await make_binding(ada, flow, first, order=10)
    await make_binding(ada, flow, first, order=30)

    told = (await ada.get(f"{API}/flows/instances/{flow['pk']}/")).json()

    assert told["stages"] == [first["pk"], second["pk"]]
    assert told["pk"] == told["flow_uuid"] != told["pbm_uuid"]
    assert told["title"] == told["name"]
    assert told["designation"] == "authentication"


async def test_a_designation_may_be_sent_by_its_newer_name(town: Town) -> None:
    ada = await owner_of(town)

    assert (await make_flow(ada, "stage_configuration"))["designation"] == "stage_setup"


async def test_the_flow_of_a_binding_may_be_sent_by_either_name(town: Town) -> None:
    ada = await owner_of(town)
    flow, other, stage = await make_flow(ada, "enrollment"), await make_flow(ada, "enrollment"), await make_stage(ada)

    binding = await make(ada, BINDINGS, target=flow["pk"], stage=stage["pk"], order=1)
    moved = await ada.call("PATCH", f"{API}{BINDINGS}{binding['pk']}/", json={"target": other["pk"]})
    put_back = await ada.call("PUT", f"{API}{BINDINGS}{binding['pk']}/", json=binding)

    assert binding["flow"] == binding["target"] == flow["pk"]
    assert moved.json()["flow"] == moved.json()["target"] == other["pk"]
    assert put_back.json()["flow"] == flow["pk"]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"flow": None}, {"flow": ["This field may not be null."]}),
        ({"flow": "x"}, {"flow": ['Invalid pk "x" - object does not exist.']}),
        ({"order": 2**31}, {"order": ["Ensure this value is less than or equal to 2147483647."]}),
        ({"order": "many"}, {"order": ["A valid integer is required."]}),
        (
            {"evaluate_on_plan": False},
            {"non_field_errors": ["Either evaluate_on_plan or re_evaluate_policies must be true."]},
        ),
    ],
)
async def test_a_binding_that_cannot_be(town: Town, change: dict[str, Any], complaint: dict[str, Any]) -> None:
    ada = await owner_of(town)
    flow, stage = await make_flow(ada, "enrollment"), await make_stage(ada)
    good = {"flow": flow["pk"], "stage": stage["pk"], "order": 1}

    answer = await ada.call("POST", API + BINDINGS, json=good | change)

    assert answer.status_code == 400
    assert answer.json() == complaint


async def test_what_a_binding_needs_and_that_it_is_unique(town: Town) -> None:
    ada = await owner_of(town)
    flow, stage = await make_flow(ada, "enrollment"), await make_stage(ada)
    await make_binding(ada, flow, stage, order=1)

    empty = await ada.call("POST", API + BINDINGS, json={})
    twice = await ada.call("POST", API + BINDINGS, json={"flow": flow["pk"], "stage": stage["pk"], "order": 1})

    required = ["This field is required."]
    assert empty.json() == {"flow": required, "stage": required, "order": required}
    assert twice.json() == {"non_field_errors": ["The fields flow, stage, order must make a unique set."]}


async def test_who_knows_one_switch_only_may_turn_it_off(town: Town) -> None:
    ada = await owner_of(town)
    flow, stage = await make_flow(ada, "enrollment"), await make_stage(ada)
    old = await make_binding(ada, flow, stage, order=1, re_evaluate_policies=False)
    new = await make_binding(ada, flow, stage, order=2, re_evaluate_policies=True, evaluate_on_plan=False)

    changed = await ada.call("PATCH", f"{API}{BINDINGS}{new['pk']}/", json={"re_evaluate_policies": False})
    neither = await ada.call(
        "PATCH", f"{API}{BINDINGS}{new['pk']}/", json={"re_evaluate_policies": False, "evaluate_on_plan": False}
    )

    assert (old["re_evaluate_policies"], old["evaluate_on_plan"]) == (False, True)
    assert changed.status_code == 200
    assert (changed.json()["re_evaluate_policies"], changed.json()["evaluate_on_plan"]) == (False, True)
    assert neither.status_code == 400


async def test_bindings_are_narrowed_searched_and_sorted(town: Town) -> None:
    ada = await owner_of(town)
    flow, other = await make_flow(ada, "recovery"), await make_flow(ada, "recovery")
    first, second = await make_stage(ada, name=new_name("ask_100%")), await make_stage(ada)
    a = await make_binding(ada, flow, first, order=2)
    b = await make_binding(ada, flow, second, order=1, re_evaluate_policies=True)
    c = await make_binding(ada, other, first, order=3)
    policy = await make(ada, "/policies/dummy/", name=new_name("policy"))
    await make(ada, "/policies/bindings/", policy=policy["pk"], target=a["pbm_uuid"], order=0)
    mine = {"flow": flow["slug"]}

    async def pks(**params: Any) -> list[str]:
        return [record["pk"] for record in await results(ada, BINDINGS, **params)]

    asked: list[tuple[dict[str, Any], list[str]]] = [
        ({"flow": flow["pk"]}, [b["pk"], a["pk"]]),
        ({"flow": flow["slug"]}, [b["pk"], a["pk"]]),
        ({"flow": flow["pk"].upper().replace("-", "")}, [b["pk"], a["pk"]]),
        ({"target": flow["slug"]}, [b["pk"], a["pk"]]),
        ({"stage": first["pk"]}, [a["pk"], c["pk"]]),
        ({"stage": first["pk"], "flow": other["slug"]}, [c["pk"]]),
        ({"pbm_uuid": a["pbm_uuid"]}, [a["pk"]]),
        ({"fsb_uuid": c["fsb_uuid"]}, [c["pk"]]),
        ({"policies": policy["pk"]}, [a["pk"]]),
        (mine | {"re_evaluate_policies": "TRUE"}, [b["pk"]]),
        (mine | {"re_evaluate_policies": "perhaps"}, [b["pk"], a["pk"]]),
        (mine | {"order": "2.0"}, [a["pk"]]),
        (mine | {"order": "1.5"}, []),
        (mine | {"order": "99999999999"}, []),
        (mine | {"ordering": "-order"}, [a["pk"], b["pk"]]),
        (mine | {"ordering": "re_evaluate_policies"}, [a["pk"], b["pk"]]),
        (mine | {"ordering": "-pk"}, sorted([a["pk"], b["pk"]], reverse=True)),
        (mine | {"ordering": "stage"}, [r["pk"] for r in sorted((a, b), key=lambda r: str(r["stage"]))]),
        (mine | {"ordering": "nonsense"}, [b["pk"], a["pk"]]),
        ({"search": first["name"].upper()}, [a["pk"], c["pk"]]),
        ({"search": first["name"], "flow": flow["slug"]}, [a["pk"]]),
        ({"search": first["name"].replace("%", "_")}, []),
    ]
    for params, expected in asked:
        assert await pks(**params) == expected, params
    told = await results(ada, BINDINGS, **mine)
    assert [record["policies"] for record in told] == [[], [policy["pk"]]]


@pytest.mark.parametrize(
    ("params", "complaint"),
    [
        ({"pbm_uuid": "x"}, {"pbm_uuid": ["Enter a valid UUID."]}),
        ({"fsb_uuid": "x"}, {"fsb_uuid": ["Enter a valid UUID."]}),
        ({"policies": "x"}, {"policies": ["“x” is not a valid UUID."]}),
        ({"flow": "no-such-flow"}, {"flow": [_NOT_THERE]}),
        ({"flow": str(uuid.UUID(int=7))}, {"flow": [_NOT_THERE]}),
        ({"stage": "x"}, {"stage": [_NOT_THERE]}),
        ({"stage": str(uuid.UUID(int=7))}, {"stage": [_NOT_THERE]}),
        ({"order": "x"}, {"order": ["Enter a number."]}),
    ],
)
async def test_a_filter_that_cannot_be(town: Town, params: dict[str, str], complaint: dict[str, Any]) -> None:
    ada = await owner_of(town)

    answer = await ada.get(API + BINDINGS, params=params)

    assert answer.status_code == 400
    assert answer.json() == complaint


async def test_a_flow_that_a_provider_uses_stays(town: Town) -> None:
    ada = await owner_of(town)
    flow = await make_flow(ada, "authorization")
    provider = await make(
        ada,
        "/providers/openid/",
        name=new_name("provider"),
        authorization_flow=flow["pk"],
        redirect_uris="",
        response_types=[1],
    )

    refused = await ada.call("DELETE", f"{API}/flows/instances/{flow['pk']}/")
    await ada.call("DELETE", f"{API}/providers/openid/{provider['pk']}/")
    gone = await ada.call("DELETE", f"{API}/flows/instances/{flow['pk']}/")

    assert refused.status_code == 409
    assert [one["pk"] for one in refused.json()["references"]] == [provider["pk"]]
    assert gone.status_code == 204


async def test_nothing_is_left_of_a_flow_or_a_stage(town: Town) -> None:
    """A stage that is in a flow stays. Policies can no longer be bound to what is gone."""
    ada = await owner_of(town)
    flow, other, stage = await make_flow(ada, "enrollment"), await make_flow(ada, "enrollment"), await make_stage(ada)
    with_flow = await make_binding(ada, flow, await make_stage(ada))
    with_stage = await make_binding(ada, other, stage)
    policy = await make(ada, "/policies/dummy/", name=new_name("policy"))
    targets = [flow["pbm_uuid"], with_flow["pbm_uuid"], with_stage["pbm_uuid"]]
    for target in targets:
        await make(ada, "/policies/bindings/", policy=policy["pk"], target=target, order=0)

    assert (await ada.call("DELETE", f"{API}/flows/instances/{flow['pk']}/")).status_code == 204
    held = await ada.call("DELETE", f"{API}/stages/dummy/{stage['pk']}/")
    assert (held.status_code, [one["name"] for one in held.json()["references"]]) == (409, [other["name"]])
    assert (await ada.call("DELETE", f"{API}{BINDINGS}{with_stage['pk']}/")).status_code == 204
    assert (await ada.call("DELETE", f"{API}/stages/dummy/{stage['pk']}/")).status_code == 204

    for binding in (with_flow, with_stage):
        assert (await ada.get(f"{API}{BINDINGS}{binding['pk']}/")).status_code == 404
    assert await results(ada, "/policies/bindings/", policy=policy["pk"]) == []
    for target in targets:
        answer = await ada.call(
            "POST", f"{API}/policies/bindings/", json={"policy": policy["pk"], "target": target, "order": 0}
        )
        assert answer.json() == {"target": [f'Invalid pk "{target}" - object does not exist.']}
    assert (await ada.get(f"{API}/flows/instances/{other['pk']}/")).json()["stages"] == []


async def test_what_refers_to_a_flow_forgets_it(town: Town) -> None:
    ada = await owner_of(town)
    flow = await make_flow(ada, "recovery")
    stage = await make_stage(ada, "identification", user_fields=["email"], template="login", recovery_flow=flow["pk"])

    await ada.call("DELETE", f"{API}/flows/instances/{flow['pk']}/")

    assert (await ada.get(f"{API}/stages/identification/{stage['pk']}/")).json()["recovery_flow"] is None


async def test_two_flows_cannot_share_a_slug(town: Town) -> None:
    ada = await owner_of(town)
    flow = await make_flow(ada, "enrollment")

    answer = await ada.call(
        "POST", f"{API}/flows/instances/", json={"name": "x", "slug": flow["slug"], "designation": "enrollment"}
    )

    assert answer.json() == {"slug": ["This field must be unique."]}

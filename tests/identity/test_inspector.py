"""Looking into a walk, and rehearsing one."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

from sqlalchemy import func, select

from kith.base.db import query
from kith.identity.audit.service import MASK
from kith.identity.audit.tables import events
from kith.identity.refusals.tables import refusals
from kith.identity.sessions.tables import runs, sessions
from tests.identity.flow_browser import Browser
from tests.identity.oauth_clients import told_to
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
from tests.identity.relying_party import CALLBACK, make_party
from tests.identity.test_refusals import question
from tests.town import Person, Town

_counts = query(
    select(
        *(select(func.count()).select_from(table).scalar_subquery() for table in (events, refusals, runs, sessions))
    ),
    tuple,
)


def path(slug: str) -> str:
    return f"{API}/flows/inspector/{slug}/"


async def look(browser: Browser, slug: str) -> dict[str, Any]:
    answer = await browser.http.get(path(slug))
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


async def rehearse(person: Person, slug: str, **sent: Any) -> dict[str, Any]:
    answer = await person.call("POST", path(slug), json=sent)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


async def test_a_walk_is_seen_stage_by_stage_without_its_secrets(town: Town) -> None:
    owner = await owner_of(town)
    flow = await make_flow(owner, "stage_setup")
    stages = [await question(owner, "magic_word", "password"), await make_stage(owner), await make_stage(owner)]
    for order, stage in enumerate(stages):
        await make_binding(owner, flow, stage, order=order)
    browser = Browser(town)
    await browser.sign_in(owner)

    before = await browser.http.get(path(flow["slug"]))
    await browser.see(flow["slug"])
    start = await look(browser, flow["slug"])
    await browser.answer(flow["slug"], component="prompt", magic_word="abracadabra 12")
    middle = await look(browser, flow["slug"])
    for _ in range(2):
        await browser.answer(flow["slug"], component="dummy")
    end = await look(browser, flow["slug"])

    assert before.status_code == 400
    assert (start["plans"], start["is_completed"]) == ([], False)
    assert start["current_plan"]["current_stage"]["name"] == stages[0]["name"]
    assert start["current_plan"]["next_planned_stage"]["name"] == stages[1]["name"]
    assert [one["current_stage"]["kind"] for one in middle["plans"]] == ["prompt"]
    assert middle["current_plan"]["current_stage"]["name"] == stages[1]["name"]
    assert middle["current_plan"]["plan_context"]["prompt_data"] == {"magic_word": MASK}
    assert "abracadabra" not in str(middle)
    assert end["is_completed"]
    assert [one["current_stage"]["name"] for one in end["plans"]] == [stage["name"] for stage in stages]
    assert len({one["session_id"] for one in end["plans"]}) == 1


async def test_nobody_reads_the_way_around_an_applications_flow(town: Town) -> None:
    """The flow's end holds what proves that it was gone through: neither its own visitor nor a policy may know it."""
    owner = await owner_of(town)
    flow = await make_flow(owner, "authorization")
    action = new_name("noted").replace("-", "_")
    noting = f"create_event('{action}', all=str(context))\nreturn True"
    policy = await make(owner, "/policies/expression/", name=new_name("noting"), expression=noting)
    await make_binding(owner, flow, await make_stage(owner), order=0)
    await make(owner, "/policies/bindings/", target=flow["pbm_uuid"], policy=policy["pk"], order=0)
    party = await make_party(town, owner, authorization_flow=flow["pk"])
    browser = Browser(town)
    await browser.sign_in(owner)

    shown = await party.authorize(browser)
    inspected = await look(browser, flow["slug"])
    link = inspected["current_plan"]["plan_context"]["redirect"]
    around = await browser.http.get(link)
    [event, *_] = await results(owner, "/audit/events/", action=f"custom_{action}")
    done = await browser.answer(flow["slug"], component="dummy")
    through = await browser.http.get(done["to"])

    assert shown.headers["location"].startswith(f"/flows/{flow['slug']}/")
    assert "?" not in link
    assert not around.headers.get("location", "").startswith(CALLBACK)
    proof = parse_qs(urlsplit(done["to"]).query)["proof"][0]
    assert link in str(event)
    assert proof not in str(inspected) + str(event)
    assert "code" in told_to(through, CALLBACK)


async def test_a_walk_that_was_refused_is_over_but_not_completed(town: Town) -> None:
    owner = await owner_of(town)
    flow = await make_flow(owner, "stage_setup")
    await make_binding(owner, flow, await make_stage(owner), order=0)
    await make_binding(owner, flow, await make_stage(owner, "deny"), order=1)
    browser = Browser(town)
    await browser.sign_in(owner)
    await browser.see(flow["slug"])
    await browser.answer(flow["slug"], component="dummy")

    told = await look(browser, flow["slug"])

    assert (told["is_completed"], told["is_denied"]) == (False, True)
    assert told["current_plan"]["current_stage"]["kind"] == "dummy"


async def test_only_those_who_may_inspect_flows_find_the_inspector(town: Town) -> None:
    owner, ada = await owner_of(town), await town.sign_up()
    inspector = await person_who_may(town, owner, "flows.inspect_flow")
    slug = (await make_flow(owner, "stage_setup"))["slug"]

    for method in ("GET", "POST"):
        sent: dict[str, Any] = {"json": {}} if method == "POST" else {}
        assert (await ada.call(method, path(slug), **sent)).status_code == 404
        assert (await owner.call(method, path(new_name("none")), **sent)).status_code == 404
        assert (await inspector.call(method, path(slug), **sent)).status_code == (200 if method == "POST" else 400)
        assert (await town.http.request(method, path(slug), **sent)).status_code == 401


async def test_a_rehearsal_asks_all_and_leaves_no_trace(town: Town) -> None:
    owner, ada = await owner_of(town), await town.sign_up()
    [found] = (await owner.get(f"{API}/core/users/", params={"username": ada.username})).json()["results"]
    flow = await make_flow(owner, "stage_setup", authentication="require_authenticated", denied_action="message")
    wants_blue = await make(
        owner,
        "/policies/expression/",
        name=new_name("blue"),
        execution_logging=True,
        expression='print("seen", context.get("colour"))\nreturn context.get("colour") == "blue"',
    )
    broken = await make(owner, "/policies/expression/", name=new_name("broken"), expression="return 1 // 0")
    at_plan = {"evaluate_on_plan": True, "re_evaluate_policies": False}
    again = {"evaluate_on_plan": False, "re_evaluate_policies": True}
    stages = [await make_stage(owner) for _ in range(4)]
    bound = [
        await make_binding(owner, flow, stage, order=order, **when)
        for order, (stage, when) in enumerate(zip(stages, (at_plan, again, at_plan, at_plan), strict=True))
    ]
    for target, policy in ((bound[0], wants_blue), (bound[1], wants_blue), (bound[2], broken)):
        await make(owner, "/policies/bindings/", target=target["pbm_uuid"], policy=policy["pk"], order=0)

    async with town.house() as house, house.works.begin() as work:
        before = await work.db.one(_counts)
    nobody = await rehearse(owner, flow["slug"])
    red = await rehearse(owner, flow["slug"], user=found["pk"], context={"colour": "red"})
    blue = await rehearse(owner, flow["slug"], user=found["pk"], context={"colour": "blue"})
    async with town.house() as house, house.works.begin() as work:
        after = await work.db.one(_counts)

    assert (nobody["applicable"], nobody["user"]) == (False, None)
    assert nobody["level_missing"] == "You cannot use this flow at the moment."
    assert (red["applicable"], red["user"], red["signed_in"]) == (True, ada.username, True)
    assert [stage["name"] for stage in red["stages"]] == [stage["name"] for stage in stages]
    assert [stage["planned"] for stage in red["stages"]] == [False, True, True, True]  # the broken one guards
    assert "skipped" in red["stages"][1]["why"]
    assert [stage["planned"] for stage in blue["stages"]] == [True, True, True, True]
    assert "cannot be asked" in blue["stages"][2]["why"]
    [asked] = blue["stages"][0]["verdict"]["policies"]
    assert (asked["name"], asked["passing"], asked["log"]) == (wants_blue["name"], True, ["seen blue"])
    assert "ZeroDivisionError" in blue["stages"][2]["verdict"]["policies"][0]["failure"]
    assert before == after


async def test_a_rehearsal_complains_about_what_it_cannot_read(town: Town) -> None:
    owner = await owner_of(town)
    slug = (await make_flow(owner, "stage_setup"))["slug"]

    answer = await owner.call("POST", path(slug), json={"user": 2**31 - 1, "context": []})

    assert answer.status_code == 400
    assert set(answer.json()) == {"user", "context"}


async def test_the_inspector_is_described_with_the_rest_of_the_api(town: Town) -> None:
    described = (await town.http.get(f"{API}/openapi.json")).json()["paths"]["/flows/inspector/{id}/"]

    assert set(described) == {"get", "post"}

"""Flows in the console: edited there, they change how the next person signs in."""

from __future__ import annotations

import pytest

from kith.web.admin.flow_steps import order_at
from tests.town import Person, Town
from tests.web.browsing import Browser
from tests.web.conftest import NewBrowser

FLOW = "default-authentication-flow"
AT = f"/admin/flows/{FLOW}"


async def enter(town: Town, browser: Browser) -> Person:
    owner = await town.owner()
    await browser.sign_in(owner.username, owner.password)
    return owner


async def steps(owner: Person) -> dict[str, dict[str, str]]:
    """The bindings of the flow in their order, by the names of their stages."""
    stages = {one["pk"]: one["name"] for one in (await owner.get("/api/v2/stages/all/?limit=500")).json()["results"]}
    found = (await owner.get(f"/api/v2/flows/bindings/?flow={FLOW}&ordering=order")).json()["results"]
    return {stages[one["stage"]]: one for one in found}


async def names(owner: Person) -> list[str]:
    return list(await steps(owner))


async def send(browser: Browser, does: str, step: str | None = None, **values: str) -> None:
    """The form that does this, for this step."""
    await browser.open(AT)
    form = next(one for one in browser.forms() if one.values.get("do") == does and one.values.get("step") == step)
    await browser.http.post(AT, data=form.values | values, follow_redirects=True)


async def test_an_edited_flow_changes_the_next_sign_in(town: Town, browser: Browser, new_browser: NewBrowser) -> None:
    owner, person = await enter(town, browser), await town.sign_up("flow_visitor")
    before = await names(owner)
    await browser.open("/admin/records/stages/deny/new")
    await browser.press("/new", name="closed today")
    stage = (await owner.get("/api/v2/stages/deny/")).json()["results"][0]["pk"]

    await browser.open("/admin/flows")
    assert AT in browser.page.text
    await send(browser, "add", stage=stage, before="")
    assert await names(owner) == [*before, "closed today"]
    closed = (await steps(owner))["closed today"]["pk"]
    await send(browser, "move", closed)
    places = await names(owner)
    assert places.index("closed today") == len(before) - 1

    other = new_browser()
    await other.sign_in(person.username, person.password)
    assert not await other.is_signed_in()

    await send(browser, "remove", closed)
    assert await names(owner) == before
    await other.sign_in(person.username, person.password)
    assert await other.is_signed_in()


async def test_conditions_decide_who_takes_a_stage_and_a_rehearsal_says_so(
    town: Town, browser: Browser, new_browser: NewBrowser
) -> None:
    owner = await enter(town, browser)
    kept_out, other = await town.sign_up("kept_out"), await town.sign_up("let_in")
    made = await owner.call("POST", "/api/v2/stages/deny/", json={"name": "only for some"})
    await send(browser, "add", stage=made.json()["pk"], before="")
    await browser.open(AT)
    step = (await steps(owner))["only for some"]
    target, binding_pk = step["pbm_uuid"], step["pk"]
    binding = next(form for form in browser.forms() if form.values.get("do") == "bind")
    answer = await browser.http.post(
        AT, data=binding.values | {"target": target, "policy": "", "group": "", "user": ""}
    )
    assert answer.status_code == 400
    assert "Choose a group or a policy" in answer.text
    values = {"target": target, "policy": "", "group": "", "user": "kept_out"}
    answer = await browser.http.post(AT, data=binding.values | values, follow_redirects=True)
    assert "Only if this says yes:" in answer.text

    for name, words in (("kept_out", "included"), ("let_in", "skipped")):
        await browser.open(AT)
        await browser.press("#rehearse", user=name, context="")
        place = browser.page.text.index("only for some <span")
        assert words in browser.page.text[place : place + 200]
    await browser.press("#rehearse", user="", context="{not json")
    assert browser.page.status_code == 400
    assert "This is not a JSON object" in browser.page.text

    await owner.call("PATCH", f"/api/v2/flows/bindings/{binding_pk}/", json={"order": 15, "re_evaluate_policies": True})
    first, second = new_browser(), new_browser()
    await first.sign_in(kept_out.username, kept_out.password)
    assert not await first.is_signed_in()
    await second.sign_in(other.username, other.password)
    assert await second.is_signed_in()
    await send(browser, "remove", binding_pk)


async def test_what_is_gone_or_wrong_changes_nothing(town: Town, browser: Browser) -> None:
    owner = await enter(town, browser)
    before = await names(owner)
    csrf = browser.cookie("kith_csrf") or ""
    for sent in (
        {"do": "move", "step": "nothing", "before": ""},
        {"do": "remove", "step": "nothing"},
        {"do": "bind", "target": "nothing", "user": owner.username},
        {"do": "dance"},
    ):
        assert (await browser.http.post(AT, data={"csrf": csrf} | sent)).status_code == 404
    assert (await browser.http.post(AT, data={"csrf": csrf, "do": "add", "stage": ""})).status_code == 400
    assert (await browser.http.post(AT, data={"do": "add", "stage": ""})).status_code == 403
    assert (await browser.open("/admin/flows/nothing-like-that")).status_code == 404
    assert await names(owner) == before


@pytest.mark.parametrize(
    ("orders", "place", "order"),
    [
        ([], 0, 0),
        ([10, 20], 0, 0),
        ([10, 20], 1, 15),
        ([10, 20], 2, 30),
        ([10, 11], 1, None),
        ([10, 10], 1, None),
        ([-5, -2], 1, -4),
    ],
)
def test_a_step_gets_a_number_between_its_neighbours(orders: list[int], place: int, order: int | None) -> None:
    assert order_at(orders, place) == order

"""Whoever is told no gets a code, and those who run the place find out why by it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from kith.base.work import Origin
from kith.identity.audit.service import MASK
from kith.identity.refusals import service, store
from kith.identity.refusals.tables import Refusal
from kith.identity.tasks import IdentitySweep, sweep
from tests.conftest import TownBuilder
from tests.identity.flow_browser import Browser, errors, link_in_mail
from tests.identity.records import API, make, make_binding, make_flow, make_stage, new_name, owner_of, results
from tests.town import Person, Town

CODE = re.compile(r"[2-9A-HJKMNP-TV-Z]{4}-[2-9A-HJKMNP-TV-Z]{4}")


async def flow_with(owner: Person, *stages: dict[str, Any], **values: Any) -> dict[str, Any]:
    flow = await make_flow(owner, "stage_setup", **values)
    for order, stage in enumerate(stages):
        await make_binding(owner, flow, stage, order=order)
    return flow


async def kept(town: Town, code: str) -> Refusal:
    """As somebody finds it who was read the code over the telephone."""
    assert CODE.fullmatch(code), code
    async with town.house() as house, house.works.begin() as work:
        found = await service.find(work, code.lower().replace("-", " "))
    assert found is not None
    return found


async def question(owner: Person, key: str, kind: str = "text", **values: Any) -> dict[str, Any]:
    prompt = await make(
        owner, "/stages/prompt/prompts/", field_key=key, label=key, type=kind, placeholder=key, **values
    )
    return await make_stage(owner, "prompt/stages", fields=[prompt["pk"]])


# Every no has its code


async def test_every_way_to_be_refused_leaves_a_trail(town: Town) -> None:
    owner = await owner_of(town)
    refusing = await flow_with(owner, denied_action="message")
    policy = await make(
        owner,
        "/policies/expression/",
        name=new_name("never"),
        expression='ak_message("Not on Sundays.")\nprint("it is Sunday")\nreturn False',
    )
    await make(owner, "/policies/bindings/", target=refusing["pbm_uuid"], policy=policy["pk"], order=0)
    denying = await flow_with(owner, await make_stage(owner, "deny", deny_message="No entry."))
    cases = [
        (refusing, {}, "Not on Sundays.", "The flow's policies refused."),
        (denying, {}, "No entry.", "stage deny-"),
        (await flow_with(owner), {"flow_token": "x"}, "This link is not valid any more.", "a link was used before"),
        *[
            (await flow_with(owner, authentication=level), {}, words, f"The flow wants {level}.")
            for level, words in (
                ("require_authenticated", "You cannot use this flow at the moment."),
                ("require_superuser", "Only administrators may do this."),
                ("require_token", "This page can only be opened from a link in an e-mail."),
                ("require_redirect", "This page can only be reached from another flow."),
                ("require_outpost", "Only outposts may do this."),
            )
        ],
    ]

    for flow, query, words, reason in cases:
        told = await Browser(town).see(flow["slug"], **query)
        assert (told["component"], told["error_message"]) == ("access-denied", words)
        refusal = await kept(town, told["code"])
        assert (refusal.message, refusal.request_id) == (words, told["request_id"])
        assert refusal.reason.startswith(reason)
        assert refusal.details["flow"]["slug"] == flow["slug"]
        assert (refusal.user_id, refusal.client_ip) == (None, "127.0.0.1")
        events = await results(owner, "/audit/events/", action="flow_denied")
        assert told["code"] in {event["context"]["refusal"] for event in events}, flow

    [told_by] = (await kept(town, (await Browser(town).see(refusing["slug"]))["code"])).details["policies"]
    assert (told_by["name"], told_by["kind"], told_by["passing"]) == (policy["name"], "expression", False)
    assert (told_by["messages"], told_by["log"]) == (["Not on Sundays."], ["it is Sunday"])
    stage = (await kept(town, (await Browser(town).see(denying["slug"]))["code"])).details["stage"]
    assert stage["kind"] == "deny"


async def test_people_groups_and_failures_are_told_by_their_names(town: Town) -> None:
    owner = await owner_of(town)
    flow = await flow_with(owner, denied_action="message")
    group = await make(owner, "/core/groups/", name=new_name("choir"))
    broken = await make(owner, "/policies/expression/", name=new_name("broken"), expression="return 1 // 0")
    [me] = await results(owner, "/core/users/", username=owner.username)
    for order, bound in enumerate(({"group": group["pk"]}, {"user": me["pk"]}, {"policy": broken["pk"]})):
        await make(owner, "/policies/bindings/", target=flow["pbm_uuid"], order=order, negate=order == 1, **bound)

    told = await Browser(town).see(flow["slug"])
    by_group, by_user, by_policy = (await kept(town, told["code"])).details["policies"]

    assert (by_group["kind"], by_group["name"], by_group["passing"]) == ("group", group["name"], False)
    assert (by_user["kind"], by_user["name"], by_user["negate"], by_user["passing"]) == (
        "user",
        owner.username,
        True,
        True,
    )
    assert "ZeroDivisionError" in by_policy["failure"]


async def test_what_was_known_is_kept_without_secrets(town: Town) -> None:
    owner, ada = await owner_of(town), await town.sign_up()
    secret = await question(owner, "magic_word", "password")
    flow = await flow_with(owner, await question(owner, "colour"), secret, await make_stage(owner, "deny"))
    browser = Browser(town)
    await browser.sign_in(ada)

    await browser.see(flow["slug"])
    await browser.answer(flow["slug"], component="prompt", colour="blue")
    told = await browser.answer(flow["slug"], component="prompt", magic_word="abracadabra 12")
    refusal = await kept(town, told["code"])

    assert refusal.username == ada.username
    assert refusal.details["inputs"]["prompt_data"] == {"colour": "blue", "magic_word": MASK}
    assert refusal.details["passed"] == ["prompt", "prompt"]
    assert "abracadabra" not in msgspec.json.encode(refusal).decode()


async def test_who_may_not_open_an_application_gets_a_code_and_who_asks_for_others_none(town: Town) -> None:
    owner, ada = await owner_of(town), await town.sign_up()
    name = new_name("wiki")
    application = await make(owner, "/core/applications/", name=name, slug=name)
    group = await make(owner, "/core/groups/", name=new_name("readers"))
    await make(owner, "/policies/bindings/", target=application["pk"], group=group["pk"], order=0)
    path = f"{API}/core/applications/{application['pk']}/check_access/"
    [found] = await results(owner, "/core/users/", username=ada.username)

    told = (await ada.get(path)).json()
    asked = (await owner.get(path, params={"for_user": found["pk"]})).json()
    refusal = await kept(town, told["code"])

    assert (told["passing"], asked["passing"]) == (False, False)
    assert "code" not in asked
    assert (refusal.username, refusal.details["application"]["name"]) == (ada.username, name)
    assert refusal.details["policies"][0]["name"] == group["name"]


async def test_closed_sign_up_has_a_code_too(new_town: TownBuilder) -> None:
    town = await new_town(registrations="closed")

    told = await Browser(town).see("default-enrollment-flow")

    assert told["error_message"] == "Sign-up is closed."
    assert (await kept(town, told["code"])).reason == "registrations are closed"


async def test_refusals_are_bounded_in_size_in_number_and_in_time(new_town: TownBuilder) -> None:
    town = await new_town(start=False, rate_limits="on")
    huge = {"inputs": {str(n): "x" * 5000 for n in range(5000)}, "flow": {"slug": "f"}}

    async with town.house() as house:
        async with house.works.begin(Origin(address="192.0.2.7")) as work:
            codes = [
                await service.refuse(work, area="a", message="No.", reason="r", details=huge)
                for _ in range(service.BY_ADDRESS.most + 1)
            ]
        async with house.works.begin() as work:
            found = await service.find(work, codes[0])
            assert found is not None
            assert 100 < len(msgspec.json.encode(found.details)) <= service.MOST_BYTES
            old = msgspec.structs.replace(found, code="22222222", expires_at=work.now - timedelta(seconds=1))
            assert await store.add(work.db, old)
            assert not await store.add(work.db, old)
        async with house.works.begin() as work:
            await sweep(work, IdentitySweep())
        async with house.works.begin() as work:
            left = [await store.find(work.db, "22222222"), await service.find(work, codes[0])]
            later = msgspec.structs.replace(found, code="33333333", created_at=work.now + timedelta(seconds=1))
            await store.add(work.db, later)
            await store.delete_expired(work.db, work.now, most=1)
            kept_ones = await store.latest(work.db, most=10)

    assert all(CODE.fullmatch(code) for code in codes[:-1])
    assert codes[-1] == ""
    assert left[0] is None
    assert left[1] is not None
    assert kept_ones[0].code == "33333333"
    assert {one.created_at for one in kept_ones[1:]} <= {left[1].created_at}


# A stage that breaks


async def test_a_stage_that_breaks_is_told_and_can_be_tried_again(town: Town) -> None:
    owner, ada = await owner_of(town), await town.sign_up()
    stage = await make_stage(owner, "dummy", throw_error=True)
    flow = await flow_with(owner, stage)
    visitor, superuser = Browser(town), Browser(town)
    await visitor.sign_in(ada)
    await superuser.sign_in(owner)

    told = [
        await browser.see(flow["slug"]) and await browser.answer(flow["slug"], component="dummy")
        for browser in (visitor, superuser)
    ]
    refusal = await kept(town, told[0]["code"])
    again = await visitor.see(flow["slug"])
    await owner.call("PATCH", f"{API}/stages/dummy/{stage['pk']}/", json={"throw_error": False})
    done = await visitor.answer(flow["slug"], component="dummy")

    assert [one["component"] for one in told] == ["flow-error", "flow-error"]
    assert "traceback" not in told[0]
    assert "told to fail" not in told[0]["error"]
    assert "told to fail" in told[1]["error"]
    assert "Traceback (most recent call last)" in told[1]["traceback"]
    assert (refusal.username, refusal.request_id) == (ada.username, told[0]["request_id"])
    assert refusal.reason == "RuntimeError: a dummy stage was told to fail"
    assert refusal.details["traceback"][-1] == refusal.reason
    [event] = [
        one
        for one in await results(owner, "/audit/events/", action="system_exception")
        if one["context"]["refusal"] == told[0]["code"]
    ]
    context = event["context"]
    assert (context["flow"], context["stage"], context["exception"]) == (flow["slug"], stage["name"], "RuntimeError")
    assert again["component"] == "dummy"
    assert done["component"] == "redirect"


async def test_a_problem_that_is_meant_keeps_its_meaning(town: Town) -> None:
    answer = await Browser(town).http.get(f"{API}/flows/executor/{new_name('nothing')}/")

    assert answer.status_code == 404


async def test_a_stage_that_was_deleted_meanwhile_is_planned_around(town: Town) -> None:
    owner = await owner_of(town)
    first, second = await make_stage(owner), await make_stage(owner)
    flow = await flow_with(owner, first, second)
    browser = Browser(town)
    seen = await browser.see(flow["slug"])

    for step in await results(owner, "/flows/bindings/", flow=flow["pk"], stage=first["pk"]):
        assert (await owner.call("DELETE", f"{API}/flows/bindings/{step['pk']}/")).status_code == 204
    assert (await owner.call("DELETE", f"{API}/stages/dummy/{first['pk']}/")).status_code == 204
    after = await browser.see(flow["slug"])

    assert (seen["name"], after["name"]) == (first["name"], second["name"])


# Starting over


@pytest.mark.parametrize(("action", "remembered"), [("restart", "colour"), ("restart_with_context", "blue")])
async def test_a_wrong_answer_starts_the_flow_over_where_its_binding_says_so(
    town: Town, action: str, remembered: str
) -> None:
    owner = await owner_of(town)
    flow = await make_flow(owner, "stage_setup")
    await make_binding(owner, flow, await question(owner, "colour", initial_value="colour"), order=0)
    await make_binding(owner, flow, await question(owner, "number", "number"), order=1, invalid_response_action=action)
    browser = Browser(town)
    await browser.see(flow["slug"], next="/settings/security")
    await browser.answer(flow["slug"], component="prompt", colour="blue")

    over = await browser.answer(flow["slug"], component="prompt", number="many")
    await browser.answer(flow["slug"], component="prompt", colour="red")
    done = await browser.answer(flow["slug"], component="prompt", number="3")

    assert [one["field_key"] for one in over["fields"]] == ["colour"]
    assert over["fields"][0]["initial_value"] == remembered
    assert errors(over) == []
    assert over["flow_info"]["messages"] == [{"level": "error", "message": "A valid number is required."}]
    assert (done["component"], done["to"]) == ("redirect", "/settings/security")


async def test_a_flow_for_links_is_entered_by_its_link_even_when_it_starts_over(town: Town) -> None:
    owner, ada = await owner_of(town), await town.sign_up()
    flow = await make_flow(owner, "recovery")
    mail = await make_stage(owner, "email", template="password_reset")
    await make_binding(
        owner, flow, await make_stage(owner, "identification", template="login", user_fields=["username"]), order=0
    )
    await make_binding(owner, flow, mail, order=1)
    last = await make_binding(
        owner, flow, await question(owner, "number", "number"), order=2, invalid_response_action="restart"
    )
    browser = Browser(town)
    await browser.see(flow["slug"])
    await browser.answer(flow["slug"], component="identification", uid_field=ada.username)
    key = await link_in_mail(town, f"{ada.username}@example.org")
    change = {"authentication": "require_token"}
    assert (await owner.call("PATCH", f"{API}/flows/instances/{flow['pk']}/", json=change)).status_code == 200

    stranger = await Browser(town).see(flow["slug"])
    arrived = await browser.follow(flow["slug"], key)
    over = await browser.answer(flow["slug"], {"flow_token": key}, component="prompt", number="many")

    assert last["invalid_response_action"] == "restart"
    assert stranger["component"] == "access-denied"
    assert arrived["component"] == "prompt"
    assert over["component"] == "identification"
    assert (await browser.follow(flow["slug"], key))["component"] == "identification"

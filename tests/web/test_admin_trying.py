"""Policies and mappings in the console: errors at their line, and a test beside them."""

from __future__ import annotations

from kith.web.admin.questions import Question
from tests.town import Person, Town
from tests.web.browsing import Browser


async def enter(town: Town, browser: Browser) -> Person:
    owner = await town.owner()
    await browser.sign_in(owner.username, owner.password)
    return owner


async def test_an_expression_is_tried_before_it_is_saved(town: Town, browser: Browser) -> None:
    owner = await enter(town, browser)
    await town.sign_up("tried_person")
    await browser.open("/admin/records/policies/expression/new")
    text = 'message("Hello " + user.username)\nprint("looked")\nreturn user.username == "tried_person"'
    await browser.press("/new", name="by name", expression=text, try_user="tried_person", _try="true")
    assert "The policy passes." in browser.page.text
    assert "Hello tried_person" in browser.page.text
    assert "looked" in browser.page.text
    await browser.press("/new", try_user=owner.username, _try="true")
    assert "The policy does not pass." in browser.page.text
    await browser.press("/new", try_user="nobody_at_all", _try="true")
    assert "There is no user with this name." in browser.page.text
    await browser.press("/new", try_user="", try_context="[1]", _try="true")
    assert "This is not a JSON object" in browser.page.text
    assert (await owner.get("/api/v2/policies/expression/?name=by name")).json()["count"] == 0
    await browser.press("/new", try_context="")
    assert (await owner.get("/api/v2/policies/expression/?name=by name")).json()["count"] == 1


async def test_what_is_wrong_is_shown_at_its_line(town: Town, browser: Browser) -> None:
    await enter(town, browser)
    for extra in ({}, {"_try": "true"}):
        await browser.open("/admin/records/policies/expression/new")
        await browser.press("/new", name="wrong", expression="a = 1\nif a\n  return True", **extra)
        assert browser.page.status_code == 400
        assert 'data-line="2"' in browser.page.text
        assert "<b>Line 2</b>\nif a\n" in browser.page.text


async def test_mappings_and_saved_policies_are_tried(town: Town, browser: Browser) -> None:
    owner = await enter(town, browser)
    await browser.open("/admin/records/propertymappings/scope/new")
    given = {"name": "shoe", "scope_name": "shoe", "expression": 'return {"shoe": size, "of": user.username}'}
    await browser.press("/new", **given, try_user=owner.username, try_context='{"size": 42}', _try="true")
    assert "It worked, and gave:" in browser.page.text
    assert "&#34;shoe&#34;: 42" in browser.page.text
    await browser.press("/new", try_user="", try_context="", _try="true")
    assert "It failed:" in browser.page.text

    made = await owner.call(
        "POST", "/api/v2/policies/dummy/", json={"name": "yes", "result": True, "wait_max": 0, "wait_min": 0}
    )
    await browser.open(f"/admin/records/policies/dummy/{made.json()['pk']}")
    await browser.press(made.json()["pk"], try_user=owner.username, _try="true")
    assert "The policy passes." in browser.page.text


async def test_drafts_are_tried_over_the_api_by_those_who_may_save_them(town: Town) -> None:
    owner, person = await town.owner(), await town.sign_up()
    path = "/api/v2/policies/expression/test/"
    answer = await owner.call("POST", path, json={"expression": "return context['a'] == 1", "context": {"a": 1}})
    assert answer.json() == {"passing": True, "messages": [], "log_messages": []}
    for sent, field in (
        ({}, "expression"),
        ({"expression": "return ("}, "expression"),
        ({"expression": 5}, "expression"),
    ):
        answer = await owner.call("POST", path, json=sent)
        assert answer.status_code == 400
        assert list(answer.json()) == [field]
    for place in (path, "/api/v2/propertymappings/saml/test/"):
        assert (await person.call("POST", place, json={"expression": "return 1"})).status_code == 403


def test_a_place_outside_the_text_is_no_place() -> None:
    said = ["Expression Syntax Error: line 7, column 1: what"]
    assert Question(name="expression", label="", kind="code", value="a", errors=said).wrong_place is None
    assert (
        Question(name="expression", label="", kind="text", value="a", errors=["line 1, column 1"]).wrong_place is None
    )

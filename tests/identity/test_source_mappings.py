"""Property mappings of sources: what they make of somebody who comes in, and who may change them."""

from __future__ import annotations

from typing import Any

import pytest

from kith.identity.sources.property_mappings import fits, merged
from tests.conftest import TownBuilder
from tests.identity.flow_browser import Browser
from tests.identity.records import API, make, new_name, owner_of, person_who_may, results
from tests.identity.saml_idps import Claim, make_source
from tests.town import Person, Town

MAPPINGS = "/propertymappings/source/saml/"


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


async def mapping(ada: Person, expression: str, name: str = "") -> str:
    made = await make(ada, MAPPINGS, name=new_name(name or "m"), expression=expression)
    return str(made["pk"])


def plain_name(word: str) -> str:
    return new_name(word).replace("-", "_")


@pytest.mark.parametrize(
    ("known", "more", "expected"),
    [
        ({}, {}, {}),
        ({"a": 1}, {"a": 2, "b": 3}, {"a": 2, "b": 3}),
        ({"a": 1}, {"a": None}, {"a": 1}),
        ({"a": {"x": 1, "y": 1}}, {"a": {"y": 2}}, {"a": {"x": 1, "y": 2}}),
        ({"a": {"x": 1}}, {"a": "text"}, {"a": "text"}),
        ({"a": "text"}, {"a": {"x": 1}}, {"a": {"x": 1}}),
        ({"a": [1]}, {"a": [2]}, {"a": [2]}),
    ],
)
def test_one_object_is_laid_over_another(known: dict[str, Any], more: dict[str, Any], expected: dict[str, Any]) -> None:
    before = repr(known)
    assert merged(known, more) == expected
    assert repr(known) == before


@pytest.mark.parametrize(
    ("value", "does"),
    [
        ("x" * 16_000, True),
        ([1, 2.5, None, True, {"b": "c"}], True),
        ("x" * 17_000, False),
        ("nul \0", False),
        ([{"deep": "nul \0"}], False),
        (object(), False),
    ],
)
def test_attributes_are_what_can_be_stored(value: Any, *, does: bool) -> None:
    assert fits({"a": value}) is does


async def test_mappings_say_who_somebody_is(town: Town, ada: Person) -> None:
    name, wanted = plain_name("raw"), plain_name("chosen")
    one = f"""return {{"username": "{wanted}", "name": assertion["attributes"]["cn"][0].upper(),
        "attributes": {{"dept": assertion["attributes"]["dept"][0], "seen": {{"issuer": root["issuer"]}}}}}}"""
    two = """return {"attributes": {"seen": {"by": name_id, "as": properties["username"], "at": source["slug"]}},
        "password": "let me in as I like", "is_superuser": True, "groups": assertion["attributes"]["dept"]}"""
    idp = await make_source(
        town,
        user_property_mappings=[await mapping(ada, two, "b"), await mapping(ada, one, "a")],
        group_property_mappings=[
            await mapping(ada, 'return {"name": "the " + group_id, "attributes": {"from": assertion["issuer"]}}')
        ],
    )
    dept = new_name("dept")
    browser = Browser(town)
    await idp.sign_in(browser, Claim(name=name, attributes={"cn": ["Some Body"], "dept": [dept]}))
    assert await browser.who() == wanted
    [user] = await results(ada, "/core/users/", username=wanted)
    assert user["name"] == "SOME BODY"
    assert user["attributes"]["dept"] == dept
    seen = {"issuer": "https://idp.example/", "by": name, "as": wanted, "at": idp.source["slug"]}
    assert user["attributes"]["seen"] == seen
    assert "let me in" not in str(user)
    assert user["is_superuser"] is False
    [group] = await results(ada, "/core/groups/", name=f"the {dept}")
    assert group["attributes"] == {"from": "https://idp.example/"}
    assert user["groups"] == [group["pk"]]
    assert (await Browser(town).http.get("/")).status_code == 200, town.log()[-3000:]
    again = Browser(town)
    await idp.sign_in(again, Claim(name=name, attributes={"cn": ["Some Body"], "dept": ["other"]}))
    assert await again.who() == wanted, "the name there is what counts"
    [user] = await results(ada, "/core/users/", username=wanted)
    assert group["pk"] not in user["groups"]


async def test_what_cannot_be_stored_is_left_out(town: Town, ada: Person) -> None:
    body = 'return {"name": 10 ** 30, "email": ["a", 1], "attributes": {"x": chr(0), "y": 10 ** 30}, "groups": [7, {}]}'
    name = plain_name("odd")
    idp = await make_source(town, user_property_mappings=[await mapping(ada, body)])
    browser = Browser(town)
    await idp.sign_in(browser, Claim(name=name))
    assert await browser.who() == name
    [user] = await results(ada, "/core/users/", username=name)
    assert {"x", "y"} & set(user["attributes"]) == set()


@pytest.mark.parametrize("body", ["return 1 / 0", "return 7", "while True: pass\nreturn {}"])
async def test_a_mapping_that_fails_admits_nobody_and_is_written_down(town: Town, ada: Person, body: str) -> None:
    pk, name = await mapping(ada, body), plain_name("whole")
    idp = await make_source(town, user_property_mappings=[pk])
    browser = Browser(town)
    answer = await idp.sign_in(browser, Claim(name=name))
    assert (answer.status_code, await browser.who()) == (403, None)
    events = await results(ada, "/audit/events/", action="property_mapping_exception", ordering="-created")
    told = [one["context"] for one in events if one["context"]["mapping"]["pk"] == pk]
    assert len(told) == 1
    assert told[0]["source"]["slug"] == idp.source["slug"]


async def test_a_mapping_can_leave_people_and_groups_out(town: Town, ada: Person) -> None:
    people = 'if "guest" in assertion["attributes"].get("kind", []):\n    raise SkipObject\nreturn None'
    groups = 'if group_id.startswith("tmp"):\n    raise SkipObject\nreturn {}'
    idp = await make_source(
        town,
        user_property_mappings=[await mapping(ada, people)],
        group_property_mappings=[await mapping(ada, groups)],
    )
    guest, name, kept = Browser(town), plain_name("member"), new_name("kept")
    answer = await idp.sign_in(guest, Claim(name=plain_name("guest"), attributes={"kind": ["guest"]}))
    assert answer.status_code == 403
    assert "does not admit you" in answer.text
    assert await guest.who() is None
    await idp.sign_in(Browser(town), Claim(name=name, attributes={"groups": [kept, "tmp-a"]}))
    [user] = await results(ada, "/core/users/", username=name)
    found = [one["name"] for one in await results(ada, "/core/groups/") if one["pk"] in user["groups"]]
    assert found == [kept]


@pytest.mark.parametrize(
    ("claims", "is_linked"),
    [('{"email": "%s"}', False), ('{"email": "%s", "email_verified": True}', True)],
)
async def test_an_address_of_a_mapping_links_only_if_the_mapping_vouches(
    town: Town, ada: Person, claims: str, *, is_linked: bool
) -> None:
    victim = await town.sign_up()
    body = "return " + claims % f"{victim.username}@example.org"
    idp = await make_source(town, user_matching_mode="email_link", user_property_mappings=[await mapping(ada, body)])
    browser = Browser(town)
    answer = await idp.sign_in(browser, Claim(name=plain_name("other")))
    assert (await browser.who() == victim.username) is is_linked, answer.text[-500:]


async def test_only_mappings_of_its_own_kind_fit_a_source(town: Town, ada: Person) -> None:
    idp = await make_source(town)
    other = await make(ada, "/propertymappings/source/oauth/", name=new_name("o"), expression="return {}")
    for field in ("user_property_mappings", "group_property_mappings"):
        url = f"{API}/sources/saml/{idp.source['pk']}/"
        refused = await ada.call("PATCH", url, json={field: [other["pk"]]})
        assert (refused.status_code, list(refused.json())) == (400, [field])


async def test_only_superusers_change_a_mapping_that_a_source_uses(town: Town, ada: Person) -> None:
    used, free = await mapping(ada, "return {}"), await mapping(ada, "return {}")
    await make_source(town, user_property_mappings=[used])
    rights = [f"propertymappings.{verb}_samlsourcepropertymapping" for verb in ("view", "change", "delete")]
    editor = await person_who_may(town, ada, *rights)
    change = {"expression": 'return {"username": "admin"}'}
    assert (await editor.call("PATCH", f"{API}{MAPPINGS}{free}/", json=change)).status_code == 200
    assert (await editor.call("PATCH", f"{API}{MAPPINGS}{used}/", json=change)).status_code == 403
    assert (await editor.call("DELETE", f"{API}{MAPPINGS}{used}/")).status_code == 403
    assert (await ada.call("DELETE", f"{API}{MAPPINGS}{used}/")).status_code == 409  # the source names it
    assert (await editor.call("DELETE", f"{API}{MAPPINGS}{free}/")).status_code == 204


async def test_who_comes_from_a_source_waits_for_approval_like_everybody(new_town: TownBuilder) -> None:
    town = await new_town(registrations="approval", confirm_email="off")
    idp, name = await make_source(town), plain_name("waiting")
    browser = Browser(town)
    answer = await idp.sign_in(browser, Claim(name=name, attributes={"mail": [f"{name}@example.org"]}))
    assert answer.status_code == 403
    assert "Your account is waiting for approval." in answer.text
    assert await browser.who() is None
    owner = await owner_of(town)
    [user] = await results(owner, "/core/users/", username=name)
    assert (await owner.call("POST", f"{API}/core/users/{user['pk']}/approve/")).status_code == 204
    later = Browser(town)
    await idp.sign_in(later, Claim(name=name))
    assert await later.who() == name

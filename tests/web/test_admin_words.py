"""The console calls records, their fields and what can be chosen by plain words, in each language."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import kith
from kith.identity.collections import RESOURCES
from kith.web.admin.questions import kind_of
from kith.web.admin.words import lookup
from kith.web.admin.words.choices import CHOICES
from kith.web.admin.words.events import EVENTS, event_words
from kith.web.admin.words.first_fields import FIRST, FITTING
from kith.web.admin.words.names import NAMES
from tests.identity.records import make, new_name, owner_of, person_who_may
from tests.town import Town
from tests.web.browsing import Browser

FIELDS = [(resource, field) for resource in RESOURCES for field in resource.all_fields]
SHOWN = {
    (resource.path, "pk" if name == resource.key else name)
    for resource in RESOURCES
    for name in ("pk", *resource.times, resource.key)
} | {(resource.path, field.name) for resource, field in FIELDS}
ENGLISH = {"the", "of", "and", "is", "are", "for", "with", "that", "not", "leave", "empty", "people", "address", "key"}


def test_every_collection_has_a_name_and_no_other_has() -> None:
    assert sorted({one.path for one in RESOURCES} ^ set(NAMES)) == []
    assert [path for path, name in NAMES.items() if not (name.one and name.many and name.about)] == []


def test_every_field_has_a_label() -> None:
    missing = {name for path, name in SHOWN if name not in lookup.LABELS and path + name not in lookup.LABELS}
    assert sorted(missing) == []
    unfit = re.compile(r"_|\b(uuid|kp|pbm|cn|asns|pk|true|false|null)\b", re.IGNORECASE)
    assert [words for words in lookup.LABELS.values() if unfit.search(words)] == []


@pytest.mark.parametrize("table", [lookup.LABELS, lookup.HELPS], ids=["labels", "helps"])
def test_tables_speak_of_fields_that_there_are(table: dict[str, str]) -> None:
    known = {name for _, name in SHOWN} | {path + name for path, name in SHOWN}
    assert sorted(set(table) - known) == []


def test_helps_are_for_people() -> None:
    """A page has no null, and what is ticked is neither true nor false."""
    said = {lookup.field_help(resource, field) for resource, field in FIELDS if not field.read_only}
    assert [words for words in said if re.search(r"\b(Null|True|False|null)\b|[a-z]_(flow|url|kp|dn)\b", words)] == []


def test_every_choice_has_words() -> None:
    tables = {(resource.path, field.name): getattr(field, "choices", ()) for resource, field in FIELDS}
    tables = {place: values for place, values in tables.items() if values}
    for (path, name), values in tables.items():
        words = CHOICES.get(path + name) or CHOICES[name]
        assert {str(one) for one in values} <= set(words), (path, name)
    used = {key for path, name in tables for key in (path + name, name)}
    assert sorted(set(CHOICES) - used) == []


def test_everything_that_is_written_down_has_words() -> None:
    """Names of events are the first text that those functions are given."""
    writing = {"record", "_record", "_write_down", "_lift", "_change", "_save"}
    written, sources = set(), Path(kith.__file__).parent
    for path in (one for room in ("identity", "social", "federation") for one in (sources / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in writing:
                texts = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                written |= {text for text in texts[:1] if re.fullmatch(r"[a-z_]+", text)}
    assert len(written) > 90
    no_events = {"client_credentials", "expires", "expressions", "is_active", "role"}
    assert sorted(written - no_events - set(EVENTS)) == []
    assert event_words("custom_tea_time") == "Custom tea time"


def test_every_part_of_the_server_that_writes_something_down_has_words() -> None:
    """It is the second text that those functions are given, or is said by its name."""
    written, sources = set(), Path(kith.__file__).parent
    for path in (one for room in ("identity", "social", "federation") for one in (sources / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1].startswith(("record", "_record")):
                given = [*node.args, *(one.value for one in node.keywords if one.arg == "app")]
                texts = [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                written |= {text for text in texts if re.fullmatch(r"[a-z_]+\.[a-z_0-9]+", text)}
    assert len(written) > 20
    assert sorted(one for one in written if lookup.place_words(one) == one) == []
    assert lookup.place_words("tea.house") == "tea.house"


def test_what_comes_first_is_in_the_form() -> None:
    for path, names in FIRST.items():
        [resource] = [one for one in RESOURCES if one.path == path]
        assert set(names) <= {one.name for one in resource.all_fields if not one.read_only}, path


def test_only_kinds_that_there_are_can_be_chosen() -> None:
    known = {path + name for path, name in SHOWN} | {name for _, name in SHOWN}
    assert sorted(set(FITTING) - known) == []
    assert {kind for kinds in FITTING.values() for kind in kinds} <= {one.kind for one in RESOURCES}


def test_what_has_no_words_yet_gets_some() -> None:
    field = SimpleNamespace(name="sso_url", help="")
    resource = SimpleNamespace(
        path="/policies/moon_phase/", name="X", describe="", key="policy_uuid", kind="moon", all_fields=(field,)
    )
    assert lookup.name_of(resource).many == "Moon phase"
    assert lookup.field_label(resource, "moon_uid") == "Moon UID"
    assert lookup.field_help(resource, SimpleNamespace(name="moon_uid", help="Full.")) == "Full."
    assert lookup.choice_words(resource, "moon", "half_full") == "half_full"


def test_passwords_are_never_typed_in_the_open() -> None:
    assert {kind_of(field) for _, field in FIELDS if field.name == "current_password"} == {"secret"}


async def test_an_area_shows_what_there_is_and_what_can_be_added(town: Town, browser: Browser) -> None:
    owner = await owner_of(town)
    await browser.sign_in(owner.username, owner.password)
    empty = (await browser.open("/admin/kinds/sources")).text
    assert "There is nothing here yet." in empty
    assert "user_connections" not in empty

    name = new_name("kinds")
    made = await make(owner, "/policies/geoip/", name=f"{name}<1>", countries=["DE"])
    await make(owner, "/policies/reputation/", name=f"{name}<2>")
    page = (await browser.open(f"/admin/kinds/policies?search={name}")).text
    assert f'<a href="/admin/records/policies/geoip/{made["pk"]}">{name}&lt;1&gt;</a>' in page
    assert page.index("&lt;1&gt;") < page.index("Place and network</span>") < page.index("&lt;2&gt;")
    assert "1 to 2 of 2" in page
    assert 'href="/admin/records/policies/breachcheck/new"><strong>Leaked passwords</strong>' in page
    assert "2 to 2 of 2" in (await browser.open(f"/admin/kinds/policies?search={name}&offset=1")).text
    assert "Nothing was found." in (await browser.open("/admin/kinds/policies?search=no-such-thing")).text
    for area in ("propertymappings", "providers", "stages"):
        assert (await browser.open(f"/admin/kinds/{area}")).status_code == 200


async def test_who_may_see_one_kind_finds_its_list(town: Town, browser: Browser) -> None:
    person = await person_who_may(town, await owner_of(town), "policies.view_expressionpolicy")
    await browser.sign_in(person.username, person.password)
    page = (await browser.open("/admin/kinds/policies")).text
    assert 'href="/admin/records/policies/expression"' in page
    assert 'href="/admin/records/policies/geoip"' not in page
    assert "/new" not in page


async def test_forms_speak_german(town: Town, browser: Browser) -> None:
    owner = await owner_of(town)
    browser.http.headers["accept-language"] = "de"
    await browser.sign_in(owner.username, owner.password)
    for path in ("/providers/saml/", "/stages/user_login/", "/sources/ldap/", "/policies/geoip/", "/core/brands/"):
        page = (await browser.open(f"/admin/records{path}new")).text
        said = re.findall(
            r'<(?:label|legend|option|summary|h1|p class="hint")[^>]*>(.*?)</', page.partition("<main")[2]
        )
        texts = [re.sub(r"<[^>]*>", "", one).strip() for one in said]
        texts = [one for one in texts if not one.startswith("SAML: ")]  # mappings, as somebody called them
        assert len(texts) > 10
        assert [one for one in texts if ENGLISH & set(re.findall(r"[a-z]+", one.lower()))] == [], path


async def test_a_long_form_folds_up_what_few_people_need(town: Town, browser: Browser) -> None:
    owner = await owner_of(town)
    await browser.sign_in(owner.username, owner.password)
    place = "/admin/records/stages/user_login/"
    page = (await browser.open(f"{place}new")).text
    assert page.index('name="session_duration"') < page.index("<summary>More settings") < page.index("Same IP address")
    assert '<details class="more"><summary>More settings' in page
    await browser.press("/new", name="", network_binding="bind_asn")
    assert browser.page.status_code == 400
    assert '<details class="more" open><summary>More settings' in browser.page.text

    page = (await browser.open("/admin/records/providers/saml/new")).text
    assert "SAML: uid" in page
    assert "SCIM: person" not in page, "what a SAML service cannot be told is not offered"
    assert "(default-authentication-flow)</option>" in page, "flows of one name can be told apart"

    made = await make(owner, "/stages/user_login/", name=new_name("stage"))
    page = (await browser.open(f"{place}{made['pk']}")).text
    assert '<details class="more"><summary>More settings' in page
    assert page.count(made["pk"]) == page.count(f"{place}{made['pk']}") + 1, "the ID is told once"

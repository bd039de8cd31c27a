"""SCIM's filters, paths, changes and documents: pure functions."""

from __future__ import annotations

import contextlib
from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kith.identity.scim.documents import clean
from kith.identity.scim.errors import ScimError
from kith.identity.scim.filters import fits, read_filter, read_path, sought
from kith.identity.scim.patch import Operation, patched, read_operations
from kith.identity.scim.projection import project, read_shown
from kith.identity.scim.schemas import ENTERPRISE_SCHEMA, GROUPS, PATCH_OP, USERS
from kith.identity.sources.scim.groups import patch_members

ADA: dict[str, Any] = {
    "id": "1",
    "userName": "Ada",
    "externalId": "A-1",
    "active": True,
    "name": {"givenName": "Ada", "familyName": "Lovelace"},
    "emails": [
        {"value": "ada@work.example", "type": "work", "primary": True},
        {"value": "ada@home.example", "type": "home"},
    ],
    ENTERPRISE_SCHEMA: {"department": "Engines"},
    "meta": {"created": "2026-01-31T12:00:00.000Z"},
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('userName eq "ada"', True),
        ('USERNAME EQ "ADA"', True),
        ('urn:ietf:params:scim:schemas:core:2.0:User:userName eq "ada"', True),
        ('externalId eq "a-1"', False),
        ('externalId eq "A-1"', True),
        ('userName ne "ada"', False),
        ('name.familyName co "LACE"', True),
        ('name.familyName sw "love" and name.givenName ew "da"', True),
        ('emails eq "ada@home.example"', True),
        ('emails.type eq "home"', True),
        ('emails[type eq "home" and value co "work"]', False),
        ('emails[type eq "work" and primary eq true]', True),
        ("title pr", False),
        ("emails pr", True),
        ("not (title pr)", True),
        ('title pr or userName eq "ada" and active eq true', True),
        ('(title pr or userName eq "ada") and active eq false', False),
        ('active eq "True"', True),
        ('meta.created gt "2026-01-31T11:59:59+00:00"', True),
        ('meta.created lt "2026-01-31T13:00:00+02:00"', False),
        (f'{ENTERPRISE_SCHEMA}:department eq "engines"', True),
        ('nobody.knows eq "this"', False),
        ("title eq null", True),
        ('userName gt "AB"', True),
        ('userName eq "\\u0061da"', True),
    ],
)
def test_filters_fit(text: str, expected: bool) -> None:
    assert fits(USERS, read_filter(USERS, text), ADA) is expected


@pytest.mark.parametrize(
    "text",
    ["", "userName", "userName eq", 'eq "x"', 'userName is "x"', 'userName eq "x', "userName eq x y", "(userName pr",
     "userName pr)", 'emails[type eq "x"', "active gt true", "userName co 3", "not userName pr", 'a.b.c eq "x"',
     "userName eq [1]", "userName eq {}"],
)  # fmt: skip
def test_filters_that_cannot_be_read(text: str) -> None:
    with pytest.raises(ScimError) as caught:
        read_filter(USERS, text)
    assert caught.value.kind == "invalidFilter"


@given(st.text(max_size=200))
def test_any_text_is_a_filter_or_is_refused(text: str) -> None:
    for read in (read_filter, read_path):
        with contextlib.suppress(ScimError):
            read(USERS, text)


@given(st.text())
def test_a_value_in_quotation_marks_comes_back_as_it_was(value: str) -> None:
    node = read_filter(USERS, f"title eq {msgspec.json.encode(value).decode()}") if len(value) < 100 else None
    assert node is None or fits(USERS, node, {"title": value}) or not value


def test_what_a_filter_looks_for_is_found_only_where_it_must_be_so() -> None:
    assert sought(read_filter(USERS, 'title pr and userName eq "ada"'), "userName") == "ada"
    assert sought(read_filter(USERS, 'title pr or userName eq "ada"'), "userName") is None
    assert sought(read_filter(USERS, 'not (userName eq "ada")'), "userName") is None


def change(*operations: dict[str, Any], document: dict[str, Any] | None = None) -> dict[str, Any]:
    read = read_operations(USERS, {"schemas": [PATCH_OP], "Operations": list(operations)})
    return clean(USERS, patched(USERS, ADA if document is None else document, read))


@pytest.mark.parametrize(
    ("operation", "path", "expected"),
    [
        ({"op": "add", "path": "title", "value": "Countess"}, "title", "Countess"),
        ({"op": "add", "path": "name", "value": {"middleName": "King"}}, "name",
         {"givenName": "Ada", "familyName": "Lovelace", "middleName": "King"}),
        ({"op": "remove", "path": "name.givenName"}, "name", {"familyName": "Lovelace"}),
        ({"op": "remove", "path": 'emails[type eq "home"]'}, "emails", ADA["emails"][:1]),
        ({"op": "remove", "path": "emails", "value": [{"value": "ada@work.example"}]}, "emails", ADA["emails"][1:]),
        ({"op": "replace", "path": 'emails[type eq "home"].value', "value": "x@y.example"}, "emails",
         [ADA["emails"][0], {"value": "x@y.example", "type": "home"}]),
        ({"op": "add", "path": "emails", "value": [{"value": "n@y.example", "primary": True}]}, "emails",
         [{"value": "ada@work.example", "type": "work"}, ADA["emails"][1], {"value": "n@y.example", "primary": True}]),
        ({"op": "add", "path": "emails", "value": ADA["emails"][1]}, "emails", ADA["emails"]),
        ({"op": "replace", "path": "emails", "value": [{"value": "only@y.example"}]}, "emails",
         [{"value": "only@y.example"}]),
        ({"op": "replace", "value": {"name.givenName": "Augusta"}}, "name",
         {"givenName": "Augusta", "familyName": "Lovelace"}),
        ({"op": "replace", "path": f"{ENTERPRISE_SCHEMA}:department", "value": "Poetry"}, ENTERPRISE_SCHEMA,
         {"department": "Poetry"}),
        ({"op": "remove", "path": ENTERPRISE_SCHEMA}, ENTERPRISE_SCHEMA, None),
        ({"op": "replace", "path": "active", "value": "False"}, "active", False),
    ],
)  # fmt: skip
def test_operations(operation: dict[str, Any], path: str, expected: Any) -> None:
    assert change(operation).get(path) == expected


_LONG = " or ".join(f'value eq "{n}"' for n in range(45))
_FEW = [{"value": f"{n}@x.example"} for n in range(100)]


@pytest.mark.parametrize(
    ("operations", "words"),
    [
        ([{"op": "add", "path": "emails", "value": [{"value": str(n)}]} for n in range(1000)], "more than 100"),
        ([{"op": "add", "path": f'emails[value eq "{n}"].type', "value": "x"} for n in range(1000)], "more than 100"),
        (
            [{"op": "add", "path": "emails", "value": [_FEW[n % 100], {"value": str(n)}]} for n in range(999)],
            "more than",
        ),
        ([{"op": "remove", "path": f"emails[{_LONG}]"} for _ in range(999)], "too many values"),
        ([{"op": "remove", "path": f"emails[not ({_LONG})].type"} for _ in range(999)], "too many values"),
        ([{"op": "remove", "path": f"emails[type pr and ({_LONG})]"} for _ in range(999)], "too many values"),
    ],
)
def test_a_thousand_operations_look_at_little(operations: list[dict[str, Any]], words: str) -> None:
    """Each operation is small; together they cost the square of what was sent, with every other request waiting."""
    read = read_operations(USERS, {"schemas": [PATCH_OP], "Operations": operations})

    with pytest.raises(ScimError, match=words):
        patched(USERS, {"userName": "x", "emails": _FEW[:90]}, read)


def test_the_filters_of_one_change_to_members_look_at_little() -> None:
    members = [str(UUID(int=n)) for n in range(5_000)]
    remove = {"op": "remove", "path": f"members[{_LONG}]"}

    def operations(count: int) -> list[Operation]:
        return read_operations(GROUPS, {"schemas": [PATCH_OP], "Operations": [remove] * count})

    assert patch_members(members[:2_000], operations(1)) == set(members[:2_000])
    with pytest.raises(ScimError, match="too many values"):
        patch_members(members, operations(99))


def test_what_is_changed_is_a_copy() -> None:
    before = {"userName": "x", "emails": [{"value": "a@b.example"}]}
    change({"op": "add", "path": "emails", "value": [{"value": "c@d.example"}]}, document=before)
    assert before["emails"] == [{"value": "a@b.example"}]


def test_a_document_holds_what_is_known_in_its_usual_spelling() -> None:
    sent = {
        "USERNAME": "x",
        "id": "mine",
        "groups": [1],
        "what": 1,
        "Name": {"givenname": "G", "none": None},
        "emails": "a@b",
    }
    assert clean(USERS, sent) == {"userName": "x", "name": {"givenName": "G"}, "emails": [{"value": "a@b"}]}
    with pytest.raises(ScimError):
        clean(GROUPS, {"displayName": ""})


@pytest.mark.parametrize(
    ("attributes", "excluded", "expected"),
    [
        ("userName", "", {"id", "userName"}),
        ("", "emails,name.givenName", set(ADA) - {"emails"}),
        (f"{ENTERPRISE_SCHEMA}:department", "", {"id", ENTERPRISE_SCHEMA}),
        ("", ENTERPRISE_SCHEMA, set(ADA) - {ENTERPRISE_SCHEMA}),
        ("", "id", set(ADA)),
    ],
)
def test_answers_show_what_was_asked_for(attributes: str, excluded: str, expected: set[str]) -> None:
    shown = project(USERS, ADA, read_shown(USERS, attributes, excluded))
    assert set(shown) == expected
    if "name.givenName" in excluded:
        assert shown["name"] == {"familyName": "Lovelace"}

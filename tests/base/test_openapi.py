"""The descriptions of both halves are made from the routes that serve them."""

from __future__ import annotations

import re

import msgspec
import pytest

from kith.app import ROUTES
from kith.base.routing import AnswerShape
from kith.social.errors import DIALECT
from kith.social.reference import notation, published
from tests.social.published import document
from tests.town import Town


async def test_the_social_api_describes_every_route_of_its_own(town: Town) -> None:
    answer = await town.http.get("/api/v1/openapi.json")

    assert answer.status_code == 200
    document = answer.json()
    named = set(re.findall(r'"#/components/schemas/([^"]+)"', answer.text))
    assert named <= set(document["components"]["schemas"])
    described = {(path, method.upper()) for path, methods in document["paths"].items() for method in methods}
    expected = {
        (re.sub(r":path\}", "}", template), method)
        for route in ROUTES
        if route.dialect is DIALECT and route.shape is not AnswerShape.SOCKET
        for template in (route.template, *route.aliases)
        for method in route.methods
    }
    assert described == expected
    posting = document["paths"]["/api/v1/statuses"]["post"]
    assert posting["security"] == [{"OAuth": ["write:statuses"]}, {"Token": []}]
    reading = document["paths"]["/api/v1/statuses/{id}"]["get"]
    assert reading["security"] == [{}, {"OAuth": ["read:statuses"]}, {"Token": []}]
    assert "application/x-www-form-urlencoded" in posting["requestBody"]["content"]
    assert document["components"]["securitySchemes"]["OAuth"]["flows"]["authorizationCode"]["scopes"]["read"]
    public = document["paths"]["/api/v1/timelines/public"]["get"]
    assert public["responses"]["200"]["headers"] == {"Link": {"$ref": "#/components/headers/Link"}}
    assert {"local", "remote", "only_media"} <= {
        one["name"] for one in public["parameters"] if one.get("in") == "query"
    }


def test_whatever_takes_put_takes_patch_as_clients_send_either() -> None:
    taken = {route.template: set(route.methods) for route in ROUTES if route.dialect is DIALECT}

    assert "/api/v1/statuses/{id}" in taken
    assert [template for template, methods in taken.items() if len(methods & {"PUT", "PATCH"}) == 1] == []


def test_the_tables_say_something_of_every_operation_and_of_no_other() -> None:
    operations = {
        (method.upper(), path): one for path, methods in document()["paths"].items() for method, one in methods.items()
    }

    assert set(published.operations()) <= set(operations)
    assert [key for key, one in operations.items() if not one["summary"] or not one["tags"]] == []
    assert len({one["operationId"] for one in operations.values()}) == len(operations)


def test_what_is_taken_and_what_is_answered_have_names_of_their_own() -> None:
    """Both are in one list of schemas."""
    named = set(re.findall(r'#/components/schemas/([^"]+)"', msgspec.json.encode(document()).decode()))
    taken = {
        kind.__name__
        for route in ROUTES
        if route.dialect is DIALECT
        for kind in (one.kind for one in route.parameters if one.place in ("query", "body"))
    }

    assert named <= set(document()["components"]["schemas"])
    assert taken & set(published.entities()) == set()


def test_scopes_are_described_in_words() -> None:
    scopes = document()["components"]["securitySchemes"]["OAuth"]["flows"]["authorizationCode"]["scopes"]

    assert [scope for scope, words in scopes.items() if scope == words] == []


@pytest.mark.parametrize("text", ["", "[text", "text]", "{a text}", "a | | b", "text; id", "'open"])
def test_a_type_that_is_not_well_written_is_refused(text: str) -> None:
    with pytest.raises((ValueError, IndexError)):
        notation.parse(text)


def test_every_route_says_in_which_dialect_it_speaks() -> None:
    assert [route.template for route in ROUTES if route.dialect is None] == []

"""The descriptions of both halves are made from the routes that serve them."""

from __future__ import annotations

import re

from kith.app import ROUTES
from kith.base.routing import AnswerShape
from kith.social.errors import DIALECT
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
    assert posting["security"] == [{"OAuth": ["write:statuses"]}]
    assert "application/x-www-form-urlencoded" in posting["requestBody"]["content"]
    public = document["paths"]["/api/v1/timelines/public"]["get"]
    assert {"local", "remote", "only_media"} <= {one["name"] for one in public["parameters"] if one["in"] == "query"}


def test_every_route_says_in_which_dialect_it_speaks() -> None:
    assert [route.template for route in ROUTES if route.dialect is None] == []

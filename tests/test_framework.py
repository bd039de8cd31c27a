"""What we lean on in the framework beyond what it promises."""

from __future__ import annotations

from litestar import Litestar
from litestar.di import NamedDependency, Provide
from litestar.handlers import get
from litestar.routes import HTTPRoute

from kith.app import one_at_a_time


def _one() -> int:
    return 1


def _two() -> int:
    return 2


@get("/", sync_to_thread=False)
def handler(one: NamedDependency[int], two: NamedDependency[int]) -> int:
    return one + two


def test_dependencies_are_resolved_one_by_one() -> None:
    app = Litestar(
        [handler],
        dependencies={
            "one": Provide(_one, sync_to_thread=False),
            "two": Provide(_two, sync_to_thread=False),
        },
        openapi_config=None,
    )

    one_at_a_time(app)

    [route] = [route for route in app.routes if isinstance(route, HTTPRoute)]
    for _, model in route.route_handler_map.values():
        assert all(len(batch) == 1 for batch in model.dependency_batches)
    assert any(len(model.dependency_batches) == 2 for _, model in route.route_handler_map.values())

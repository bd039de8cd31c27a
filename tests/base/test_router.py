"""Which route a request is for, and how a handler says what it takes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Annotated, Any

import pytest

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, Provided, Router, WrongMethod, get, number, post, route

TEMPLATES = [
    "/",
    "/users",
    "/users/me",
    "/users/{id}",
    "/users/{id}/posts",
    "/users/me/posts/{post}",
    "/files/{path:path}",
    "/files/list",
    "/@{name}",
    "/@{name}/{id}",
]


async def nothing() -> None: ...


def make(*routes: tuple[str, str]) -> Router:
    return Router([route(method, template)(nothing) for method, template in routes])


@pytest.mark.parametrize(
    ("path", "template", "values"),
    [
        ("/", "/", ()),
        ("/users", "/users", ()),
        ("/users/", "/users", ()),
        ("/users/me", "/users/me", ()),
        ("/users/7", "/users/{id}", ("7",)),
        ("/users/7/", "/users/{id}", ("7",)),
        ("/users/me/posts", "/users/{id}/posts", ("me",)),
        ("/users/me/posts/1", "/users/me/posts/{post}", ("1",)),
        ("/users/7/posts", "/users/{id}/posts", ("7",)),
        ("/files/list", "/files/list", ()),
        ("/files/a/b/c.png", "/files/{path:path}", ("a/b/c.png",)),
        ("/files/list/x", "/files/{path:path}", ("list/x",)),
        ("/@ada", "/@{name}", ("ada",)),
        ("/@ada/7/", "/@{name}/{id}", ("ada", "7")),
        ("/@@", "/@{name}", ("@",)),
    ],
)
def test_literal_segments_go_before_gaps(path: str, template: str, values: tuple[str, ...]) -> None:
    found = make(*(("GET", one) for one in TEMPLATES)).find("GET", path)

    assert found is not None
    assert (found[0].template, found[1]) == (template, values)


@pytest.mark.parametrize(
    "path",
    ["/nobody", "/users//", "/users//posts", "/users/7/posts/1", "/users/7/x", "//users", "", "/@", "/@/7", "/ada@b"],
)
def test_what_no_template_matches_is_not_found(path: str) -> None:
    assert make(*(("GET", one) for one in TEMPLATES)).find("GET", path) is None


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/requests/accept", ["OPTIONS", "POST"]),
        ("GET", "/requests/accept", ["OPTIONS", "POST"]),
        ("POST", "/requests/7", ["DELETE", "GET", "HEAD", "OPTIONS"]),
    ],
)
def test_another_method_is_refused_with_those_that_are_there(method: str, path: str, allowed: list[str]) -> None:
    router = make(("GET", "/requests/{id}"), ("POST", "/requests/accept"), ("DELETE", "/requests/{id}"))

    with pytest.raises(WrongMethod) as caught:
        router.find(method, path)
    assert caught.value.allowed == allowed


@pytest.mark.parametrize(("one", "other"), [("/a/{x}", "/a/{y}"), ("/a", "/a/"), ("/{p:path}", "/{q:path}")])
def test_two_routes_of_one_shape_are_a_mistake(one: str, other: str) -> None:
    with pytest.raises(ValueError, match="two routes"):
        make(("GET", one), ("GET", other))


def test_a_deep_path_costs_no_more_than_the_deepest_template() -> None:
    router = make(*(("GET", one) for one in TEMPLATES))
    path = "/users" * 100_000

    assert router.find("GET", path) is None


def test_a_parameter_that_does_not_say_where_it_comes_from_is_a_mistake() -> None:
    async def guess(id: int) -> None: ...

    async def elsewhere(id: FromPath[int]) -> None: ...

    with pytest.raises(TypeError):
        get("/users/{id}")(guess)
    with pytest.raises(TypeError):
        get("/users/{name}")(elsewhere)


@pytest.mark.parametrize("text", ["", "x", "-1", "1.0", "²", "٣", " 1", "9" * 20, str(1 << 63), "1_000"])
def test_what_is_no_id_names_nothing(text: str) -> None:
    with pytest.raises(NotFound):
        number(text)


ORDER: list[str] = []


async def guard(_exchange: Exchange) -> None:
    ORDER.append("guard")


async def provide(_exchange: Exchange) -> str:
    ORDER.append("parameter")
    return "handler"


@post("/x", guards=[guard])
async def handle(word: Annotated[str, Provided(provide)]) -> Answer:
    ORDER.append(word)
    return Answer(200, ())


@pytest.mark.parametrize("has_waited", [False, True])
async def test_guards_come_before_parameters_and_the_handler_last(*, has_waited: bool) -> None:
    """All of them once more where the parameters came slowly."""
    ORDER.clear()
    exchange: Any = SimpleNamespace(has_waited=has_waited)

    await handle.respond(exchange)

    assert [*["guard", "parameter"] * (2 if has_waited else 1), "handler"] == ORDER

"""Which route a request is for.

Routes without a gap are found by one look-up. The others stand in a tree of path segments, in which a literal segment
goes before a gap: `/users/me` before `/users/{id}`, whatever the method. A gap may have a beginning of its own:
`/@{name}` takes what begins with `@`. A trailing slash makes no difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kith.base.routing.route import Route

__all__ = ["Found", "Router", "WrongMethod"]

Found = tuple[Route, tuple[str, ...]]
Methods = dict[str, Route]


class WrongMethod(Exception):  # noqa: N818 - the routers' word
    """There is something at this path, but not for this method; `allowed` says for which."""

    def __init__(self, allowed: list[str], route: Route) -> None:
        super().__init__(allowed)
        self.allowed = allowed
        self.route = route  # one of those that are there


class _Node:
    __slots__ = ("begun", "gap", "literal", "methods", "rest")

    def __init__(self) -> None:
        self.literal: dict[str, _Node] = {}
        self.begun: dict[str, _Node] = {}  # gaps by how their segments begin
        self.gap: _Node | None = None
        self.methods: Methods = {}
        self.rest: Methods = {}  # for `{name:path}`, which takes all that is left

    def add(self, segments: list[str]) -> Methods:
        """The methods of the node that `segments` lead to, made where it is missing."""
        if not segments:
            return self.methods
        first, *others = segments
        if first.endswith(":path}"):
            if others:
                raise ValueError("a path gap stands last")
            return self.rest
        if first.startswith("{"):
            self.gap = self.gap or _Node()
            return self.gap.add(others)
        begin, gap, _ = first.partition("{")
        kind = self.begun if gap else self.literal
        return kind.setdefault(begin, _Node()).add(others)

    def find(self, segments: list[str], at: int, values: tuple[str, ...]) -> Iterator[tuple[Methods, tuple[str, ...]]]:
        if at == len(segments):
            if self.methods:
                yield self.methods, values
            return
        segment = segments[at]
        if segment in self.literal:
            yield from self.literal[segment].find(segments, at + 1, values)
        for begin, node in self.begun.items():
            if segment.startswith(begin) and segment != begin:
                yield from node.find(segments, at + 1, (*values, segment[len(begin) :]))
        if self.gap is not None and segment:
            yield from self.gap.find(segments, at + 1, (*values, segment))
        if self.rest:
            yield self.rest, (*values, "/".join(segments[at:]))


class Router:
    """All routes of a server. Two with the same method and the same shape of path are a mistake."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self.routes = tuple(routes)
        self._exact: dict[str, Methods] = {}
        self._tree = _Node()
        for route in self.routes:
            for template in (route.template, *route.aliases):
                self._add(route, template)

    def _add(self, route: Route, template: str) -> None:
        path = _trimmed(template)
        places = [self._tree.add(path.split("/"))]
        if "{" not in path:
            places.append(self._exact.setdefault(path, {}))
        for method in route.methods:
            if method in places[0]:
                raise ValueError(f"two routes for {method} {template}")
            for methods in places:
                methods[method] = route

    def find(self, method: str, path: str) -> Found | None:
        """None where nothing is at `path` at all; `WrongMethod` where something else can be done there."""
        path = _trimmed(path)
        found: tuple[Methods | None, tuple[str, ...]] = (self._exact.get(path), ())
        if found[0] is None:
            found = next(self._tree.find(path.split("/"), 0, ()), (None, ()))
        methods, values = found
        if methods is None:
            return None
        if method not in methods:
            more = {"OPTIONS", "HEAD"} if "GET" in methods else {"OPTIONS"}
            raise WrongMethod(sorted(more.union(methods) - {"WEBSOCKET"}), next(iter(methods.values())))
        return methods[method], values


def _trimmed(path: str) -> str:
    return path[:-1] if len(path) > 1 and path.endswith("/") else path

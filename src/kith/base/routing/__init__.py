"""Routes: declared once, from which matching, refusals, log lines and descriptions follow.

    @get("/api/v1/statuses/{id}", guard=optional("read:statuses"))
    async def show_status(exchange: Exchange, viewer: Viewer, id: FromPath[StatusId]) -> Answer: ...
"""

from kith.base.routing.parameters import FromBody, FromPath, FromQuery, FromRequest, Provided, Sent
from kith.base.routing.room import Room
from kith.base.routing.route import Route, Shape, delete, get, patch, post, put, route, socket, stream
from kith.base.routing.router import Found, Router, WrongMethod

__all__ = [
    "Found",
    "FromBody",
    "FromPath",
    "FromQuery",
    "FromRequest",
    "Provided",
    "Room",
    "Route",
    "Router",
    "Sent",
    "Shape",
    "WrongMethod",
    "delete",
    "get",
    "patch",
    "post",
    "put",
    "route",
    "socket",
    "stream",
]

"""Routes: declared once, from which matching, refusals, log lines and descriptions follow.

@get("/api/v1/statuses/{id}", guard=optional("read:statuses"))
async def show_status(exchange: Exchange, viewer: Viewer, id: FromPath[StatusId]) -> Answer: ...
"""

from kith.base.routing.parameters import FromPath, FromQuery, FromRequest, Provided, RequestBody, ServerPart, number
from kith.base.routing.route import (
    AnswerShape,
    MayLag,
    Route,
    delete,
    for_entering,
    get,
    patch,
    post,
    put,
    route,
    socket,
    stream,
)
from kith.base.routing.router import Found, Router, WrongMethod

__all__ = [
    "AnswerShape",
    "Found",
    "FromPath",
    "FromQuery",
    "FromRequest",
    "MayLag",
    "Provided",
    "RequestBody",
    "Route",
    "Router",
    "ServerPart",
    "WrongMethod",
    "delete",
    "for_entering",
    "get",
    "number",
    "patch",
    "post",
    "put",
    "route",
    "socket",
    "stream",
]

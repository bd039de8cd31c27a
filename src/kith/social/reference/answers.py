"""What every operation of the social API has in common: how it refuses, and how its lists come in pages."""

from __future__ import annotations

from typing import Any

from kith.social.reference.notation import schema_of
from kith.social.reference.published import PublishedOperation

__all__ = ["HEADERS", "PAGING", "REFUSALS", "responses_of"]

Schema = dict[str, Any]

_ERROR = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
_NAMES = {401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 422: "Unprocessable", 429: "TooManyRequests"}
_WORDS = {
    200: "Done.",
    202: "It has begun.",
    204: "There is none.",
    206: "What there is of it so far.",
    301: "It is elsewhere.",
}
_EMPTY = 204
REFUSALS: Schema = {
    "Unauthorized": {"description": "There is no token, or none that works.", "content": _ERROR},
    "Forbidden": {"description": "The token's scopes, or the person's role, do not allow it.", "content": _ERROR},
    "NotFound": {"description": "It is not there, or not for the caller to see.", "content": _ERROR},
    "Unprocessable": {"description": "What was sent does not do; `details` say which field.", "content": _ERROR},
    "TooManyRequests": {
        "description": "Too many requests; try again when the limit is reset.",
        "content": _ERROR,
        "headers": {
            f"X-RateLimit-{name}": {"$ref": f"#/components/headers/X-RateLimit-{name}"}
            for name in ("Limit", "Remaining", "Reset")
        },
    },
}
HEADERS: Schema = {
    "Link": {
        "description": 'Where the next and the previous page are: `<…>; rel="next", <…>; rel="prev"`.',
        "schema": {"type": "string"},
    },
    "X-RateLimit-Limit": {"description": "How many requests are allowed.", "schema": {"type": "integer"}},
    "X-RateLimit-Remaining": {"description": "How many of them are left.", "schema": {"type": "integer"}},
    "X-RateLimit-Reset": {
        "description": "When there are as many again.",
        "schema": {"type": "string", "format": "date-time"},
    },
}


def _parameter(name: str, description: str, kind: str = "string") -> Schema:
    return {"name": name, "in": "query", "required": False, "description": description, "schema": {"type": kind}}


_PARAMETERS: Schema = {
    "limit": _parameter("limit", "How many at most.", "integer"),
    "max_id": _parameter("max_id", "Only what is older than this."),
    "since_id": _parameter("since_id", "Only what is newer than this, the newest first."),
    "min_id": _parameter("min_id", "Only what is newer than this, the next first."),
    "offset": _parameter("offset", "How many to leave out.", "integer"),
}
PAGING: dict[str, Schema] = {
    "all": _PARAMETERS,
    "ids": {name: _PARAMETERS[name] for name in ("limit", "max_id", "since_id", "min_id")},
    "offset": {name: _PARAMETERS[name] for name in ("limit", "offset")},
}


def responses_of(one: PublishedOperation, *, takes_token: bool, has_gaps: bool, method: str) -> Schema:
    schema = {"schema": {"type": "string"} if one.answer is None else schema_of(one.answer)}
    answer: Schema = {"content": {one.media_type: schema}}
    if one.paging:
        answer["headers"] = {"Link": {"$ref": "#/components/headers/Link"}}
    refused = [
        *((401, 403) if takes_token else ()),
        *((404,) if has_gaps else ()),
        *((422,) if method != "GET" else ()),
        429,
    ]
    return {
        **{
            str(status): {"description": _WORDS[status], **({} if status == _EMPTY else answer)}
            for status in one.statuses
        },
        **{str(status): {"$ref": f"#/components/responses/{_NAMES[status]}"} for status in refused},
        "default": {"description": "Why not.", "content": _ERROR},
    }

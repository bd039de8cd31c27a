"""Results of a request to enter an application that stay on this server."""

from __future__ import annotations

import msgspec

from kith.base.exchange import Headers


class ErrorPage(msgspec.Struct, frozen=True, kw_only=True):
    """`code` is for the application's developer, the rest for the person. `refusal` is the code staff find it by."""

    title: str
    messages: list[str]
    status: int = 400
    code: str = ""
    refusal: str = ""


class Local(msgspec.Struct, frozen=True):
    """A redirect to one of our own pages."""

    to: str
    headers: Headers = ()

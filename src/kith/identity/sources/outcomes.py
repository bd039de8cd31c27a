"""What becomes of a request to one of the addresses of a source."""

from __future__ import annotations

import msgspec

from kith.base.exchange import Headers


class SourceRedirect(msgspec.Struct, frozen=True):
    """The browser goes on: to the source, or to one of our pages."""

    to: str
    headers: Headers = ()


class SourceError(msgspec.Struct, frozen=True, kw_only=True):
    """A page with words. `refusal` is the code by which staff find the reasons."""

    title: str
    messages: list[str]
    status: int = 400
    refusal: str = ""


SourceOutcome = SourceRedirect | SourceError

"""What can go wrong, in the product's words.

An error is raised once, where the rule is, and shaped where it leaves: every dialect (identity API, social API,
pages) turns a `Problem` into its own answer. `message` is for the client; the cause belongs to the log.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Any, ClassVar

__all__ = [
    "Complaint",
    "Conflict",
    "Forbidden",
    "Gone",
    "Invalid",
    "Malformed",
    "MethodNotAllowed",
    "NoSpace",
    "NotAcceptable",
    "NotFound",
    "Problem",
    "Throttled",
    "TooLarge",
    "Unauthenticated",
    "Unavailable",
    "Unprocessable",
    "UnsupportedMedia",
    "is_no_room",
]


class Problem(Exception):  # noqa: N818 - the product's word
    """An answer that is a no; subclasses say which, and in what words."""

    status: int = 500
    code: ClassVar[str] = "error"
    message: str = "Something went wrong on our side"

    def __init__(
        self,
        message: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        if message is not None:
            self.message = message
        self.headers = dict(headers or {})
        self.extra = dict(extra or {})
        super().__init__(self.message)


class Complaint(str):
    """One thing wrong with one field: its words, and a short code (`blank`, `taken`, ...) for programs."""

    __slots__ = ("code",)
    code: str

    def __new__(cls, message: str, code: str = "invalid") -> Complaint:
        complaint = super().__new__(cls, message)
        complaint.code = code
        return complaint


class Invalid(Problem):
    """What the client sent cannot be accepted; `fields` names every place and what is wrong there.

    A field inside another is written with dots (`poll.options.2`); a rule over several fields stands
    under the empty name.
    """

    status = 400
    code = "invalid"
    message = "Validation failed"

    def __init__(
        self,
        message: str | None = None,
        /,
        fields: Mapping[str, list[str]] | None = None,
        **complaints: str,
    ) -> None:
        self.is_nested = False  # whether a client finds it one level deeper, where its dialect knows that
        self.fields: dict[str, list[str]] = {name: list(words) for name, words in (fields or {}).items()}
        for name, words in complaints.items():
            self.fields.setdefault(name, []).append(words)
        super().__init__(message)


class Malformed(Problem):
    """The request could not be read at all, so no field can be named."""

    status = 400
    code = "parse_error"
    message = "The request could not be read"


class Unauthenticated(Problem):
    status = 401
    code = "not_authenticated"
    message = "Authentication credentials were not provided."


class Forbidden(Problem):
    status = 403
    code = "permission_denied"
    message = "This action is not allowed"


class NotFound(Problem):
    status = 404
    code = "not_found"
    message = "Record not found"


class MethodNotAllowed(Problem):
    status = 405
    code = "method_not_allowed"
    message = "This method is not allowed here"


class NotAcceptable(Problem):
    status = 406
    code = "not_acceptable"
    message = "Could not satisfy the request Accept header."


class Conflict(Problem):
    status = 409
    code = "conflict"
    message = "Somebody else changed this at the same time, please try again"


class Gone(Problem):
    status = 410
    code = "gone"
    message = "Gone"


class TooLarge(Problem):
    status = 413
    code = "too_large"
    message = "Request body too large."


class UnsupportedMedia(Problem):
    status = 415
    code = "unsupported_media_type"
    message = "Unsupported media type"


class Unprocessable(Problem):
    status = 422
    code = "unprocessable"
    message = "Validation failed"


class Throttled(Problem):
    status = 429
    code = "throttled"
    message = "Too many requests"

    def __init__(self, retry_after: int, **options: Any) -> None:
        super().__init__(**options)
        self.retry_after = retry_after
        self.headers["Retry-After"] = str(retry_after)


class Unavailable(Problem):
    status = 503
    code = "unavailable"
    message = "There was a temporary problem serving your request, please try again"


class NoSpace(Unavailable):
    """There is no room for what was to be written: nothing of it is kept, and reading goes on.

    It passes by itself once there is room again, so whoever can wait treats it like any `Unavailable`.
    """

    status = 507
    code = "no_space"
    message = "The server has no room left to store this. Reading still works; please try again later"

    def __init__(self, message: str | None = None, **options: Any) -> None:
        super().__init__(message, **options)
        self.headers.setdefault("Retry-After", "60")


# No room on the disk, none left of a quota, or a file that may grow no further.
_NO_ROOM = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))


def is_no_room(error: BaseException | None) -> bool:
    """Whether a file could not be written for want of room."""
    return isinstance(error, OSError) and error.errno in _NO_ROOM

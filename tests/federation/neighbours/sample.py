from __future__ import annotations

from typing import Any, Literal, NamedTuple

from tests.federation.vectors import PEM

__all__ = ["AS", "PEM", "PUBLIC", "SECURITY", "Kind", "Sample", "with_"]

PUBLIC = "https://www.w3.org/ns/activitystreams#Public"
AS = "https://www.w3.org/ns/activitystreams"
SECURITY = "https://w3id.org/security/v1"

Kind = Literal["actor", "note", "activity", "collection", "webfinger", "nodeinfo", "key", "stamp"]


class Sample(NamedTuple):
    kind: Kind
    document: dict[str, Any]
    understood: dict[str, Any] | str


def with_(document: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**document, **changes}

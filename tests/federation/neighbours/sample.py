from __future__ import annotations

from typing import Any, Literal, NamedTuple

PUBLIC = "https://www.w3.org/ns/activitystreams#Public"
AS = "https://www.w3.org/ns/activitystreams"
SECURITY = "https://w3id.org/security/v1"
PEM = "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----\n"

Kind = Literal["actor", "note", "activity", "collection", "webfinger", "nodeinfo", "key", "stamp"]


class Sample(NamedTuple):
    kind: Kind
    document: dict[str, Any]
    understood: dict[str, Any] | str


def with_(document: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**document, **changes}

"""What the entities of the social API look like, as data, and a look at whether an answer does.

A shape is a dict of keys. `"name?"` may be missing. What stands under a key is a kind by its name (below), another
shape, a list of one of these, or `maybe(...)` of any for what may be null.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")

_KINDS: dict[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "id": lambda value: isinstance(value, str) and value.lstrip("-").isdigit(),
    "bool": lambda value: isinstance(value, bool),
    "true": lambda value: value is True,
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "url": lambda value: isinstance(value, str) and value.startswith(("http://", "https://")),
    "moment": lambda value: isinstance(value, str) and _MOMENT.fullmatch(value) is not None,
    "midnight": lambda value: isinstance(value, str) and value.endswith("T00:00:00.000Z"),
    "date": lambda value: isinstance(value, str) and _DATE.fullmatch(value) is not None,
    "digits": lambda value: isinstance(value, str) and value.isdigit(),
}

Shape = Any


class Maybe:
    def __init__(self, shape: Shape) -> None:
        self.shape = shape


def maybe(shape: Shape) -> Maybe:
    return Maybe(shape)


class OneOf:
    def __init__(self, *words: str) -> None:
        self.words = words


def differences(value: Any, shape: Shape, place: str = "") -> list[str]:
    """Where the value is not what the shape says; empty when it is."""
    if isinstance(shape, Maybe):
        return [] if value is None else differences(value, shape.shape, place)
    if isinstance(shape, OneOf):
        return [] if value in shape.words else [f"{place}: {value!r} is none of {shape.words}"]
    if isinstance(shape, str):
        return [] if _KINDS[shape](value) else [f"{place}: {value!r} is not {shape}"]
    if isinstance(shape, list):
        if not isinstance(value, list):
            return [f"{place}: {value!r} is no list"]
        return [one for index, item in enumerate(value) for one in differences(item, shape[0], f"{place}[{index}]")]
    if not isinstance(value, dict):
        return [f"{place}: {value!r} is no object"]
    return _keys(value, shape, place)


def _keys(value: dict[str, Any], shape: dict[str, Shape], place: str) -> list[str]:
    found = []
    known = {name.removesuffix("?"): (name.endswith("?"), inner) for name, inner in shape.items()}
    found += [f"{place}.{name}: nobody knows it" for name in value if name not in known]
    for name, (may_miss, inner) in known.items():
        if name in value:
            found += differences(value[name], inner, f"{place}.{name}")
        elif not may_miss:
            found.append(f"{place}.{name}: is missing")
    return found


def check(value: Any, shape: Shape) -> None:
    assert differences(value, shape) == []


FIELD = {"name": "text", "value": "text", "verified_at": maybe("moment")}
EMOJI = {
    "shortcode": "text", "url": "url", "static_url": "url", "visible_in_picker": "bool", "category?": maybe("text"),
}  # fmt: skip
APPROVAL = {
    "automatic": [OneOf("public", "followers", "following", "unsupported_policy", "disabled")],
    "manual": [OneOf("public", "followers", "following", "unsupported_policy")],
    "current_user": OneOf("automatic", "manual", "denied", "unknown", "missing"),
}
ACCOUNT: dict[str, Shape] = {
    "id": "id", "username": "text", "acct": "text", "url": maybe("url"), "uri": "url", "display_name": "text",
    "note": "text", "avatar": "url", "avatar_static": "url", "avatar_description": "text", "header": "url",
    "header_static": "url", "header_description": "text", "locked": "bool", "fields": [FIELD], "emojis": [EMOJI],
    "bot": "bool", "group": "bool", "discoverable": maybe("bool"), "indexable": "bool", "noindex?": "bool",
    "suspended?": "true", "limited?": "true", "memorial?": "true", "created_at": "midnight",
    "last_status_at": maybe("date"), "statuses_count": "int", "followers_count": "int", "following_count": "int",
    "hide_collections": maybe("bool"), "roles?": [{"id": "id", "name": "text", "color": "text"}],
    "feature_approval": APPROVAL, "show_media": "bool", "show_media_replies": "bool", "show_featured": "bool",
}  # fmt: skip
ACCOUNT["moved?"] = dict(ACCOUNT)
MUTED_ACCOUNT = ACCOUNT | {"mute_expires_at": maybe("moment")}
SOURCE = {
    "note": "text", "fields": [FIELD], "privacy": OneOf("public", "unlisted", "private"), "sensitive": "bool",
    "language": maybe("text"), "follow_requests_count": "int", "hide_collections": maybe("bool"),
    "discoverable": maybe("bool"), "indexable": "bool", "attribution_domains": ["text"],
    "quote_policy": OneOf("public", "followers", "nobody"),
}  # fmt: skip
ROLE = {
    "id": "id", "name": "text", "color": "text", "highlighted": "bool", "permissions": "digits",
    "collection_limit": "int",
}  # fmt: skip
CREDENTIAL_ACCOUNT = ACCOUNT | {"source": SOURCE, "role": ROLE}
FEATURED_TAG = {
    "id": "id", "name": "text", "url": "url", "statuses_count": "digits", "last_status_at": maybe("date"),
}  # fmt: skip
PROFILE = {
    "id": "id", "display_name": "text", "note": "text", "formatted_note": "text", "fields": [FIELD],
    "formatted_fields": [FIELD], "avatar": maybe("url"), "avatar_static": maybe("url"), "avatar_description": "text",
    "header": maybe("url"), "header_static": maybe("url"), "header_description": "text", "locked": "bool",
    "bot": "bool", "hide_collections": maybe("bool"), "discoverable": maybe("bool"), "indexable": "bool",
    "show_media": "bool", "show_media_replies": "bool", "show_featured": "bool", "attribution_domains": ["text"],
    "featured_tags": [FEATURED_TAG],
}  # fmt: skip
RELATIONSHIP = {
    "id": "id", "following": "bool", "showing_reblogs": "bool", "notifying": "bool", "languages": maybe(["text"]),
    "followed_by": "bool", "blocking": "bool", "blocked_by": "bool", "muting": "bool",
    "muting_notifications": "bool", "muting_expires_at": maybe("moment"), "requested": "bool",
    "requested_by": "bool", "domain_blocking": "bool", "endorsed": "bool", "note": "text",
}  # fmt: skip
FAMILIAR_FOLLOWERS = {"id": "id", "accounts": [ACCOUNT]}
PREFERENCES = {
    "posting:default:sensitive": "bool", "posting:default:visibility": OneOf("public", "unlisted", "private", "direct"),
    "posting:default:language": maybe("text"), "posting:default:quote_policy": OneOf("public", "followers", "nobody"),
    "reading:expand:media": OneOf("default", "show_all", "hide_all"), "reading:expand:spoilers": "bool",
    "reading:autoplay:gifs": "bool",
}  # fmt: skip
ERROR = {"error": "text", "details?": {}}

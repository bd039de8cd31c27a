"""What the entities of the social API look like, as it is published, and a look at whether an answer does.

A shape is a dict of keys. `"name?"` may be missing. What stands under a key is a kind by its name (below), an entity by
its name, another shape, a list of one of these, or `maybe(...)` of any for what may be null.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from kith.social.reference import notation
from kith.social.reference.published import entities

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_SECOND = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")

_KINDS: dict[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "id": lambda value: isinstance(value, str) and value.lstrip("-").isdigit(),
    "bool": lambda value: isinstance(value, bool),
    "true": lambda value: value is True,
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "url": lambda value: isinstance(value, str) and value.startswith(("http://", "https://")),
    "second": lambda value: isinstance(value, str) and _SECOND.fullmatch(value) is not None,
    "moment": lambda value: isinstance(value, str) and _MOMENT.fullmatch(value) is not None,
    "midnight": lambda value: isinstance(value, str) and value.endswith("T00:00:00.000Z"),
    "date": lambda value: isinstance(value, str) and _DATE.fullmatch(value) is not None,
    "digits": lambda value: isinstance(value, str) and value.isdigit(),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "empty": lambda value: value == {},
    "anything": lambda _value: True,
    "nothing": lambda value: value is None,
    "follow_state": lambda value: value is False or value in ({"reblogs": True}, {"reblogs": False}),
}
assert set(_KINDS) == set(notation.KINDS)

Shape = Any


class Maybe:
    def __init__(self, shape: Shape) -> None:
        self.shape = shape


def maybe(shape: Shape) -> Maybe:
    return Maybe(shape)


class OneOf:
    def __init__(self, *words: str) -> None:
        self.words = words


class AnyOf:
    def __init__(self, *shapes: Shape) -> None:
        self.shapes = shapes


class MapOf:
    def __init__(self, shape: Shape) -> None:
        self.shape = shape


def shape_of(one: notation.Type) -> Shape:
    match one:
        case notation.NamedType(name):
            return name
        case notation.WordType(words):
            return OneOf(*words)
        case notation.ListType(of):
            return [shape_of(of)]
        case notation.MapType(of):
            return MapOf(shape_of(of))
        case notation.ObjectType(keys):
            return {name: shape_of(inner) for name, inner in keys.items()}
        case notation.AnyType((only,), or_null=True):
            return maybe(shape_of(only))
        case notation.AnyType(types):
            return AnyOf(*(shape_of(inner) for inner in types))


def entity(name: str) -> dict[str, Shape]:
    """As it is published."""
    found: dict[str, Shape] = shape_of(entities()[name].shape)
    return found


def always(shape: dict[str, Shape], *names: str) -> dict[str, Shape]:
    """Some keys of it are never missing."""
    return {name.removesuffix("?") if name.removesuffix("?") in names else name: one for name, one in shape.items()}


def never(shape: dict[str, Shape], *names: str) -> dict[str, Shape]:
    return {name: one for name, one in shape.items() if name.removesuffix("?") not in names}


def differences(value: Any, shape: Shape, place: str = "") -> list[str]:
    """Where the value is not what the shape says; empty when it is."""
    if isinstance(shape, Maybe):
        return [] if value is None else differences(value, shape.shape, place)
    if isinstance(shape, OneOf):
        return [] if value in shape.words else [f"{place}: {value!r} is none of {shape.words}"]
    if isinstance(shape, AnyOf):
        found = [differences(value, one, place) for one in shape.shapes]
        return [] if [] in found else found[0]
    if isinstance(shape, MapOf):
        if not isinstance(value, dict):
            return [f"{place}: {value!r} is no object"]
        return [one for name, item in value.items() for one in differences(item, shape.shape, f"{place}.{name}")]
    if isinstance(shape, str) and shape not in _KINDS:
        return differences(value, entity(shape), place)
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


EMOJI = entity("CustomEmoji")
ACCOUNT = entity("Account")
MUTED_ACCOUNT = entity("MutedAccount")
ROLE = entity("Role")
CREDENTIAL_ACCOUNT = entity("CredentialAccount")
FEATURED_TAG = entity("FeaturedTag")
PROFILE = entity("Profile")
RELATIONSHIP = entity("Relationship")
FAMILIAR_FOLLOWERS = entity("FamiliarFollowers")
PREFERENCES = entity("Preferences")
PUSH_SUBSCRIPTION = entity("WebPushSubscription")
ERROR = {"error": "text", "details?": {}}
MEDIA = entity("MediaAttachment")
_OF_VOTERS = ("voted", "own_votes")
POLL = never(entity("Poll"), *_OF_VOTERS)
OWN_POLL = always(entity("Poll"), *_OF_VOTERS)
CARD = entity("PreviewCard")
_QUOTE = entity("Quote")
_DEEP_QUOTE = {"state": _QUOTE["state"]}
SHALLOW_QUOTE = {"state": _QUOTE["state"], "quoted_status_id": _QUOTE["quoted_status_id?"]}
_OF_VIEWERS = ("favourited", "reblogged", "muted", "bookmarked", "filtered")


def _as_seen(status: dict[str, Shape], poll: Shape) -> dict[str, Shape]:
    """With what a boost and a quote have within: a boost of a boost and a quote of a quote of a quote are not there."""
    quoted = status | {"poll": maybe(poll), "reblog": maybe("nothing"), "quote": maybe(SHALLOW_QUOTE)}
    plain = quoted | {"quote": maybe(_DEEP_QUOTE | {"quoted_status": maybe(quoted)})}
    return plain | {"reblog": maybe(plain)}


# As those without an account see it, and as somebody does who has one.
PUBLIC_STATUS = _as_seen(never(entity("Status"), *_OF_VIEWERS, "pinned"), POLL)
STATUS = _as_seen(always(entity("Status"), *_OF_VIEWERS), OWN_POLL)
DELETED_STATUS = {name: shape for name, shape in STATUS.items() if name != "content"} | {"text": "text"}
PUBLIC_CONTEXT = {"ancestors": [PUBLIC_STATUS], "descendants": [PUBLIC_STATUS]}
CONTEXT = {"ancestors": [STATUS], "descendants": [STATUS]}
STATUS_EDIT = entity("StatusEdit") | {"quote?": maybe(SHALLOW_QUOTE)}
STATUS_SOURCE = entity("StatusSource")
SCHEDULED = entity("ScheduledStatus")
MARKERS = entity("Markers")
LIST = entity("List")
_OF_FOLLOWERS = ("following", "featuring")
TAG = never(entity("Tag"), *_OF_FOLLOWERS)
OWN_TAG = always(entity("Tag"), *_OF_FOLLOWERS)
ABOUT_STATUSES = ("mention", "status", "reblog", "favourite", "poll", "update", "quote", "quoted_update")
NOTIFICATION = entity("Notification") | {"status?": STATUS}
NOTIFICATION_POLICY = entity("NotificationPolicy")
NOTIFICATION_POLICY_V1 = entity("V1NotificationPolicy")
NOTIFICATION_EMAILS = entity("NotificationEmails")
NOTIFICATION_GROUP = entity("NotificationGroup")
GROUPED_NOTIFICATIONS = entity("GroupedNotifications") | {"statuses": [STATUS]}
SEARCH_V1 = entity("V1Search") | {"statuses": [STATUS]}
SEARCH_V2 = entity("Search") | {"statuses": [STATUS], "hashtags": [OWN_TAG]}
ACTIVITY = entity("Activity")
PAGE = entity("Page")
PICKER_EMOJI = entity("PickerEmoji")

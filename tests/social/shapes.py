"""What the entities of the social API look like, as data, and a look at whether an answer does.

A shape is a dict of keys. `"name?"` may be missing. What stands under a key is a kind by its name (below), another
shape, a list of one of these, or `maybe(...)` of any for what may be null.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

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
    "anything": lambda _value: True,
    "nothing": lambda value: value is None,
    "follow_state": lambda value: value is False or value in ({"reblogs": True}, {"reblogs": False}),
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
    "shortcode": "text",
    "url": "url",
    "static_url": "url",
    "visible_in_picker": "bool",
    "category?": maybe("text"),
}
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
    "note": "text",
    "fields": [FIELD],
    "privacy": OneOf("public", "unlisted", "private"),
    "sensitive": "bool",
    "language": maybe("text"),
    "follow_requests_count": "int",
    "hide_collections": maybe("bool"),
    "discoverable": maybe("bool"),
    "indexable": "bool",
    "attribution_domains": ["text"],
    "also_known_as_uris": ["text"],
    "quote_policy": OneOf("public", "followers", "nobody"),
}
ROLE = {
    "id": "id",
    "name": "text",
    "color": "text",
    "highlighted": "bool",
    "permissions": "digits",
    "collection_limit": "int",
}
CREDENTIAL_ACCOUNT = ACCOUNT | {"source": SOURCE, "role": ROLE}
FEATURED_TAG = {
    "id": "id",
    "name": "text",
    "url": "url",
    "statuses_count": "digits",
    "last_status_at": maybe("date"),
}
PROFILE = {
    "id": "id", "display_name": "text", "note": "text", "formatted_note": "text", "fields": [FIELD],
    "formatted_fields": [FIELD], "avatar": maybe("url"), "avatar_static": maybe("url"), "avatar_description": "text",
    "header": maybe("url"), "header_static": maybe("url"), "header_description": "text", "locked": "bool",
    "bot": "bool", "hide_collections": maybe("bool"), "discoverable": maybe("bool"), "indexable": "bool",
    "show_media": "bool", "show_media_replies": "bool", "show_featured": "bool", "attribution_domains": ["text"],
    "featured_tags": [FEATURED_TAG],
}  # fmt: skip
RELATIONSHIP = {
    "id": "id", "following": "bool", "follow_state": "follow_state", "showing_reblogs": "bool",
    "notifying": "bool", "languages": maybe(["text"]),
    "followed_by": "bool", "blocking": "bool", "blocked_by": "bool", "muting": "bool",
    "muting_notifications": "bool", "muting_expires_at": maybe("moment"), "requested": "bool",
    "requested_by": "bool", "domain_blocking": "bool", "endorsed": "bool", "note": "text",
}  # fmt: skip
FAMILIAR_FOLLOWERS = {"id": "id", "accounts": [ACCOUNT]}
PREFERENCES = {
    "posting:default:sensitive": "bool",
    "posting:default:visibility": OneOf("public", "unlisted", "private", "direct"),
    "posting:default:language": maybe("text"),
    "posting:default:quote_policy": OneOf("public", "followers", "nobody"),
    "reading:expand:media": OneOf("default", "show_all", "hide_all"),
    "reading:expand:spoilers": "bool",
    "reading:autoplay:gifs": "bool",
    "reading:languages": maybe(["text"]),
}
PUSH_SUBSCRIPTION = {
    "id": "int",
    "endpoint": "url",
    "standard": "bool",
    "alerts": "object",
    "server_key": "text",
    "policy": OneOf("all", "followed", "follower", "none"),
}
ERROR = {"error": "text", "details?": {}}

VISIBILITY = OneOf("public", "unlisted", "private", "direct")
META_SIDE = {
    "width?": maybe("int"),
    "height?": maybe("int"),
    "size?": maybe("text"),
    "aspect?": maybe("number"),
    "frame_rate?": maybe("text"),
    "duration?": maybe("number"),
    "bitrate?": maybe("int"),
}
META = {
    "original?": META_SIDE,
    "small?": META_SIDE,
    "focus?": {"x": "number", "y": "number"},
    "colors?": {"background": "text", "foreground": "text", "accent": "text"},
    "length?": "text",
    "duration?": "number",
    "fps?": "number",
    "size?": "text",
    "width?": "int",
    "height?": "int",
    "aspect?": "number",
    "audio_encode?": "text",
    "audio_bitrate?": "text",
    "audio_channels?": "text",
}
MEDIA = {
    "id": "id",
    "type": OneOf("unknown", "image", "gifv", "video", "audio"),
    "url": maybe("url"),
    "preview_url": maybe("url"),
    "remote_url": maybe("url"),
    "preview_remote_url": maybe("url"),
    "text_url": maybe("url"),
    "meta": maybe(META),
    "description": maybe("text"),
    "blurhash": maybe("text"),
}
POLL: dict[str, Shape] = {
    "id": "id",
    "expires_at": maybe("moment"),
    "expired": "bool",
    "multiple": "bool",
    "votes_count": "int",
    "voters_count": maybe("int"),
    "options": [{"title": "text", "votes_count": maybe("int")}],
    "emojis": [EMOJI],
}
OWN_POLL = POLL | {"voted": "bool", "own_votes": ["int"]}
CARD: dict[str, Shape] = {
    "url": "url", "title": "text", "description": "text", "type": OneOf("link", "photo", "video", "rich"),
    "author_name": "text", "author_url": "text", "provider_name": "text", "provider_url": "text", "html": "text",
    "width": "int", "height": "int", "image": maybe("url"), "image_description": "text", "embed_url": "text",
    "blurhash": maybe("text"), "language": maybe("text"), "published_at": maybe("moment"),
    "authors": [{"name": "text", "url": "text", "account": maybe(ACCOUNT)}], "missing_attribution?": "bool",
}  # fmt: skip
QUOTE_STATE = OneOf(
    "pending",
    "accepted",
    "rejected",
    "revoked",
    "deleted",
    "unauthorized",
    "blocked_account",
    "blocked_domain",
    "muted_account",
)
SHALLOW_QUOTE = {"state": QUOTE_STATE, "quoted_status_id": maybe("id")}
WHO = OneOf("public", "followers", "following", "unsupported_policy")
QUOTE_APPROVAL = {
    "automatic": [WHO],
    "manual": [WHO],
    "current_user": OneOf("automatic", "manual", "denied", "unknown"),
}


def _status(poll: Shape, quote: Shape, **viewer: Shape) -> dict[str, Shape]:
    """A status that is no boost, as one kind of viewer sees it."""
    return {
        "id": "id", "created_at": "moment", "edited_at": maybe("moment"), "in_reply_to_id": maybe("id"),
        "in_reply_to_account_id": maybe("id"), "sensitive": "bool", "spoiler_text": "text", "visibility": VISIBILITY,
        "language": maybe("text"), "uri": "url", "url": maybe("url"), "replies_count": "int", "reblogs_count": "int",
        "favourites_count": "int", "quotes_count": "int", "content": "text", "reblog": maybe("nothing"),
        "application?": maybe({"name": "text", "website": maybe("url")}), "account": ACCOUNT,
        "media_attachments": [MEDIA], "mentions": [{"id": "id", "username": "text", "acct": "text", "url": "url"}],
        "tags": [{"name": "text", "url": "url"}], "emojis": [EMOJI], "tagged_collections": [{}], "card": maybe(CARD),
        "poll": maybe(poll), "quote": maybe(quote), "quote_approval": QUOTE_APPROVAL, **viewer,
    }  # fmt: skip


_SEEN: dict[str, Shape] = {
    "favourited": "bool",
    "reblogged": "bool",
    "muted": "bool",
    "bookmarked": "bool",
    "filtered": [{}],
    "pinned?": "bool",
}


def _with_boost(quoted: dict[str, Shape], plain: dict[str, Shape]) -> dict[str, Shape]:
    plain["quote"] = maybe({"state": QUOTE_STATE, "quoted_status": maybe(quoted)})
    return plain | {"reblog": maybe(plain)}


# As those without an account see it, and as somebody does who has one.
PUBLIC_STATUS = _with_boost(_status(POLL, SHALLOW_QUOTE), _status(POLL, None))
STATUS = _with_boost(_status(OWN_POLL, SHALLOW_QUOTE, **_SEEN), _status(OWN_POLL, None, **_SEEN))
DELETED_STATUS = {name: shape for name, shape in STATUS.items() if name != "content"} | {"text": "text"}
PUBLIC_CONTEXT = {"ancestors": [PUBLIC_STATUS], "descendants": [PUBLIC_STATUS]}
CONTEXT = {"ancestors": [STATUS], "descendants": [STATUS]}
STATUS_EDIT = {
    "account": ACCOUNT,
    "content": "text",
    "created_at": "moment",
    "emojis": [EMOJI],
    "media_attachments": [MEDIA],
    "sensitive": "bool",
    "spoiler_text": "text",
    "poll?": maybe({"options": [{"title": "text"}]}),
    "quote?": maybe(SHALLOW_QUOTE),
}
STATUS_SOURCE = {"id": "id", "text": "text", "spoiler_text": "text"}
SCHEDULED = {
    "id": "id", "scheduled_at": "moment", "media_attachments": [MEDIA],
    "params": {
        "text": "text", "media_ids": maybe(["id"]), "sensitive": maybe("bool"), "spoiler_text": maybe("text"),
        "poll": maybe({"options": ["text"], "expires_in": "anything", "multiple": "anything", "hide_totals": "anything"}),
        "visibility": maybe(VISIBILITY), "in_reply_to_id": maybe("int"), "language": maybe("text"),
        "application_id": "int", "scheduled_at": maybe("nothing"), "idempotency": maybe("text"),
        "with_rate_limit": "bool", "allowed_mentions": maybe(["id"]), "quoted_status_id": maybe("id"),
        "quote_approval_policy": OneOf("public", "followers", "nobody"),
    },
}  # fmt: skip
MARKER = {"last_read_id": "id", "updated_at": "moment", "version": "int"}
MARKERS = {"home?": MARKER, "notifications?": MARKER}
LIST = {"id": "id", "title": "text", "replies_policy": OneOf("followed", "list", "none"), "exclusive": "bool"}
TAG = {
    "id": "id",
    "name": "text",
    "url": "url",
    "history": [{"day": "digits", "uses": "digits", "accounts": "digits"}],
}
OWN_TAG = TAG | {"following": "bool", "featuring": "bool"}
ABOUT_STATUSES = ("mention", "status", "reblog", "favourite", "poll", "update", "quote", "quoted_update")
NOTIFICATION: dict[str, Shape] = {
    "id": "id",
    "type": OneOf(*ABOUT_STATUSES, "follow", "follow_request", "admin.sign_up"),
    "created_at": "moment",
    "group_key": "text",
    "account": ACCOUNT,
    "status?": STATUS,
    "filtered?": "true",
}
_CHOICE = OneOf("accept", "filter", "drop")
_PENDING = {"pending_requests_count": "int", "pending_notifications_count": "int"}
NOTIFICATION_POLICY: dict[str, Shape] = {
    "for_not_following": _CHOICE,
    "for_not_followers": _CHOICE,
    "for_new_accounts": _CHOICE,
    "for_private_mentions": _CHOICE,
    "for_limited_accounts": _CHOICE,
    "for_bots": _CHOICE,
    "summary": _PENDING,
}
NOTIFICATION_POLICY_V1: dict[str, Shape] = {
    "filter_not_following": "bool",
    "filter_not_followers": "bool",
    "filter_new_accounts": "bool",
    "filter_private_mentions": "bool",
    "filter_bots": "bool",
    "summary": _PENDING,
}
NOTIFICATION_EMAILS = dict.fromkeys(
    ("mention", "follow", "follow_request", "quote", "favourite", "reblog", "always", "report"), "bool"
)
NOTIFICATION_GROUP: dict[str, Shape] = {
    "group_key": "text",
    "notifications_count": "int",
    "type": NOTIFICATION["type"],
    "most_recent_notification_id": "int",
    "page_min_id?": "id",
    "page_max_id?": "id",
    "latest_page_notification_at?": "moment",
    "sample_account_ids": ["id"],
    "status_id?": "id",
}
GROUPED_NOTIFICATIONS = {"accounts": [ACCOUNT], "statuses": [STATUS], "notification_groups": [NOTIFICATION_GROUP]}
SEARCH_V1 = {"accounts": [ACCOUNT], "statuses": [STATUS], "hashtags": ["text"], "collections?": [{}]}
SEARCH_V2 = {"accounts": [ACCOUNT], "statuses": [STATUS], "hashtags": [OWN_TAG], "collections": [{}]}

ACTIVITY = {"week": "digits", "statuses": "digits", "logins": "digits", "registrations": "digits"}
PAGE = {"content": "text", "updated_at": "second"}
PICKER_EMOJI = EMOJI | {"featured?": "bool"}

"""What the form of a post shows: as it begins, as a post that is there has it, or as it was sent."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from kith.base.errors import Malformed
from kith.base.exchange import Exchange
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.page_language import language_of
from kith.web.settings.forms import text_field
from kith.web.time_zones import zone_named

__all__ = [
    "MOST_FILES", "POLICIES", "VISIBILITIES", "Draft", "begun", "draft_of", "id_in", "moment_of", "sent", "with_wishes",
]  # fmt: skip

MOST_FILES = 4
VISIBILITIES = ("public", "unlisted", "private", "direct")
POLICIES = ("public", "followers", "nobody")
SAME_END = 0  # of a poll that is edited: it closes when it would have


class Draft(msgspec.Struct, kw_only=True):
    status: str = ""
    spoiler_text: str = ""
    visibility: str = "public"
    language: str = ""
    sensitive: bool = False
    options: list[str] = []
    multiple: bool = False
    expires_in: int = 86400
    scheduled_at: str = ""
    policy: str = "public"
    media: list[dict[str, Any]] = []
    in_reply_to_id: str = ""
    quoted_status_id: str = ""
    editing: str = ""  # the id of the post that is changed
    replacing: str = ""  # the id of the post that is deleted when this one is sent
    next: str = "/home"


async def begun(exchange: Exchange) -> Draft:
    """With what the person prefers, and what the address says it is about."""
    prefers = await own_api.ask(exchange, "/api/v1/preferences")
    draft = Draft(
        visibility=prefers["posting:default:visibility"],
        sensitive=prefers["posting:default:sensitive"],
        language=prefers["posting:default:language"] or language_of(exchange),
        policy=prefers.get("posting:default:quote_policy") or "public",
        quoted_status_id=id_in(exchange.query("quote")),
        next=identity.safe_path(exchange.query("next"), "/home"),
    )
    asked = exchange.query("visibility")
    if asked in VISIBILITIES:
        draft.visibility = asked
    mention = exchange.query("mention")[:300]
    if mention:
        draft.status = f"@{mention.removeprefix('@')} "
    if id_in(exchange.query("reply_to")):
        await _answer_to(exchange, draft, id_in(exchange.query("reply_to")))
    return draft


async def with_wishes(exchange: Exchange, draft: Draft, form: dict[str, Any]) -> Draft:
    """The short form says nothing of some things: there the person's preferences hold."""
    if "spoiler_text" not in form:
        wished = await begun(exchange)
        draft.language, draft.sensitive, draft.policy = wished.language, wished.sensitive, wished.policy
    return draft


def id_in(text: str) -> str:
    return text if text.isascii() and text.isdigit() and len(text) < 20 else ""


async def _answer_to(exchange: Exchange, draft: Draft, id: str) -> None:
    """An answer names everybody who takes part, and is seen by no more people than what it answers."""
    said = await own_api.ask(exchange, f"/api/v1/statuses/{id}")
    me = await own_api.ask(exchange, "/api/v1/accounts/verify_credentials")
    people = dict.fromkeys([said["account"]["acct"], *(one["acct"] for one in said["mentions"])])
    draft.status = "".join(f"@{name} " for name in people if name != me["acct"])
    draft.visibility = max(draft.visibility, said["visibility"], key=VISIBILITIES.index)
    draft.spoiler_text = said["spoiler_text"]
    draft.language = said["language"] or draft.language
    draft.in_reply_to_id = id


def draft_of(said: dict[str, Any], source: dict[str, Any], *, editing: str = "", replacing: str = "") -> Draft:
    poll = said["poll"] or {}
    policy = (said.get("quote_approval") or {}).get("automatic") or ["nobody"]
    return Draft(
        status=source["text"],
        spoiler_text=source["spoiler_text"],
        visibility=said["visibility"],
        language=said["language"] or "",
        sensitive=said["sensitive"],
        options=[option["title"] for option in poll.get("options", ())],
        multiple=poll.get("multiple", False),
        expires_in=SAME_END if poll and editing else 86400,
        policy=policy[0] if policy[0] in POLICIES else "nobody",
        media=[{**one, "focus": _focus_of(one)} for one in said["media_attachments"]],
        in_reply_to_id=said["in_reply_to_id"] or "",
        quoted_status_id=((said.get("quote") or {}).get("quoted_status") or {}).get("id", ""),
        editing=editing,
        replacing=replacing,
    )


def _focus_of(medium: dict[str, Any]) -> str:
    focus = (medium.get("meta") or {}).get("focus")
    return f"{focus['x']},{focus['y']}" if focus else ""


def sent(form: dict[str, Any]) -> Draft:
    poll = form.get("poll") if isinstance(form.get("poll"), dict) else {}
    options = poll.get("options", []) if isinstance(poll, dict) else []
    return Draft(
        status=str(form.get("status", "")).replace("\r\n", "\n"),
        spoiler_text=text_field(form, "spoiler_text"),
        visibility=text_field(form, "visibility") or "public",
        language=text_field(form, "language"),
        sensitive=text_field(form, "sensitive") == "true",
        options=[str(one).strip() for one in options if str(one).strip()] if isinstance(options, list) else [],
        multiple=isinstance(poll, dict) and poll.get("multiple") == "true",
        expires_in=_number(poll.get("expires_in") if isinstance(poll, dict) else None),
        scheduled_at=text_field(form, "scheduled_at"),
        policy=text_field(form, "quote_approval_policy") or "public",
        media=_media_sent(form),
        in_reply_to_id=id_in(text_field(form, "in_reply_to_id")),
        quoted_status_id=id_in(text_field(form, "quoted_status_id")),
        editing=id_in(text_field(form, "editing")),
        replacing=id_in(text_field(form, "replacing")),
        next=identity.safe_path(text_field(form, "next"), "/home"),
    )


def _media_sent(form: dict[str, Any]) -> list[dict[str, Any]]:
    """Those that are to stay, with what was said of each."""
    kept = form.get("media_ids", [])
    texts, places = form.get("descriptions", {}), form.get("focus", {})
    return [
        {
            "id": one,
            "description": str(texts.get(one, "")).strip() if isinstance(texts, dict) else "",
            "focus": str(places.get(one, "")) if isinstance(places, dict) else "",
        }
        for one in (kept if isinstance(kept, list) else [])
        if isinstance(one, str) and id_in(one)
    ][:MOST_FILES]


def _number(given: object) -> int:
    return int(given) if isinstance(given, str) and id_in(given) else 86400


def moment_of(local: str, zone: str) -> str:
    """What was typed as the time of day in the zone that the form names."""
    if not local:
        return ""
    try:
        return datetime.fromisoformat(local).replace(tzinfo=zone_named(zone)).astimezone(UTC).isoformat()
    except (ValueError, OverflowError) as error:
        raise Malformed("Validation failed: Scheduled at date must be in the future") from error

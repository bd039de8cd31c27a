"""What is told of a notification in a message, and how it fits into one."""

from __future__ import annotations

from urllib.parse import quote

import msgspec
from msgspec import UNSET, UnsetType

from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.accounts import store as accounts
from kith.social.accounts.shapes import avatar_url
from kith.social.accounts.tables import Account
from kith.social.addresses import file_url
from kith.social.notifications.tables import Notification
from kith.social.notifications.titles import title_of
from kith.social.statuses import store as statuses
from kith.social.statuses.filtering import NOTIFICATIONS, is_hidden
from kith.social.text.html import plain

__all__ = ["PushMessage", "compose", "fit"]

LONGEST_BODY = 140
LONGEST_TITLE = 200  # names from elsewhere may have any length
LONGEST_ICON = 1000
DEFAULT_LOCALE = "en"
_encode = msgspec.json.Encoder().encode


class PushMessage(msgspec.Struct, frozen=True, kw_only=True):
    """As apps read it. A browser has no token, and is told which page of ours to open instead."""

    access_token: str | UnsetType = UNSET
    preferred_locale: str
    notification_id: int | str  # as text for a browser, whose numbers end sooner
    notification_type: str
    icon: str
    title: str
    body: str
    url: str | UnsetType = UNSET


async def compose(work: Work, told: Notification, access_token: str | None) -> PushMessage | None:
    """None where nothing may be told any more: somebody is gone, or the post is not seen by whoever it is for.

    Without an access token it is for a browser, which brings no picture from other hosts than ours.
    """
    found = await accounts.find_all(work.db, [told.account_id, told.from_id])
    reader, sender = found.get(told.account_id), found.get(told.from_id)
    if reader is None or reader.user_id is None or sender is None or sender.is_gone:
        return None
    text, page = plain(sender.note_html), _page_of(told.type, sender)
    if told.status_id is not None:
        status = await statuses.find_visible(work.db, told.status_id, told.account_id)
        if status is None or await is_hidden(work, told.account_id, status, NOTIFICATIONS):
            return None
        text = status.spoiler_text or plain(status.content)
        author = found.get(status.account_id) or await accounts.find(work.db, status.account_id)
        page = page if author is None else f"/@{author.acct}/{status.id}"
    icon = _icon(work, sender)
    locale = await identity.find_locale(work, reader.user_id) or DEFAULT_LOCALE
    return PushMessage(
        access_token=UNSET if access_token is None else access_token,
        preferred_locale=locale,
        notification_id=str(told.id) if access_token is None else told.id,
        notification_type=told.type,
        icon=icon if access_token is not None or _is_ours(work, icon) else "",
        title=_cut(title_of(told.type, sender.display_name or sender.username, locale), LONGEST_TITLE),
        body=_cut(" ".join(text.split(" ")).strip(), LONGEST_BODY),
        url=quote(page, safe="/@") if access_token is None else UNSET,
    )


def _page_of(type: str, sender: Account) -> str:
    """Where one reads more of what is about no post."""
    if type == "follow":
        return f"/@{sender.acct}"
    return "/follow_requests" if type == "follow_request" else "/notifications"


def _icon(work: Work, sender: Account) -> str:
    still = sender.avatar_static
    icon = file_url(work.settings, still) if still else avatar_url(work.settings, sender)
    return icon if len(icon) <= LONGEST_ICON else ""


def _is_ours(work: Work, address: str) -> bool:
    places = (work.settings.base_url, work.settings.media_url)
    return any(address.startswith(f"{place}/") for place in places if place)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def fit(message: PushMessage, most: int) -> bytes:
    """The message in at most so many bytes: of its text as much as there is room for, then without its icon."""
    whole = _encode(message)
    if len(whole) <= most:
        return whole
    shorter = msgspec.structs.replace(message, body="")
    room = most - len(_encode(shorter))
    for size in range(len(message.body) - 1, 0, -1):
        body = _cut(message.body, size)
        if len(_encode(body)) - 2 <= room:
            return _encode(msgspec.structs.replace(message, body=body))
    return _encode(msgspec.structs.replace(shorter, icon="")) if room < 0 else _encode(shorter)

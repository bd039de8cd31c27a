"""The row of an account that begins: nobody follows it, it shows nothing, and nothing is held against it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from kith.social.accounts.tables import Account
from kith.social.ids import AccountId
from kith.social.versions import FIRST

__all__ = ["new_account"]


def new_account(
    id: AccountId, *, username: str, domain: str, uri: str, url: str | None, now: datetime, **differing: Any
) -> Account:
    """`differing` are columns that begin otherwise than for most."""
    values: dict[str, Any] = {
        "user_id": None,
        "actor_type": "Person",
        "display_name": "",
        "note": "",
        "note_html": "",
        "role": "user",
        "fields": [],
        "avatar": "",
        "avatar_static": "",
        "avatar_description": "",
        "header": "",
        "header_static": "",
        "header_description": "",
        "locked": False,
        "discoverable": None,
        "indexable": False,
        "hide_collections": None,
        "noindex": False,
        "show_media": True,
        "show_media_replies": True,
        "show_featured": True,
        "attribution_domains": [],
        "also_known_as": [],
        "moved_to": None,
        "is_listed": True,
        "memorial": False,
        "silenced_at": None,
        "sensitized_at": None,
        "suspended_at": None,
        "deleted_at": None,
        "statuses_count": 0,
        "followers_count": 0,
        "following_count": 0,
        "last_status_at": None,
        "created_at": now,
        "updated_at": now,
        "fetched_at": None,
    }
    names = {"username": username, "username_key": username.lower(), "domain": domain, "uri": uri, "url": url}
    return Account(id=id, version=FIRST, **(values | names | differing))

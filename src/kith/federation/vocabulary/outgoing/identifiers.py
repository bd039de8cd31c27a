"""The names that other servers know our things by, beyond those that our own clients see too (`social.addresses`)."""

from __future__ import annotations

import re
from datetime import datetime
from urllib.parse import quote
from uuid import UUID

from kith.base.ids import at_of
from kith.base.settings import Settings

__all__ = [
    "SERVER",
    "activity_of",
    "any_id",
    "collection",
    "context",
    "conversation",
    "emoji",
    "featured",
    "featured_tags",
    "followers",
    "following",
    "handle",
    "inbox",
    "main_key",
    "moment_suffix",
    "outbox",
    "quote_stamp",
    "server_actor",
    "shared_inbox",
    "tagged",
]

SERVER = "/actor"


def server_actor(settings: Settings) -> str:
    return f"{settings.base_url}{SERVER}"


def server_name(settings: Settings) -> str:
    """What the server as an actor is called: its domain without a port, which GoToSocial takes for no name."""
    return re.sub(r":[0-9]+$", "", settings.domain)


def shared_inbox(settings: Settings) -> str:
    return f"{settings.base_url}/inbox"


def collection(actor: str, name: str) -> str:
    return f"{actor}/{name}"


def inbox(actor: str) -> str:
    return collection(actor, "inbox")


def outbox(actor: str) -> str:
    return collection(actor, "outbox")


def followers(actor: str) -> str:
    return collection(actor, "followers")


def following(actor: str) -> str:
    return collection(actor, "following")


def featured(actor: str) -> str:
    return collection(actor, "collections/featured")


def featured_tags(actor: str) -> str:
    return collection(actor, "collections/tags")


def main_key(actor: str) -> str:
    return f"{actor}#main-key"


def activity_of(status: str) -> str:
    """The Create of a post, and the Announce that a boost is."""
    return status if status.endswith("/activity") else f"{status}/activity"


def quote_stamp(quoted_author: str, quoting_id: int) -> str:
    """That a post may quote one of ours; known by the post that quotes."""
    return f"{quoted_author}/quote_authorizations/{quoting_id}"


def emoji(settings: Settings, id: int) -> str:
    return f"{settings.base_url}/emojis/{id}"


def tagged(profile: str, name: str) -> str:
    return f"{profile}/tagged/{quote(name, safe='')}"


def handle(settings: Settings, username: str, domain: str) -> str:
    """`@user@domain`: ours have a domain, too, where others read it."""
    return f"@{username}@{domain or settings.domain}"


def conversation(settings: Settings, id: int) -> str:
    """A thread, by its first post, whose id tells the day."""
    return f"tag:{settings.domain},{at_of(id):%Y-%m-%d}:objectId={id}:objectType=Conversation"


def context(settings: Settings, account_id: int, status_id: int) -> str:
    """A thread as a list that can be looked up, by its first post, which is one of ours."""
    return f"{settings.base_url}/contexts/{account_id}-{status_id}"


def any_id(settings: Settings, name: UUID) -> str:
    """What cannot be looked up: a Follow, a Block, a Flag."""
    return f"{settings.base_url}/{name}"


def moment_suffix(at: datetime) -> str:
    """Two updates within a second are two: whoever has taken one must not take the other for it."""
    return f"#updates/{at.timestamp():.6f}".removesuffix(".000000")

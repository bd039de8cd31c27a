"""One sentence for each type of notification: the title of a push message or a mail, and the fallback of the API."""

from __future__ import annotations

from kith.base.languages import LANGUAGES
from kith.social.languages import language

__all__ = ["TITLES", "title_of", "titled"]

NAME = "{name}"
TITLES = {
    "mention": "{name} mentioned you",
    "status": "{name} posted",
    "reblog": "{name} boosted your post",
    "follow": "{name} followed you",
    "follow_request": "{name} asked to follow you",
    "favourite": "{name} favourited your post",
    "poll": "A poll by {name} has ended",
    "update": "{name} edited a post you boosted",
    "severed_relationships": "You have lost connections to others",
    "moderation_warning": "You have received a moderation warning",
    "annual_report": "Your summary of the year is ready",
    "admin.sign_up": "{name} signed up",
    "admin.report": "{name} submitted a report",
    "quote": "{name} quoted your post",
    "quoted_update": "{name} edited a post you quoted",
    "added_to_collection": "{name} added you to a collection",
    "collection_update": "{name} changed a collection you are in",
}


def titled(type: str, name: str) -> str:
    """In English."""
    return _with_name(TITLES.get(type, NAME), name)


def title_of(type: str, name: str, locale: str) -> str:
    """English for languages we do not speak."""
    title, code = TITLES.get(type, NAME), locale.lower().partition("-")[0]
    if code in LANGUAGES:
        title = language(code).catalogue.translate(title)
    return _with_name(title, name)


def _with_name(title: str, name: str) -> str:
    return title.replace(NAME, name)

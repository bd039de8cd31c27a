from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from kith.social.filters.matching import Match, lasts
from kith.social.filters.tables import Filter, FilteredStatus, Keyword
from kith.social.moments import maybe


def render_keyword(one: Keyword) -> dict[str, Any]:
    return {"id": str(one.id), "keyword": one.keyword, "whole_word": one.whole_word}


def render_status(one: FilteredStatus) -> dict[str, Any]:
    return {"id": str(one.id), "status_id": str(one.status_id)}


def _render(one: Filter) -> dict[str, Any]:
    return {
        "id": str(one.id),
        "title": one.title,
        "context": one.context.split(),
        "expires_at": maybe(one.expires_at),
        "filter_action": one.action,
    }


def render_filter(one: Filter, keywords: Sequence[Keyword], statuses: Sequence[FilteredStatus]) -> dict[str, Any]:
    """`keywords` and `statuses` may be those of several filters."""
    return _render(one) | {
        "keywords": [render_keyword(keyword) for keyword in keywords if keyword.filter_id == one.id],
        "statuses": [render_status(status) for status in statuses if status.filter_id == one.id],
    }


def render_v1(one: Filter, keyword: Keyword) -> dict[str, Any]:
    return {
        "id": str(keyword.id),
        "phrase": keyword.keyword,
        "context": one.context.split(),
        "whole_word": keyword.whole_word,
        "expires_at": maybe(one.expires_at),
        "irreversible": one.action == "hide",
    }


def render_matches(matches: Sequence[Match], now: datetime) -> list[dict[str, Any]]:
    """What `filtered` of a status tells; filters that have run out are not told."""
    return [
        {
            "filter": _render(match.filter),
            "keyword_matches": list(match.keywords) or None,
            "status_matches": [str(id) for id in match.status_ids] or None,
        }
        for match in matches
        if lasts(match, now)
    ]

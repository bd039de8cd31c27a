from __future__ import annotations

from typing import Any

from kith.social.lists.tables import List


def render_list(one: List) -> dict[str, Any]:
    return {
        "id": str(one.id),
        "title": one.title,
        "replies_policy": one.replies_policy,
        "exclusive": one.exclusive,
    }

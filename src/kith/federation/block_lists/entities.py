"""Block lists on the wire."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kith.federation.block_lists.planning import BlockListPlan, PlannedChange
from kith.federation.block_lists.subscribing import Rehearsal
from kith.federation.block_lists.tables import BlockList
from kith.social.moments import maybe, moment

__all__ = ["render_list", "render_plan", "render_rehearsal"]


def render_list(row: BlockList) -> dict[str, Any]:
    """`digest` names what was fetched last, `waiting` says that it was not acted upon yet."""
    return {
        "id": str(row.id),
        "url": row.url,
        "state": row.state,
        "domains_count": row.rows,
        "waiting": row.offered is not None,
        "digest": row.digest,
        "reason": row.reason,
        "error": row.error,
        "created_at": moment(row.created_at),
        "fetched_at": maybe(row.fetched_at),
        "applied_at": maybe(row.applied_at),
    }


def render_rehearsal(made: Rehearsal) -> dict[str, Any]:
    return {"block_list": render_list(made.list), **render_plan(made.plan, made.severed)}


def render_plan(plan: BlockListPlan, severed: int) -> dict[str, Any]:
    return {
        "added": _servers(plan.added),
        "changed": _servers(plan.changed),
        "removed": [one.server.domain for one in plan.removed],
        "kept": list(plan.kept),
        "covered": list(plan.covered),
        "refused": list(plan.own),
        "severed_follows_count": severed,
    }


def _servers(changes: Iterable[PlannedChange]) -> list[dict[str, Any]]:
    return [
        {
            "domain": one.server.domain,
            "severity": one.server.severity,
            "reject_media": one.server.reject_media,
            "reject_reports": one.server.reject_reports,
            "obfuscate": one.server.obfuscate,
            "public_comment": one.server.public_comment,
        }
        for one in changes
    ]

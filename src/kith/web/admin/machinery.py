"""/admin/federation: how it goes with other servers; /admin/jobs: what is done in the background, and what failed."""

from __future__ import annotations

from typing import Any

from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get
from kith.web import own_api
from kith.web.admin.frame import admin_page, enter_with
from kith.web.admin.listing_pages import moment_of
from kith.web.translation import translatable

__all__ = ["routes"]

FEDERATION, JOBS = "/admin/federation", "/admin/jobs"
PEERS = "/api/v1/admin/peers"
PER_PAGE = 50
MOST_JOBS = 100
VIEWS = (
    ("all", translatable("All")),
    ("troubled", translatable("With errors")),
    ("waiting", translatable("With a backlog")),
    ("blocked", translatable("Blocked")),
)
STATES = {
    "ok": translatable("well"),
    "slow": translatable("slow"),
    "failing": translatable("failing"),
    "paused": translatable("paused"),
    "unavailable": translatable("given up"),
}
BLOCKS = {
    "silence": translatable("Limited"),
    "suspend": translatable("Suspended"),
    "noop": translatable("None"),
}
_TIMES = ("failed_at", "succeeded_at", "paused_until", "unavailable_since")


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 8 else 0


@get(FEDERATION)
async def show_peers(exchange: Exchange) -> Answer:
    visitor = await enter_with(exchange, FEDERATION)
    if visitor is None:
        return admin_page(exchange, "federation.html", None)
    view = exchange.query("show") if exchange.query("show") in dict(VIEWS) else "all"
    asked, offset = exchange.query("search")[:255], _number(exchange.query("offset"))
    state = "" if view == "all" else view
    told = await own_api.ask(exchange, PEERS, q=asked, state=state, offset=offset, limit=PER_PAGE)
    return admin_page(
        exchange,
        "federation.html",
        visitor,
        heading=translatable("Servers we know"),
        told=told,
        view=view,
        views=VIEWS,
        states=STATES,
        blocks=BLOCKS,
        asked=asked,
        offset=offset,
        older=offset + PER_PAGE if offset + PER_PAGE < told["total"] else 0,
        newer=max(0, offset - PER_PAGE),
    )


@get(f"{FEDERATION}/{{domain}}")
async def show_peer(exchange: Exchange, domain: FromPath[str]) -> Answer:
    visitor = await enter_with(exchange, FEDERATION)
    if visitor is None:
        return admin_page(exchange, "peer.html", None)
    peer = await own_api.ask(exchange, f"{PEERS}/{domain}")
    delivery = {"failing_days": 0, **(peer["delivery"] or {})}
    return admin_page(
        exchange,
        "peer.html",
        visitor,
        heading=translatable("Servers we know"),
        peer=peer,
        delivery={**delivery, **{name: moment_of(delivery.get(name)) for name in _TIMES}},
        states=STATES,
        blocks=BLOCKS,
    )


@get(JOBS)
async def show_jobs(exchange: Exchange) -> Answer:
    visitor = await enter_with(exchange, JOBS)
    if visitor is None:
        return admin_page(exchange, "jobs.html", None)
    told = await own_api.ask(exchange, "/api/v1/admin/jobs/counts")
    failed = await own_api.ask(exchange, "/api/v1/admin/jobs", state="dead", limit=MOST_JOBS)
    return admin_page(
        exchange,
        "jobs.html",
        visitor,
        heading=translatable("Jobs"),
        kinds=_by_kind(told["counts"]),
        seen=moment_of(told["seen_at"]),
        failed=[_explained(one) for one in failed],
        dead=sum(one["count"] for one in told["counts"] if one["state"] == "dead"),
    )


def _by_kind(counts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line for each kind, with how many there are in each state."""
    kinds: dict[str, dict[str, Any]] = {}
    for one in counts:
        line = kinds.setdefault(one["kind"], {"kind": one["kind"], "ready": 0, "running": 0, "dead": 0, "oldest": None})
        line[one["state"]] = one["count"]
        if one["state"] == "ready":
            line["oldest"] = moment_of(one["oldest_run_at"])
    return list(kinds.values())


def _explained(job: dict[str, Any]) -> dict[str, Any]:
    """The last line of an error says what is wrong, the rest where."""
    lines = [line for line in (job["error"] or "").strip().splitlines() if line.strip()]
    return {
        **job,
        "why": lines[-1] if lines else "",
        "more": "\n".join(lines) if len(lines) > 1 else "",
        "made": moment_of(job["created_at"]),
        "failed": moment_of(job["run_at"]),
    }


routes = [show_peers, show_peer, show_jobs]

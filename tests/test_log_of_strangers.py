"""What others cause is counted: no packet, request or post makes the log longer than it is itself."""

from __future__ import annotations

import ast
import asyncio
import base64
import hashlib
import json
import os
import re
import socket
from email.utils import formatdate
from pathlib import Path
from typing import Any

import kith
from tests.conftest import TownBuilder
from tests.town import Town
from tests.town.ports import ReservedPort

SOURCE = Path(kith.__file__).parent

# Lines that are written each time, and why no stranger decides how often. All others go through `log_counted`.
WRITTEN_EACH_TIME = {
    "when the server starts or stops": (
        "radius.listening", "ldap.listening", "server.stopped", "jobs.left_without_a_word", "ids.slot_not_released",
        "chore.ended", "serve.no_lock", "server.leaving", "processes.replaced", "processes.not_replaced",
    ),
    "on a clock of its own, while something is away": (
        "gateway.certificates_unread", "gateway.not_looked", "blueprints.not_looked_at", "figures.not_told",
        "backups.bad_schedule", "watchdog.not_heard", "limits.not_shared", "jobs.heartbeat_missed", "jobs.look_missed",
        "jobs.clock_missed", "jobs.claim_failed", "ids.lease_not_renewed", "news.not_read", "news.relay_lost",
        "news.not_delivered", "traces.sent_again", "traces.not_sent", "certificate.unusable", "certificate.not_kept",
        "certificate.refused", "database.replica_failed", "ldap.sync_failed",
    ),
    "when something changes": (
        "health.not_ready", "health.ready_again", "health.no_room", "certificate.in_use", "certificate.ordered",
        "certificate.made", "database.replica", "locations.unreadable", "locations.not_found",
        "gateway.bad_certificate", "loop.turns_again", "loop.stands_still", "loop.given_up", "news.not_understood", "disk.reserve_given_up",
        "disk.has_room_again",
    ),
    "summed up already": ("connections.cut",),
    "as often as a service of the operator's own is told of something": (
        "scim.refused", "scim.failed", "saml.not_told_without_browser", "oauth.not_told_without_browser",
        "ldap.write_back_failed",
    ),
    "as often as a process dies": ("process.died",),
    "as often as a worker dies": ("jobs.lost_to_another", "jobs.verdict_lost", "jobs.taken_over", "jobs.deadly"),
    "a mail that is written to a folder instead of being sent, for trying things out": ("mail_written",),
}  # fmt: skip
_MAY_LOG = re.compile(r"_log\.|\blog\.|get_logger\(\)")
LEVELS = {"debug", "info", "warning", "error", "exception", "critical"}


def _written_each_time() -> set[str]:
    found = set()
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if _MAY_LOG.search(text) else ():
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            log = ast.unparse(node.func.value)
            if node.func.attr in LEVELS and (log in ("_log", "log", "logger") or "get_logger()" in log):
                words = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else path.name
                found.add(str(words))
    return found


def test_every_line_that_is_written_each_time_says_why_it_may_be() -> None:
    known = {event for events in WRITTEN_EACH_TIME.values() for event in events}

    written = _written_each_time()

    assert written - known == {"work.py"}, "lines of a work are written once it is committed"
    assert known - written == set(), "these are not written any more"


def _lines(town: Town, event: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in town.log().splitlines() if line.startswith("{")]
    return [line for line in lines if line["event"] == event]


async def test_packets_of_strangers_are_counted(new_town: TownBuilder) -> None:
    """RADIUS: who may ask is known by the packet's signature alone, so anybody can send some."""
    reserved = ReservedPort()
    reserved.release()  # it holds the port for UDP, which is what the server needs
    town = await new_town(radius_bind=f"127.0.0.1:{reserved.number}")
    before, sent = len(town.log()), 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        for turn in range(20):
            for number in range(30):
                packet = bytes([1, number, 0, 20]) + os.urandom(16) if turn % 2 else os.urandom(20)
                sent += stranger.sendto(packet, ("127.0.0.1", reserved.number))
            await asyncio.sleep(0.01)
    await town.stop()
    told, grown = _lines(town, "radius.ignored"), len(town.log()) - before
    await town.start()

    assert sum(line["count"] for line in told) > 300, "most arrive"
    assert len(told) <= 2 * len({line["reason"] for line in told})
    assert grown < sent / 5


def _signed(number: int) -> tuple[bytes, dict[str, str]]:
    """A post to the inbox whose key is on a server that nobody finds."""
    body = b'{"id":"https://dead.invalid/%d","type":"Like"}' % number
    digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
    key = f"https://dead{number}.invalid/users/x#main-key"
    named = f'keyId="{key}",algorithm="rsa-sha256",headers="(request-target) host date digest",signature="QUFBQQ=="'
    return body, {
        "Content-Type": "application/activity+json",
        "Date": formatdate(usegmt=True),
        "Digest": f"SHA-256={digest}",
        "Signature": named,
    }


async def test_what_cannot_be_done_now_is_counted_and_has_no_stack(new_town: TownBuilder) -> None:
    town = await new_town()
    statuses = []
    for number in range(12):
        body, headers = _signed(number)
        statuses.append((await town.http.post("/inbox", content=body, headers=headers)).status_code)
    await town.stop()
    told = _lines(town, "request.not_now")
    said = town.log()
    await town.start()

    assert statuses == [503] * 12
    assert sum(line["count"] for line in told) == 12
    assert len(told) == 2, "the first at once, the others when the minute is over or the server stops"
    assert "Traceback" not in said

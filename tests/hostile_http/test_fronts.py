"""A proxy in front and our server behind it read the same requests out of the same bytes."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from kith.base.server import ConnectionLimits
from tests.hostile_http.attacking import Attack
from tests.hostile_http.fronts import FRONTS
from tests.hostile_http.messages import MESSAGES
from tests.hostile_http.mutations import mutations
from tests.hostile_http.recording import Seen, recording
from tests.search_size import is_whole_search

SEED = 20_260_724
LIMITS = ConnectionLimits(per_address=0, max_body=1 << 20, body_seconds=1.0, grace_seconds=0.5)


def _messages() -> list[bytes]:
    if is_whole_search():
        return [*(one.sent for one in MESSAGES), *mutations(100_000, SEED)]
    chance = random.Random(SEED)
    some = [one.sent for one in chance.sample(MESSAGES, 120) if len(one.sent) < 2000]
    return [*some, *mutations(300, SEED)]


@pytest.mark.parametrize("name", FRONTS)
async def test_front_and_back_agree_on_what_was_asked(name: str, tmp_path: Path) -> None:
    async with recording(limits=LIMITS, is_behind_proxy=True) as (server, log):
        upstream = f"{server.address[0]}:{server.address[1]}"
        async with FRONTS[name](tmp_path, upstream) as port:
            attack = Attack(port)
            await attack.run(_messages())

    print(f"{name}: {attack.sent} messages, {len(log)} requests reached the server")
    assert attack.misled == []
    assert _unnamed(log) == []


def _unnamed(log: list[Seen]) -> list[str]:
    """Requests that the front did not pass on as such: without a name from it, or with one that another has."""
    names = [one.all_of(b"x-front") for one in log]
    uses = Counter(name[0] for name in names if name)
    return [
        f"{one.method} {one.path} {one.host} {name}"
        for one, name in zip(log, names, strict=True)
        if len(name) != 1 or uses[name[0]] != 1 or not _is_for(name[0], one.host)
    ]


def _is_for(name: str, host: str) -> bool:
    """Where its client named no host, a front names whichever it likes; one of other letters it may spell in ours."""
    given, _, passed_on_for = name.partition(" ")
    return given != "forged" and (passed_on_for in ("", host) or not passed_on_for.isascii())

"""Some addresses are answered past the framework. Whichever way a request takes, its answer is the same."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from kith.app import WAYS
from tests.social.members import Member, join_all
from tests.social.posts import arrive, does, post, settle
from tests.town import Town

# With a parameter that nobody knows, or spelled with a slash at its end, it is the framework that answers.
ROUNDABOUT = ("{path}?unusual=1", "{path}/")
OWN_HEADERS = ("date", "x-request-id", "x-kith-request-id", "x-ratelimit-remaining", "link")


def _told(answer: httpx.Response) -> tuple[int, bytes, dict[str, str]]:
    return answer.status_code, answer.content, {k: v for k, v in answer.headers.items() if k not in OWN_HEADERS}


@pytest.mark.parametrize("template", sorted(WAYS))
async def test_both_ways_lead_to_the_same(town: Town, template: str) -> None:
    ada, bob = await join_all(town, 2)
    await ada.to(bob, "follow")
    await arrive(ada, bob)
    root = await post(bob, "one")
    answer = await post(ada, f"two @{bob.name}", in_reply_to_id=root["id"])
    await does(bob, "favourite", answer)
    await does(ada, "reblog", root)
    await settle(town)
    path = template.format(id=bob.id if "/accounts/" in template else root["id"])
    for who in (ada, bob, None):
        straight = _told(await _get(town, who, path))
        for way in ROUNDABOUT:
            assert _told(await _get(town, who, way.format(path=path))) == straight
    assert (await ada.call("HEAD", path)).status_code == 200


@pytest.mark.parametrize("template", sorted(WAYS))
async def test_both_ways_refuse_alike(town: Town, template: str) -> None:
    [ada] = await join_all(town, 1)
    for id in ("1", "9" * 18, "9" * 19, "9" * 40, "٣"):
        path = template.format(id=id)
        straight = _told(await _get(town, ada, path))
        assert _told(await _get(town, ada, f"{path}?unusual=1")) == straight
    wrong = await town.http.get(template.format(id="1"), headers={"Authorization": "Bearer wrong"})
    assert wrong.status_code == 401
    assert "error" in wrong.json()
    assert (await town.http.put(template.format(id="1"))).status_code in (401, 404, 405)


async def _get(town: Town, who: Member | None, path: str) -> httpx.Response:
    headers: dict[str, Any] = {} if who is None else {"Authorization": f"Bearer {who.token}"}
    return await town.http.get(path, headers=headers)

"""Moving from server to server: whoever follows goes along, on either side."""

from __future__ import annotations

from typing import Any

from tests.conftest import TownBuilder
from tests.social.members import Member, join, until
from tests.town import Town

PRIVATE = {"private_hosts": "127.0.0.1"}


async def follow(follower: Member, other: Member) -> str:
    """Across servers, until it counts; the id by which the follower's server knows the other."""
    handle = f"{other.name}@127.0.0.1:{other.town.port}"
    account = await follower.post("/api/v1/follows", json={"uri": handle})
    await until(lambda: _sees(follower, account["id"], following=True))
    return str(account["id"])


async def _sees(member: Member, id: str, **claims: Any) -> bool:
    [relation] = await member.get("/api/v1/accounts/relationships", params={"id[]": id})
    return all(relation[name] == value for name, value in claims.items())


async def _followers(member: Member) -> list[str]:
    found = await member.get(f"/api/v1/accounts/{member.id}/followers")
    return [one["acct"] for one in found]


async def test_followers_on_both_servers_go_along(new_town: TownBuilder) -> None:
    # given
    one, other = await new_town(**PRIVATE), await new_town(**PRIVATE)
    old, neighbour = await join(one, "old"), await join(one, "near")
    new, fan = await join(other, "new"), await join(other, "fan")
    await neighbour.to(old, "follow")
    known_as = await follow(fan, old)
    await new.post("/api/v1/accounts/alias", json={"also_known_as_uris": [f"old@127.0.0.1:{one.port}"]})

    # when
    sent = {"moved_to_uri": f"{other.base_url}/users/new", "password": "correct horse old"}
    answer = await old.call("POST", "/api/v1/accounts/move", json=sent)
    assert answer.status_code == 202, answer.text

    # then
    await until(lambda: _sees(fan, new.id, following=True))
    await until(lambda: _sees(fan, known_as, following=False))
    assert (await fan.get(f"/api/v1/accounts/{known_as}"))["moved"]["id"] == new.id

    async def has_both() -> bool:
        return sorted(await _followers(new)) == sorted(["fan", f"near@127.0.0.1:{one.port}"])

    await until(has_both)
    await until(lambda: _has_nobody(neighbour, one, "old"))


async def _has_nobody(member: Member, town: Town, name: str) -> bool:
    shown = await town.http.get("/api/v1/accounts/lookup", params={"acct": name})
    return int(shown.json()["followers_count"]) == 0

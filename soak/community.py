"""Making the community: people on both servers who follow each other for good, and the shy ones they come and go by."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import msgspec

from soak.acts import Community
from soak.people import Asker, Person
from soak.staff import OOB, Staff
from soak.town import Site, Stage

__all__ = ["Size", "make_community"]

_SCOPES = "read write follow push"
_PATIENCE = 60


class Size(msgspec.Struct, frozen=True):
    """How many act. Two cores have enough with these."""

    here: int = 5
    there: int = 2
    shy: int = 2


async def make_community(stage: Stage, asker: Asker, seed: int, size: Size) -> tuple[Community, Staff]:
    dice = random.Random(seed)
    clients = {site.name: await _client(asker, site) for site in stage.sites}
    core = [
        await _join(asker, site, f"core{number}", clients[site.name], dice)
        for site, count in ((stage.here, size.here), (stage.there, size.there))
        for number in range(count)
    ]
    shy = [
        await _join(asker, site, f"shy{number}", clients[site.name], dice)
        for site, count in ((stage.here, size.shy), (stage.there, 1))
        for number in range(count)
    ]
    community = Community(seed, core, shy)
    for me in core:
        for other in (*core, *shy):
            if other is not me:
                me.known[other.handle] = await _find(me, other)
        for other in community.others(me):
            await _must(me, "POST", f"/api/v1/accounts/{me.known[other.handle]}/follow")
        await _must(me, "GET", "/api/v1/timelines/home", fine=(200, 206))
    for me in core:
        for other in community.others(me):
            await _until_followed(me, other)
    owner = await stage.here.town.sign_up("boss", role="owner")
    client = clients[stage.here.name]
    token = await _token(asker, stage.here, client, owner.username, owner.password)
    boss = Person(asker, stage.here, owner.username, token, "", dice)
    return community, Staff(boss, owner.password, community, client)


async def _client(asker: Asker, site: Site) -> dict[str, str]:
    body = {"client_name": "soak", "redirect_uris": OOB, "scopes": _SCOPES}
    made = (await asker.ask(site, "set-up", "POST", "/api/v1/apps", json=body)).body
    return {"client_id": made["client_id"], "client_secret": made["client_secret"]}


async def _token(asker: Asker, site: Site, client: dict[str, str], name: str, password: str) -> str:
    sent = client | {"grant_type": "password", "username": name, "password": password, "scope": _SCOPES}
    return str((await asker.ask(site, "set-up", "POST", "/oauth/token", data=sent)).body["access_token"])


async def _join(asker: Asker, site: Site, name: str, client: dict[str, str], dice: random.Random) -> Person:
    made = await site.town.sign_up(name)
    token = await _token(asker, site, client, made.username, made.password)
    me = Person(asker, site, name, token, "", random.Random(dice.random()))
    me.id = str((await _must(me, "GET", "/api/v1/accounts/verify_credentials"))["id"])
    me.known[me.handle] = me.id
    return me


async def _find(me: Person, other: Person) -> str:
    if other.site is me.site:
        return other.id
    found = await _must(me, "GET", f"/api/v2/search?q=@{other.handle}&resolve=true&type=accounts")
    return str(found["accounts"][0]["id"])


async def _until_followed(me: Person, other: Person) -> None:
    for _ in range(_PATIENCE * 4):
        [found] = await _must(me, "GET", f"/api/v1/accounts/relationships?id[]={me.known[other.handle]}")
        if found["following"]:
            return
        await asyncio.sleep(0.25)
    raise RuntimeError(f"{me.handle} does not follow {other.handle}")


async def _must(me: Person, method: str, path: str, **options: Any) -> Any:
    answer = await me.ask("set-up", method, path, **options)
    if not answer.is_yes:
        raise RuntimeError(f"{method} {path}: {answer}")
    return answer.body

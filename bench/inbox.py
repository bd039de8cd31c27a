"""The inbox: what taking a signed activity costs beside a bare POST of the same body, and what doing it costs beside a
post of somebody who lives here.

Activities are signed before anything is measured, for another server does that.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from sqlalchemy import func, select

from bench import load
from bench.community import Community, Size, seed
from bench.report import Result, Target, result
from bench.stage import ENGINES, Baseline, baseline, open_house_of, until_200
from bench.writing import Place as WritingPlace
from bench.writing import _cpu_of_all, _send
from kith.app import House
from kith.base.db import command as db_command
from kith.base.db import insert_into, query
from kith.federation.inbox.tables import inbox
from kith.federation.people import store as people
from kith.federation.people.tables import RemoteActor, actor_keys
from kith.federation.signatures.digests import sha256
from kith.federation.signatures.signing import RequestToSign, Signer, SigningScheme, sign
from kith.social.ids import AccountId
from kith.social.relationships import store as relationships
from kith.social.relationships.tables import Follow
from tests.social.members import strangers
from tests.town import Town, build_town
from tests.town.town import Engine

SIZE = Size(members=50, follows=500, statuses=500)
TAKEN, DONE, PLAIN = 1_500, 400, 6_000
CONNECTIONS = 64  # other servers are many
FOLLOWERS = 10  # about as many as a member has
ENOUGH = Target(least=0.25, of_ratio=True)
DEAR = Target(most=1.5, of_ratio=True)
TYPE = "application/activity+json"
AS = "https://www.w3.org/ns/activitystreams"
WORDS = "Bread, rivers and lanterns, and what else there is to say of them on a long evening."
_add_key = db_command(insert_into(actor_keys))
_left = query(select(func.count()).select_from(inbox), int)


class Sender(msgspec.Struct):
    """Somebody elsewhere whose key is known."""

    uri: str
    key: RSAPrivateKey
    numbers: Any = msgspec.field(default_factory=count)

    def create(self) -> bytes:
        id = f"{self.uri}/statuses/{next(self.numbers)}"
        to, cc = [f"{AS}#Public"], [f"{self.uri}/followers"]
        note = {
            "id": id, "type": "Note", "summary": None, "inReplyTo": None, "published": f"{datetime.now(UTC):%FT%TZ}",
            "url": id, "attributedTo": self.uri, "to": to, "cc": cc, "sensitive": False, "atomUri": id,
            "conversation": f"tag:elsewhere.example,2024-03-05:objectId={id}:objectType=Conversation",
            "content": f"<p>{WORDS}</p>", "contentMap": {"en": f"<p>{WORDS}</p>"}, "attachment": [], "tag": [],
            "replies": {"id": f"{id}/replies", "type": "Collection"},
        }  # fmt: skip
        context = [AS, {"ostatus": "http://ostatus.org#", "atomUri": "ostatus:atomUri", "sensitive": "as:sensitive"}]
        activity = {
            "@context": context,
            "id": f"{id}/activity",
            "type": "Create",
            "actor": self.uri,
            "to": to,
            "cc": cc,
        }
        return msgspec.json.encode(activity | {"object": note})

    def request(self, port: int) -> str:
        body = self.create()
        asked = RequestToSign("POST", f"http://{load.HOST}:{port}/inbox", sha256(body), {"content-type": TYPE})
        headers = sign(Signer(f"{self.uri}#main-key", self.key), asked, SigningScheme.CAVAGE, datetime.now(UTC))
        lines = [f"{name}: {value}" for name, value in headers.items()]
        lines.append(f"content-length: {len(body)}")
        return "POST /inbox HTTP/1.1\r\n" + "\r\n".join(lines) + "\r\n\r\n" + body.decode()


class Doors(msgspec.Struct):
    """One town: with its worker, and what is measured of it."""

    town: Town
    community: Community
    sender: Sender

    async def signed(self, number: int) -> list[str]:
        return await asyncio.to_thread(lambda: [self.sender.request(self.town.port) for _ in range(number)])

    async def until_done(self) -> None:
        place = WritingPlace(self.town, self.community, iter(()))
        async with self.town.house() as house:
            for _ in range(6_000):
                if not await house.works.open().db.one(_left):
                    break
                await asyncio.sleep(0.02)
        await place._quiet()

    async def cpu_of(self, requests: list[str], number: int) -> float:
        """Microseconds for each, until nothing waits to be done any more."""
        before = _cpu_of_all(self.town.pid)
        done = await asyncio.to_thread(_send, self.town.port, requests, number)
        await self.until_done()
        return (_cpu_of_all(self.town.pid) - before) / done * 1e6

    def posts(self) -> list[str]:
        place = WritingPlace(self.town, self.community, iter(()))
        body = json.dumps({"status": f"{WORDS} {{number}}"})
        return [place._request("/api/v1/statuses", body, who) for who in self.community.members[1:]]


async def measure(folder: Path, *, quick: bool) -> list[Result]:
    found: dict[str, list[float]] = defaultdict(list)
    engines = ENGINES[:1] if quick else ENGINES
    async with AsyncExitStack() as stack:
        quiet = [await stack.enter_async_context(_open(folder, engine, worker="off")) for engine in engines]
        busy = [await stack.enter_async_context(_open(folder, engine)) for engine in engines]
        plain = await stack.enter_async_context(baseline("bench.bare_post"))
        for number in range(3 if quick else 7):
            for name, value in (await _round(plain, quiet, busy)).items():
                if number:  # the first round fills the caches
                    found[name].append(value)
    return _results(found, engines)


async def _round(plain: Baseline, quiet: Sequence[Doors], busy: Sequence[Doors]) -> dict[str, float]:
    body = quiet[0].sender.create()
    head = f"POST /inbox HTTP/1.1\r\nhost: {load.HOST}\r\ncontent-type: {TYPE}\r\ncontent-length: {len(body)}\r\n\r\n"
    told = {"bare": await _rate(plain.port, head + body.decode(), PLAIN)}
    for doors in quiet:
        requests = await doors.signed(TAKEN)
        before = _cpu_of_all(doors.town.pid)
        told[f"{doors.town.engine}.accept"] = await _rate(doors.town.port, requests, TAKEN - CONNECTIONS)
        told[f"{doors.town.engine}.accept_cpu"] = (_cpu_of_all(doors.town.pid) - before) / TAKEN * 1e6
    for doors in busy:
        engine = doors.town.engine
        told[f"{engine}.local_post"] = await doors.cpu_of(doors.posts(), DONE)
        whole = await doors.cpu_of(await doors.signed(DONE), DONE - load.CONNECTIONS)
        told[f"{engine}.create"] = whole
        told[f"{engine}.processing"] = whole - told[f"{engine}.accept_cpu"]
    return told


async def _rate(port: int, requests: list[str] | str, number: int) -> float:
    def press() -> float:
        sender = load.Load(port, requests, CONNECTIONS)
        took, seconds = sender.press(load.MOST_SECONDS, number)
        sender.close()
        return len(took) / seconds

    return await asyncio.to_thread(press)


def _results(found: dict[str, list[float]], engines: Sequence[Engine]) -> list[Result]:
    bare = ("inbox.bare", found["bare"])
    rows = [result(bare[0], bare[1], "requests/s")]
    for engine in engines:
        own = (f"inbox.{engine}.local_post", found[f"{engine}.local_post"])
        accept = f"{engine}.accept"
        rows.append(result(f"inbox.{accept}", found[accept], "requests/s", baseline=bare, target=ENOUGH))
        rows.append(result(f"inbox.{accept}_cpu", found[f"{accept}_cpu"], "µs of CPU"))
        rows.append(result(own[0], own[1], "µs of CPU"))
        rows.append(result(f"inbox.{engine}.create", found[f"{engine}.create"], "µs of CPU", baseline=own))
        processing = found[f"{engine}.processing"]
        rows.append(result(f"inbox.{engine}.processing", processing, "µs of CPU", baseline=own, target=DEAR))
    return rows


@asynccontextmanager
async def _open(folder: Path, engine: Engine, **settings: str) -> AsyncIterator[Doors]:
    place = folder / f"inbox-{engine}-{settings.get('worker', 'on')}"
    async with build_town(engine, place, start=False, kind=Town, log_level="warning", **settings) as town:
        async with open_house_of(town) as house:
            community = await seed(house, SIZE)
            sender = await _meet(town, house, community)
        await town.start()
        if not settings:
            await until_200(town.http, "/health/ready")
        yield Doors(town, community, sender)


async def _meet(town: Town, house: House, community: Community) -> Sender:
    """Somebody elsewhere, with followers here."""
    key = generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    [account] = await strangers(town, 1)
    async with house.works.begin() as work:
        actor = RemoteActor(account.id, f"{account.uri}/inbox", followers=f"{account.uri}/followers")
        await people.save_actor(work.db, actor)
        await work.db.run(
            _add_key, id=f"{account.uri}#main-key", account_id=account.id, public_key=pem, fetched_at=work.now
        )
        for member in community.members[:FOLLOWERS]:
            row = Follow(work.new_id(), AccountId(member.account_id), account.id, True, False, None, None, work.now)
            await relationships.add_follow(work.db, row)
    return Sender(account.uri, key)

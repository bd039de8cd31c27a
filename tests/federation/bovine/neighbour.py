"""A small neighbour on bovine: one actor that follows, posts and likes, and keeps what it hears.

It runs in an environment of its own, with bovine and aiohttp; the tests order it about under /orders/.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import ClientSession, web
from bovine import BovineActor
from bovine.activitystreams import Actor, factories_for_actor_object
from bovine.activitystreams.link import Link
from bovine.crypto import build_validate_http_signature_raw, generate_rsa_public_private_key
from bovine.crypto.types import CryptographicIdentifier

PUBLIC = "https://www.w3.org/ns/activitystreams#Public"
JSON = "application/activity+json"
Doc = dict[str, Any]


class Bea:
    def __init__(self, port: int) -> None:
        self.port = port
        self.origin = f"http://127.0.0.1:{port}"
        self.id = f"{self.origin}/users/bea"
        public, private = generate_rsa_public_private_key()
        self.profile: Doc = Actor(
            id=self.id,
            inbox=f"{self.id}/inbox",
            outbox=f"{self.id}/outbox",
            followers=f"{self.id}/followers",
            preferred_username="bea",
            name="Bea of bovine",
            public_key=public,
            public_key_name="main-key",
        ).build()
        self.heard: list[Doc] = []
        self.followers: dict[str, Doc] = {}
        self.notes: dict[str, Doc] = {}
        self.count = 0
        self.http = BovineActor(actor_id=self.id, public_key_url=f"{self.id}#main-key", secret=private)
        self.activities, self.objects = factories_for_actor_object(self.profile, id_generator=self.new_id)
        self.signer_of = build_validate_http_signature_raw(self.key)

    def new_id(self) -> str:
        self.count += 1
        return f"{self.origin}/objects/{self.count}"

    async def key(self, id: str) -> CryptographicIdentifier | None:
        document = await self.http.get(id.partition("#")[0], fail_silently=True)
        return CryptographicIdentifier.from_public_key(document["publicKey"]) if document else None

    # What others ask

    async def webfinger(self, asked: web.Request) -> web.Response:
        resource = f"acct:bea@127.0.0.1:{self.port}"
        if asked.query.get("resource") not in (resource, self.id):
            raise web.HTTPNotFound
        links = [{"rel": "self", "type": JSON, "href": self.id}]
        return answer({"subject": resource, "links": links}, kind="application/jrd+json")

    async def actor(self, _asked: web.Request) -> web.Response:
        return answer(self.profile)

    async def collection(self, asked: web.Request) -> web.Response:
        items = list(self.followers) if asked.path.endswith("followers") else []
        id = f"{self.origin}{asked.path}"
        return answer({"id": id, "type": "OrderedCollection", "totalItems": len(items), "orderedItems": items})

    async def object(self, asked: web.Request) -> web.Response:
        found = self.notes.get(f"{self.origin}{asked.path}")
        if found is None:
            raise web.HTTPNotFound
        return answer(found)

    async def inbox(self, asked: web.Request) -> web.Response:
        url = f"{self.origin}{asked.path}"
        headers = {name.lower(): value for name, value in asked.headers.items()}
        signer = await self.signer_of(asked.method, url, headers, asked.read)
        activity = json.loads(await asked.read())
        if signer is None or signer != activity["actor"]:
            raise web.HTTPUnauthorized
        self.heard.append({"kind": activity["type"], "id": activity.get("id"), "actor": signer, "json": activity})
        if activity["type"] == "Follow":
            self.followers[signer] = await self.http.get(signer)
            accept = self.activities.accept(activity).build()
            await self.http.post(self.followers[signer]["inbox"], accept)
        return web.Response(status=202)

    # What the tests order

    async def lookup(self, what: str) -> Doc:
        found = await self.http.get(what)
        return {"id": found["id"], "type": found["type"], "json": found}

    async def follow(self, who: str) -> Doc:
        target = await self.http.get(who)
        await self.http.post(target["inbox"], self.activities.follow(target["id"]).build())
        return {"id": target["id"]}

    async def post(self, content: str, mentions: tuple[str, ...] = ()) -> Doc:
        people = [await self.http.get(who) for who in mentions]
        tags = [Link(type="Mention", href=one["id"]).build() for one in people]
        note = self.objects.note(content=content, tag=tags, cc={one["id"] for one in people}).as_public().now().build()
        self.notes[note["id"]] = note
        create = self.activities.create(note).build()
        inboxes = dict.fromkeys(one["inbox"] for one in [*self.followers.values(), *people])
        for inbox in inboxes:
            await self.http.post(inbox, create)
        return {"id": note["id"]}

    async def like(self, what: str) -> Doc:
        note = await self.http.get(what)
        author = await self.http.get(note["attributedTo"])
        await self.http.post(author["inbox"], self.activities.like(note["id"], to={author["id"]}).build())
        return {"id": note["id"]}

    async def told(self) -> list[Doc]:
        return self.heard

    async def order(self, asked: web.Request) -> web.Response:
        orders: dict[str, Callable[..., Awaitable[Any]]] = {
            "lookup": self.lookup,
            "follow": self.follow,
            "post": self.post,
            "like": self.like,
            "heard": self.told,
        }
        words = await asked.json() if asked.can_read_body else {}
        return web.json_response(await orders[asked.match_info["name"]](**words))


def answer(document: Doc, kind: str = JSON) -> web.Response:
    return web.Response(text=json.dumps(document), content_type=kind)


async def serve(port: int) -> None:
    bea = Bea(port)
    async with ClientSession() as session:
        await bea.http.init(session=session)
        app = web.Application()
        app.router.add_get("/.well-known/webfinger", bea.webfinger)
        app.router.add_get("/users/bea", bea.actor)
        app.router.add_get("/users/bea/{list:followers|outbox}", bea.collection)
        app.router.add_get("/objects/{number}", bea.object)
        app.router.add_post("/users/bea/inbox", bea.inbox)
        app.router.add_post("/orders/{name}", bea.order)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        await asyncio.to_thread(sys.stdin.read)  # it ends with its input


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))

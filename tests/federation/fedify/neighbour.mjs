// A small neighbour on Fedify: one actor that follows, posts and likes, and keeps what it hears.
import http from "node:http";
import { createFederation, generateCryptoKeyPair, InProcessMessageQueue, MemoryKvStore } from "@fedify/fedify";
import {
  Accept, Announce, Create, Delete, Endpoints, Follow, isActor, Like, Mention, Note, Person, PUBLIC_COLLECTION, Undo, Update,
} from "@fedify/vocab";
import { Temporal } from "@js-temporal/polyfill";

const port = Number(process.argv[2]);
const origin = `http://127.0.0.1:${port}`;
const heard = [];
const notes = new Map();
const pairs = [await generateCryptoKeyPair("RSASSA-PKCS1-v1_5"), await generateCryptoKeyPair("Ed25519")];
const federation = createFederation({
  kv: new MemoryKvStore(), queue: new InProcessMessageQueue(), allowPrivateAddress: true, origin,
});

federation.setActorDispatcher("/users/{identifier}", async (context, identifier) => {
  if (identifier !== "fay") return null;
  const keys = await context.getActorKeyPairs(identifier);
  return new Person({
    id: context.getActorUri(identifier), preferredUsername: identifier, name: "Fay of Fedify",
    inbox: context.getInboxUri(identifier), outbox: context.getOutboxUri(identifier),
    followers: context.getFollowersUri(identifier),
    endpoints: new Endpoints({ sharedInbox: context.getInboxUri() }),
    publicKey: keys[0].cryptographicKey, assertionMethods: keys.map((key) => key.multikey),
  });
}).setKeyPairsDispatcher((_context, identifier) => identifier === "fay" ? pairs : []);

const followers = new Map();
federation.setFollowersDispatcher("/users/{identifier}/followers", () => ({
  items: [...followers.values()],
}));
federation.setOutboxDispatcher("/users/{identifier}/outbox", () => ({ items: [] }));
federation.setObjectDispatcher(Note, "/notes/{id}", (_context, { id }) => notes.get(id) ?? null);

const hear = (kind) => async (context, activity) => {
  heard.push({ kind, id: activity.id?.href, actor: activity.actorId?.href, json: await activity.toJsonLd() });
};
const inbox = federation.setInboxListeners("/users/{identifier}/inbox", "/inbox");
inbox.on(Follow, async (context, follow) => {
  await hear("Follow")(context, follow);
  const follower = await follow.getActor(context);
  followers.set(follower.id.href, follower);
  await context.sendActivity({ identifier: "fay" }, follower, new Accept({
    id: new URL(`#accepts/${followers.size}`, context.getActorUri("fay")), actor: context.getActorUri("fay"), object: follow,
  }));
});
for (const kind of [Accept, Undo, Create, Like, Announce, Delete, Update]) inbox.on(kind, hear(kind.name));

const orders = {
  async lookup(context, { what }) {
    const found = await context.lookupObject(what);
    return found && { id: found.id?.href, type: found.constructor.name, json: await found.toJsonLd() };
  },
  async follow(context, { who }) {
    const target = await context.lookupObject(who);
    if (!isActor(target)) throw new Error(`no actor: ${who}`);
    await context.sendActivity({ identifier: "fay" }, target, new Follow({
      id: new URL(`#follows/${Date.now()}`, context.getActorUri("fay")), actor: context.getActorUri("fay"), object: target.id,
    }));
    return { id: target.id.href };
  },
  async post(context, { content, mentions = [] }) {
    const id = String(notes.size + 1);
    const people = await Promise.all(mentions.map((who) => context.lookupObject(who)));
    const note = new Note({
      id: context.getObjectUri(Note, { id }), attribution: context.getActorUri("fay"), content,
      to: PUBLIC_COLLECTION, ccs: [context.getFollowersUri("fay"), ...people.map((one) => one.id)],
      published: Temporal.Now.instant(),
      tags: people.map((one, at) => new Mention({ href: one.id, name: mentions[at] })),
    });
    notes.set(id, note);
    const create = new Create({
      id: new URL(`#creates/${id}`, context.getActorUri("fay")), actor: context.getActorUri("fay"), object: note,
      to: PUBLIC_COLLECTION, ccs: [context.getFollowersUri("fay"), ...people.map((one) => one.id)],
    });
    await context.sendActivity({ identifier: "fay" }, [...followers.values(), ...people], create);
    return { id: note.id.href };
  },
  async like(context, { what }) {
    const note = await context.lookupObject(what);
    const author = await note.getAttribution(context);
    await context.sendActivity({ identifier: "fay" }, author, new Like({
      id: new URL(`#likes/${Date.now()}`, context.getActorUri("fay")), actor: context.getActorUri("fay"), object: note.id,
    }));
    return { id: note.id.href };
  },
  async heard() {
    return heard;
  },
};

const server = http.createServer(async (asked, answer) => {
  const chunks = [];
  for await (const chunk of asked) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  try {
    const url = new URL(asked.url, origin);
    const request = new Request(url, {
      method: asked.method, headers: Object.entries(asked.headers).map(([name, value]) => [name, String(value)]),
      body: ["GET", "HEAD"].includes(asked.method) ? undefined : body,
    });
    if (url.pathname.startsWith("/orders/")) {
      const context = federation.createContext(new URL(origin), undefined);
      const told = await orders[url.pathname.slice(8)](context, body.length ? JSON.parse(body) : {});
      answer.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(told ?? null));
      return;
    }
    const told = await federation.fetch(request, { contextData: undefined });
    answer.writeHead(told.status, Object.fromEntries(told.headers)).end(Buffer.from(await told.arrayBuffer()));
  } catch (error) {
    answer.writeHead(500).end(String(error?.stack ?? error));
  }
});
server.listen(port, "127.0.0.1", () => console.log("ready"));
federation.startQueue(undefined);
process.stdin.on("end", () => process.exit(0)).resume();

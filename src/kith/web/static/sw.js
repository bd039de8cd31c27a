// The worker of the installed app: a page for when there is no network, and notifications that are pushed to this device.
// The server puts `SERVER` before it: the version of our files, what the offline page is made of, and a few words.
// No page and no answer of the API is ever kept here but the one page that says that there is no network.
const CACHE = `offline-${SERVER.version}`;
const HOME = self.location.origin;
const MORE = "/notifications";
const WISHES = "/settings/notifications";
const SUBSCRIPTION = "/api/v1/push/subscription";

self.addEventListener("install", (event) => event.waitUntil(keep()));
self.addEventListener("activate", (event) => event.waitUntil(takeOver()));
self.addEventListener("fetch", answer);
self.addEventListener("push", (event) => event.waitUntil(show(read(event.data))));
self.addEventListener("pushsubscriptionchange", (event) => event.waitUntil(renew(event.newSubscription)));
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data));
});

async function keep() {
  const cache = await caches.open(CACHE);
  await cache.addAll([SERVER.page, ...SERVER.assets].map((address) => new Request(address, { cache: "reload" })));
  await self.skipWaiting();
}

async function takeOver() {
  for (const name of await caches.keys()) if (name !== CACHE) await caches.delete(name);
  // The browser asks for a page while this worker still wakes up.
  await self.registration.navigationPreload?.enable();
  await self.clients.claim();
}

function answer(event) {
  const { request } = event;
  if (request.method !== "GET") return;
  if (request.mode === "navigate") event.respondWith(page(event));
  else if (SERVER.assets.some((address) => request.url === HOME + address)) {
    event.respondWith(fetch(request).catch(() => kept(request.url)));
  }
}

async function page(event) {
  try {
    return (await event.preloadResponse) || (await fetch(event.request));
  } catch {
    return kept(SERVER.page);
  }
}

async function kept(address) {
  return (await caches.match(address, { ignoreVary: true })) || Response.error();
}

function read(data) {
  try {
    const told = data.json();
    return told && typeof told === "object" ? told : {};
  } catch {
    return {};
  }
}

// Something is shown whatever came: browsers take the right to be told away from whoever shows nothing.
function show(told) {
  const text = (name) => (typeof told[name] === "string" ? told[name] : "");
  const language = (text("preferred_locale") || navigator.language).slice(0, 2);
  const words = SERVER.words[language] || SERVER.words.en;
  const title = text("title");
  const id = ["string", "number"].includes(typeof told.notification_id) ? told.notification_id : "";
  return self.registration.showNotification(title || words.title, {
    body: title ? text("body") : words.body,
    icon: text("icon") || SERVER.icon,
    badge: SERVER.icon,
    tag: `notification-${id}`, // what was sent twice is shown once
    dir: "auto",
    data: text("url"),
  });
}

// Browsers and their push services change an address of their own accord: the server is told the new one, and what was
// wished for the old one holds for it. Where nobody is signed in or wishes any, it is given back.
async function renew(given) {
  const answer = await fetch(SUBSCRIPTION);
  if (!answer.ok) return given?.unsubscribe();
  const { alerts, policy, server_key } = await answer.json();
  const made = given ?? (await self.registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: server_key }));
  const page = await (await fetch(WISHES)).text();
  const token = /data-csrf="([^"]+)"/.exec(page)?.[1] ?? "";
  await fetch(SUBSCRIPTION, {
    method: "POST",
    headers: { "X-CSRF-Token": token, "Content-Type": "application/json" },
    body: JSON.stringify({ subscription: { ...made.toJSON(), standard: true }, data: { alerts, policy } }),
  });
}

// A page that is open already comes to the front; none that somebody reads is led away from them.
async function open(said) {
  const wanted = place(said);
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const there = windows.find((one) => one.url.split("#")[0] === wanted);
  return there ? there.focus() : self.clients.openWindow(wanted);
}

function place(said) {
  try {
    const wanted = new URL(said || MORE, HOME);
    if (wanted.origin === HOME) return wanted.href;
  } catch {
    // as below
  }
  return HOME + MORE;
}

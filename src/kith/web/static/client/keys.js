// Shortcuts as Mastodon's users know them. They do nothing while one writes.
const me = document.querySelector(".foot .self a")?.pathname;
const GO = { h: "/home", n: "/notifications", l: "/public/local", t: "/public", d: "/conversations", f: "/favourites", b: "/settings/blocks", s: "/menu", e: "/explore", r: "/follow_requests", p: me && `${me}/featured`, k: "/bookmarks", m: "/settings/mutes", u: me };
let going = false;

const posts = () => [...document.querySelectorAll(".post, .notification[tabindex]")];
const current = () => document.activeElement.closest?.(".post, .notification[tabindex]");

function move(step) {
  const all = posts();
  const here = all.indexOf(current());
  all[here < 0 ? 0 : here + step]?.focus();
}

function press(selector) {
  current()?.querySelector(selector)?.click();
}

function mention(name) {
  if (name) location.assign(`/publish?mention=${encodeURIComponent(name)}`);
}

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  1: () => posts()[0]?.focus(),
  ".": () => document.querySelector(".new-posts")?.click(),
  f: () => press("[data-act=favourite]"),
  b: () => press("[data-act=boost]"),
  d: () => press("[data-act=bookmark]"),
  r: () => press(".reply"),
  ArrowDown: () => current() && move(1),
  ArrowUp: () => current() && move(-1),
  q: () => press('.menu a[href^="/publish?quote="]'),
  t: () => press("[data-translate]"),
  e: () => press("a[data-view]"),
  Backspace: () => history.back(),
  m: () => mention(current()?.querySelector(".names .soft")?.textContent.trim().slice(1)),
  o: () => press(".when a, .short a"),
  Enter: () => press(".when a, .short a"),
  p: () => press(".who"),
  x: () => press("details.veil > summary"),
  h: () => press("details.veil:has(.media) > summary"),
  n: () => (document.getElementById("compose-text") ?? { focus: () => location.assign("/publish") }).focus(),
  s: () => document.getElementById("find").focus(),
  "/": () => document.getElementById("find").focus(),
  "?": () => location.assign("/keyboard-shortcuts"),
};

// With Alt, also while one writes; by the place of the key, for some systems make other letters of it.
const WITH_ALT = {
  KeyN: () => location.assign("/publish"),
  KeyX: () => (document.getElementById("compose-warning") ?? { focus: () => location.assign("/publish") }).focus(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey) return;
  if (event.altKey) {
    if (!WITH_ALT[event.code]) return;
    event.preventDefault();
    WITH_ALT[event.code]();
    return;
  }
  if (event.target.closest("input, textarea, select, [contenteditable]")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.key === "Enter" && event.target !== current()) return;
  const does = going ? GO[event.key] && (() => location.assign(GO[event.key])) : KEYS[event.key];
  going = !going && event.key === "g";
  if (does) {
    if (!event.key.startsWith("Arrow") || current()) event.preventDefault();
    does();
  }
});

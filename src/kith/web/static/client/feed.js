// Timelines without end: older posts are fetched as one nears them; new ones are announced above, and do not push the
// page away from who reads it. The address of a page further down is a real one.
import { on } from "./stream.js";
import { tell } from "./times.js";

const feed = document.getElementById("feed");

export async function page(address) {
  const answer = await fetch(address, { credentials: "same-origin" });
  if (!answer.ok) throw new Error(answer.statusText);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

async function pieces(ids) {
  const context = /^(user|list)/.test(feed?.dataset.stream) ? "home" : "public";
  const read = await page(`/web/pieces?context=${context}&ids=${ids.slice(0, 40).join(",")}`);
  return [...read.querySelectorAll(".post")];
}

function isHere(post) {
  return document.getElementById(post.id) !== null;
}

// In columns the same post may stand several times, so posts have no ids there.
export function place(post, column) {
  if (!column) return !isHere(post);
  for (const one of [post, ...post.querySelectorAll(".post")]) if (one.matches(".post")) one.removeAttribute("id");
  return !column.querySelector(post.matches(".post") ? `:scope > [data-row="${post.dataset.row}"]` : `:scope > #${post.id}`);
}

async function lengthen(onward) {
  const column = onward.closest("[data-column]");
  const link = onward.querySelector("a[rel=next]");
  const address = link.href;
  const more = (await page(address)).querySelector(".feed");
  for (const post of [...more.querySelectorAll(":scope > [id]")]) if (place(post, column)) onward.before(post);
  const next = [...more.querySelectorAll(".onward")].find((one) => one.querySelector("a[rel=next]"));
  const feed = onward.parentElement;
  onward.remove();
  tell(feed);
  if (!next) return;
  const further = next.querySelector("a[rel=next]");
  further.href = new URL(further.getAttribute("href"), address).href;
  feed.append(next);
  return next;
}

function follow(onward) {
  if (!onward?.querySelector("a[rel=next]")) return;
  const watch = new IntersectionObserver(async ([entry]) => {
    if (!entry.isIntersecting) return;
    watch.disconnect();
    try {
      follow(await lengthen(onward));
    } catch {
      // The link stays there, to be pressed.
    }
  }, { root: onward.closest("[data-column]"), rootMargin: "1200px" });
  watch.observe(onward);
}

// Whoever comes back finds the post that they left, however far down it was.
const MOST_PAGES = 15;

function leave() {
  const posts = [...document.querySelectorAll(".feed:not([data-column]) > [id]")];
  const first = posts.find((post) => post.getBoundingClientRect().bottom > 60);
  const left = first && window.scrollY > 80 ? { post: first.id, top: first.getBoundingClientRect().top } : null;
  history.replaceState({ ...history.state, left }, "");
}

async function comeBack() {
  const left = history.state?.left;
  let onward = document.querySelector(".feed:not([data-column]) > .onward:has(a[rel=next])");
  for (let pages = 0; left && onward && pages < MOST_PAGES && !document.getElementById(left.post); pages++) {
    onward = await lengthen(onward).catch(() => null);
  }
  const post = left && document.getElementById(left.post);
  if (post) window.scrollBy({ top: post.getBoundingClientRect().top - left.top, behavior: "instant" });
}

// What is new waits behind a button, which takes no room, unless whoever reads is at the very top.
const waiting = [];
let hasGap = false;
let offered;

function atTop() {
  return window.scrollY < 80 && !feed.contains(document.activeElement);
}

function offer() {
  if (!waiting.length) {
    offered?.remove();
    offered = undefined;
    return;
  }
  if (!offered) {
    offered = document.createElement("div");
    offered.className = "new-place";
    offered.innerHTML = '<button class="new-posts" type="button"></button>';
    offered.firstChild.addEventListener("click", () => showWaiting({ pressed: true }));
    feed.before(offered);
  }
  const { newOne, new: many } = feed.dataset;
  offered.firstChild.textContent = waiting.length === 1 ? newOne : many.replace("{count}", waiting.length);
}

async function showWaiting({ pressed = false } = {}) {
  if (hasGap) return location.reload();
  const ids = waiting.splice(0).filter((id) => !document.getElementById(`post-${id}`)).reverse();
  offer();
  if (!ids.length) return;
  const first = feed.querySelector(".post");
  const posts = (await pieces(ids).catch(() => [])).filter((post) => !isHere(post));
  if (first) first.before(...posts);
  else feed.prepend(...posts);
  feed.querySelector(".empty")?.remove();
  tell(feed);
  if (!pressed) return;
  window.scrollTo({ top: 0 });
  posts[0]?.focus({ preventScroll: true });
}

function announce(id) {
  if (waiting.includes(id) || document.getElementById(`post-${id}`)) return;
  waiting.push(id);
  if (atTop() && !hasGap) showWaiting();
  else offer();
}

// A post as it is now, with what its reader had opened in it.
async function renew(id) {
  const there = [...document.querySelectorAll(`.post[data-id="${id}"]`)];
  if (!there.length) return;
  const rows = [...new Set(there.map((one) => one.dataset.row))];
  for (const fresh of await pieces(rows).catch(() => [])) for (const old of there) {
    if (old.dataset.row !== fresh.dataset.row || !old.isConnected) continue;
    const post = fresh.cloneNode(true);
    if (!old.id) post.removeAttribute("id");
    const had = old.contains(document.activeElement);
    const veils = old.querySelectorAll("details.veil");
    post.querySelectorAll("details.veil").forEach((veil, at) => (veil.open = veils[at]?.open ?? false));
    old.replaceWith(post);
    tell(post);
    if (had) post.focus({ preventScroll: true });
  }
}

function remove(id) {
  const at = waiting.indexOf(id);
  if (at >= 0) {
    waiting.splice(at, 1);
    offer();
  }
  for (const post of document.querySelectorAll(`.post[data-id="${id}"], .post[data-row="${id}"]`)) {
    const next = post.contains(document.activeElement) && (post.nextElementSibling ?? post.previousElementSibling);
    (post.closest(".notification") ?? post).remove();
    if (next) next.focus({ preventScroll: true });
  }
}

// What came while nobody listened. If all of it is new, there may be more between it and what is here.
async function catchUp() {
  if (!feed?.dataset.stream) return;
  const read = await page(location.pathname).catch(() => null);
  const posts = [...(read?.querySelectorAll("#feed > .post") ?? [])];
  hasGap = posts.length > 0 && feed.querySelector(".post") !== null && !posts.some(isHere);
  for (const post of posts.reverse()) announce(post.dataset.row);
}

comeBack().finally(() => {
  for (const onward of document.querySelectorAll(".feed > .onward")) follow(onward);
});
window.addEventListener("pagehide", leave);
if (feed?.dataset.stream) on("update", (data) => announce(JSON.parse(data).id));
on("status.update", (data) => renew(JSON.parse(data).id));
on("delete", remove);
on("catch-up", catchUp);

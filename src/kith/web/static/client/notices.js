// Notifications as they come: the number beside the bell, and lists that renew themselves.
import { call, say } from "./api.js";
import { on } from "./stream.js";
import { tell } from "./times.js";

const badge = document.getElementById("unread");
const list = document.querySelector(".feed[data-live]");

function show(count) {
  if (!badge) return;
  badge.hidden = count === 0;
  badge.firstElementChild.textContent = count < 100 ? count : "99+";
}

// Many may come at once; they are counted once.
let counting;
function count() {
  clearTimeout(counting);
  counting = setTimeout(async () => {
    const told = await call("GET", "/api/v2/notifications/unread_count?limit=100").catch(() => null);
    if (told) show(told.count);
  }, 300);
}

// Whoever looks at the newest has read them.
async function markRead() {
  const form = document.querySelector("form[data-mark-read]");
  if (!form || document.hidden) return;
  const last_read_id = form.elements["notifications[last_read_id]"].value;
  const read = await call("POST", "/api/v1/markers", { notifications: { last_read_id } }).catch(() => null);
  if (!read) return;
  form.remove();
  show(0);
}

async function renew() {
  const answer = await fetch(location.pathname, { credentials: "same-origin" }).catch(() => null);
  if (!answer?.ok) return;
  const read = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = read.querySelector(".feed[data-live]");
  if (!fresh) return;
  list.replaceChildren(...fresh.childNodes);
  const tools = read.querySelector(".tools");
  if (tools) document.querySelector(".tools")?.replaceWith(tools);
  tell(list);
  markRead();
}

let place;
function offer() {
  if (window.scrollY < 80 && !list.contains(document.activeElement)) return renew();
  if (place) return;
  place = document.createElement("div");
  place.className = "new-place";
  place.innerHTML = '<button class="new-posts" type="button"></button>';
  place.firstChild.textContent = list.dataset.new;
  place.firstChild.addEventListener("click", async () => {
    place.remove();
    place = undefined;
    window.scrollTo({ top: 0 });
    await renew();
    list.querySelector(".notification[tabindex], .post")?.focus({ preventScroll: true });
  });
  list.before(place);
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-dismiss]");
  if (!button) return;
  event.preventDefault();
  const row = button.closest(".notification");
  const next = row.nextElementSibling?.querySelector("[data-dismiss]");
  row.hidden = true;
  next?.focus({ preventScroll: true });
  try {
    await call("POST", new URL(button.formAction).pathname.replace("/web/", "/"));
    row.remove();
  } catch (refused) {
    row.hidden = false;
    say(refused.message);
  }
});

// Whoever opens a conversation has read it.
document.addEventListener("click", (event) => {
  const row = event.target.closest(".conversation.new :is(.when a, .menu a, a.reply)")?.closest(".conversation");
  if (row) call("POST", `/api/v1/conversations/${row.dataset.id}/read`).catch(() => {});
});

if (badge) {
  on("notification", count);
  on("catch-up", count);
}
if (list) {
  for (const event of [list.dataset.live, "notifications_merged", "catch-up"]) on(event, offer);
  document.addEventListener("visibilitychange", markRead);
  markRead();
}

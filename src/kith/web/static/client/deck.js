// Columns side by side: each is live, and what is new does not move what one reads.
import { page, place } from "./feed.js";
import { on } from "./stream.js";
import { tell } from "./times.js";

const MOST_STREAMS = 3; // beside the reader's own: browsers open six connections to a server
const PATIENCE = 60000; // where there is no stream left, new posts are asked for so often
const home = document.querySelector("[data-column=home]");
const notices = document.querySelector("[data-column=notifications]");
const columns = [...document.querySelectorAll("[data-deck] [data-column]")];

// Whoever reads further down, or has the keyboard in the column, goes on reading the same line.
function above(column, rows) {
  const stays = column.scrollTop > 40 || column.querySelector(":focus");
  const first = column.querySelector(":scope > .post, :scope > .notification");
  const before = first?.getBoundingClientRect().top;
  column.querySelector(".empty")?.remove();
  column.prepend(...rows);
  tell(column);
  if (first && stays) column.scrollTop += first.getBoundingClientRect().top - before;
}

async function bring(column, id) {
  const context = /^(home|list)/.test(column.dataset.column) ? "home" : "public";
  const read = await page(`/web/pieces?context=${context}&ids=${id}`).catch(() => null);
  const post = read?.querySelector(".post");
  if (post && place(post, column)) above(column, [post]);
}

// What came while nobody listened.
async function renew(column) {
  const read = await page(column.dataset.address).catch(() => null);
  const rows = [...(read?.querySelectorAll(".feed > .post, .feed > .notification") ?? [])];
  above(column, rows.filter((row) => place(row, column)));
}

// A group that has grown stands above, under a new number; the line that it had goes.
async function renewNotices() {
  await renew(notices);
  const seen = new Set();
  for (const row of notices.querySelectorAll(":scope > .notification")) {
    const key = row.querySelector("[data-dismiss]")?.formAction;
    if (key && seen.has(key) && !row.contains(document.activeElement)) row.remove();
    seen.add(key);
  }
}

function remove(id) {
  for (const column of columns) {
    for (const post of column.querySelectorAll(`[data-id="${id}"].post, [data-row="${id}"]`)) post.remove();
  }
}

function listen(column) {
  const source = new EventSource(`/api/v1/streaming/${column.dataset.source}`);
  let lost = false;
  source.addEventListener("update", (event) => bring(column, JSON.parse(event.data).id));
  source.addEventListener("delete", (event) => remove(event.data));
  source.addEventListener("error", () => (lost = true));
  source.addEventListener("open", () => {
    if (lost) renew(column);
    lost = false;
  });
  window.addEventListener("pagehide", () => source.close(), { once: true });
}

if (home) {
  on("update", (data) => bring(home, JSON.parse(data).id));
  on("catch-up", () => renew(home));
}
if (notices) for (const event of ["notification", "notifications_merged", "catch-up"]) on(event, renewNotices);
on("delete", remove);
const sources = columns.filter((column) => column.dataset.source);
sources.slice(0, MOST_STREAMS).forEach(listen);
for (const column of sources.slice(MOST_STREAMS)) setInterval(() => document.hidden || renew(column), PATIENCE);

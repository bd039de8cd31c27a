// Favourites, boosts and bookmarks happen at once, and are taken back if the server refuses.
import { call, say } from "./api.js";

const VERBS = { favourite: ["favourite", "unfavourite"], boost: ["reblog", "unreblog"], bookmark: ["bookmark", "unbookmark"] };
const FIELDS = { favourite: "favourites_count", boost: "reblogs_count" };

function show(button, pressed, count) {
  button.setAttribute("aria-pressed", pressed);
  const [does, undoes] = VERBS[button.dataset.act];
  button.formAction = button.formAction.replace(/[^/]+$/, pressed ? undoes : does);
  if (count === undefined) return;
  let place = button.querySelector(".count");
  if (!place && count > 0) {
    place = document.createElement("span");
    place.className = "count";
    button.append(place);
  }
  if (place) place.textContent = count || "";
}

function same(button) {
  const id = button.closest(".post").dataset.id;
  return document.querySelectorAll(`.post[data-id="${id}"] [data-act="${button.dataset.act}"]`);
}

async function act(button) {
  const path = new URL(button.formAction).pathname.replace("/web/", "/");
  const was = button.getAttribute("aria-pressed") === "true";
  const counted = button.dataset.act in FIELDS;
  const before = Number(button.querySelector(".count")?.textContent || 0);
  const turn = (pressed, count) => same(button).forEach((one) => show(one, pressed, counted ? count : undefined));
  turn(!was, Math.max(0, before + (was ? -1 : 1)));
  try {
    const told = await call("POST", path);
    const status = told.reblog ?? told;
    turn(!was, status[FIELDS[button.dataset.act]]);
  } catch (refused) {
    turn(was, before);
    say(refused.message);
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-act]");
  if (!button || button.disabled) return;
  event.preventDefault();
  if (!button.dataset.busy) {
    button.dataset.busy = "yes";
    act(button).finally(() => delete button.dataset.busy);
  }
});

// One menu is open at a time, and any click elsewhere or Escape closes it.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});
document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && document.querySelector("details.menu[open]");
  if (menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

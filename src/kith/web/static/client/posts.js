// Posts: pictures open in a viewer and are cropped around their point, and translations appear below the text.
import { say } from "./api.js";

function crop(root = document) {
  for (const link of root.querySelectorAll("a[data-focus]")) {
    const [x, y] = link.dataset.focus.split(",").map(Number);
    const image = link.querySelector("img");
    if (image) image.style.objectPosition = `${(x + 1) * 50}% ${(1 - y) * 50}%`;
  }
}

async function translate(button) {
  const post = button.closest(".post");
  button.closest("details.menu").open = false;
  if (post.querySelector(".translation")) return;
  const body = new FormData();
  body.append("csrf", document.body.dataset.csrf);
  const answer = await fetch(button.formAction, { method: "POST", body, credentials: "same-origin" });
  const read = new DOMParser().parseFromString(await answer.text(), "text/html");
  const told = read.querySelector(".translation");
  if (!told) return say(read.querySelector(".notice.error")?.textContent ?? answer.statusText);
  told.tabIndex = -1;
  post.querySelector(".acts").before(told);
  told.focus();
}

document.addEventListener("click", async (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  const picture = event.target.closest("a[data-view]");
  const translation = event.target.closest("button[data-translate]");
  if (picture) {
    event.preventDefault();
    (await import("./viewer.js")).view(picture);
  } else if (translation) {
    event.preventDefault();
    translate(translation).catch(() => document.getElementById("act").requestSubmit(translation));
  }
});

// Whoever wants less motion presses a film's own button.
const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
function still(root = document) {
  for (const film of isStill ? root.querySelectorAll("video[autoplay]") : []) {
    film.autoplay = false;
    film.pause();
  }
}

crop();
still();
new MutationObserver((changes) => {
  for (const change of changes) for (const node of change.addedNodes) {
    if (node.nodeType !== 1) continue;
    crop(node);
    still(node);
  }
}).observe(document.getElementById("main"), { childList: true, subtree: true });

// An answer is written below the post that it answers, and appears there.
import { say } from "./api.js";
import { wake } from "./compose.js";
import { tell } from "./times.js";

// A page may have several forms: each has ids of its own.
function renamed(root, mark) {
  for (const one of root.querySelectorAll("[id]")) one.id += mark;
  for (const one of root.querySelectorAll("[for]")) one.htmlFor += mark;
  for (const one of root.querySelectorAll("[aria-describedby]")) one.setAttribute("aria-describedby", one.getAttribute("aria-describedby") + mark);
}

async function read(address) {
  const answer = await fetch(address, { credentials: "same-origin" });
  if (!answer.ok) throw new Error(answer.statusText);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

async function open(link, post) {
  const page = await read(link.href);
  const form = page.querySelector("form[data-compose]");
  const place = document.createElement("div");
  place.className = "answering";
  place.append(page.querySelector("template[data-file]"), form);
  renamed(place, `-${link.dataset.reply}`);
  const cancel = document.createElement("button");
  Object.assign(cancel, { type: "button", className: "quiet small", textContent: form.dataset.cancel });
  cancel.addEventListener("click", () => {
    place.remove();
    link.focus();
  });
  form.querySelector(".below").prepend(cancel);
  form.addEventListener("kith:sent", (event) => {
    if (!event.detail.to.includes("#post-")) return;
    event.preventDefault();
    shown(event.detail.id, place, form.dataset.sent);
  });
  post.after(place);
  wake(form);
  const text = form.elements.status;
  text.focus();
  text.setSelectionRange(text.value.length, text.value.length);
}

async function shown(id, place, words) {
  const piece = (await read(`/web/pieces?ids=${id}`)).querySelector(".post");
  if (piece && !document.getElementById(piece.id)) place.replaceWith(piece);
  else place.remove();
  tell();
  say(words);
  document.getElementById(`post-${id}`)?.focus();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-reply]");
  const post = link?.closest(".post");
  if (!post || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (post.nextElementSibling?.matches(".answering")) post.nextElementSibling.querySelector("textarea[name=status]").focus();
  else open(link, post).catch(() => location.assign(link.href));
});

// Choosing an emoji: by its name, or by looking. Arrow keys move from one to the next.
import { drawn, emoji, search } from "./emoji.js";

function put(text, words) {
  text.setRangeText(words, text.selectionStart, text.selectionEnd, "end");
  text.dispatchEvent(new Event("input", { bubbles: true }));
}

function heading(words) {
  const made = document.createElement("h2");
  made.textContent = words;
  return made;
}

function grid(all, chosen) {
  const made = document.createElement("div");
  made.className = "emoji-grid";
  for (const one of all) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "plain", title: one.name, tabIndex: -1 });
    button.append(drawn(one));
    button.addEventListener("click", () => chosen(one));
    made.append(button);
  }
  return made;
}

function move(list, event) {
  const buttons = [...list.querySelectorAll("button")];
  const place = buttons.indexOf(document.activeElement);
  const wide = Math.max(1, Math.floor(list.clientWidth / 44));
  const sense = getComputedStyle(list).direction === "rtl" ? -1 : 1;
  const step = { ArrowRight: sense, ArrowLeft: -sense, ArrowDown: wide, ArrowUp: -wide }[event.key];
  if (!step || place < 0) return;
  event.preventDefault();
  buttons[Math.max(0, Math.min(buttons.length - 1, place + step))].focus();
}

export async function open(form, text) {
  const dialog = document.createElement("dialog");
  dialog.className = "emoji-picker";
  dialog.setAttribute("aria-label", form.dataset.search);
  dialog.addEventListener("keydown", (event) => event.stopPropagation()); // or the page's shortcuts would act behind it
  const field = document.createElement("input");
  Object.assign(field, { type: "search", placeholder: form.dataset.search, maxLength: 60 });
  field.setAttribute("aria-label", form.dataset.search);
  const list = document.createElement("div");
  list.className = "emoji-choices";
  const close = document.createElement("button");
  Object.assign(close, { type: "button", className: "quiet small", textContent: form.dataset.close });
  close.addEventListener("click", () => dialog.close());
  const chosen = (one) => {
    dialog.close();
    put(text, `${one.text} `);
  };
  const show = async () => {
    const asked = field.value;
    const { own, groups } = await emoji();
    const found = asked.trim() ? [{ name: "", emoji: await search(asked, 100) }] : [{ name: form.dataset.own, emoji: own }, ...groups];
    if (asked !== field.value) return;
    list.replaceChildren();
    for (const group of found.filter((one) => one.emoji.length)) list.append(...(group.name ? [heading(group.name)] : []), grid(group.emoji, chosen));
    const first = list.querySelector("button");
    if (first) first.tabIndex = 0;
    else list.textContent = form.dataset.none;
  };
  field.addEventListener("input", show);
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") list.querySelector("button")?.focus();
    if (event.key === "Enter") {
      event.preventDefault();
      list.querySelector("button")?.click();
    }
  });
  list.addEventListener("keydown", (event) => move(list, event));
  dialog.addEventListener("close", () => {
    dialog.remove();
    text.focus();
  });
  dialog.append(field, list, close);
  document.body.append(dialog);
  dialog.showModal();
  field.focus();
  await show().catch(() => (list.textContent = form.dataset.offline));
}

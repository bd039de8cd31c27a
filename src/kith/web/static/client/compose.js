// Writing: characters are counted as the server counts them, what is being written is kept until it is sent, and the
// page stays where it is. What few need (files, emoji, suggestions) is loaded when it is needed.
import { say } from "./api.js";
import { graphemes, length } from "./counting.js";
import { localFields, tell } from "./times.js";

const ABOUT = ["in_reply_to_id", "quoted_status_id", "editing", "replacing"];

function drafts(form) {
  const key = ["kith-draft", document.body.dataset.me, ...ABOUT.map((name) => form.elements[name]?.value ?? "")].join(":");
  const attempt = (does) => {
    try {
      return does();
    } catch {
      return null; // a browser that keeps nothing
    }
  };
  return {
    read: () => attempt(() => JSON.parse(localStorage.getItem(key))),
    keep: (draft) => attempt(() => localStorage.setItem(key, JSON.stringify(draft))),
    drop: () => attempt(() => localStorage.removeItem(key)),
  };
}

function notice(form, words, kind = "error") {
  form.querySelector(".notice.told")?.remove();
  const place = document.createElement("p");
  place.className = `notice ${kind} told`;
  place.setAttribute("role", kind === "error" ? "alert" : "status");
  place.textContent = words;
  form.prepend(place);
  return place;
}

function restore(form, kept, text) {
  const draft = kept.read();
  const begun = text.value;
  if (!draft?.status?.trim() || draft.status === begun || form.querySelector(".notice.error")) return;
  if (begun.trim() && !draft.status.startsWith(begun) && !form.elements.editing?.value) return;
  text.value = draft.status;
  if (form.elements.spoiler_text && draft.spoiler_text) form.elements.spoiler_text.value = draft.spoiler_text;
  const place = notice(form, form.dataset.kept, "quietly");
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "quiet small", textContent: form.dataset.discard });
  button.addEventListener("click", () => {
    kept.drop();
    text.value = begun;
    place.remove();
    text.dispatchEvent(new Event("input"));
    text.focus();
  });
  place.append(" ", button);
}

async function send(form, kept) {
  if (Number(form.dataset.uploads)) return void notice(form, form.dataset.wait);
  const buttons = form.querySelectorAll("button[type=submit]");
  for (const button of buttons) button.disabled = true;
  try {
    const answer = await fetch(form.action, { method: "POST", body: new FormData(form), headers: { Accept: "application/json" }, credentials: "same-origin" });
    const told = await answer.json().catch(() => null);
    if (told?.to) {
      kept.drop();
      form.dispatchEvent(new CustomEvent("kith:sent", { detail: told, cancelable: true }));
    } else if (told?.error) {
      if (form.elements.replacing) form.elements.replacing.value = told.replacing ?? "";
      notice(form, told.words);
    } else form.submit(); // whatever the server has to say, it says on a page
  } catch {
    notice(form, form.dataset.offline);
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}

function clear(form) {
  form.reset();
  form.querySelector(".notice.told")?.remove();
  for (const details of form.querySelectorAll("details[open]")) details.open = false;
  for (const file of form.querySelectorAll(".attached-file")) file.remove();
  form.elements.status.dispatchEvent(new Event("input"));
}

async function above(feed, id) {
  const answer = await fetch(`/web/pieces?ids=${id}`, { credentials: "same-origin" });
  const post = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(".post");
  if (!post || document.getElementById(post.id)) return;
  const first = feed.querySelector(".post");
  first ? first.before(post) : feed.prepend(post);
  feed.querySelector(".empty")?.remove();
  tell(feed);
}

async function afterwards(event) {
  if (event.defaultPrevented) return;
  const form = event.target;
  const { id, to } = event.detail;
  const feed = document.querySelector("#feed[data-stream=user]");
  if (feed && to.includes("#post-")) {
    await above(feed, id);
    clear(form);
    say(form.dataset.sent);
    return;
  }
  location.assign(to);
  if (new URL(to, location.href).pathname === location.pathname) location.reload();
}

// The short form of a timeline becomes the whole one, with what was written in it.
async function grow(form, files = []) {
  const page = await fetch("/publish", { credentials: "same-origin" });
  const read = new DOMParser().parseFromString(await page.text(), "text/html");
  const whole = read.querySelector("form[data-compose]");
  const template = read.querySelector("template[data-file]");
  whole.elements.status.value = form.elements.status.value;
  whole.elements.visibility.value = form.elements.visibility.value;
  whole.elements.next.value = form.elements.next.value;
  form.replaceWith(template, whole);
  wake(whole);
  whole.elements.status.focus();
  if (files.length) (await filesOf(whole)).add(files);
}

async function filesOf(form) {
  form.files ??= import("./compose_files.js").then((module) => module.wake(form, (words) => notice(form, words), picker));
  return form.files;
}

// A button and its field for files, in place of what works without a script.
function picker(details, take) {
  const field = document.createElement("input");
  Object.assign(field, { type: "file", multiple: true, hidden: true, accept: details.querySelector("input[type=file]").accept });
  field.addEventListener("change", () => {
    take([...field.files]);
    field.value = "";
  });
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "quiet small" });
  button.append(...details.querySelector("summary").childNodes);
  button.addEventListener("click", () => field.click());
  return [button, field];
}

function takeFiles(form, files) {
  if (!files.length) return false;
  if (form.querySelector("[data-media]")) filesOf(form).then((taking) => taking.add(files));
  else grow(form, files);
  return true;
}

export function wake(form) {
  const text = form.elements.status;
  const left = form.querySelector("[data-left]");
  const limit = Number(form.dataset.limit);
  const kept = drafts(form);

  const count = () => {
    const used = length(text.value) + graphemes(form.elements.spoiler_text?.value ?? "");
    const over = used > limit;
    left.textContent = (over ? form.dataset.over : form.dataset.leftWords).replace("{count}", Math.abs(limit - used));
    left.classList.toggle("over", over);
  };
  restore(form, kept, text);
  localFields(form);
  form.addEventListener("input", () => {
    count();
    const draft = { status: text.value, spoiler_text: form.elements.spoiler_text?.value ?? "" };
    draft.status.trim() ? kept.keep(draft) : kept.drop();
  });
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    if (event.ctrlKey || event.metaKey) form.requestSubmit();
    else if (event.target.matches("input:not([type=file])")) {
      event.preventDefault(); // whoever fills in a line has not finished the post
      const lines = [...form.querySelectorAll("textarea, input:not([type=hidden], [type=file])")].filter((one) => one.checkVisibility());
      lines[lines.indexOf(event.target) + 1]?.focus();
    }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form, kept);
  });
  form.addEventListener("kith:sent", afterwards);
  text.addEventListener("paste", (event) => {
    if (takeFiles(form, [...event.clipboardData.files])) event.preventDefault();
  });
  form.addEventListener("dragover", (event) => {
    if (event.dataTransfer.types.includes("Files")) event.preventDefault();
  });
  form.addEventListener("drop", (event) => {
    if (takeFiles(form, [...event.dataTransfer.files])) event.preventDefault();
  });
  form.querySelector("[data-whole]")?.addEventListener("click", (event) => {
    event.preventDefault();
    grow(form);
  });
  const pick = form.querySelector("[data-grow]");
  if (pick) pick.replaceWith(...picker(pick, (files) => takeFiles(form, files)));
  const emoji = form.querySelector("[data-emoji]");
  emoji.hidden = false;
  emoji.addEventListener("click", async () => (await import("./emoji_picker.js")).open(form, text));
  text.addEventListener("focus", async () => (await import("./completion.js")).wake(form, text), { once: true });
  if (document.activeElement === text) import("./completion.js").then((module) => module.wake(form, text));
  if (form.querySelector("[data-media]")) filesOf(form);
  count();
}

for (const form of document.querySelectorAll("form[data-compose]")) wake(form);

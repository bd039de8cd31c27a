// Files of a post: chosen, pasted or dropped, sent at once with their progress, described, and cropped around a point.
import { call, plain } from "./api.js";

const MOST = 4;

function filled(words, values) {
  return Object.entries(values).reduce((said, [name, value]) => said.replace(`{${name}}`, value), words);
}

function button(words, does) {
  const made = document.createElement("button");
  Object.assign(made, { type: "button", className: "quiet small", textContent: words });
  made.addEventListener("click", does);
  return made;
}

function upload(form, file, request, told) {
  return new Promise((resolve, reject) => {
    const body = new FormData();
    body.append("file", file);
    request.open("POST", "/api/v2/media");
    request.setRequestHeader("X-CSRF-Token", document.body.dataset.csrf);
    request.setRequestHeader("Accept-Language", document.documentElement.lang);
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => told(event.loaded / event.total));
    request.addEventListener("load", () => (request.status < 300 ? resolve([request.response, request.status]) : reject(new Error(plain(request.response?.error ?? "")))));
    request.addEventListener("error", () => reject(new Error(form.dataset.unreachable)));
    request.addEventListener("abort", () => reject(null));
    request.send(body);
  });
}

// Films and sound are made ready after they have arrived.
async function ready(medium) {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const answer = await fetch(`/api/v1/media/${medium.id}`, { headers: { "X-CSRF-Token": document.body.dataset.csrf }, credentials: "same-origin" });
    const told = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(plain(told.error ?? ""));
    if (answer.status === 200) return told;
  }
}

// The dialog in which the point of a picture is chosen.
function choosePoint(form, image, select) {
  const dialog = document.createElement("dialog");
  dialog.className = "pointing";
  dialog.setAttribute("aria-label", form.dataset.point);
  dialog.addEventListener("keydown", (event) => event.stopPropagation()); // or the page's shortcuts would act behind it
  const help = document.createElement("p");
  help.textContent = form.dataset.pointHelp;
  const area = document.createElement("div");
  area.className = "area";
  area.tabIndex = 0;
  area.setAttribute("role", "application");
  area.setAttribute("aria-label", form.dataset.pointHelp);
  const picture = new Image();
  picture.src = image.src;
  picture.alt = "";
  const dot = document.createElement("span");
  dot.className = "dot";
  area.append(picture, dot);
  let [x, y] = (select.value || "0,0").split(",").map(Number);
  const show = () => {
    x = Math.max(-1, Math.min(1, x));
    y = Math.max(-1, Math.min(1, y));
    dot.style.left = `${(x + 1) * 50}%`;
    dot.style.top = `${(1 - y) * 50}%`;
  };
  area.addEventListener("pointerdown", (event) => {
    const box = picture.getBoundingClientRect();
    x = ((event.clientX - box.left) / box.width) * 2 - 1;
    y = 1 - ((event.clientY - box.top) / box.height) * 2;
    show();
  });
  area.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[event.key];
    if (!step) return;
    event.preventDefault();
    x += step[0];
    y += step[1];
    show();
  });
  const done = button(form.dataset.done, () => {
    const value = `${x.toFixed(2)},${y.toFixed(2)}`;
    let option = select.querySelector("[data-chosen]");
    if (!option) {
      option = new Option(form.dataset.chosen, value);
      option.dataset.chosen = "";
      select.append(option);
    }
    option.value = value;
    select.value = value;
    dialog.close();
  });
  dialog.append(help, area, done);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  show();
  dialog.showModal();
  area.focus();
}

function named(row, id) {
  row.querySelector("input[type=checkbox]").value = id;
  for (const [selector, name] of [["textarea", "descriptions"], ["select", "focus"]]) {
    const field = row.querySelector(selector);
    if (!field) continue;
    const label = row.querySelector(`[for="${field.id}"]`);
    field.name = `${name}[${id}]`;
    field.id = `${name}-${id}`;
    if (label) label.htmlFor = field.id;
  }
}

// With a script, a file that is not wanted is removed rather than left unticked.
function dress(form, row, uploaded) {
  const tick = row.querySelector(".tick");
  tick.hidden = true;
  tick.after(
    button(form.dataset.remove, () => {
      const id = row.querySelector("input[type=checkbox]").value;
      row.remove();
      form.elements.status.focus();
      if (uploaded && id) call("DELETE", `/api/v1/media/${id}`).catch(() => {});
    }),
  );
  const select = row.querySelector("[data-focus] select");
  const image = row.querySelector(".look img");
  if (select && image) select.after(button(form.dataset.point, () => choosePoint(form, image, select)));
}

function blank(form, file) {
  const template = form.previousElementSibling;
  const row = template.content.firstElementChild.cloneNode(true);
  row.querySelector("legend").textContent = file.name;
  if (file.type.startsWith("image/")) {
    const image = new Image(96, 96);
    image.src = URL.createObjectURL(file);
    image.alt = "";
    row.querySelector(".look").append(image);
  } else row.querySelector("[data-focus]").remove();
  return row;
}

// What the server would refuse is not sent there first.
function refusal(form, file, kinds) {
  if (file.type && kinds.length && !kinds.includes(file.type)) return form.dataset.kind;
  const most = Number(file.type.startsWith("image/") ? form.dataset.mostImage : form.dataset.mostOther);
  return most && file.size > most ? form.dataset.large.replace("{size}", Math.floor(most / 1048576)) : "";
}

async function take(form, file, problem) {
  const row = blank(form, file);
  const fields = [...row.children].at(-1);
  fields.hidden = true;
  const box = row.querySelector("input[type=checkbox]");
  box.checked = false;
  const bar = document.createElement("progress");
  bar.max = 1;
  bar.setAttribute("aria-label", filled(form.dataset.uploading, { name: file.name }));
  const request = new XMLHttpRequest();
  const stop = button(form.dataset.cancel, () => request.abort());
  fields.before(bar, stop);
  form.querySelector("[data-media]").append(row);
  const counted = (by) => (form.dataset.uploads = Number(form.dataset.uploads ?? 0) + by);
  counted(1);
  try {
    const [medium, status] = await upload(form, file, request, (share) => (bar.value = share));
    stop.remove();
    if (status === 202) {
      bar.removeAttribute("value");
      bar.setAttribute("aria-label", filled(form.dataset.working, { name: file.name }));
      await ready(medium);
    }
    named(row, medium.id);
    box.checked = true;
    bar.remove();
    fields.hidden = false;
    dress(form, row, true);
    const writes = document.activeElement?.matches("textarea, input:not([type=file])"); // and goes on writing there
    if (!writes) row.querySelector("textarea").focus();
  } catch (refused) {
    row.remove();
    if (refused) problem(filled(form.dataset.failed, { name: file.name, why: refused.message }));
    else form.elements.status.focus();
  } finally {
    counted(-1);
  }
}

export function wake(form, problem, picker) {
  const details = form.querySelector("[data-pick]");
  const kinds = (details?.querySelector("input[type=file]").accept ?? "").split(",").filter(Boolean);
  const add = (files) => {
    const room = MOST - form.querySelectorAll(".attached-file").length;
    if (files.length > room) problem(form.dataset.many);
    for (const file of files.slice(0, room)) {
      const why = refusal(form, file, kinds);
      if (why) problem(filled(form.dataset.failed, { name: file.name, why }));
      else take(form, file, problem);
    }
  };
  for (const row of form.querySelectorAll(".attached-file")) dress(form, row, false);
  if (details) details.replaceWith(...picker(details, add));
  return { add };
}

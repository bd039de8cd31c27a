// Stages of a flow can be dragged, or moved with Alt and the arrow keys. Either sends the form that the buttons send.
const list = document.querySelector("[data-flow]");
const form = document.getElementById("moving");
const steps = () => [...list.querySelectorAll("[data-step]")];

function move(step, before) {
  form.elements.step.value = step.dataset.step;
  form.elements.before.value = before ? before.dataset.step : "";
  form.requestSubmit();
}

let held = null;

for (const step of steps()) {
  step.draggable = true;
  step.tabIndex = 0;
  step.addEventListener("dragstart", (event) => {
    held = step;
    step.classList.add("held");
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", step.dataset.step);
  });
  step.addEventListener("dragend", () => {
    held = null;
    for (const one of list.children) one.classList.remove("held", "over", "under");
  });
  step.addEventListener("dragover", (event) => {
    if (!held || held === step) return;
    event.preventDefault();
    const { top, height } = step.getBoundingClientRect();
    const under = event.clientY > top + height / 2;
    step.classList.toggle("under", under);
    step.classList.toggle("over", !under);
  });
  step.addEventListener("dragleave", () => step.classList.remove("over", "under"));
  step.addEventListener("drop", (event) => {
    if (!held || held === step) return;
    event.preventDefault();
    const all = steps();
    const before = step.classList.contains("under") ? all[all.indexOf(step) + 1] : step;
    if (before !== held) move(held, before);
  });
  step.addEventListener("keydown", (event) => {
    if (!event.altKey || event.target !== step) return;
    const all = steps();
    const place = all.indexOf(step);
    if (event.key === "ArrowUp" && place > 0) move(step, all[place - 1]);
    else if (event.key === "ArrowDown" && place < all.length - 1) move(step, all[place + 2]);
    else return;
    event.preventDefault();
  });
}

const words = document.createElement("p");
words.className = "soft";
words.textContent = list.dataset.said;
list.before(words);
if (location.hash.startsWith("#s-")) document.getElementById(location.hash.slice(1))?.focus();

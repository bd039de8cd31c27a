// What only a script can do: passkeys, showing a password, a piece of work that shows a browser is there, forms that
// send themselves. All else needs no script.
"use strict";

// Words for browsers without scripts stand there until this line is reached, also where scripts are merely blocked.
for (const words of document.querySelectorAll("[data-without-script]")) words.hidden = true;
for (const words of document.querySelectorAll("[data-with-script]")) words.hidden = false;

function send(form, name, value) {
  const field = document.createElement("input");
  field.type = "hidden";
  field.name = name;
  field.value = value;
  form.append(field);
  form.submit();
}

async function askDevice(button) {
  const options = JSON.parse(button.dataset.options);
  const makes = button.dataset.passkey === "create";
  const found = makes
    ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
    : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
  send(button.form, button.dataset.field, JSON.stringify(found.toJSON()));
}

for (const button of document.querySelectorAll("button[data-passkey]")) {
  if (!window.PublicKeyCredential || !PublicKeyCredential.parseRequestOptionsFromJSON) continue;
  const problem = document.getElementById(button.dataset.problem);
  button.hidden = false;
  button.addEventListener("click", async () => {
    problem.hidden = true;
    button.disabled = true;
    try {
      await askDevice(button);
    } catch (error) {
      problem.hidden = false;
      button.disabled = false;
    }
  });
}

// A password is shown while its button is pressed down, and never sent on as plain text for browsers to remember.
for (const field of document.querySelectorAll("input[data-show]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet reveal";
  button.textContent = field.dataset.show;
  button.setAttribute("aria-controls", field.id);
  button.setAttribute("aria-describedby", field.id + "-label");
  const label = document.querySelector(`label[for="${field.id}"]`);
  if (label) label.id = field.id + "-label";
  const turn = (shown) => {
    field.type = shown ? "text" : "password";
    button.textContent = shown ? field.dataset.hide : field.dataset.show;
  };
  button.addEventListener("click", () => turn(field.type === "password"));
  field.form.addEventListener("submit", () => turn(false));
  field.after(button);
}

async function isWorked(text, bits) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  for (let bit = 0; bit < bits; bit++) {
    if (digest[bit >> 3] & (0x80 >> (bit & 7))) return false;
  }
  return true;
}

async function work(element) {
  const { work: challenge, bits } = element.dataset;
  for (let start = 0; ; start += 256) {
    const tries = Array.from({ length: 256 }, (_, index) => `${challenge}:${start + index}`);
    const right = (await Promise.all(tries.map((text) => isWorked(text, Number(bits))))).indexOf(true);
    if (right >= 0) return tries[right];
  }
}

for (const form of document.querySelectorAll("form[data-work]")) {
  work(form).then((token) => send(form, "token", token));
}

// Where the work is done beside other questions, the form can be sent once it is done.
for (const field of document.querySelectorAll("input[data-work]")) {
  const buttons = field.form.querySelectorAll("button[type=submit]");
  for (const button of buttons) button.disabled = true;
  work(field).then((token) => {
    field.value = token;
    for (const button of buttons) button.disabled = false;
  });
}

// A form that only carries an answer on its way.
for (const form of document.querySelectorAll("form[data-send]")) form.submit();

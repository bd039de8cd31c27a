// What only a script can do: passkeys, a piece of work that shows a browser is there, forms that send themselves.
// All else needs no script.
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

async function isWorked(text, bits) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  for (let bit = 0; bit < bits; bit++) {
    if (digest[bit >> 3] & (0x80 >> (bit & 7))) return false;
  }
  return true;
}

async function work(form) {
  const { work: challenge, bits } = form.dataset;
  for (let start = 0; ; start += 256) {
    const tries = Array.from({ length: 256 }, (_, index) => `${challenge}:${start + index}`);
    const right = (await Promise.all(tries.map((text) => isWorked(text, Number(bits))))).indexOf(true);
    if (right >= 0) return send(form, "token", tries[right]);
  }
}

for (const form of document.querySelectorAll("form[data-work]")) work(form);

// A form that only carries an answer on its way.
for (const form of document.querySelectorAll("form[data-send]")) form.submit();

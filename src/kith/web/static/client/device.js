// Notifications on this device: the browser is asked for its consent and an address, which the server then sends to.
import { call } from "./api.js";

const place = document.querySelector("[data-device]");
const button = place.querySelector("[data-turn-on]");
const form = place.querySelector("[data-turn-off]");
const refusal = place.querySelector("[data-refusal]");

function show(state) {
  for (const words of place.querySelectorAll("[data-state]")) words.hidden = words.dataset.state !== state;
  button.hidden = !["off", "lost", "failed"].includes(state);
  refusal.hidden = true;
}

function bytes(text) {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (one) => one.charCodeAt(0));
}

async function registration() {
  await navigator.serviceWorker.register("/sw.js");
  return navigator.serviceWorker.ready;
}

async function held() {
  return (await registration()).pushManager.getSubscription();
}

async function look() {
  if (!("serviceWorker" in navigator && "PushManager" in window && "Notification" in window)) return show("unsupported");
  if (Notification.permission === "denied") return show("blocked");
  if (!place.dataset.endpoint) return show("off");
  show((await held())?.endpoint === place.dataset.endpoint ? "on" : "lost");
}

async function turnOn() {
  if ((await Notification.requestPermission()) !== "granted") return look();
  const { pushManager } = await registration();
  // One that was made for somebody else, or for another key of the server, is of no use.
  await (await pushManager.getSubscription())?.unsubscribe();
  let made;
  try {
    made = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(place.dataset.key) });
  } catch {
    return show("failed");
  }
  const data = { alerts: JSON.parse(place.dataset.alerts), policy: "all" };
  try {
    await call("POST", "/api/v1/push/subscription", { subscription: { ...made.toJSON(), standard: true }, data });
  } catch (refused) {
    await made.unsubscribe();
    show("failed");
    if (!refused.message) return;
    place.querySelector('[data-state="failed"]').hidden = true;
    refusal.textContent = refused.message;
    refusal.hidden = false;
    return;
  }
  location.reload();
}

button.addEventListener("click", async () => {
  button.disabled = true;
  await turnOn().catch(() => show("failed"));
  button.disabled = false;
});

// The browser gives its address back, and the server forgets it by the form.
form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  await held()
    .then((one) => one?.unsubscribe())
    .catch(() => {});
  form.submit();
});

look().catch(() => show("unsupported"));

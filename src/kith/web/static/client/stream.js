// What happens while a page is open. A page that nobody looks at for a while hears nothing, for a browser has few
// connections for all its pages; it catches up when it is seen again, and so it does after a connection was lost.
const PATIENCE = 20000;
const EVENTS = [
  "update", "status.update", "delete", "notification", "notifications_merged", "conversation",
  "announcement", "announcement.reaction", "announcement.delete",
];
const does = new Map();
let sources = [];
let leaving;

// "catch-up" comes after anything may have been missed.
export function on(event, act) {
  does.set(event, [...(does.get(event) ?? []), act]);
}

function tell(event, data) {
  for (const act of does.get(event) ?? []) act(data);
}

// The stream of one's home has everything; any other has its own posts only.
function wanted() {
  const own = document.querySelector("[data-stream]")?.dataset.stream;
  if (!document.body.dataset.me) return [];
  if (own === "user") return ["user"];
  return own ? [own, "user/notification"] : ["user/notification"];
}

function open(stream) {
  const source = new EventSource(`/api/v1/streaming/${stream.replace(":", "/")}`);
  let lost = false;
  for (const event of EVENTS) source.addEventListener(event, ({ data }) => tell(event, data));
  source.addEventListener("error", () => (lost = true));
  source.addEventListener("open", () => {
    if (lost) tell("catch-up");
    lost = false;
  });
  return source;
}

function close() {
  for (const source of sources) source.close();
  sources = [];
}

function listen() {
  clearTimeout(leaving);
  if (sources.length) return;
  sources = wanted().map(open);
}

export function start() {
  if (!document.hidden) listen();
  let heard = !document.hidden;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      leaving = setTimeout(close, PATIENCE);
      return;
    }
    const missed = heard && !sources.length;
    listen();
    heard = true;
    if (missed) tell("catch-up");
  });
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", ({ persisted }) => {
    if (!persisted) return;
    listen();
    tell("catch-up");
  });
}

// Whoever waits for the network sees the page they wanted as soon as it is back. Browsers say that it is as soon as there
// is a line, over which the server may not be reached yet: so it is asked first, and again after a while.
const PATIENCE = 3000;

async function look() {
  if (!navigator.onLine || document.hidden || location.pathname === "/offline") return;
  const answer = await fetch("/offline", { cache: "no-store" }).catch(() => null);
  if (answer?.ok) location.reload();
}

addEventListener("online", look);
setInterval(look, PATIENCE);

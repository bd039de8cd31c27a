// What scripts add to pages that work without them: each module brings its own part to life.
import "./times.js";
import "./acts.js";
import "./feed.js";
import "./notices.js";
import "./announcements.js";
import "./compose.js";
import "./replies.js";
import "./posts.js";
import "./keys.js";
import { start } from "./stream.js";

start();
if (document.querySelector("[data-deck]")) import("./deck.js");
if (document.querySelector("[data-device]")) import("./device.js");
if ("serviceWorker" in navigator) addEventListener("load", () => import("./worker.js"));

// The tab that one is on can be seen where there is no room for all of them.
for (const tab of document.querySelectorAll(".tabs [aria-current]")) {
  const tabs = tab.parentElement;
  tabs.scrollLeft += tab.getBoundingClientRect().left - tabs.getBoundingClientRect().left - tabs.clientWidth / 3;
}

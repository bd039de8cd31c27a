// What the team announces while one's home is open. Everybody hears of it at once: so nothing is fetched for it.
import { on } from "./stream.js";

const find = (id) => document.getElementById(`announcement-${id}`);

on("announcement.delete", (id) => find(id)?.remove());

on("announcement.reaction", (data) => {
  const { name, count, announcement_id } = JSON.parse(data);
  const button = [...(find(announcement_id)?.querySelectorAll(".reaction[data-name]") ?? [])].find((one) => one.dataset.name === name);
  const place = button?.querySelector(".count");
  if (place) place.textContent = count;
});

on("announcement", (data) => {
  const feed = document.getElementById("feed");
  const words = feed?.dataset.announced;
  if (!words || find(JSON.parse(data).id) || document.getElementById("announced")) return;
  const told = document.createElement("p");
  told.className = "notice";
  told.id = "announced";
  told.innerHTML = '<a href="/announcements"></a>';
  told.firstChild.textContent = words;
  document.querySelector("main .heading").after(told);
});

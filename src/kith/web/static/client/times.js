// Moments as people say them, in the time zone that they have chosen, else in that of the browser: "5 min. ago" for what
// is recent, the day for what is not. The exact one is in the title, appears at the focus, and is what screen readers say.
const { lang: language, dataset } = document.documentElement;
const zone = dataset.zone ? { timeZone: dataset.zone } : {};
const ago = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "short" });
const thisYear = new Intl.DateTimeFormat(language, { day: "numeric", month: "short", ...zone });
const otherYears = new Intl.DateTimeFormat(language, { day: "numeric", month: "short", year: "numeric", ...zone });
const exact = new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "short", ...zone });
const shorter = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short", ...zone });
const UNITS = [["minute", 60], ["hour", 3600], ["day", 86400]];

function said(then, now) {
  const seconds = (then - now) / 1000;
  if (Math.abs(seconds) < 60) return ago.format(0, "second");
  if (Math.abs(seconds) < 7 * 86400) {
    const [unit, size] = UNITS.findLast(([, length]) => Math.abs(seconds) >= length);
    return ago.format(Math.trunc(seconds / size), unit);
  }
  return (then.getFullYear() === now.getFullYear() ? thisYear : otherYears).format(then);
}

function fill(time, now) {
  const then = new Date(time.dateTime);
  if (Number.isNaN(then.getTime())) return;
  time.title = exact.format(then);
  if ("exact" in time.dataset) {
    time.textContent = shorter.format(then);
    return;
  }
  const words = said(then, now);
  if (time.firstElementChild?.textContent === words) return;
  const short = document.createElement("span");
  short.textContent = words;
  short.ariaHidden = "true";
  const whole = document.createElement("span");
  whole.textContent = time.title;
  whole.className = "away exact";
  time.replaceChildren(short, whole);
}

export function tell(root = document) {
  const now = new Date();
  for (const time of root.querySelectorAll("time[datetime]")) fill(time, now);
}

// Fields in which a time of day is typed, where the server does not know in which zone.
export function localFields(root = document) {
  const { timeZone } = exact.resolvedOptions();
  for (const field of root.querySelectorAll("[data-zone]:is(input)")) field.value = timeZone;
  for (const words of root.querySelectorAll("[data-zone-words]")) words.textContent = words.dataset.zoneWords.replace("{zone}", timeZone);
  for (const field of root.querySelectorAll("[data-moment]")) {
    const at = new Date(field.dataset.moment);
    field.value = new Date(at - at.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
  }
}

tell();
localFields();
setInterval(tell, 60000);

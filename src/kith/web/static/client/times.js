// Moments as people say them, in the time zone that they have chosen, else in that of the browser: "5 min. ago" for what
// is recent, the day for what is not. The exact one is in the title, appears at the focus, and is what screen readers say.
const { lang: language, dataset } = document.documentElement;
const zone = dataset.zone ? { timeZone: dataset.zone } : {};
const ago = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "short" });
const thisYear = new Intl.DateTimeFormat(language, { day: "numeric", month: "short", ...zone });
const otherYears = new Intl.DateTimeFormat(language, { day: "numeric", month: "short", year: "numeric", ...zone });
const exact = new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "short", ...zone });
const shorter = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short", ...zone });
const calendar = new Intl.DateTimeFormat("en", { year: "numeric", month: "numeric", day: "numeric", ...zone });
const [MINUTE, HOUR, DAY] = [60, 3600, 86400];

// The day in the reader's zone, as a year and the number of a day: nights are counted between two of them, not hours.
function dayOf(moment) {
  const parts = Object.fromEntries(calendar.formatToParts(moment).map(({ type, value }) => [type, Number(value)]));
  return [parts.year, Date.UTC(parts.year, parts.month - 1, parts.day) / (DAY * 1000)];
}

function said(then, now) {
  const seconds = (then - now) / 1000;
  if (Math.abs(seconds) < MINUTE) return ago.format(0, "second");
  if (Math.abs(seconds) < HOUR) return ago.format(Math.trunc(seconds / MINUTE), "minute");
  const [[thenYear, thenDay], [nowYear, nowDay]] = [dayOf(then), dayOf(now)];
  const nights = thenDay - nowDay;
  if (Math.abs(seconds) < DAY || nights === 0) return ago.format(Math.trunc(seconds / HOUR), "hour");
  if (Math.abs(nights) < 7) return ago.format(nights, "day");
  return (thenYear === nowYear ? thisYear : otherYears).format(then);
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

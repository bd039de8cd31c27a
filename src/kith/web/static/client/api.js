// Calls of the API as the person who is signed in: the token of the page's forms says that this page asks.
const token = document.body.dataset.csrf;

export class Refused extends Error {}

export async function call(method, path, body) {
  const headers = { "X-CSRF-Token": token, "Accept-Language": document.documentElement.lang };
  if (body !== undefined && !(body instanceof FormData)) {
    headers["Content-Type"] = "application/json";
    body = JSON.stringify(body);
  }
  let answer;
  try {
    answer = await fetch(path, { method, headers, body, credentials: "same-origin", keepalive: body === undefined });
  } catch {
    throw new Refused(document.body.dataset.offline || "");
  }
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(plain(told.error || told.detail || answer.statusText));
  return told;
}

// Without saying first that something is wrong, which can be seen.
export function plain(words) {
  const start = `${document.body.dataset.refused}: `;
  return words.startsWith(start) ? words.slice(start.length) : words;
}

export function say(words) {
  const place = document.getElementById("said");
  place.textContent = words;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => (place.textContent = ""), 6000);
}

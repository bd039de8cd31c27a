// How long a text is, as the server counts it: every link counts alike, and of a mention only the name.
const PER_LINK = 23;
const WORD = "\\p{L}\\p{N}_";
const LINK = /(?:https?:\/\/|xmpp:|magnet:\?)[^\s<>"\x00-\x20\x7f]+/giu;
const HOST = /^https?:\/\/(?:[^\s/?#@:]+(?::[^\s/?#@]*)?@)?(?<host>\[[0-9a-f:.]+\]|[^\s/?#@:[\]]+)(?::\d{1,5})?(?=[/?#]|$)/iu;
const LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{N}_-]*[\p{L}\p{N}])?$/u;
const MENTION = new RegExp(`(?<![${WORD}/=@])@(?<name>[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?)(?:@[${WORD}](?:[${WORD}.-]*[${WORD}])?(?::\\d{1,5})?)?`, "giu");
const TAG = new RegExp(`(?<=^|\\s|[(\\[{（「『、。，！？;:,.!?"'])[#＃](?<name>[${WORD}·・\\u200c]+)`, "gu");
const LETTER = /[\p{L}\p{Nl}\p{No}·・]/u;
const TRAILING = ".,:;!?'\"*_~`’”»…。、，！？：；）」』】》";
const PAIRS = { ")": "(", "]": "[", "}": "{" };
// Consonants that a sign joins: newer browsers see one character there, the server each of them.
const JOINED = /[\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d]\u200d?(?=\p{Lo})/gu;
const segments = "Segmenter" in Intl ? new Intl.Segmenter() : null;

function trimmed(url) {
  const open = {};
  for (const [closing, opening] of Object.entries(PAIRS)) open[closing] = url.split(opening).length - url.split(closing).length;
  let end = url.length;
  for (; end; end--) {
    const last = url[end - 1];
    if (TRAILING.includes(last)) continue;
    if (!(last in PAIRS) || open[last] >= 0) break;
    open[last]++;
  }
  return url.slice(0, end);
}

function isSound(url) {
  if (/^(xmpp:|magnet:\?)/i.test(url)) return url.length > 8;
  const host = HOST.exec(url)?.groups.host.replace(/\.+$/, "");
  if (!host) return false;
  return host.startsWith("[") || (host.length <= 253 && host.split(".").every((one) => one.length <= 63 && LABEL.test(one)));
}

function links(text) {
  const found = [];
  for (const match of text.matchAll(LINK)) {
    const before = [...text.slice(Math.max(0, match.index - 2), match.index)].pop();
    if (before && /[\p{L}\p{N}_@/]/u.test(before)) continue;
    const url = trimmed(match[0]);
    if (url.length <= 2048 && isSound(url)) found.push({ start: match.index, end: match.index + url.length, link: /^http/i.test(url), text: url });
  }
  return found;
}

function parts(text) {
  const found = links(text);
  for (const match of text.matchAll(MENTION)) found.push({ start: match.index, end: match.index + match[0].length, text: `@${match.groups.name}` });
  for (const match of text.matchAll(TAG)) {
    const name = match.groups.name;
    if ([...name].length <= 100 && LETTER.test(name)) found.push({ start: match.index, end: match.index + match[0].length, text: match[0] });
  }
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  let place = 0;
  return found.filter((one) => one.start >= place && (place = one.end));
}

export function graphemes(text) {
  if (!segments) return [...text].length;
  return [...segments.segment(text)].reduce((sum, one) => sum + 1 + (one.segment.match(JOINED)?.length ?? 0), 0);
}

export function length(text) {
  let kept = "";
  let linked = 0;
  let place = 0;
  for (const one of parts(text)) {
    kept += text.slice(place, one.start) + (one.link ? "\n" : one.text);
    if (one.link) linked++;
    place = one.end;
  }
  return graphemes(kept + text.slice(place)) + linked * (PER_LINK - 1);
}

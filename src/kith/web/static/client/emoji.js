// The emoji one can write: the community's own by their names, and everybody's, in groups.
import { call } from "./api.js";

let loading;

function flags() {
  const names = new Intl.DisplayNames([document.documentElement.lang], { type: "region", fallback: "none" });
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
  const codes = letters.flatMap((first) => letters.map((second) => first + second));
  return codes
    .filter((code) => code !== "ZZ" && names.of(code) && new Intl.Locale(`und-${code}`).region === code)
    .map((code) => [String.fromCodePoint(...[...code].map((letter) => 0x1f1a5 + letter.charCodeAt(0))), names.of(code)]);
}

async function load() {
  const answer = await fetch("/web/emoji", { credentials: "same-origin" });
  if (!answer.ok) throw new Error(answer.statusText);
  const groups = await answer.json();
  groups.at(-1).emoji = flags();
  const own = await call("GET", "/api/v1/custom_emojis").catch(() => []);
  return {
    own: own.filter((one) => one.visible_in_picker).map((one) => ({ text: `:${one.shortcode}:`, name: one.shortcode, picture: one.static_url })),
    groups: groups.map((group) => ({ name: group.name, emoji: group.emoji.map(([text, name]) => ({ text, name })) })),
  };
}

export function emoji() {
  loading ??= load().catch((failed) => {
    loading = undefined;
    throw failed;
  });
  return loading;
}

// The best first: those whose name begins so, then those with a word that does, then the rest.
export async function search(asked, most = 1000) {
  const wanted = asked.toLowerCase().replaceAll("_", " ").trim();
  const { own, groups } = await emoji();
  const rank = ({ name }) => {
    const said = name.toLowerCase().replaceAll("_", " ");
    if (said.startsWith(wanted)) return 0;
    return said.includes(` ${wanted}`) ? 1 : said.includes(wanted) ? 2 : 3;
  };
  const ranked = [...own, ...groups.flatMap((group) => group.emoji)].map((one) => [rank(one), one]).filter(([place]) => place < 3);
  return ranked.sort(([a], [b]) => a - b).slice(0, most).map(([, one]) => one);
}

export function drawn(one) {
  if (!one.picture) return document.createTextNode(one.text);
  const image = new Image(24, 24);
  image.src = one.picture;
  image.alt = one.text;
  image.loading = "lazy";
  return image;
}

// Suggestions while one writes: people after @, hashtags after #, emoji after a colon. They are chosen by arrow keys.
import { call } from "./api.js";
import { drawn, search } from "./emoji.js";

const BEGUN = /(?:^|[\s(])([@#]|:(?=[\p{L}\p{N}_+-]{2}))([\p{L}\p{N}_.@+-]{1,60})$/u;
const MOST = 6;
let forms = 0;

async function people(asked) {
  const found = await call("GET", `/api/v1/accounts/search?limit=${MOST}&q=${encodeURIComponent(asked)}`);
  return found.map((one) => ({ text: `@${one.acct}`, picture: one.avatar_static, words: `${one.display_name || one.username} @${one.acct}` }));
}

async function tags(asked) {
  const found = await call("GET", `/api/v2/search?type=hashtags&limit=${MOST}&q=${encodeURIComponent(asked)}`);
  return found.hashtags.map((one) => ({ text: `#${one.name}`, words: `#${one.name}` }));
}

async function emoji(asked) {
  return (await search(asked, MOST)).map((one) => ({ text: one.text, emoji: one, words: one.name }));
}

const SOURCES = { "@": people, "#": tags, ":": emoji };

export function wake(form, text) {
  if (text.dataset.completes) return;
  text.dataset.completes = "yes";
  const mark = `suggestion-${++forms}`;
  const list = document.createElement("ul");
  Object.assign(list, { className: "suggestions", id: mark, hidden: true });
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", form.dataset.suggesting);
  const told = document.createElement("p");
  told.className = "away";
  told.setAttribute("role", "status");
  text.after(list, told);
  text.setAttribute("aria-autocomplete", "list");
  text.setAttribute("aria-controls", mark);
  let shown = [];
  let active = 0;
  let asked = 0;

  const begun = () => (text.selectionStart === text.selectionEnd ? BEGUN.exec(text.value.slice(0, text.selectionStart)) : null);

  const close = () => {
    shown = [];
    list.hidden = true;
    told.textContent = "";
    text.removeAttribute("aria-activedescendant");
  };
  const point = (place) => {
    active = (place + shown.length) % shown.length;
    [...list.children].forEach((one, number) => one.setAttribute("aria-selected", number === active));
    text.setAttribute("aria-activedescendant", `${mark}-${active}`);
    list.children[active].scrollIntoView({ block: "nearest" });
  };
  const choose = (place) => {
    const match = begun();
    if (match) {
      const start = text.selectionStart - match[1].length - match[2].length;
      text.setRangeText(`${shown[place].text} `, start, text.selectionStart, "end");
    }
    close();
    text.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const draw = () => {
    list.replaceChildren(
      ...shown.map((one, place) => {
        const item = document.createElement("li");
        item.id = `${mark}-${place}`;
        item.setAttribute("role", "option");
        if (one.picture) {
          const face = new Image(24, 24);
          face.src = one.picture;
          face.alt = "";
          item.append(face);
        } else if (one.emoji) item.append(drawn(one.emoji));
        const words = document.createElement("span");
        words.textContent = one.words;
        item.append(words);
        item.addEventListener("pointerdown", (event) => {
          event.preventDefault();
          choose(place);
        });
        return item;
      }),
    );
    list.hidden = false;
    told.textContent = form.dataset.suggestions.replace("{count}", shown.length);
    point(0);
  };
  const look = async () => {
    const match = begun();
    const turn = ++asked;
    if (!match) return close();
    const found = await SOURCES[match[1]](match[2]).catch(() => []);
    if (turn !== asked) return;
    shown = found;
    shown.length ? draw() : close();
  };
  let waiting;
  text.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(look, 120);
  });
  text.addEventListener("keydown", (event) => {
    if (!shown.length || event.ctrlKey || event.metaKey) return;
    const does = {
      ArrowDown: () => point(active + 1),
      ArrowUp: () => point(active - 1),
      Enter: () => choose(active),
      Tab: () => choose(active),
      Escape: close,
    }[event.key];
    if (!does) return;
    event.preventDefault();
    event.stopPropagation();
    does();
  });
  text.addEventListener("blur", close);
}

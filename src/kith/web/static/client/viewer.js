// Pictures of a post, one at a time, as large as the window, with their descriptions. Arrow keys turn the pages.
const words = document.getElementById("viewer-words").dataset;

function button(label, symbol, does) {
  const made = document.createElement("button");
  Object.assign(made, { type: "button", className: "act" });
  made.setAttribute("aria-label", label);
  made.title = label;
  made.append(symbol);
  made.addEventListener("click", does);
  return made;
}

export function view(chosen) {
  const links = [...chosen.closest(".media").querySelectorAll("a[data-view]")];
  let place = links.indexOf(chosen);
  const dialog = document.createElement("dialog");
  dialog.className = "viewer";
  const image = new Image();
  const about = document.createElement("p");
  about.setAttribute("aria-live", "polite");
  const show = (step) => {
    place = (place + step + links.length) % links.length;
    const small = links[place].querySelector("img");
    image.src = links[place].href;
    image.alt = small.alt;
    about.textContent = `${links.length > 1 ? `${place + 1}/${links.length} ` : ""}${small.alt || words.none}`;
    dialog.setAttribute("aria-label", small.alt || words.picture);
  };
  dialog.addEventListener("keydown", (event) => event.stopPropagation()); // or the page's shortcuts would act behind it
  const sense = document.documentElement.dir === "rtl" ? -1 : 1;
  dialog.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -sense, ArrowRight: sense }[event.key];
    if (!step || links.length < 2) return;
    event.preventDefault();
    show(step);
  });
  const bar = document.createElement("div");
  bar.className = "bar";
  if (links.length > 1) bar.append(button(words.previous, "‹", () => show(-1)), button(words.next, "›", () => show(1)));
  bar.append(button(words.close, "×", () => dialog.close()));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    links[place].focus();
  });
  dialog.append(bar, image, about);
  show(0);
  document.body.append(dialog);
  dialog.showModal();
  bar.lastElementChild.focus();
}

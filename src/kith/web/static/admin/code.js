// Programs in forms: numbers beside the lines, the wrong line marked, and new lines as far in as the one above.
for (const area of document.querySelectorAll("textarea.code")) {
  const numbers = document.createElement("div");
  numbers.className = "numbers";
  numbers.setAttribute("aria-hidden", "true");
  const frame = document.createElement("div");
  frame.className = "editor";
  area.before(frame);
  frame.append(numbers, area);
  const wrong = Number(frame.closest(".field")?.querySelector("[data-line]")?.dataset.line);

  const draw = () => {
    const count = area.value.split("\n").length;
    if (numbers.childElementCount === count) return;
    numbers.replaceChildren(
      ...Array.from({ length: count }, (_, place) => {
        const number = document.createElement("span");
        number.textContent = place + 1;
        if (place + 1 === wrong) number.className = "bad";
        return number;
      }),
    );
  };
  area.wrap = "off";
  area.addEventListener("input", draw);
  area.addEventListener("scroll", () => (numbers.scrollTop = area.scrollTop));
  area.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || event.ctrlKey || event.metaKey) return;
    const before = area.value.slice(0, area.selectionStart);
    const line = before.slice(before.lastIndexOf("\n") + 1);
    const margin = line.match(/^[ \t]*/)[0] + (line.trimEnd().endsWith(":") ? "    " : "");
    if (!margin) return;
    event.preventDefault();
    area.setRangeText(`\n${margin}`, area.selectionStart, area.selectionEnd, "end");
    area.dispatchEvent(new Event("input"));
  });
  draw();
  if (wrong) {
    const start = area.value.split("\n").slice(0, wrong - 1).join("\n").length + (wrong > 1 ? 1 : 0);
    area.focus();
    area.setSelectionRange(start, start);
  }
}

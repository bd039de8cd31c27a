"""Going through a page by keys alone: where the focus is, whether one sees it, and where it goes next."""

from __future__ import annotations

from typing import Any

from playwright.async_api import Page

# What the focus is on, and how many sides of its mark are seen: of the four strips around it, those inside the window
# and inside everything that cuts off what is too large.
_FOCUS = """() => {
  const at = document.activeElement;
  if (!at || at === document.body || at === document.documentElement) return null;
  const style = getComputedStyle(at);
  const width = style.outlineStyle === 'none' ? 0 : parseFloat(style.outlineWidth);
  const grown = parseFloat(style.outlineOffset) + width;
  const box = at.getBoundingClientRect();
  let [left, top, right, bottom] = [0, 0, document.documentElement.clientWidth, innerHeight];
  for (let one = at.parentElement; one; one = one.parentElement) {
    const cut = getComputedStyle(one);
    if (cut.overflowX === 'visible' || one === document.body || one === document.documentElement) continue;
    const edge = one.getBoundingClientRect();
    [left, top] = [Math.max(left, edge.left), Math.max(top, edge.top)];
    [right, bottom] = [Math.min(right, edge.right), Math.min(bottom, edge.bottom)];
  }
  const seen = [box.left - grown >= left - 1, box.top - grown >= top - 1, box.right + grown <= right + 1, box.bottom + grown <= bottom + 1];
  const label = at.getAttribute('aria-label') || at.labels?.[0]?.innerText || at.innerText || at.title || '';
  at.dataset.stop ??= String(window.stops = (window.stops ?? 0) + 1);
  return {
    name: label.trim().split('\\n')[0], tag: at.tagName, html: at.outerHTML.slice(0, 160), stop: Number(at.dataset.stop),
    region: at.closest('body > *').tagName,
    parts: ['date', 'datetime-local', 'time', 'file'].includes(at.type), // each part of a date has a stop of its own
    marked: width >= 2, sides: seen.filter(Boolean).length, size: box.width * box.height,
  };
}"""


async def focus(page: Page) -> dict[str, Any] | None:
    found: dict[str, Any] | None = await page.evaluate(_FOCUS)
    return found


async def see_focus(page: Page) -> dict[str, Any]:
    """What the focus is on; it is somewhere, and whoever looks at the page sees where."""
    at = await focus(page)
    assert at is not None, f"nothing has the focus on {page.url}"
    assert at["marked"], f"nothing shows that this has the focus: {at['html']}"
    assert at["sides"] >= 2, f"the mark of the focus is cut off: {at}"
    assert at["size"] > 0, f"what has the focus is not to be seen: {at['html']}"
    return at


async def tab_to(page: Page, name: str, *, most: int = 120, back: bool = False) -> dict[str, Any]:
    """Press Tab until what has this name has the focus."""
    passed = []
    for _ in range(most):
        await page.keyboard.press("Shift+Tab" if back else "Tab")
        if await focus(page) is None:
            continue  # between the end of a page and its beginning
        at = await see_focus(page)
        if at["name"] == name:
            return at
        passed.append(at["name"])
    raise AssertionError(f"Tab does not lead to {name} on {page.url}, but to {passed}")


async def walk(page: Page) -> list[dict[str, Any]]:
    """All stops from the beginning of a page to its end: each is seen, each comes once, and none keeps the focus."""
    await page.keyboard.press("Tab")
    await page.evaluate("document.querySelector('.skip').focus()")
    stops = [await see_focus(page)]
    for _ in range(400):
        await page.keyboard.press("Tab")
        at = await focus(page)
        if at is None or at["stop"] == stops[0]["stop"]:
            return stops
        at = await see_focus(page)
        if at["stop"] == stops[-1]["stop"] and at["parts"]:
            continue
        assert at["stop"] not in {stop["stop"] for stop in stops}, f"{at['html']} comes twice on {page.url}"
        stops.append(at)
    raise AssertionError(f"{page.url} does not end")

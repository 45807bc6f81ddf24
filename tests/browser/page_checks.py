"""How a page is looked at: what axe finds, its weight, whether it moves, what is too wide, what needs a script."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, expect

MOST_BYTES = 150_000
"""Of a first visit: the page, its styles, scripts and pictures, as they are sent."""
OF_COLOURS = ["color-contrast", "link-in-text-block"]
"""The rules of axe that look at colours."""
OPEN = """
for (const one of document.querySelectorAll("details:not(.menu, li:nth-of-type(n + 11) *)")) one.open = true;
"""
"""Of a long list of things of one kind, the first ten: what unfolds there is the same for all of them."""
LEAST_SHIFT = 0.002
"""A line that is rounded to the next pixel makes less: nobody sees it. A hundredth of the page moving by its height
makes more."""
AXE = """async (options) => {
  const { violations } = await axe.run({ resultTypes: ["violations"], preload: false, ...options });
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 200)}`);
}"""
"""Nothing is preloaded: only rules that are not asked for would look at it."""
EACH_COLOUR_ONCE = """() => {
  const { Color } = axe.commons.color;
  const read = Color.prototype.parseString;
  const known = new Map();
  Color.prototype.parseString = function (text) {
    if (!known.has(text)) known.set(text, read.call(new Color(), text));
    const { r, g, b, alpha } = known.get(text);
    return Object.assign(this, { r, g, b, alpha });
  };
}"""
"""Axe reads the few colours of a page anew for each of its elements, which is a good part of all its work."""
READ = "[document.querySelector('main').innerText, Boolean(document.querySelector('main h1')?.checkVisibility())]"
TWO_FRAMES = "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn, 0))))"
SHIFT = """() => {
  const observer = new PerformanceObserver(() => {});
  observer.observe({ type: "layout-shift", buffered: true });
  return observer.takeRecords().reduce((sum, shift) => sum + shift.value, 0);
}"""


class Scales:
    """Weighs what a page transfers, nothing of which the browser has already."""

    def __init__(self, page: Page) -> None:
        self.bytes = 0
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.send("Network.setCacheDisabled", {"cacheDisabled": True})
        session.on("Network.loadingFinished", self._add)

    def empty(self) -> None:
        """Begin anew."""
        self.bytes = 0

    def _add(self, event: dict[str, Any]) -> None:
        self.bytes += int(event["encodedDataLength"])


def violations(page: Page, **options: Any) -> list[str]:
    """What axe finds when nothing is being fetched: until then, buttons are pale."""
    expect(page.locator(".htmx-request")).to_have_count(0)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
        page.evaluate(EACH_COLOUR_ONCE)
    return [f"{page.url}: {found}" for found in page.evaluate(AXE, options)]


def violations_in_both_schemes(page: Page) -> list[str]:
    """All that axe finds in the light, and what colours can make wrong in the dark, where nothing else differs."""
    page.evaluate(OPEN)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    found = violations(page)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    return found + violations(page, runOnly={"type": "rule", "values": OF_COLOURS})


def shifts(page: Page, *, scripts: bool = True) -> list[str]:
    """Whether anything moved while the page was loading. Without scripts, nothing can move once it is loaded."""
    if scripts:
        page.evaluate(TWO_FRAMES)
    moved = page.evaluate(SHIFT)
    return [f"{page.url} at {page.viewport_size}: moves by {moved}"] if moved > LEAST_SHIFT else []


WIDTHS = (320, 390, 768, 1024, 1280, 1440, 2560)
"""The widths at which every page is looked at, in CSS pixels."""
COVERED = """() => {
  const selector = "main :is(a, button, input, select, textarea, summary):not([tabindex='-1'], .visually-hidden *)";
  const isOutside = (box, frame) =>
    box.top < frame.top || box.bottom > frame.bottom || box.left < frame.left || box.right > frame.right;
  function isScrolledAway(one, box) {
    for (let around = one.parentElement; around; around = around.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(around);
      const scrolls = overflowX !== "visible" || overflowY !== "visible";
      if (scrolls && isOutside(box, around.getBoundingClientRect())) return true;
    }
    return false;
  }
  function isOnTop(one, rect) {
    const top = document.elementFromPoint(rect.left + rect.width / 2, rect.top + rect.height / 2);
    const labels = [...(one.labels ?? [])];
    return top && (one.contains(top) || top.contains(one) || labels.some((label) => label.contains(top)));
  }
  const isClear = (one) => [...one.getClientRects()].some((rect) => isOnTop(one, rect));
  function isReachable(one) {
    if (isClear(one)) return true;
    const was = scrollY;
    one.scrollIntoView({ block: "center", behavior: "instant" });  // a bar that stays in place covers what is under it
    const found = isClear(one);
    scrollTo({ top: was, behavior: "instant" });
    return found;
  }
  return [...document.querySelectorAll(selector)].filter((one) => {
    const box = one.getBoundingClientRect();
    if (!one.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
    if (getComputedStyle(one).clipPath !== "none" || box.width < 4 || box.height < 4) return false;
    if (isOutside(box, { top: 0, left: 0, bottom: innerHeight, right: innerWidth })) return false;
    return !isScrolledAway(one, box) && !isReachable(one);
  }).map((one) => (one.textContent || one.name || one.id).trim().slice(0, 40));
}"""
"""What can be clicked and is in the window, but is under something else."""


def narrow_or_wide(page: Page) -> list[str]:
    """At which widths one has to scroll sideways, or something that can be clicked is covered by something else."""
    found = []
    for width in WIDTHS:
        found += too_wide(page, width)
        found += [f"{page.url}: {name!r} is covered at {width}" for name in page.evaluate(COVERED)]
    return found


def too_wide(page: Page, *widths: int) -> list[str]:
    """At which of these widths, in CSS pixels, one has to scroll sideways."""
    found = []
    for width in widths:
        page.set_viewport_size({"width": width, "height": 800})
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append(f"{page.url}: too wide at {width}")
    return found


def unreadable(page: Page) -> list[str]:
    """What is missing on a page whose scripts do not run."""
    said, headed = page.evaluate(READ)
    missing = [] if headed else ["its heading"]
    missing += [] if len(said.split()) > 3 else ["its words"]
    return [f"{page.url}: without scripts {what} is missing" for what in missing]

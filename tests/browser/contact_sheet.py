"""`make sheet DIR=folder`: a picture of every page of the demo, narrow and wide, light and dark, and one sheet of all.

Serves the demo on a database of its own, as `make run` does, signs in as the admin and then as a member, and follows
every link that leads to a kind of page not seen yet. What no link leads to, it says.
"""

import contextlib
import html
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urldefrag, urljoin, urlsplit

import django
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from tests.browser.chromium import CHROMIUM
from tests.browser.routes import page_routes, route_of

Scheme = Literal["light", "dark"]
WIDTHS = {"wide": 1440, "narrow": 390}
MEMBER = "ines.okafor"
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
LINKED = "links => links.map(link => link.getAttribute('href'))"
STYLE = """
body { font: 15px/1.4 system-ui, sans-serif; margin: 2rem; background: #ddd }
section { display: grid; grid-template-columns: repeat(2, 3fr 1fr); gap: 1rem; align-items: start; margin: 0 0 3rem }
h2 { grid-column: 1 / -1; margin: 0 } img { width: 100%; border: 1px solid #999 }
"""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who can sign in there."""

    address: str
    username: str
    password: str


def main(folder: Path) -> None:
    """Make the pictures and the sheet in the folder, and say which kinds of pages no link led to."""
    folder.mkdir(parents=True, exist_ok=True)
    with _serving() as admin, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = _signed_in(browser, admin)
        found = _pages(page, admin.address)
        member = Visitor(admin.address, MEMBER, _password_of(page, admin.address, MEMBER))
        theirs = _pages(_signed_in(browser, member), member.address)
        own = {"home-of-a-member": "/"} | {name: path for name, path in theirs.items() if name not in found}
        _photograph(browser, admin, found, folder)
        _photograph(browser, member, own, folder)
    (folder / "index.html").write_text(_sheet(found | own), encoding="utf-8")
    print(f"{len(found | own)} pages: {folder / 'index.html'}")
    missing = sorted(page_routes() - set(found) - set(own))
    print(f"No link led to: {', '.join(missing) or 'none'}")


def _password_of(page: Page, address: str, username: str) -> str:
    """A new password for one of the demo's people, made by the admin."""
    page.goto(f"{address}/people/?q={username}")
    page.locator("main .items a").first.click()
    page.get_by_role("button", name="Reset password").click()
    return page.locator("#invitation").inner_text().partition("Password: ")[2].split()[0]


@contextlib.contextmanager
def _serving() -> Iterator[Visitor]:
    """The demo, served from a data folder of its own. Yields its admin."""
    with tempfile.TemporaryDirectory() as data:
        command = [sys.executable, "manage.py", "serve", "--demo", "--port", "8765", "--processes", "1"]
        environment = {**os.environ, "DOSSIER_DATA_DIR": data}
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
            try:
                yield _greeting(process)
            finally:
                process.send_signal(signal.SIGINT)
                process.wait(timeout=60)


def _greeting(process: "subprocess.Popen[str]") -> Visitor:
    """The admin whose password it prints, and where to sign in."""
    password = ""
    for line in process.stdout or ():
        words = line.split()
        if "password" in words:
            password = words[words.index("password") + 1]
        if line.startswith("Dossier is at"):
            return Visitor(words[3].rstrip("/"), "admin", password)
    raise SystemExit("The demo could not be served. Its message stands above.")


def _signed_in(browser: Browser, visitor: Visitor, width: str = "wide", scheme: Scheme = "light") -> Page:
    size: ViewportSize = {"width": WIDTHS[width], "height": 900}
    page = browser.new_page(viewport=size, color_scheme=scheme, reduced_motion="reduce")
    page.goto(f"{visitor.address}/accounts/login/")
    page.get_by_label("Username").fill(visitor.username)
    page.get_by_label("Password").fill(visitor.password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{visitor.address}/")
    return page


def _pages(page: Page, address: str) -> dict[str, str]:
    """A path for each kind of page that links lead to from Home, by the name of its route."""
    routes, found, waiting = page_routes(), {"home": "/"}, ["/"]
    while waiting:
        page.goto(address + waiting.pop(0))
        for link in page.eval_on_selector_all("main a[href], .side a[href]", LINKED):
            path = urldefrag(urljoin(page.url, link)).url.removeprefix(address)
            name = route_of(urlsplit(path).path)
            if name in routes and name not in found:
                found[name] = path
                waiting.append(path)
    return found


def _photograph(browser: Browser, visitor: Visitor, pages: dict[str, str], folder: Path) -> None:
    """Each page at all widths, in all schemes."""
    for width in WIDTHS:
        for scheme in SCHEMES:
            page = _signed_in(browser, visitor, width, scheme)
            for name, path in pages.items():
                page.goto(visitor.address + path)
                page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)
            page.context.close()


def _sheet(found: dict[str, str]) -> str:
    """The page that shows all pictures."""
    sections = "".join(
        f"<section><h2>{html.escape(name)} <small>{html.escape(path)}</small></h2>{_images(name)}</section>"
        for name, path in found.items()
    )
    return f"<!doctype html><meta charset=utf-8><title>Contact sheet</title><style>{STYLE}</style>{sections}"


def _images(name: str) -> str:
    files = [f"{name}-{width}-{scheme}.png" for scheme in SCHEMES for width in WIDTHS]
    return "".join(f'<a href="{file}"><img src="{file}" alt="{file}" loading="lazy"></a>' for file in files)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("Say where the pictures go: python -m tests.browser.contact_sheet DIR")
    if CHROMIUM is None:
        raise SystemExit("There is no Chromium on this machine. Install it: apt-get install chromium")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    main(Path(sys.argv[1]))

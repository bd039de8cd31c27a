"""Pictures of the main pages for the documents, taken of an example community: `scripts/pictures [NAME ...]`."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import msgspec
from PIL import Image
from playwright.async_api import Browser, Page

from kith.cli.demo.folder import DemoMark
from tests.town import Person, Town
from tests.town.nursery import run
from tests.web import chromium

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
MOST_BYTES = 60_000
# Images further down are fetched when somebody comes to them, and would never be there.
_SEEN = """
Promise.all([...document.images]
    .filter(one => one.getBoundingClientRect().top < innerHeight && one.getBoundingClientRect().bottom > 0)
    .map(one => one.decode().catch(() => 0)))
"""


class Shot(NamedTuple):
    """Which page, as whom, at what size; `point` is a link on that page whose target is wanted instead."""

    path: str
    who: str = "juno"
    size: tuple[int, int] = (1200, 800)
    point: str = ""
    scheme: chromium.Scheme = "light"
    below: str = ""  # what is brought to the top of the picture


SHOTS = {
    "home": Shot("/home", size=(1200, 1000)),
    "post": Shot("/@juno", point="article:has-text('31 kilos') time", size=(1200, 1100)),
    "profile": Shot("/@henrik", size=(1200, 1000)),
    "notifications": Shot("/notifications", size=(1200, 900)),
    "compose": Shot("/publish"),
    "columns": Shot("/deck", size=(1680, 900)),
    "phone": Shot("/home", size=(400, 860), scheme="dark", below="article"),
    "explore": Shot("/explore/tags", size=(1200, 700)),
    "sign-in": Shot("/flows/-/default/authentication/", who="", size=(1200, 700)),
    "dashboard": Shot("/admin", who="mira", size=(1200, 900), below="h2:has-text('The last')"),
    "people": Shot("/admin/people", who="mira", size=(1200, 900)),
    "person": Shot("/admin/people?search=juno", who="mira", point="main table a:has-text('Juno')", size=(1200, 900)),
    "flow": Shot("/admin/flows/default-authentication-flow", who="mira", size=(1200, 1000)),
    "application": Shot("/admin/applications/new/nextcloud", who="mira", size=(1200, 900)),
    "reports": Shot("/admin/reports", who="tomas", size=(1200, 600)),
}


async def main(names: list[str]) -> None:
    wanted = {name: shot for name, shot in SHOTS.items() if not names or name in names}
    with tempfile.TemporaryDirectory(prefix="kith-pictures-") as folder:
        town = Town("sqlite", Path(folder) / "demo", "sqlite", title="Harbour House")
        try:
            logins = await _made(town)
            await town.start()
            async with chromium.launched() as browser:
                for who in dict.fromkeys(shot.who for shot in wanted.values()):
                    await _take(browser, town, who, logins, {n: s for n, s in wanted.items() if s.who == who})
        finally:
            await town.close()


async def _made(town: Town) -> dict[str, str]:
    done = await run("demo", "--data", str(town.folder), "--only-make", environment=town.environment, patience=1800)
    if done.code:
        raise SystemExit(done.complained)
    mark = msgspec.json.decode((town.folder / "kith-demo.json").read_bytes(), type=DemoMark)
    return {login.username: login.password for login in mark.logins}


async def _take(browser: Browser, town: Town, who: str, logins: dict[str, str], shots: dict[str, Shot]) -> None:
    async with chromium.opened(browser, town, reduced_motion="reduce", locale="en-GB") as page:
        page.set_default_timeout(120_000)
        if who:
            await chromium.sign_in(page, Person(town.http, who, logins[who]))
        for name, shot in shots.items():
            await _show(page, shot)
            _write(name, await page.screenshot())


async def _show(page: Page, shot: Shot) -> None:
    await page.set_viewport_size({"width": shot.size[0], "height": shot.size[1]})
    await page.emulate_media(color_scheme=shot.scheme)
    await page.goto(shot.path)
    if shot.point:
        await page.locator(shot.point).first.click()
        await page.wait_for_load_state()
    if shot.below:
        await page.locator(shot.below).first.evaluate("one => scrollTo(0, one.getBoundingClientRect().top - 64)")
    await page.evaluate(_SEEN)


def _write(name: str, png: bytes) -> None:
    """As good as the size allows."""
    image = Image.open(BytesIO(png)).convert("RGB")
    for quality in (82, 70, 58, 46):
        file = BytesIO()
        image.save(file, "WEBP", quality=quality, method=6)
        if file.tell() <= MOST_BYTES:
            break
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.webp").write_bytes(file.getvalue())
    print(f"{name}: {file.tell() // 1000} KB")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))

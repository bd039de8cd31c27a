"""Whatever people elsewhere write, pages show it as text: no script, no handler, no address that runs anything; and no
page stands in another site's frame."""

from __future__ import annotations

from collections.abc import AsyncIterator
from html.parser import HTMLParser

import pytest
from playwright.async_api import Browser as Chrome

from tests.federation.inbox_street import Street, street
from tests.web.chromium import opened, sign_in
from tests.web.hostile_records import Planted, plant
from tests.web.scenery import person_of

_ADDRESSES = ("href", "src", "action", "formaction", "poster", "cite", "data", "xlink:href")
# What scripts of ours have made of it.
_IN_THE_PAGE = """() => [
  ...('evil' in window ? ['it ran'] : []),
  ...[...document.querySelectorAll('script:not([src]):not([type*=json]), iframe, object, embed, base, [onerror], [onload], [onclick]')].map((one) => one.outerHTML),
  ...[...document.links].filter((one) => !['http:', 'https:', 'mailto:'].includes(one.protocol)).map((one) => one.href),
]"""
_DANGEROUS = ("javascript:", "vbscript:", "data:text")


class _Dangers(HTMLParser):
    """What in a page could run, but for the scripts that it has as files of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: (value or "").strip().lower() for name, value in attrs}
        own = tag == "script" and (given.get("src", "").startswith("/static/") or "json" in given.get("type", ""))
        if tag in ("script", "iframe", "object", "embed", "base") and not own:
            self.found.append(tag)
        self.found += [f"{tag} {name}" for name in given if name.startswith("on") or name in ("style", "srcdoc")]
        self.found += [
            f"{tag} {name}={given[name]}" for name in _ADDRESSES if given.get(name, "").startswith(_DANGEROUS)
        ]


def dangers(html: str) -> list[str]:
    reader = _Dangers()
    reader.feed(html)
    return reader.found


@pytest.mark.parametrize(
    "html",
    ["<script>x</script>", "<img onerror=x>", '<a href=" javascript:x">', "<iframe>", '<p style="x">'],
)
def test_what_could_run_is_noticed(html: str) -> None:
    assert dangers(html)


@pytest.fixture(scope="module")
async def lane(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Street]:
    """One database is enough: what is tried here is the pages."""
    async with street("sqlite", tmp_path_factory.mktemp("hostile"), publish_domain_blocks="on") as made:
        yield made


@pytest.fixture(scope="module")
async def planted(lane: Street) -> Planted:
    return await plant(lane)


@pytest.mark.parametrize(("who", "most"), [("nobody", 15), ("ada", 36), ("owner", 27)], ids=str)
async def test_what_strangers_write_is_only_text(
    lane: Street, planted: Planted, chrome: Chrome, who: str, most: int
) -> None:
    """Read as HTML, and then shown by a browser: which runs nothing, refuses nothing and asks no other host."""
    addresses = planted.for_owners if who == "owner" else planted.for_members
    person = {"nobody": None, "ada": person_of(planted.ada), "owner": planted.owner}[who]
    async with opened(chrome, lane.here) as page:
        said: list[str] = []
        page.on("dialog", lambda dialog: said.append(dialog.message))
        if person is not None:
            await sign_in(page, person)
        shown = 0
        wrong: list[tuple[str, object]] = []
        for address in addresses:
            answer = await page.goto(address)
            assert answer is not None
            html = await answer.text()
            shown += "&lt;script&gt;" in html
            # Whatever an address with hostile words answers, it is no fault of the server.
            if answer.status not in (200, 404, 422):
                wrong.append((address, answer.status))
            wrong += [(address, found) for found in dangers(html)]
            wrong += [(address, found) for found in await page.evaluate(_IN_THE_PAGE)]
        assert wrong == []
        assert said == []
        assert shown >= most, "the texts are not there"

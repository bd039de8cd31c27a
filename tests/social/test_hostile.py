"""Input made to keep the server busy is refused by its size, or read where it harms nobody."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from tests.conftest import TownBuilder
from tests.identity.records import owner_of
from tests.social.members import join
from tests.social.posts import post, settle
from tests.town import Town

STATUSES = "/api/v1/statuses"
UPDATE = "/api/v1/accounts/update_credentials"
TITLE = "<head><title>Hello</title></head>"
PAGES = {
    "/deep": TITLE + "<div>" * 209_000,
    "/attributes": TITLE + "<p " + " ".join(f"a{number}=1" for number in range(100_000)) + ">",
    "/styles": TITLE + "<p>" + "".join(f"<b id={number}>" for number in range(900)) + "</p><p>x" * 100_000,
    "/linked": TITLE + '<script type="application/ld+json">' + "[" * 100_000 + "</script>",
    "/brackets": TITLE + "<" * 1_000_000,
}
CHARSETS = {"/punycode": "punycode", "/idna": "idna"}


@asynccontextmanager
async def _site() -> AsyncIterator[str]:
    async def show(request: web.Request) -> web.Response:
        if request.path in CHARSETS:
            kind = {"Content-Type": f"text/html; charset={CHARSETS[request.path]}"}
            return web.Response(body=(TITLE + "a" * 500_000 + "-é").encode(), headers=kind)
        return web.Response(text=PAGES[request.path], content_type="text/html")

    app = web.Application()
    app.router.add_get("/{path:.*}", show)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def test_a_page_made_to_keep_its_reader_busy_costs_its_card_at_most(new_town: TownBuilder) -> None:
    async with _site() as base:
        town = await new_town(private_hosts="127.0.0.1", log_level="warning")
        ada = await join(town)

        made = {path: await post(ada, f"{base}{path}") for path in (*PAGES, *CHARSETS)}
        await settle(town)
        cards = {path: (await ada.get(f"{STATUSES}/{one['id']}"))["card"] for path, one in made.items()}

    for path in ("/deep", "/linked", "/brackets", *CHARSETS):
        assert cards[path] is not None, path
        assert cards[path]["title"] == "Hello"
    assert {card["title"] for card in cards.values() if card is not None} == {"Hello"}
    assert "loop.stands_still" not in town.log()


TAGS = "#a "


@pytest.mark.parametrize("as_form", [False, True])
async def test_texts_are_refused_by_their_size(town: Town, *, as_form: bool) -> None:
    ada = await join(town)

    async def answer(method: str, path: str, sent: dict[str, str]) -> tuple[int, str]:
        told: Any = {"data": sent} if as_form else {"json": sent}
        found = await ada.call(method, path, **told)
        return found.status_code, found.json()["error"]

    large = await answer("POST", STATUSES, {"status": TAGS * 333_000})
    long = await answer("POST", STATUSES, {"status": TAGS * 20_000})
    spoiler = await answer("POST", STATUSES, {"status": "a", "spoiler_text": "a" * 70_000})
    large_note = await answer("PATCH", UPDATE, {"note": TAGS * 333_000})
    long_note = await answer("PATCH", UPDATE, {"note": TAGS * 20_000})

    assert large == (413, "Request body too large.")
    assert large_note == (422, "Validation failed: Note is too long (maximum is 65536 bytes)")  # pictures may be longer
    assert long == (422, "Validation failed: Text character limit of 500 exceeded")
    assert spoiler == (422, "Validation failed: Spoiler text is too long (maximum is 65536 bytes)")
    assert long_note[0] == 422
    assert long_note[1].startswith("Validation failed: Note is too long")


async def test_depth_and_number_of_values_are_bounded(town: Town) -> None:
    ada = await join(town)
    as_json = {"content-type": "application/json"}

    many = await ada.call("POST", STATUSES, content=b'{"media_ids": [' + b"1," * 30_000 + b"1]}", headers=as_json)
    deep = await ada.call("POST", STATUSES, content=b'{"a":' * 20_000, headers=as_json)
    names = await ada.call("POST", STATUSES, data={f"a{number}": "1" for number in range(2000)})

    assert (many.status_code, many.json()["error"]) == (400, "There are more than 20000 values")
    assert (deep.status_code, names.status_code) == (400, 400)


async def test_fields_of_the_identity_api_are_refused_by_their_size(town: Town) -> None:
    owner = await owner_of(town)

    long = await owner.call("POST", "/api/v2/stages/prompt/prompts/", json={"field_key": "a", "sub_text": "a" * 70_000})
    large = await owner.call("POST", "/api/v2/core/groups/", json={"name": "a" * 600_000})

    assert long.status_code == 400
    assert long.json()["sub_text"] == ["Ensure this field has no more than 65536 characters."]
    assert large.status_code == 413

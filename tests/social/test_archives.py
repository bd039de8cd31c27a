"""An archive of all one's own: asked for on a page, made by a job, fetched by nobody else."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import AsyncIterator
from email.message import EmailMessage

import pytest
from sqlalchemy import update

from kith.base.db import command
from kith.social.archives import store
from kith.social.archives.tables import archives
from kith.social.archives.tasks import SweepArchives, sweep
from tests.social.members import join, until
from tests.social.posts import post
from tests.social.samples import image_file
from tests.town import Town
from tests.web.browsing import Browser


@pytest.fixture
async def browser(town: Town) -> AsyncIterator[Browser]:
    made = Browser(town)
    yield made
    await made.close()


async def test_somebody_takes_all_they_posted_along(town: Town, browser: Browser) -> None:
    ada, bob = await join(town), await join(town)
    sent = await ada.call("POST", "/api/v2/media", files={"file": ("a.png", image_file("PNG"), "image/png")})
    picture = sent.json()
    said = await post(ada, "With a picture", media_ids=[picture["id"]])
    secret = await post(ada, f"@{bob.name} psst", visibility="direct")
    other = await post(bob, "Not mine")
    await ada.post(f"/api/v1/statuses/{other['id']}/reblog")
    await ada.post(f"/api/v1/statuses/{other['id']}/favourite")
    await browser.sign_in(ada.name, f"correct horse {ada.name}")
    await browser.open("/settings/export")
    await browser.press("/settings/export/archive")
    assert "Your archive is being made" in browser.page.text
    seen = browser.page.text  # it may be ready by the time this page is made, and is told once

    async def is_ready() -> bool:
        nonlocal seen
        seen += (await browser.open("/settings/export")).text
        return "Download the archive" in browser.page.text

    await until(is_ready)
    assert "Make an archive" not in browser.page.text
    assert seen.count("Your archive is ready.") == 1

    async def is_told() -> bool:
        return any(
            mail["To"] == f"{ada.name}@example.org"
            and str(mail["Subject"]).endswith(": your archive is ready")
            and f"{town.base_url}/settings/export" in _text(mail).splitlines()
            for mail in town.mails()
        )

    await until(is_told)
    [address] = re.findall(r'href="(/settings/export/archive/\d+)"', browser.page.text)
    answer = await browser.http.get(address)
    assert answer.headers["content-type"] == "application/zip"
    held = zipfile.ZipFile(io.BytesIO(answer.content))
    outbox = json.loads(held.read("outbox.json"))
    assert outbox["totalItems"] == 3
    assert [one["type"] for one in outbox["orderedItems"]] == ["Create", "Create", "Announce"]
    assert [one["object"]["id"] for one in outbox["orderedItems"][:2]] == [said["uri"], secret["uri"]]
    assert "https://www.w3.org/ns/activitystreams" in json.dumps(outbox["@context"])
    assert json.loads(held.read("actor.json"))["preferredUsername"] == ada.name
    assert json.loads(held.read("likes.json"))["orderedItems"] == [other["uri"]]
    assert len([name for name in held.namelist() if name.startswith("media/")]) == 1

    stranger = Browser(town)
    await stranger.sign_in(bob.name, f"correct horse {bob.name}")
    assert (await stranger.http.get(address)).status_code == 404
    await stranger.close()
    token = browser.cookie("kith_csrf") or ""
    again = await browser.http.post("/settings/export/archive", data={"csrf": token})
    assert again.status_code == 409
    await _a_week_passes(town)
    assert (await browser.http.get(address)).status_code == 404


_past = command(update(archives).values(expires_at=archives.c.created_at))


async def _a_week_passes(town: Town) -> None:
    async with town.house() as house:
        async with house.works.begin() as work:
            await work.db.run(_past)
        async with house.works.begin() as work:
            await sweep(work, SweepArchives())
            assert await store.over(work.db, work.now, 10) == []


def _text(mail: EmailMessage) -> str:
    body = mail.get_body(("plain",))
    return "" if body is None else str(body.get_content())

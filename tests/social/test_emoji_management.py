"""Custom emoji, as the team brings and changes them."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from tests.social.members import Member, join, until
from tests.social.posts import post
from tests.social.samples import gif, image_file
from tests.social.shapes import check, entity, never
from tests.social.staff import employ, verdict
from tests.town import Town

ADMIN, PICKER = "/api/v1/admin/custom_emojis", "/api/v1/custom_emojis"
STAFF_EMOJI = never(entity("StaffEmoji"), "domain")


def _file(content: bytes, name: str = "a.png") -> dict[str, Any]:
    return {"image": (name, content, "application/octet-stream")}


async def bring(by: Member, **sent: Any) -> dict[str, Any]:
    form = {"shortcode": f"e_{uuid4().hex[:8]}"} | sent
    made: dict[str, Any] = await by.post(ADMIN, data=form, files=_file(image_file("PNG", (32, 32))))
    check(made, STAFF_EMOJI)
    return made


async def picked(town: Town, code: str) -> dict[str, Any] | None:
    shown = (await town.http.get(PICKER)).json()
    return next((one for one in shown if one["shortcode"] == code), None)


async def test_an_emoji_is_brought_used_changed_and_deleted(town: Town) -> None:
    admin, ada = await employ(town, "administrator"), await join(town)
    made = await bring(admin, category="Cats")
    code, path = made["shortcode"], f"{ADMIN}/{made['id']}"

    async def is_shown(category: str | None) -> bool:
        found = await picked(town, code)
        return found is not None and found.get("category") == category

    await until(lambda: is_shown("Cats"))  # for a moment, on PostgreSQL, the answer from before
    assert (await town.http.get(made["url"])).headers["content-type"] == "image/png"
    assert [one["shortcode"] for one in (await post(ada, f"A :{code}:"))["emojis"]] == [code]
    changed = await admin.patch(path, json={"category": "", "visible_in_picker": False})
    assert (changed["category"], changed["visible_in_picker"]) == (None, False)
    assert (await admin.patch(path, json={"visible_in_picker": True}))["visible_in_picker"] is True
    await until(lambda: is_shown(None))
    assert (await admin.post(f"{path}/disable"))["disabled"] is True
    assert (await post(ada, f"B :{code}:"))["emojis"] == []
    assert (await admin.post(f"{path}/enable"))["disabled"] is False
    assert await admin.get(path) in await admin.get(ADMIN)
    assert await admin.delete(path) == {}
    assert await verdict(admin, "GET", path) == 404
    assert (await town.http.get(made["url"])).status_code == 404


async def test_of_a_moving_one_there_is_a_still_picture(town: Town) -> None:
    admin = await employ(town, "administrator")

    made = await admin.post(ADMIN, data={"shortcode": f"m_{uuid4().hex[:8]}"}, files=_file(gif(3, (16, 16)), "a.gif"))

    assert made["url"] != made["static_url"]


@pytest.mark.parametrize(
    ("sent", "content", "words"),
    [
        ({"shortcode": "no way"}, None, "Shortcode must be 2 to 64 letters, digits or underscores"),
        ({"shortcode": "x"}, None, "Shortcode must be 2 to 64 letters, digits or underscores"),
        ({"category": "c" * 101}, None, "Category is too long (maximum is 100 characters)"),
        ({}, b"no picture", "Image must be a PNG, GIF, WebP or JPEG picture"),
        ({}, b"GIF89a" + bytes(300 << 10), "Image is too large (maximum is 256 KB)"),
    ],
)
async def test_what_is_no_emoji_is_refused(town: Town, sent: dict[str, Any], content: bytes | None, words: str) -> None:
    admin = await employ(town, "administrator")
    before = await admin.get(ADMIN)

    form = {"shortcode": f"e_{uuid4().hex[:8]}"} | sent
    answer = await admin.call("POST", ADMIN, data=form, files=_file(content or image_file("PNG", (32, 32))))

    assert (answer.status_code, answer.json()["error"]) == (422, f"Validation failed: {words}")
    assert await admin.get(ADMIN) == before


async def test_names_are_taken_once_and_pictures_are_needed(town: Town) -> None:
    admin = await employ(town, "administrator")
    made = await bring(admin)

    again = await admin.call(
        "POST", ADMIN, data={"shortcode": made["shortcode"]}, files=_file(image_file("PNG", (32, 32)))
    )
    without = await admin.call("POST", ADMIN, json={"shortcode": "without"})

    assert again.json()["error"] == "Validation failed: Shortcode has already been taken"
    assert without.status_code == 422


async def test_only_those_who_may_manage_emoji_do(town: Town) -> None:
    moderator, ada = await employ(town, "moderator"), await join(town)

    assert await verdict(moderator, "GET", ADMIN) == 403
    assert await verdict(ada, "POST", ADMIN, json={"shortcode": "mine"}) == 403

"""The routes of attachments, as an app calls them."""

from __future__ import annotations

import asyncio
import io
import os
from typing import Any

import httpx
import pytest
from PIL import Image

from tests.conftest import TownBuilder
from tests.identity.test_ended_meanwhile import slowly
from tests.social import samples
from tests.social.tokens import new_app
from tests.town import Town

FIELDS = {
    "id",
    "type",
    "url",
    "preview_url",
    "remote_url",
    "preview_remote_url",
    "text_url",
    "meta",
    "description",
    "blurhash",
}


class Photographer:
    """A member with an app that may send files."""

    def __init__(self, town: Town, token: str) -> None:
        self._http = town.http
        self.headers = {"Authorization": f"Bearer {token}"}

    async def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        return await self._http.request(method, path, headers=self.headers, **options)

    async def send(self, data: bytes, *, version: int = 2, name: str = "x.png", **more: Any) -> httpx.Response:
        thumbnail = more.pop("thumbnail", None)
        files = {"file": (name, data, "image/png")} | ({"thumbnail": ("t.png", thumbnail)} if thumbnail else {})
        return await self.call("POST", f"/api/v{version}/media", files=files, data=more)

    async def until_ready(self, id: str) -> httpx.Response:
        for _ in range(1500):
            answer = await self.call("GET", f"/api/v1/media/{id}")
            if answer.status_code != 206:
                return answer
            await asyncio.sleep(0.02)
        raise AssertionError("it is still being processed")


async def _photographer(town: Town, scope: str = "write:media") -> Photographer:
    app = await new_app(town, "read write")
    return Photographer(town, await app.token_of(await town.sign_up(), scope))


@pytest.mark.parametrize("form", ["PNG", "WEBP"])
async def test_a_picture_that_moves_is_sent_and_moves_at_once(town: Town, form: str) -> None:
    ada = await _photographer(town)

    answer = await ada.send(samples.animated(form, 3))

    sent = answer.json()
    assert (answer.status_code, sent["type"]) == (200, "image"), sent
    shown = await town.http.get(sent["url"])
    assert shown.headers["content-type"] == "image/webp"
    assert getattr(Image.open(io.BytesIO(shown.content)), "n_frames", 1) == 3
    assert getattr(Image.open(io.BytesIO((await town.http.get(sent["preview_url"])).content)), "n_frames", 1) == 1


@pytest.mark.parametrize("version", [1, 2])
async def test_a_picture_is_sent_and_seen_at_once(town: Town, version: int) -> None:
    ada = await _photographer(town)

    answer = await ada.send(
        samples.camera_jpeg((80, 60)), version=version, name="../a.html", description="a barn", focus="0.5,-0.25"
    )

    assert answer.status_code == 200, answer.text
    sent = answer.json()
    assert set(sent) == FIELDS
    assert (sent["type"], sent["description"], sent["text_url"], sent["remote_url"]) == ("image", "a barn", None, None)
    assert sent["meta"]["original"] == {"width": 60, "height": 80, "size": "60x80", "aspect": 0.75}
    assert sent["meta"]["focus"] == {"x": 0.5, "y": -0.25}
    assert len(sent["blurhash"]) == 36
    for url in (sent["url"], sent["preview_url"]):
        assert "a.html" not in url
        shown = await town.http.get(url)
        assert (shown.status_code, shown.headers["content-type"]) == (200, "image/jpeg")
    again = await ada.call("GET", f"/api/v1/media/{sent['id']}")
    assert (again.status_code, again.json()) == (200, sent)


async def test_a_film_is_accepted_and_ready_later(town: Town) -> None:
    ada = await _photographer(town)

    answer = await ada.send(samples.video(sound="aac"), thumbnail=samples.image_file("PNG", (30, 20)))

    assert answer.status_code == 202, answer.text
    waiting = answer.json()
    assert (waiting["type"], waiting["url"]) == ("video", None)
    ready = await ada.until_ready(waiting["id"])
    assert ready.status_code == 200
    film = ready.json()
    assert film["meta"]["small"]["size"] == "30x20"
    part = await town.http.get(film["url"], headers={"Range": "bytes=4-7"})
    assert (part.status_code, part.content, part.headers["content-type"]) == (206, b"ftyp", "video/mp4")


async def test_the_older_route_waits_for_sound_which_has_no_preview(town: Town) -> None:
    ada = await _photographer(town)

    answer = await ada.send(samples.sound("wav", "pcm_s16le"), version=1)

    assert answer.status_code == 200
    assert (answer.json()["type"], answer.json()["preview_url"]) == ("audio", None)
    assert answer.json()["url"].endswith(".mp3")


@pytest.mark.parametrize(
    ("data", "more", "error"),
    [
        (b"<svg onload='alert(1)'/>", {}, "Validation failed: File content type is invalid, File is invalid"),
        (samples.png_header(30_000, 30_000), {}, "30000x30000 images are not supported"),
        (b"\x89PNG\r\n\x1a\nnothing", {}, "File type of uploaded media could not be verified"),
        (
            b"GIF89a",
            {"description": "x" * 10_001},
            "Validation failed: Description is too long (maximum is 10000 characters)",
        ),
    ],
    ids=["svg", "bomb", "broken", "wordy"],
)
async def test_refusals(town: Town, data: bytes, more: dict[str, Any], error: str) -> None:
    ada = await _photographer(town)

    answer = await ada.send(data, **more)

    assert (answer.status_code, answer.json()["error"]) == (422, error)


async def test_a_film_that_cannot_be_processed_says_so_when_asked(town: Town) -> None:
    ada = await _photographer(town)
    sent = await ada.send(samples.video()[:900])

    answer = await ada.until_ready(sent.json()["id"])

    assert sent.status_code == 202
    assert (answer.status_code, answer.json()) == (422, {"error": "Error processing thumbnail for uploaded media"})


async def test_it_is_described_and_deleted_by_whoever_sent_it(town: Town) -> None:
    ada, bob = await _photographer(town), await _photographer(town)
    path = f"/api/v1/media/{(await ada.send(samples.image_file('PNG'))).json()['id']}"

    changed = await ada.call("PUT", path, json={"description": "a dog", "focus": "-1,0"})

    assert changed.status_code == 200
    assert (changed.json()["description"], changed.json()["meta"]["focus"]) == ("a dog", {"x": -1.0, "y": 0.0})
    for method in ("GET", "PUT", "DELETE"):
        refused = await bob.call(method, path)
        assert (refused.status_code, refused.json()) == (404, {"error": "Record not found"})
    gone = await ada.call("DELETE", path)
    assert (gone.status_code, gone.json()) == (200, {})
    assert (await ada.call("GET", path)).status_code == 404
    assert (await ada.call("GET", "/api/v1/media/nonsense")).status_code == 404


async def test_a_file_is_needed_and_so_is_the_scope(town: Town) -> None:
    ada, reader = await _photographer(town), await _photographer(town, "read")

    empty = await ada.call("POST", "/api/v2/media", data={"description": "nothing"})
    assert (empty.status_code, empty.json()["error"]) == (422, "Validation failed: File can't be blank")
    outside = await reader.send(samples.image_file("PNG"))
    assert outside.json() == {"error": "This action is outside the authorized scopes"}
    assert (await town.http.post("/api/v2/media")).status_code == 401


async def test_thirty_files_in_half_an_hour_are_enough(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on")
    ada = await _photographer(town)

    answers = [await ada.send(b"nothing") for _ in range(31)]

    assert answers[0].headers["x-ratelimit-limit"] == "30"
    if len({answer.headers["x-ratelimit-reset"] for answer in answers}) == 1:  # no window ended meanwhile
        assert [answer.status_code for answer in answers] == [422] * 30 + [429]
        assert answers[-1].json() == {"error": "Too many requests"}


@pytest.mark.parametrize("place", ["header", "form"])
async def test_an_upload_that_comes_slowly_counts_once(new_town: TownBuilder, place: str) -> None:
    """Also where the guard itself waits for it, since the key of the token is among what is sent."""
    town = await new_town(rate_limits="on")
    ada = await _photographer(town)
    key = ada.headers["Authorization"].removeprefix("Bearer ")
    part = '--edge\r\nContent-Disposition: form-data; name="{}"\r\n\r\n{}\r\n'
    parts = {"access_token": key, 'file"; filename="x.png': "nothing", "unknown": " " * 200_000}
    body = ("".join(part.format(*one) for one in parts.items()) + "--edge--\r\n").encode()
    headers = {"Content-Type": "multipart/form-data; boundary=edge"} | (ada.headers if place == "header" else {})

    status = await slowly(town, "/api/v2/media", body, headers, asyncio.sleep(0))
    following = await ada.send(b"nothing")

    assert status == 422
    assert following.headers["x-ratelimit-remaining"] == "28"


def _noise() -> bytes:
    file = io.BytesIO()
    Image.frombytes("RGB", (400, 400), os.urandom(400 * 400 * 3)).save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize(
    ("path", "name", "content"),
    [
        ("/api/v2/media", 'file"; filename="x.png', _noise()),
        ("/api/v1/featured_tags", "name", b"slow"),
    ],
    ids=["a file", "a field"],
)
async def test_what_comes_slowly_in_parts_is_read_once_and_whole(
    town: Town, path: str, name: str, content: bytes
) -> None:
    """The caller is looked at once more after it; what they have sent is not gone by then."""
    app = await new_app(town, "read write")
    token = await app.token_of(await town.sign_up(), "write")
    head = '--edge\r\nContent-Disposition: form-data; name="{}"\r\n\r\n'
    parts = [(name, content), ("unknown", b" " * 200_000)]
    body = b"".join(head.format(one).encode() + said + b"\r\n" for one, said in parts) + b"--edge--\r\n"
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "multipart/form-data; boundary=edge"}

    assert await slowly(town, path, body, headers, asyncio.sleep(0)) == 200

"""On the way into an application, in a real browser: with scripts and without."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from playwright.async_api import Browser, Page

from tests.identity.oauth_clients import Registered, make_app, make_client
from tests.town import Person, Town
from tests.web.chromium import check, opened, sign_in
from tests.web.test_browser import ada, place

__all__ = ["ada", "place"]  # fixtures of the other page, each made anew for this one


class Client:
    """The application's side: a place on another origin that takes whatever it is sent."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[dict[str, str]] = asyncio.Queue()
        self.back = ""

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, path, _ = head.split("\r\n")[0].split(" ")
        length = next((int(line[15:]) for line in head.lower().split("\r\n") if line.startswith("content-length:")), 0)
        body = (await reader.readexactly(length)).decode()
        if urlsplit(path).path == "/back":
            self.heard.put_nowait(dict(parse_qsl(body if method == "POST" else urlsplit(path).query)))
        page = b"<!doctype html><title>Client</title><h1>Welcome back</h1>"
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\ncontent-length: ")
        writer.write(str(len(page)).encode() + b"\r\n\r\n" + page)
        await writer.drain()
        writer.close()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[Client]:
        server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        async with server:
            self.back = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/back"
            yield self


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with Client().listening() as listening:
        yield listening


def way_in(registered: Registered, client: Client, **more: str) -> str:
    path = "/application/o/authorize/" if registered.slug else "/oauth/authorize"
    return f"{path}?{urlencode(registered.ask(redirect_uri=client.back) | more)}"


async def arrived(page: Page, client: Client) -> dict[str, str]:
    await page.get_by_role("heading", name="Welcome back").wait_for()
    return await client.heard.get()


@pytest.mark.parametrize("scripts", [True, False])
async def test_into_an_application_by_sign_in_and_consent(
    chrome: Browser, place: Town, ada: Person, client: Client, scripts: bool
) -> None:
    registered = await make_client(place, _redirect_uris="http://127.0.0.1/back", reuse_consent=False)
    async with opened(chrome, place, java_script_enabled=scripts) as page:
        await page.goto(way_in(registered, client))
        await page.get_by_label("User name or e-mail address").fill(ada.username)
        await page.get_by_role("button", name="Continue").click()
        await page.get_by_label("Password").fill(ada.password)
        await page.get_by_role("button", name="Continue").click()
        await page.get_by_text("See your e-mail address").wait_for()
        if scripts:
            await check(page)
        await page.get_by_role("button", name="Allow").click()
        told = await arrived(page, client)
        assert (set(told), told["state"]) == ({"code", "state", "iss"}, "s t&ate")

        await page.goto(way_in(registered, client, response_mode="form_post"))
        await page.get_by_role("button", name="Allow").click()
        if not scripts:
            await page.get_by_role("heading", name="One moment").wait_for()
            await page.get_by_role("button", name="Continue").click()
        assert (await arrived(page, client))["state"] == "s t&ate"


@pytest.mark.parametrize("scripts", [True, False])
async def test_an_app_asks_on_a_page_of_its_own(
    chrome: Browser, place: Town, ada: Person, client: Client, scripts: bool
) -> None:
    oob = "urn:ietf:wg:oauth:2.0:oob"
    app = await make_app(place, uris=(client.back, oob))
    async with opened(chrome, place, java_script_enabled=scripts) as page:
        await sign_in(page, ada)
        await page.goto(way_in(app, client))
        await page.get_by_text("Read everything in your account").wait_for()
        if scripts:
            await check(page)
        await page.get_by_role("button", name="Deny").click()
        assert (await arrived(page, client))["error"] == "access_denied"
        await page.goto(way_in(app, client))
        await page.get_by_role("button", name="Allow").click()
        assert "code" in await arrived(page, client)

        await page.goto(way_in(app, client, redirect_uri=oob))
        await page.get_by_role("button", name="Allow").click()
        code = await page.get_by_label("Code").input_value()
        if scripts:
            await check(page)
        sent = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": oob,
            "client_id": app.client_id,
            "client_secret": app.secret,
        }
        assert (await place.http.post("/oauth/token", data=sent)).status_code == 200

        await page.goto("/oauth/authorized_applications")
        if scripts:
            await check(page)
        await page.get_by_role("button", name="Revoke").click()
        await page.get_by_text("You have not authorized any applications.").wait_for()


async def test_a_device_and_what_went_wrong(chrome: Browser, place: Town, ada: Person, client: Client) -> None:
    registered = await make_client(place)
    started = await place.http.post(
        "/application/o/device/", data={"scope": "openid"}, auth=(registered.client_id, registered.secret)
    )
    for scheme in ("light", "dark"):
        async with opened(chrome, place, color_scheme=scheme) as page:
            await sign_in(page, ada)
            await page.goto(way_in(registered, client))
            await page.get_by_role("heading", name="Redirect URI Error").wait_for()
            await check(page)
            await page.goto("/device")
            await page.get_by_label("Code").fill("WRNG-CODE")
            await page.keyboard.press("Enter")
            await page.get_by_text("This code is not valid.").wait_for()
            await check(page)
            await page.get_by_label("Code").fill(started.json()["user_code"])
            await page.keyboard.press("Enter")
            await page.get_by_role("button", name="Allow").wait_for()
            await check(page)
            if scheme == "dark":
                await page.get_by_role("button", name="Allow").click()
                await page.get_by_role("heading", name="Your device is connected").wait_for()
                await check(page)

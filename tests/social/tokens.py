"""Apps of people, and the tokens they get."""

from __future__ import annotations

import html
import re
import uuid
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec

from tests.identity.flow_browser import Browser
from tests.town import Person, Town

OOB = "urn:ietf:wg:oauth:2.0:oob"


class App(msgspec.Struct):
    town: Town
    name: str
    id: str
    client_id: str
    secret: str

    async def token(self, scope: str) -> str:
        """The app's own."""
        return await self._token(grant_type="client_credentials", scope=scope)

    async def token_of(self, person: Person, scope: str) -> str:
        return await self._token(grant_type="password", scope=scope, username=person.username, password=person.password)

    async def _token(self, **sent: str) -> str:
        keys = {"client_id": self.client_id, "client_secret": self.secret}
        answer = await self.town.http.post("/oauth/token", data=keys | sent)
        assert answer.status_code == 200, answer.text
        key: str = answer.json()["access_token"]
        return key


async def new_app(town: Town, scopes: str, **more: Any) -> App:
    name = f"app {uuid.uuid4().hex[:8]}"
    body = {"client_name": name, "redirect_uris": OOB, "scopes": scopes} | more
    answer = await town.http.post("/api/v1/apps", json=body)
    assert answer.status_code == 200, answer.text
    made = answer.json()
    return App(town, name, made["id"], made["client_id"], made["client_secret"])


async def consent(town: Town, person: Person, url: str, browser: Browser | None = None) -> str:
    """Sign in, open the app's address, and say yes on its page; the code that is shown."""
    browser = browser or Browser(town)
    await browser.sign_in(person)
    shown = await browser.http.get(url)
    assert shown.status_code == 200, shown.text
    form = re.search(r"<form.*?</form>", shown.text, re.DOTALL)
    assert form is not None
    hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form[0])
    answer = await browser.http.post("/oauth/authorize", data={name: html.unescape(value) for name, value in hidden})
    assert answer.status_code == 302, answer.text
    [code] = parse_qs(urlsplit(answer.headers["location"]).query)["code"]
    page = await browser.http.get(answer.headers["location"])
    assert code in page.text
    return code

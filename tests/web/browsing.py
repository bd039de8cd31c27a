"""A visitor whose browser runs no script: it follows links, fills in forms and keeps cookies."""

from __future__ import annotations

from html.parser import HTMLParser
from urllib.parse import urljoin

import httpx

from tests.town import Town


class Form:
    def __init__(self, action: str, method: str) -> None:
        self.action = action
        self.method = method
        self.values: dict[str, str] = {}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.main = False
        self._open = ""  # the select or textarea whose content is read
        self._in_text = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "main":
            self.main = True
        if tag == "form" and self.main:
            self.forms.append(Form(given.get("action", ""), given.get("method", "get")))
        if (
            tag in ("input", "textarea", "select")
            and self.main
            and self.forms
            and given.get("type") not in ("checkbox", "radio")
        ):
            self.forms[-1].values[given["name"]] = given.get("value", "")
            self._open, self._in_text = ("", False) if tag == "input" else (given["name"], tag == "textarea")
        if tag == "option" and self._open and self.forms:
            values = self.forms[-1].values
            if "selected" in given or not values[self._open]:
                values[self._open] = given.get("value", "")
        if tag == "input" and self.main and self.forms and "checked" in given:
            self.forms[-1].values[given["name"]] = given.get("value", "on")

    def handle_data(self, data: str) -> None:
        if self._in_text:
            self.forms[-1].values[self._open] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "main":
            self.main = False
        if tag in ("select", "textarea"):
            self._open, self._in_text = "", False


class Browser:
    """One visitor; `page` is what they see now."""

    def __init__(self, town: Town) -> None:
        self.http = httpx.AsyncClient(base_url=town.base_url, timeout=120, transport=town.transport)
        self.page = httpx.Response(204)

    async def close(self) -> None:
        await self.http.aclose()

    @property
    def path(self) -> str:
        return self.page.url.raw_path.decode()

    def forms(self) -> list[Form]:
        reader = _Reader()
        reader.feed(self.page.text)
        return reader.forms

    async def open(self, path: str) -> httpx.Response:
        self.page = await self.http.get(path, follow_redirects=True)
        return self.page

    async def submit(
        self, number: int = 0, fields: dict[str, str] | None = None, *, follow: bool = True, **values: str
    ) -> httpx.Response:
        """Send one of the page's forms, filled in with `values`."""
        form = self.forms()[number]
        to = urljoin(str(self.page.url), form.action)
        self.page = await self.http.post(to, data=form.values | (fields or {}) | values, follow_redirects=follow)
        return self.page

    def cookie(self, name: str) -> str | None:
        return self.http.cookies.get(name)

    async def sign_in(self, username: str, password: str, query: str = "") -> httpx.Response:
        await self.open(f"/flows/-/default/authentication/{query}")
        await self.submit(uid_field=username)
        return await self.submit(password=password)

    async def press(self, action: str, **values: str) -> httpx.Response:
        """Send the form of this page whose address ends so."""
        for form in self.forms():
            if form.action.endswith(action):
                to = urljoin(str(self.page.url), form.action)
                self.page = await self.http.post(to, data=form.values | values, follow_redirects=True)
                return self.page
        raise AssertionError(f"no form leads to {action}: {[form.action for form in self.forms()]}")

    async def is_signed_in(self) -> bool:
        return (await self.http.get("/settings/security")).status_code == 200

"""Gateways of a town, and somebody whose browser goes to and fro between their hosts and the town's own."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.identity.flow_browser import Browser
from tests.identity.records import make, new_name, results
from tests.town import Person, Town
from tests.town.plain import PLAIN

IMPLICIT = "default-provider-authorization-implicit-consent"


class Gateway:
    def __init__(self, record: dict[str, Any], application: dict[str, Any]) -> None:
        self.record = record
        self.application = application
        self.url = str(record["external_host"])
        self.id = int(record["pk"])

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc

    def at(self, path: str) -> str:
        return f"{self.url}{path}"


async def make_gateway(town: Town, owner: Person, *, port: int | None = None, **fields: Any) -> Gateway:
    """Whose flow asks nothing. `port` is where its host is reached: the town's own, or that of another process."""
    name = new_name("gw")
    [flow] = await results(owner, "/flows/instances/", slug=IMPLICIT)
    given = {
        "name": name,
        "internal_host": "http://127.0.0.1:1",
        "external_host": f"http://{name}.localhost:{port or town.port}",
        "authorization_flow": flow["pk"],
    }
    record = await make(owner, "/providers/applicationgateway/", **given | fields)
    application = await make(owner, "/core/applications/", name=name, slug=name, provider=record["pk"])
    return Gateway(record, application)


async def refuse_everybody(owner: Person, gateway: Gateway, words: str = "Not on Sundays.") -> dict[str, Any]:
    expression = f'ak_message("{words}")\nreturn False'
    policy = await make(owner, "/policies/expression/", name=new_name("no"), expression=expression)
    return await make(owner, "/policies/bindings/", policy=policy["pk"], target=gateway.application["pk"], order=0)


class Visitor:
    """A browser with cookies by host. Names of hosts are only said: everything is reached on this machine."""

    def __init__(self, town: Town) -> None:
        self.town = town
        self.browser = Browser(town)
        self.cookies: dict[str, dict[str, str]] = {}
        self._http = httpx.AsyncClient(timeout=30, verify=PLAIN, limits=httpx.Limits(max_keepalive_connections=0))

    async def ask(self, url: str, method: str = "GET", **more: Any) -> httpx.Response:
        parts = urlsplit(url)
        if parts.netloc == urlsplit(self.town.base_url).netloc:
            return await self.browser.http.request(method, url, **more)
        headers = {"Host": parts.netloc, **more.pop("headers", {})}
        held = self.held(parts.netloc)
        if held and "Cookie" not in headers:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in held.items())
        port = parts.port or 80
        target = f"http://127.0.0.1:{port}{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
        answer = await self._http.request(method, target, headers=headers, **more)
        self.keep(parts.hostname or "", parts.netloc, answer)
        return answer

    def held(self, netloc: str) -> dict[str, str]:
        name = netloc.partition(":")[0]
        held: dict[str, str] = {}
        for place, some in self.cookies.items():
            if place == netloc or (place.startswith(".") and (name.endswith(place) or name == place[1:])):
                held |= some
        return held

    def keep(self, hostname: str, netloc: str, answer: httpx.Response) -> None:
        for line in answer.headers.get_list("set-cookie"):
            first, *attributes = [one.strip() for one in line.split(";")]
            name, _, value = first.partition("=")
            told = {key.lower(): said for key, _, said in (one.partition("=") for one in attributes)}
            domain = told.get("domain", "").lstrip(".")
            if domain and hostname != domain and not hostname.endswith(f".{domain}"):
                continue
            held = self.cookies.setdefault(f".{domain}" if domain else netloc, {})
            held.pop(name, None)
            if told.get("max-age") != "0":
                held[name] = value

    async def follow(self, url: str, **more: Any) -> tuple[httpx.Response, str]:
        """Go where the answers lead; the last answer, and where it was given."""
        for _ in range(12):
            answer = await self.ask(url, **more)
            if answer.status_code not in (301, 302, 303, 307):
                return answer, url
            to = answer.headers["location"]
            url = to if "://" in to else f"{url.partition('://')[0]}://{urlsplit(url).netloc}{to}"
            more = {}
        raise AssertionError(f"it leads on and on, by now to {url}")


async def visitor_of(town: Town, person: Person | None = None) -> tuple[Person, Visitor]:
    """Somebody who has signed in at the town."""
    who = person or await town.sign_up()
    visitor = Visitor(town)
    await visitor.browser.sign_in(who)
    return who, visitor


def sent(answer: httpx.Response) -> dict[str, str]:
    """The headers that the application got."""
    assert answer.status_code == 200, (answer.status_code, answer.text[:2000])
    return dict(answer.json()["headers"])

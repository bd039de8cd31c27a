"""Clients of the OAuth engine, and people on their way into them."""

from __future__ import annotations

import base64
import hashlib
import secrets
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx
import msgspec

from kith.identity.providers.oauth2.registration import apps
from kith.identity.providers.oauth2.registration.apps import NewApp
from tests.identity.flow_browser import Browser
from tests.identity.records import make, new_name, owner_of
from tests.town import Person, Town

AUTHORIZE = "/application/o/authorize/"
SOCIAL = "/oauth/authorize"
BACK = "https://app.example/back?kept=%20yes"
CONSENT = "default-provider-authorization-explicit-consent"


class Registered(msgspec.Struct, frozen=True):
    client_id: str
    secret: str
    slug: str = ""
    provider: dict[str, Any] = {}
    application: dict[str, Any] = {}

    def ask(self, **more: str) -> dict[str, str]:
        """A good request, and what is different about it; an empty value is sent, `-` leaves a parameter out."""
        base = {
            "client_id": self.client_id,
            "redirect_uri": BACK,
            "response_type": "code",
            "state": "s t&ate",
            "scope": "openid email" if self.slug else "read",
        }
        return {name: value for name, value in (base | more).items() if value != "-"}


async def make_client(town: Town, *, kind: str = "openid", application: bool = True, **more: Any) -> Registered:
    owner, name = await owner_of(town), new_name("app")
    base: dict[str, Any] = {"name": name, "response_types": ["code"], "_redirect_uris": BACK}
    if kind == "oauth":
        base = {
            "name": name,
            "client_type": "confidential",
            "authorization_grant_type": "authorization-code",
            "redirect_uris": BACK,
        }
    provider = await make(owner, f"/providers/{kind}/", **base | more)
    made = {}
    if application:
        made = await make(owner, "/core/applications/", name=f"The {name}", slug=name, provider=provider["pk"])
    return Registered(provider["client_id"], provider["client_secret"], name, provider, made)


async def make_app(town: Town, *, scopes: str = "read write", uris: tuple[str, ...] = (BACK,)) -> Registered:
    """One of Mastodon's, which registers itself."""
    async with town.house() as house, house.works.begin() as work:
        new = NewApp(
            name=new_name("tusk"), redirect_uris=list(uris), scopes=scopes.split(), website="https://t.example"
        )
        made = await apps.register(work, new)
    return Registered(made.app.client_id, made.secret)


async def enter(browser: Browser, client: Registered, **more: str) -> httpx.Response:
    path = AUTHORIZE if client.slug else SOCIAL
    return await browser.http.get(f"{path}?{urlencode(client.ask(**more))}")


async def signed_in(town: Town, person: Person | None = None) -> Browser:
    browser = Browser(town)
    told = await browser.sign_in(person or await town.sign_up())
    assert told["component"] == "redirect", told
    return browser


def told_to(answer: httpx.Response, back: str = BACK) -> dict[str, str]:
    """What the client is sent, by query or fragment."""
    assert answer.status_code == 302, (answer.status_code, answer.text)
    to = answer.headers["location"]
    assert to.startswith(back), to
    parts = urlsplit(to)
    told = dict(parse_qsl(parts.fragment or parts.query, keep_blank_values=True))
    told.pop("kept", None)
    return told


def path_of(answer: httpx.Response) -> str:
    """Where on our own pages somebody is sent."""
    assert answer.status_code == 302, (answer.status_code, answer.text)
    to = str(answer.headers["location"])
    assert to.startswith("/"), to
    return to


def query_of(path: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(path).query, keep_blank_values=True))


async def agree(browser: Browser, flow: str = CONSENT) -> str:
    """Say yes on the page of the flow; where it leads."""
    asked = await browser.see(flow)
    assert asked["component"] == "consent", asked
    done = await browser.answer(flow, component="consent", token=asked["token"])
    assert done["component"] == "redirect", done
    return str(done["to"])


def pkce() -> tuple[str, str]:
    verifier = secrets.token_urlsafe(48)
    digest = hashlib.sha256(verifier.encode()).digest()
    return verifier, base64.urlsafe_b64encode(digest).rstrip(b"=").decode()

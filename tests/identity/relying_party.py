"""A service that lets people in through the server: it has a client, and plays its side of the protocol by the book."""

from __future__ import annotations

import base64
import hashlib
import secrets
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import jwt

from tests.identity.flow_browser import Browser
from tests.identity.records import make, new_name, results
from tests.town import Person, Town

CALLBACK = "https://rp.example/callback"
SCOPES = "openid profile email offline_access"


class RelyingParty:
    def __init__(self, town: Town, provider: dict[str, Any], application: dict[str, Any]) -> None:
        self.http = town.http
        self.town = town
        self.provider = provider
        self.slug = str(application["slug"])
        self.application = application
        self.id = str(provider["client_id"])
        self.secret = str(provider.get("client_secret") or "")

    @property
    def issuer(self) -> str:
        return f"{self.town.base_url}/application/o/{self.slug}/"

    async def post(self, endpoint: str, *, secretly: bool = True, **form: Any) -> httpx.Response:
        """Proven by the secret in a header, or by nothing but its name."""
        auth = httpx.BasicAuth(self.id, self.secret) if secretly else httpx.Auth()
        named = {} if secretly else {"client_id": self.id}
        return await self.http.post(f"/application/o/{endpoint}/", data=named | form, auth=auth)

    async def authorize(self, browser: Browser, **asked: str) -> httpx.Response:
        given = {"client_id": self.id, "redirect_uri": CALLBACK, "response_type": "code", "scope": SCOPES} | asked
        return await browser.http.get("/application/o/authorize/", params=given)

    async def code(self, browser: Browser, **asked: str) -> tuple[str, str]:
        """A code for whoever is signed in there, and the word that proves who asked for it."""
        verifier = secrets.token_urlsafe(48)
        digest = hashlib.sha256(verifier.encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        asked = {"code_challenge": challenge, "code_challenge_method": "S256"} | asked
        asked = {name: value for name, value in asked.items() if value}
        answer = await self.authorize(browser, **asked)
        if answer.headers.get("location", "").startswith("/flows/"):
            answer = await self._consent(browser, answer.headers["location"])
        # 303 after a form, 302 after a GET.
        assert answer.status_code in (302, 303), (answer.status_code, answer.text[-1500:])
        found = parse_qs(urlsplit(answer.headers["location"]).query)
        assert "code" in found, answer.headers["location"]
        return found["code"][0], verifier

    async def _consent(self, browser: Browser, path: str) -> httpx.Response:
        """Whoever is asked says yes."""
        slug = path.split("/")[2]
        shown = await browser.see(slug)
        assert shown["component"] == "consent", shown
        done = await browser.answer(slug, component="consent", token=shown["token"])
        return await browser.http.get(done["to"])

    async def trade(self, code: str, verifier: str, /, *, secretly: bool = True, **more: Any) -> httpx.Response:
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, "code_verifier": verifier}
        return await self.post("token", secretly=secretly, **form | more)

    async def tokens(self, browser: Browser, *, secretly: bool = True, **asked: str) -> dict[str, Any]:
        answer = await self.trade(*await self.code(browser, **asked), secretly=secretly)
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json()
        return told

    async def refresh(self, token: str, *, secretly: bool = True, **more: Any) -> httpx.Response:
        return await self.post(
            "token", secretly=secretly, **{"grant_type": "refresh_token", "refresh_token": token} | more
        )

    async def userinfo(self, token: str) -> httpx.Response:
        return await self.http.get("/application/o/userinfo/", headers={"Authorization": f"Bearer {token}"})

    async def read(self, id_token: str) -> dict[str, Any]:
        """The claims, checked with nothing but what is published."""
        header = jwt.get_unverified_header(id_token)
        if header["alg"] == "HS256":
            told: dict[str, Any] = jwt.decode(
                id_token, self.secret, algorithms=["HS256"], audience=self.id, issuer=self.issuer
            )
            return told
        keys = (await self.http.get(f"/application/o/{self.slug}/jwks/")).json()["keys"]
        [key] = [one for one in keys if one["kid"] == header["kid"]]
        options: Any = {"algorithms": [header["alg"]], "audience": self.id, "issuer": self.issuer}
        claims: dict[str, Any] = jwt.decode(id_token, jwt.PyJWK(key), **options)
        return claims


async def make_party(town: Town, owner: Person, kind: str = "openid", **fields: Any) -> RelyingParty:
    """A provider whose flow asks nothing, and its application."""
    name = new_name("rp")
    [flow] = await results(owner, "/flows/instances/", slug="default-provider-authorization-implicit-consent")
    given: dict[str, Any] = {"name": name, "authorization_flow": flow["pk"]}
    if kind == "openid":
        given |= {"client_id": name, "response_types": [1], "_redirect_uris": CALLBACK, "require_consent": False}
    else:
        given |= {
            "client_type": "confidential",
            "authorization_grant_type": "authorization-code",
            "redirect_uris": CALLBACK,
        }
    provider = await make(owner, f"/providers/{kind}/", **given | fields)
    application = await make(owner, "/core/applications/", name=name, slug=name, provider=provider["pk"])
    return RelyingParty(town, provider, application)


async def signed_in(town: Town, person: Person | None = None) -> tuple[Person, Browser]:
    who = person or await town.sign_up()
    browser = Browser(town)
    await browser.sign_in(who)
    return who, browser


def half_hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return base64.urlsafe_b64encode(digest[:16]).rstrip(b"=").decode()

"""Two servers: people have accounts at one, and come in through it at the other."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from tests.identity.flow_browser import Browser
from tests.identity.records import make, new_name, owner_of, results
from tests.identity.relying_party import RelyingParty, make_party
from tests.town import Person, Town


class Pair:
    """`here` is where people want to come in, `there` is where they are known."""

    def __init__(self, here: Town, there: Town) -> None:
        self.here = here
        self.there = there

    async def openid_source(self, **fields: Any) -> tuple[dict[str, Any], RelyingParty]:
        """A source here, and what is known of us there."""
        slug = new_name("there")
        callback = f"{self.here.base_url}/source/oauth/callback/{slug}/"
        party = await make_party(
            self.there,
            await owner_of(self.there),
            _redirect_uris=callback,
            logout_uri=f"{self.here.base_url}/source/oauth/logout/{slug}/",
            logout_method="backchannel",
        )
        given: dict[str, Any] = {
            "provider_type": "openid-connect",
            "oidc_well_known_url": f"{party.issuer}.well-known/openid-configuration",
            "consumer_key": party.id,
            "consumer_secret": party.secret,
        }
        return await self.source(slug=slug, **given | fields), party

    async def source(self, **fields: Any) -> dict[str, Any]:
        owner = await owner_of(self.here)
        flows = await results(owner, "/flows/instances/")
        named = {flow["slug"]: flow["pk"] for flow in flows}
        given: dict[str, Any] = {
            "name": new_name("There"),
            "slug": new_name("there"),
            "authentication_flow": named["default-source-authentication"],
            "enrollment_flow": named["default-source-enrollment"],
        }
        return await make(owner, "/sources/oauth/", **given | fields)

    async def known(self, name: str | None = None) -> tuple[Person, Browser]:
        """Somebody who is signed in there."""
        person = await self.there.sign_up(name)
        browser = Browser(self.there)
        await browser.sign_in(person)
        return person, browser


async def begin(browser: Browser, source: dict[str, Any], **query: str) -> str:
    """Where the source sends people."""
    answer = await browser.http.get(f"/source/oauth/login/{source['slug']}/", params=query)
    assert answer.status_code == 302, answer.text[-1500:]
    return answer.headers["location"]


async def consent(there: Browser, address: str) -> str:
    """Whoever is signed in there goes back with what they are given."""
    answer = await there.http.get(address)
    assert answer.status_code == 302, answer.text[-1500:]
    return answer.headers["location"]


async def come_in(here: Browser, there: Browser, source: dict[str, Any], **query: str) -> httpx.Response:
    """The whole way; the last answer."""
    back = await consent(there, await begin(here, source, **query))
    return await here.http.get(back)


def asked(address: str) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs(urlsplit(address).query).items()}

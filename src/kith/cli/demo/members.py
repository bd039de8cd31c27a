"""People of the example community as they use the server: an app with a token, and now and then a browser."""

from __future__ import annotations

import base64
import random
import secrets
from typing import Any

from kith.cli.demo import pictures
from kith.cli.demo.cast import DemoPerson
from kith.cli.demo.past import Guest, NotDone, Past

__all__ = ["DemoMember", "Doors", "new_password"]

SIGN_IN = "/api/v2/flows/executor/default-authentication-flow/"
SCOPES = "read write follow push profile"
TEAM_SCOPES = f"{SCOPES} admin:read admin:write"
_OOB = "urn:ietf:wg:oauth:2.0:oob"
_AGENTS = (
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile Safari/604.1",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/128.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/128.0.0.0 Mobile Safari/537.36",
)
_WORDS = (
    "anchor", "apple", "basin", "beacon", "bread", "bridge", "candle", "cargo", "cello", "cloud", "copper", "ferry",
    "field", "garden", "glaze", "harbour", "hazel", "island", "kettle", "lantern", "ledger", "maple", "meadow",
    "mill", "north", "otter", "paper", "pebble", "pier", "plum", "quay", "river", "robin", "saddle", "sail", "seal",
    "spruce", "stone", "tide", "timber", "violet", "walnut", "wheel", "willow", "window", "winter",
)  # fmt: skip


def new_password() -> str:
    """To be read from a terminal and typed."""
    return "-".join(secrets.choice(_WORDS) for _ in range(4))


class Doors:
    """The app that everybody uses, and how people come in."""

    def __init__(self, past: Past, keys: dict[str, str], own_token: str) -> None:
        self.past = past
        self._keys = keys
        self._own_token = own_token

    @classmethod
    async def open(cls, past: Past) -> Doors:
        guest = Guest(past, address="203.0.113.1", agent="Harbour/1.0")
        wish = {"client_name": "Harbour", "redirect_uris": _OOB, "scopes": TEAM_SCOPES}
        app = await guest.call("POST", "/api/v1/apps", json=wish)
        keys = {name: app[name] for name in ("client_id", "client_secret")}
        own = await guest.call(
            "POST", "/oauth/token", form=keys | {"grant_type": "client_credentials", "scope": "read write"}
        )
        return cls(past, keys, own["access_token"])

    async def ask_to_join(self, username: str, password: str, address: str, reason: str) -> None:
        guest = Guest(self.past, address=address, agent="Harbour/1.0", authorization=f"Bearer {self._own_token}")
        form = {"username": username, "email": f"{username}@example.org", "password": password, "reason": reason}
        await guest.call("POST", "/api/v1/accounts", form=form | {"agreement": "true", "locale": "en"})

    async def token_for(self, guest: Guest, username: str, password: str, *, is_team: bool = False) -> str:
        form = self._keys | {
            "grant_type": "password",
            "username": username,
            "password": password,
            "scope": TEAM_SCOPES if is_team else SCOPES,
        }
        return str((await guest.call("POST", "/oauth/token", form=form))["access_token"])


class DemoMember:
    """One of the cast: `app` speaks for them."""

    def __init__(self, doors: Doors, person: DemoPerson, number: int) -> None:
        self.doors = doors
        self.person = person
        self.password = new_password()
        self.address = f"203.0.113.{10 + number}"
        self.agent = _AGENTS[number % len(_AGENTS)]
        self.app = Guest(doors.past, address=self.address, agent=self.agent)
        self.id = ""

    @property
    def name(self) -> str:
        return self.person.username

    async def arrive(self, *, is_team: bool = False) -> None:
        """Their app gets a token, and they say who they are."""
        token = await self.doors.token_for(self.app, self.name, self.password, is_team=is_team)
        self.app.authorization = f"Bearer {token}"
        person = self.person
        form = {
            "display_name": person.name,
            "note": person.bio,
            "locked": "true" if person.is_locked else "false",
            "bot": "true" if person.is_bot else "false",
            "discoverable": "true",
            "indexable": "true",
        }
        for place, (name, value) in enumerate(person.fields):
            form |= {f"fields_attributes[{place}][name]": name, f"fields_attributes[{place}][value]": value}
        files = {"avatar": pictures.avatar(self.name, person.look)}
        if person.scene:
            files["header"] = pictures.scene(person.scene, len(self.name) + person.days)
        me = await self.app.call("PATCH", "/api/v1/accounts/update_credentials", form=form, files=files)
        self.id = me["id"]

    def basic(self) -> Guest:
        """For the identity API, with name and password."""
        words = base64.b64encode(f"{self.name}:{self.password}".encode()).decode()
        return Guest(self.doors.past, address=self.address, agent=self.agent, authorization=f"Basic {words}")

    async def look_in(self) -> None:
        await self.app.call("GET", "/api/v1/timelines/home?limit=1")

    async def sign_in(self, luck: random.Random) -> Guest:
        """In a browser; now and then with a mistake first."""
        browser = Guest(self.doors.past, address=self.address, agent=luck.choice((self.agent, *_AGENTS)))
        await self._begin(browser)
        if luck.random() < 0.12:
            await browser.call("POST", SIGN_IN, json={"password": "not-the-right-one"})
        told = await browser.call("POST", SIGN_IN, json={"password": self.password})
        if told["component"] != "redirect":
            raise NotDone(f"{self.name} could not sign in: {told}")
        return browser

    async def be_guessed_at(self, address: str) -> None:
        """Somebody else tries passwords."""
        browser = Guest(self.doors.past, address=address, agent="python-requests/2.31")
        await self._begin(browser)
        for guess in ("123456", "harbour"):
            await browser.call("POST", SIGN_IN, json={"password": guess})

    async def _begin(self, browser: Guest) -> None:
        await browser.call("GET", SIGN_IN)
        await browser.call("POST", SIGN_IN, json={"uid_field": self.name})

    async def post(self, **what: Any) -> dict[str, Any]:
        made: dict[str, Any] = await self.app.call("POST", "/api/v1/statuses", json={"language": "en"} | what)
        return made

    async def upload(self, kind: str, words: str, seed: int) -> str:
        file = pictures.picture(kind, seed)
        made = await self.app.call("POST", "/api/v2/media", form={"description": words}, files={"file": file})
        return str(made["id"])

    async def to(self, other: DemoMember, verb: str) -> None:
        await self.app.call("POST", f"/api/v1/accounts/{other.id}/{verb}")

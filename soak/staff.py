"""What the identity half is asked: its records by staff, sign-ins through flows, tokens, and people who sign up."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp

from soak.acts import Community
from soak.people import Asker, Person
from soak.town import Site

__all__ = ["OOB", "Staff"]

OOB = "urn:ietf:wg:oauth:2.0:oob"
_API = "/api/v2"
_EXECUTOR = f"{_API}/flows/executor"
_SIGN_IN = "default-authentication-flow"
_KEPT: tuple[tuple[str, str, Callable[[str], dict[str, Any]], str], ...] = (
    ("/core/users/", "username", lambda name: {"username": name, "name": name.title()}, "pk"),
    ("/core/groups/", "name", lambda name: {"name": name}, "pk"),
    ("/core/applications/", "slug", lambda name: {"name": name, "slug": name}, "pk"),
    ("/policies/dummy/", "name", lambda name: {"name": name, "result": True, "wait_min": 0, "wait_max": 1}, "pk"),
)


class Staff:
    """An owner of the server under soak, and visitors."""

    def __init__(self, me: Person, password: str, community: Community, client: dict[str, str]) -> None:
        self.me, self.community = me, community
        self._password, self._client = password, client
        self._basic = base64.b64encode(f"{me.name}:{password}".encode()).decode()
        self._app_token = ""
        self.signed_up: dict[str, bool | None] = {}  # names, and whether it was accepted

    @property
    def acts(self) -> dict[Callable[[], Awaitable[None]], int]:
        return {self.keep_record: 6, self.look: 6, self.sign_in: 2, self.token: 2, self.sign_up: 1}

    @property
    def _site(self) -> Site:
        return self.me.site

    @property
    def _asker(self) -> Asker:
        return self.me.asker

    async def ask(self, kind: str, method: str, path: str, **options: Any) -> Any:
        headers = {"Authorization": f"Basic {self._basic}"}
        return await self._asker.ask(self._site, kind, method, _API + path, headers=headers, **options)

    async def keep_record(self) -> None:
        path, named, body, key = self.me.dice.choice(_KEPT)
        name = f"s{self.community.mark()}"
        ledger, thing = self.me.ledger, f"{path} by {named}"
        ledger.note(thing, name, None)
        made = await self.ask("record made", "POST", path, json=body(name), fine=(201,))
        ledger.note(thing, name, made.outcome)
        if not made.is_yes:
            return
        one = f"{path}{made.body[key]}/"
        await self.ask("record changed", "PATCH", one, json={"name": name})
        if self.me.dice.random() < 0.5:
            return
        ledger.note(thing, name, None)
        ended = await self.ask("record ended", "DELETE", one, fine=(204,))
        if ended.outcome is not None:
            ledger.note(thing, name, not ended.is_yes)

    async def look(self) -> None:
        path = self.me.dice.choice([
            "/core/users/?limit=20", "/core/groups/", "/core/applications/", "/policies/all/", "/audit/events/",
            "/flows/instances/", "/stages/all/", "/core/tokens/", "/core/users/me/", "/sources/all/",
        ])  # fmt: skip
        await self.ask(f"list {path.split('?')[0]}", "GET", path)

    async def sign_in(self) -> None:
        """As a browser does it."""
        jar = aiohttp.CookieJar(unsafe=True)
        async with aiohttp.ClientSession(cookie_jar=jar) as session:
            asker = Asker(self.me.ledger, self._asker.windows, session)
            path = f"{_EXECUTOR}/{_SIGN_IN}/"
            answer = await asker.ask(self._site, "sign in", "GET", path)
            for fields in ({"uid_field": self.me.name}, {"password": self._password}):
                if not answer.is_yes:
                    return
                csrf = next((one.value for one in jar if one.key == "kith_csrf"), "")
                answer = await asker.ask(
                    self._site, "sign in", "POST", path, json=fields, headers={"X-CSRF-Token": csrf}
                )
            if answer.is_yes and answer.body.get("component") != "redirect":
                self.me.ledger.violated("unexpected answer", f"not signed in: {answer.body}")

    async def token(self) -> None:
        """Had, used, taken back, and not good any more."""
        sent = self._client | {"grant_type": "password", "username": self.me.name, "password": self._password}
        had = await self._asker.ask(
            self._site, "token", "POST", "/oauth/token", data=sent | {"scope": "read write follow push"}
        )
        if not had.is_yes:
            return
        key = had.body["access_token"]
        bearer = {"Authorization": f"Bearer {key}"}
        who = "/api/v1/accounts/verify_credentials"
        await self._asker.ask(self._site, "token used", "GET", who, headers=bearer)
        self.me.ledger.revoked[key] = None
        over = await self._asker.ask(
            self._site, "token revoked", "POST", "/oauth/revoke", data=self._client | {"token": key}
        )
        self.me.ledger.revoked[key] = over.outcome
        if over.is_yes:
            await self._asker.ask(self._site, "token revoked", "GET", who, headers=bearer, fine=(401,))

    async def sign_up(self) -> None:
        if not self._app_token:
            sent = self._client | {"grant_type": "client_credentials", "scope": "read write"}
            answer = await self._asker.ask(self._site, "token", "POST", "/oauth/token", data=sent)
            if not answer.is_yes:
                return
            self._app_token = answer.body["access_token"]
        name = f"n{self.community.mark()}"
        body = {"username": name, "email": f"{name}@example.org", "password": secrets.token_hex(12), "agreement": True}
        self.signed_up[name] = None
        answer = await self._asker.ask(
            self._site,
            "sign up",
            "POST",
            "/api/v1/accounts",
            json=body | {"locale": "en"},
            headers={"Authorization": f"Bearer {self._app_token}"},
        )
        self.signed_up[name] = answer.outcome
        self.me.ledger.write(signed_up=name, outcome=answer.outcome)

"""The search for ladders: somebody with few permissions tries everything, uses what opened, and is compared."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import httpx
import msgspec

from kith.identity.authority.powers import SPECIAL, power_of
from kith.identity.collections import RESOURCES
from tests.identity.flow_browser import Browser
from tests.identity.ladders.scenery import EVIL, Scenery
from tests.identity.ladders.standing import Change, Standing, read_standing
from tests.identity.ladders.tries import WRITES, Tries, Try, send
from tests.identity.records import API, new_name
from tests.identity.saml_idps import Claim, IdentityProvider
from tests.identity.scim_service import GROUP, PATCH, Service

__all__ = ["Found", "Search"]

# Each of these may come of a permission whose description holds the word; nothing else may come of any.
SAID = {
    "entry": "enter",
    "address": "addresses",
    "token": "acts for them",
    "password": "passwords",
    "factor": "factors",
}


class Found(msgspec.Struct):
    """What a search has come to: how often was tried, what was let through, and what should not have been."""

    tries: int = 0
    answers: Counter[int] = msgspec.field(default_factory=Counter)
    uses: int = 0
    ladders: list[str] = msgspec.field(default_factory=list)


class Search:
    def __init__(self, place: Scenery, seed: int) -> None:
        self._place = place
        self._chance = random.Random(seed)
        self.found = Found()

    async def climb(self, *permissions: str, probes: bool = True) -> None:
        """Everything that somebody with just these permissions can try."""
        place, held = self._place, frozenset(permissions)
        await place.allow(*permissions)
        tries = Tries(place, self._chance)
        await tries.look()
        before, opened = await self._standing(), []
        made: list[str] = []
        changed: list[str] = []
        listed = [*self._permitted(tries, held), *tries.actions(held), *(tries.probes() if probes else ())]
        for number, one in enumerate(sorted(listed, key=lambda one: one.method == "DELETE")):
            answer = await send(place, one)
            self.found.tries += 1
            self.found.answers[answer.status_code] += 1
            if answer.status_code >= 500:
                self._tell(f"{permissions}: {one} fails with {answer.status_code}")
            if answer.status_code == 401:
                await place.send_delegate()
            if answer.is_success and one.method != "GET":
                opened += self._opened(one, answer)
                if answer.status_code == 201 and "pk" in answer.json():
                    made.append(f"{one.path.removesuffix('generate/')}{answer.json()['pk']}/")
                else:
                    changed.append(one.path)
                if number % 10 == 0:
                    self._judge(before, await self._standing(), permissions, str(one)[:300])
        self._judge(before, await self._standing(), permissions, "in all")
        for use in opened[:40]:
            await self._use(use, permissions)
        await self._answer_as_victim(permissions)
        self._judge(before, await self._standing(), permissions, "after what opened was used")
        if made or changed:
            await place.tidy(made, changed)

    def _permitted(self, tries: Tries, held: frozenset[str]) -> list[Try]:
        return [
            one
            for resource in RESOURCES
            if (verbs := [verb for verb in WRITES if resource.permission(verb) in held])
            for one in tries.writes(resource, verbs)
        ]

    def _tell(self, ladder: str) -> None:
        """Shown at once: a search can be long."""
        if ladder not in self.found.ladders:
            print(ladder, flush=True)
            self.found.ladders.append(ladder)

    async def _standing(self) -> Standing:
        place = self._place
        watched = (place.ids[place.delegate.username], place.ids[place.stranger.username])
        return await read_standing(place.house, watched)

    def _judge(self, before: Standing, after: Standing, permissions: Sequence[str], when: str) -> None:
        said = " ".join(_description(one) for one in permissions)
        delegate = self._place.ids[self._place.delegate.username]
        for one in before.changes(after, delegate, frozenset(permissions)):
            if not _is_said(one, said):
                self._tell(f"{list(permissions)[:3]}: {one.kind}: {one.about} ({when})")

    # What opened

    def _opened(self, one: Try, answer: httpx.Response) -> list[dict[str, Any]]:
        """Keys, tokens, links and invitations in an answer."""
        if not answer.headers.get("content-type", "").startswith("application/json"):
            return []
        told = answer.json()
        if not isinstance(told, dict):
            return []
        if one.path.startswith("/stages/invitation/invitations/") and one.method != "DELETE":
            return [{"invitation": told["pk"]}]
        return [told] if any(isinstance(told.get(name), str) for name in ("key", "token", "link")) else []

    async def _use(self, told: dict[str, Any], permissions: Sequence[str]) -> None:
        self.found.uses += 1
        place = self._place
        if "invitation" in told:
            await self._enroll(str(told["invitation"]))
        elif "root_url" in told:
            await self._write_people(Service(told, told["token"]))
        elif "link" in told:
            browser = Browser(place.town)
            await browser.http.get(told["link"], follow_redirects=True)
            if await browser.who() not in (None, place.delegate.username):
                self._tell(f"{permissions}: a link signs in as {await browser.who()}")
        elif "key" in told:
            answer = await place.town.http.get(
                f"{API}/core/users/me/", headers={"authorization": f"Bearer {told['key']}"}
            )
            if answer.is_success and answer.json()["username"] in (place.ada.username, place.victim.username):
                self._tell(f"{permissions}: a token of {answer.json()['username']}")

    async def _enroll(self, invitation: str) -> None:
        slug, query, browser = "default-enrollment-flow", {"itoken": invitation}, Browser(self._place.town)
        name = new_name("invited").replace("-", "_")
        await browser.see(slug, **query)
        await browser.post(
            slug,
            query,
            component="prompt",
            username=name,
            name="N",
            email="boss@example.org",
            password="a good password",
            password_repeat="a good password",
        )

    async def _write_people(self, service: Service) -> None:
        """As whoever holds the token of a source: the address of a superuser, and groups with rights."""
        place = self._place
        listed = await service.send("GET", "/Users")
        for one in listed.json().get("Resources", []) if listed.is_success else []:
            operations = [
                {"op": "replace", "path": "emails", "value": [{"value": "evil@example.org", "primary": True}]}
            ]
            await service.send("PATCH", f"/Users/{one['id']}", json={"schemas": [PATCH], "Operations": operations})
        for name in (place.great, place.mighty, "board"):
            made = await service.send("POST", "/Groups", json={"schemas": [GROUP], "displayName": name})
            if made.is_success:
                await service.send("DELETE", f"/Groups/{made.json()['id']}")

    async def _answer_as_victim(self, permissions: Sequence[str]) -> None:
        """A SAML answer about a superuser, signed with a key that the delegate has."""
        self.found.uses += 1
        place = self._place
        evil = IdentityProvider(place.town, place.idp.source, EVIL)
        browser = Browser(place.town)
        asked = await browser.http.get(evil.path)
        if asked.status_code != 302:
            return
        claim = Claim(name=f"{place.victim.username} there")
        browser = Browser(place.town)
        claim.in_response_to = (await evil.asked(browser)).get("ID")
        kept = await evil.post(evil.response(claim))
        if kept.status_code == 302:
            await browser.http.get(kept.headers["location"])
        if await browser.who() is not None:
            self._tell(f"{permissions}: a SAML answer of their own signs in as {await browser.who()}")


def _description(permission: str) -> str:
    if permission in SPECIAL:
        return SPECIAL[permission]
    for resource in RESOURCES:
        if any(resource.permission(verb) == permission for verb in WRITES):
            return power_of(resource).leads_to
    return ""


def _is_said(change: Change, said: str) -> bool:
    return change.kind in SAID and SAID[change.kind] in said

"""A server with everything that somebody could climb by: records of every kind, and people with rights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kith.app import House
from kith.identity.users import service
from kith.identity.users import store as users
from tests.identity import saml_idps
from tests.identity.records import API, make, new_name, owner_of, results
from tests.identity.saml_keys import pair
from tests.identity.scim_service import Service, make_service
from tests.town import Person, Town

__all__ = ["Scenery", "build_scenery"]

_KINDS = (Path(__file__).parents[1] / "every_kind.yaml").read_text().partition("  # The social half")[0]
EVIL = pair("evil")


class Scenery:
    """`victim` is a superuser whom sources know, `delegate` somebody with a role whose permissions change."""

    def __init__(self, town: Town, house: House, ada: Person) -> None:
        self.town = town
        self.house = house
        self.ada = ada
        self.victim: Person
        self.delegate: Person
        self.stranger: Person
        self.ids: dict[str, int] = {}
        self.role = ""
        self.idp: saml_idps.IdentityProvider
        self.service: Service
        self.great = self.mighty = self.decides = ""

    async def id_of(self, name: str) -> int:
        [found] = await results(self.ada, "/core/users/", username=name)
        return int(found["pk"])

    async def make_everything(self) -> bool:
        """One record of every kind, as often as some of them are gone. False if others are in the way."""
        keys = pair("blueprints")
        context = {"certificate": keys.certificate, "key": keys.key}
        answer = await self.ada.call(
            "POST", f"{API}/managed/blueprints/import/", json={"content": _KINDS, "context": context}
        )
        return bool(answer.json()["success"])

    async def tidy(self, made: list[str], changed: list[str]) -> None:
        """Put everything back: what was made goes, and what was changed, if it is in the way."""
        for path in reversed(made):
            await self.ada.call("DELETE", API + path)
        if await self.make_everything():
            return
        for path in changed:
            await self.ada.call("DELETE", API + path)
        assert await self.make_everything()

    async def send_delegate(self) -> None:
        """Another one, for they can lock themselves out."""
        self.delegate = await self.town.sign_up(new_plain("delegate"))
        id = self.ids[self.delegate.username] = await self.id_of(self.delegate.username)
        answer = await self.ada.call("PATCH", f"{API}/core/users/{id}/", json={"roles": [self.role]})
        assert answer.status_code == 200, answer.text

    async def allow(self, *permissions: str) -> None:
        """Let the delegate do just this; whoever may delete roles or people can delete their own."""
        body = {"permissions": list(permissions)}
        answer = await self.ada.call("PATCH", f"{API}/rbac/roles/{self.role}/", json=body)
        if answer.status_code == 404:
            self.role = (await make(self.ada, "/rbac/roles/", name=new_name("delegate"), **body))["pk"]
            await self.send_delegate()
        for person in (self.delegate, self.stranger):
            if (await self.ada.get(f"{API}/core/users/{self.ids[person.username]}/")).status_code == 404:
                await self.send_stranger() if person is self.stranger else await self.send_delegate()

    async def send_stranger(self) -> None:
        self.stranger = await self.town.sign_up(new_plain("stranger"))
        self.ids[self.stranger.username] = await self.id_of(self.stranger.username)


async def build_scenery(town: Town, house: House) -> Scenery:
    ada = await owner_of(town)
    place = Scenery(town, house, ada)
    assert await place.make_everything()
    place.role = (await make(ada, "/rbac/roles/", name=new_name("delegate")))["pk"]
    place.ids[ada.username] = await place.id_of(ada.username)
    await place.send_stranger()
    await place.send_delegate()
    great = (
        await make(ada, "/rbac/roles/", name=new_name("great"), permissions=["core.delete_user", "rbac.add_role"])
    )["pk"]
    place.great = new_name("great")
    await make(ada, "/core/groups/", name=place.great, roles=[great])
    place.mighty = new_name("mighty")
    await make(ada, "/core/groups/", name=place.mighty, is_superuser=True)
    await _add_sources(place)
    await _add_trusted(place)
    return place


def new_plain(word: str) -> str:
    return new_name(word).replace("-", "_")


async def _add_sources(place: Scenery) -> None:
    """A superuser who comes from a service, and by a SAML identity provider."""
    ada, name = place.ada, new_plain("sol")
    place.service = await make_service(place.town, group_matching_mode="name_link")
    await place.service.add(name, emails=[{"value": f"{name}@example.org", "primary": True}])
    id = await place.id_of(name)
    password = f"correct horse {name}"
    assert (await ada.call("PATCH", f"{API}/core/users/{id}/", json={"password": password})).status_code == 200
    async with place.house.works.begin() as work:
        await service.set_role(work, await users.get(work.db, id), "administrator")
    place.victim = Person(place.town.http, name, password)
    place.ids[name] = id
    place.idp = await saml_idps.make_source(place.town)
    given: dict[str, Any] = {"user": id, "source": place.idp.source["pk"], "identifier": f"{name} there"}
    await make(ada, "/sources/user_connections/saml/", **given)


async def _add_trusted(place: Scenery) -> None:
    ada, hers = place.ada, place.ids[place.ada.username]
    transport = {"mode": "direct", "direct_sender": hers}
    await make(ada, "/events/transports/", name=new_name("direct"), **transport)
    await make(ada, "/stages/invitation/invitations/", name=new_name("i"), fixed_data={"email": "guest@example.org"})
    await make(ada, "/core/tokens/", identifier=new_name("hers"))
    decides = await make(ada, "/core/groups/", name=new_name("decides"))
    place.decides = decides["pk"]
    [flow] = await results(ada, "/flows/instances/", search="default-authentication-flow")
    [*_, last] = await results(ada, "/flows/bindings/", flow=flow["slug"])
    await make(ada, "/policies/bindings/", target=last["pbm_uuid"], group=decides["pk"], negate=True, order=7)
    off = f"entries: [{{model: core.group, identifiers: {{name: {new_name('risen')}}}, attrs: {{is_superuser: true}}}}]"
    await make(ada, "/managed/blueprints/", name=new_name("off"), content=f"version: 1\n{off}", enabled=False)

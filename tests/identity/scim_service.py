"""A service that writes people and groups here over SCIM, by hand."""

from __future__ import annotations

from typing import Any

import httpx

from tests.identity.records import make, new_name, owner_of
from tests.town import Town
from tests.town.plain import PLAIN

USER = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"
ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"


class Service:
    """What writes here: a source's address, and its token."""

    def __init__(self, source: dict[str, Any], token: str | None = None) -> None:
        self.source = source
        self.token = token or source["token"]

    async def send(self, method: str, path: str, **given: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/scim+json"}
        headers |= given.pop("headers", {})
        root = self.source["root_url"]
        async with httpx.AsyncClient(base_url=root, headers=headers, timeout=30, verify=PLAIN) as http:
            return await http.request(method, path, **given)

    async def call(self, method: str, path: str, body: Any = None, expect: int = 200, **headers: str) -> Any:
        answer = await self.send(method, path, json=body, headers=headers)
        assert answer.status_code == expect, (method, path, answer.status_code, answer.text)
        if answer.status_code not in (204, 304):
            assert answer.headers["content-type"] == "application/scim+json"
        if expect >= 400:
            assert answer.json()["schemas"] == [ERROR]
            assert answer.json()["status"] == str(expect)
            assert answer.json()["detail"]
        return answer.json() if answer.content else None

    async def add(self, name: str, **more: Any) -> dict[str, Any]:
        body = {"schemas": [USER], "userName": name} | more
        made: dict[str, Any] = await self.call("POST", "/Users", body, 201)
        return made

    async def patch(self, place: str, *operations: dict[str, Any], expect: int = 200) -> Any:
        return await self.call("PATCH", place, {"schemas": [PATCH], "Operations": list(operations)}, expect)

    async def found(self, filter: str, kind: str = "Users") -> list[dict[str, Any]]:
        answer = await self.send("GET", f"/{kind}", params={"filter": filter})
        assert answer.status_code == 200, answer.text
        listed: list[dict[str, Any]] = answer.json()["Resources"]
        assert answer.json()["totalResults"] == len(listed)
        return listed


async def make_service(town: Town, **fields: Any) -> Service:
    name = new_name("hr")
    source = await make(await owner_of(town), "/sources/scim/", **{"name": name, "slug": name} | fields)
    return Service(source)

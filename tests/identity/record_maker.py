"""Makes records of any collection, and what they refer to."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from tests.identity.seed import EVERYTHING, Collection
from tests.town import Person

API = "/api/v2"
BY_PATH = {collection.path: collection for collection in EVERYTHING}


def word() -> str:
    return f"w{uuid.uuid4().hex[:10]}"


class Maker:
    def __init__(self, person: Person) -> None:
        self._person = person

    async def body(self, collection: Collection, values: Mapping[str, Any] | None = None) -> dict[str, Any]:
        name = word()
        return {key: await self._filled(value, name) for key, value in (values or collection.body).items()}

    async def _filled(self, value: Any, name: str) -> Any:
        if isinstance(value, list):
            return [await self._filled(item, name) for item in value]
        if isinstance(value, str) and value in BY_PATH:
            return (await self.make(BY_PATH[value]))["pk"]
        return value.replace("{name}", name) if isinstance(value, str) else value

    async def make(self, collection: Collection) -> dict[str, Any]:
        answer = await self._person.call("POST", API + collection.path, json=await self.body(collection))
        assert answer.status_code == 201, (collection.path, answer.text)
        made: dict[str, Any] = answer.json()
        return made

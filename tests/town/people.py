from __future__ import annotations

from typing import Any

import httpx


class Person:
    """Somebody with an account, and a client that speaks for them."""

    def __init__(self, base_url: str, username: str, password: str) -> None:
        self.username = username
        self.password = password
        self._base_url = base_url

    async def get(self, path: str, **options: Any) -> httpx.Response:
        return await self.call("GET", path, **options)

    async def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        async with httpx.AsyncClient(base_url=self._base_url, auth=(self.username, self.password)) as client:
            return await client.request(method, path, **options)

from __future__ import annotations

from typing import Any

import httpx


class Person:
    """Somebody with an account; `http` speaks for whoever is named in a call."""

    def __init__(self, http: httpx.AsyncClient, username: str, password: str) -> None:
        self.username = username
        self.password = password
        self._http = http

    async def get(self, path: str, **options: Any) -> httpx.Response:
        return await self.call("GET", path, **options)

    async def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        return await self._http.request(method, path, auth=(self.username, self.password), **options)

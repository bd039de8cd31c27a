"""Debian's own LDAP client, pointed at a town."""

from __future__ import annotations

import asyncio
import base64
import os
from collections import defaultdict
from typing import Any

import msgspec

from tests.town import Person, Town
from tests.town.debian import find_program
from tests.town.ports import ReservedPort

__all__ = ["BASE", "LdapTown", "Said"]

BASE = "dc=example,dc=org"


class Said(msgspec.Struct):
    """How a command ended, what it printed, and the entries in that."""

    code: int
    out: str
    error: str

    @property
    def entries(self) -> dict[str, dict[str, list[str]]]:
        found: dict[str, dict[str, list[str]]] = {}
        for block in self.out.replace("\n ", "").split("\n\n"):
            lines = [line for line in block.splitlines() if line and not line.startswith("#")]
            if not lines or not lines[0].startswith("dn:"):
                continue
            values: dict[str, list[str]] = defaultdict(list)
            for line in lines:
                name, _, value = line.partition(":")
                values[name].append(
                    base64.b64decode(value[1:]).decode() if value.startswith(":") else value.removeprefix(" ")
                )
            found[values.pop("dn")[0]] = dict(values)
        return found


class LdapTown:
    """A town that listens to LDAP, with one provider and its application."""

    def __init__(self, town: Town, plain: ReservedPort, encrypted: ReservedPort) -> None:
        self.town = town
        self.plain = plain.number
        self.encrypted = encrypted.number
        self.application = ""
        self.provider = 0

    async def furnish(self, owner: Person, **more: Any) -> None:
        order = {"common_name": "localhost", "subject_alt_name": "DNS:localhost,IP:127.0.0.1", "validity_days": 30}
        pair = await owner.call("POST", "/api/v2/crypto/certificatekeypairs/generate/", json=order)
        asked = {"name": "tree", "base_dn": BASE, "certificate": pair.json()["pk"]} | more
        made = await owner.call("POST", "/api/v2/providers/ldap/", json=asked)
        assert made.status_code == 201, made.text
        self.provider = made.json()["pk"]
        sent = {"name": "Old software", "slug": "old", "provider": self.provider}
        application = await owner.call("POST", "/api/v2/core/applications/", json=sent)
        assert application.status_code == 201, application.text
        self.application = application.json()["pbm_uuid"]

    async def run(self, program: str, *words: str, who: Person | None = None, tls: str = "") -> Said:
        """`tls`: "start" asks for StartTLS, "all" comes by LDAPS."""
        path = await asyncio.to_thread(find_program, program, "ldap-utils")
        scheme, port = ("ldaps", self.encrypted) if tls == "all" else ("ldap", self.plain)
        given = ["-x", "-H", f"{scheme}://127.0.0.1:{port}", "-o", "nettimeout=20"]
        if who is not None:
            given += ["-D", name_of(who), "-w", who.password]
        if tls == "start":
            given.append("-ZZ")
        process = await asyncio.create_subprocess_exec(
            path, *given, *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            env=os.environ | {"LDAPTLS_REQCERT": "allow"},
        )  # fmt: skip
        out, error = await process.communicate()
        return Said(process.returncode or 0, out.decode(), error.decode())

    async def search(self, who: Person | None, asked: str = "(objectClass=*)", *words: str, base: str = BASE) -> Said:
        return await self.run("ldapsearch", "-LLL", "-o", "ldif-wrap=no", "-b", base, asked, *words, who=who)

    async def whoami(self, who: Person, tls: str = "") -> Said:
        return await self.run("ldapwhoami", who=who, tls=tls)


def name_of(person: Person) -> str:
    return f"cn={person.username},ou=users,{BASE}"

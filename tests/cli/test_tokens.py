from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import msgspec

from kith.identity.audit import store as audit
from kith.identity.tokens.service import hash_key
from tests.cli.running import database, kith, settle
from tests.town import Town

USERS = "/api/v2/core/users/"


async def test_a_token_is_shown_once_works_at_once_and_ends_at_once(town: Town) -> None:
    await settle(town, "lovelace", role="owner")
    begun = datetime.now(UTC)

    async def opens(key: str) -> int:
        return (await town.http.get(USERS, headers={"Authorization": f"Bearer {key}"})).status_code

    new = ["tokens", "create", "lovelace", "--scopes", "api read"]
    plain, lasting = await asyncio.gather(
        kith(town, *new, "--description", "for the printer"),
        kith(town, *new, "--expires", "30", "--json"),
    )
    key, other = plain.said.strip(), lasting.json["token"]
    assert plain.said == f"{key}\n"
    assert (await opens(key), await opens(other)) == (200, 200)

    listed, by_key = await asyncio.gather(
        kith(town, "tokens", "list", "lovelace", "--json"),
        kith(town, "tokens", "revoke", "-", typed=f"{key}\n"),
    )
    by_id = await kith(town, "tokens", "revoke", lasting.json["id"].upper())
    assert (await opens(key), await opens(other)) == (401, 401)

    assert by_key.code == by_id.code == 0
    assert lasting.json["scopes"] == "api read"
    expires = msgspec.convert(lasting.json["expires_at"], datetime)
    assert timedelta(days=29) < expires - datetime.now(UTC) <= timedelta(days=30)
    assert {token["description"] for token in listed.json} <= {"for the printer", ""}
    assert lasting.json["id"] in {token["id"] for token in listed.json}
    for secret in (key, other, hash_key(key), hash_key(other)):
        assert secret not in listed.said + by_key.said + by_id.said
    async with database(town) as db:
        events = [
            event for event in await audit.newest(db, 200) if event.app == "core.tokens" and event.created_at > begun
        ]
    assert sorted(event.action for event in events) == ["model_created"] * 2 + ["model_deleted"] * 2
    assert {event.username for event in events} == {"command line"}

from __future__ import annotations

import asyncio

from kith.identity.audit import store as audit
from tests.cli.running import database, kith, settle
from tests.conftest import TownBuilder
from tests.town import Person, Town

USERS = "/api/v2/core/users/"


async def test_a_change_by_command_counts_at_once_beside_a_running_server(town: Town) -> None:
    async def opens(password: str) -> int:
        return (await Person(town.http, "marlyn", password).get(USERS)).status_code

    await settle(town, "hopper", role="owner")
    made = await kith(
        town,
        "users",
        "create",
        "marlyn",
        "--email",
        "marlyn@example.org",
        "--password",
        "-",
        "--name",
        "Marlyn H.",
        "--role",
        "admin",
        "--confirmed",
        "--json",
        typed="first one\n",
    )
    assert made.code == 0, made
    assert await opens("first one") == 200

    changed = await kith(town, "users", "set-password", "Marlyn", "--password", "second one")
    assert changed.said == "marlyn has a new password.\n"
    assert (await opens("first one"), await opens("second one")) == (401, 200)

    await kith(town, "users", "disable", "marlyn")
    assert await opens("second one") == 401

    demoted, _ = await asyncio.gather(
        kith(town, "users", "set-role", "marlyn", "user", "--json"),
        kith(town, "users", "enable", "marlyn@example.org"),
    )
    assert await opens("second one") == 403

    assert made.json["name"] == "Marlyn H."
    assert made.json["role"] == "administrator"
    assert made.json["confirmed_at"] is not None
    assert demoted.json == made.json | {
        "role": "user",
        "is_active": demoted.json["is_active"],
        "disabled_at": demoted.json["disabled_at"],
        "updated_at": demoted.json["updated_at"],
        "password_changed_at": demoted.json["password_changed_at"],
    }
    async with database(town) as db:
        events = [
            event
            for event in reversed(await audit.newest(db, 200))
            if event.context.get("model", {}).get("name") == "marlyn"
        ]
    assert [event.action for event in events] == [
        "model_created",
        "password_set",
        "model_updated",
        "model_updated",
        "model_updated",
    ]
    assert {(event.user_id, event.username) for event in events} == {(None, "command line")}


async def test_six_people_made_at_once_are_six_people(town: Town) -> None:
    names = [f"six_{number}" for number in range(6)]

    done = await asyncio.gather(
        *(
            kith(
                town, "users", "create", name, "--email", f"{name}@example.org", "--password", "x", "--force", "--json"
            )
            for name in names
        )
    )
    listed = await kith(town, "users", "list", "--search", "IX_", "--role", "user", "--json")

    assert [one.code for one in done] == [0] * 6, done
    assert len({one.json["id"] for one in done}) == 6
    assert [user["username"] for user in listed.json] == names
    assert "argon2" not in done[0].said + listed.said


async def test_of_the_last_two_administrators_one_stays(new_town: TownBuilder) -> None:
    town = await new_town(start=False)
    await settle(town, "heloise", "abelard", role="administrator")

    left = await asyncio.gather(
        kith(town, "users", "disable", "heloise"), kith(town, "users", "set-role", "abelard", "moderator")
    )
    stays, gone = (left[0], "abelard") if left[0].code else (left[1], "heloise")
    unknown = await kith(town, "users", "enable", gone[:-1])

    assert sorted(done.code for done in left) == [0, 1]
    assert stays.complained == "kith: This would leave nobody who can administer this server\n"
    assert (unknown.code, unknown.complained) == (
        1,
        f"kith: there is no user called {gone[:-1]}; did you mean {gone}?\n",
    )

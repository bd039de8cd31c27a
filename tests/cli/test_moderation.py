"""The team's acts from the command line."""

from __future__ import annotations

import json

from tests.social.members import join_all, stranger
from tests.social.staff import employ, verdict
from tests.social.streams import listen, open_socket
from tests.social.test_reports import report
from tests.town import Town


async def test_accounts_are_limited_marked_disabled_suspended_and_back(town: Town) -> None:
    owner, (ada, bob) = await employ(town, "owner"), await join_all(town, 2)

    async def state() -> dict[str, bool]:
        seen = await owner.get(f"/api/v1/admin/accounts/{bob.id}")
        return {name: seen[name] for name in ("silenced", "sensitized", "disabled", "suspended")}

    for there, back, name in (
        ("silence", "unsilence", "silenced"),
        ("sensitive", "unsensitive", "sensitized"),
        ("disable", "enable", "disabled"),
        ("suspend", "unsuspend", "suspended"),
    ):
        await town.kith("accounts", there, bob.name, "--text", "because", "--no-mail")
        assert (await state())[name] is True, there
        await town.kith("accounts", back, bob.name)
        assert set((await state()).values()) == {False}, back
    assert "warned" in await town.kith("accounts", "warn", bob.name)
    assert "no account called" in await town.kith("accounts", "suspend", "nobody_here", expect=1)
    assert "not suspended" in await town.kith("accounts", "unsuspend", bob.name, expect=1)
    assert "must be first" in await town.kith("accounts", "delete", bob.name, expect=1)
    assert "does not wait" in await town.kith("accounts", "approve", bob.name, expect=1)
    told = json.loads(await town.kith("accounts", "suspend", bob.name, "--json"))
    assert told == {"id": bob.id, "acct": bob.name, "silenced": False, "sensitized": False, "suspended": True}
    assert "is deleted now" in await town.kith("accounts", "delete", bob.name)
    assert await verdict(owner, "GET", f"/api/v1/admin/accounts/{bob.id}") == 404
    far = await stranger(town, "cli.example")
    await town.kith("accounts", "silence", f"@{far.username}@cli.example")
    assert "lives elsewhere" in await town.kith("accounts", "disable", far.acct, expect=1)
    assert (await ada.get(f"/api/v1/accounts/{far.id}"))["limited"] is True


async def test_reports_are_listed_assigned_resolved_and_reopened(town: Town) -> None:
    mod, (ada, bob) = await employ(town, "moderator"), await join_all(town, 2)
    made = await report(ada, bob, comment="rude")

    assert bob.name in await town.kith("reports", "list")
    assert json.loads(await town.kith("reports", "show", made["id"], "--json"))["comment"] == "rude"
    await town.kith("reports", "assign", made["id"], mod.name)
    await town.kith("reports", "unassign", made["id"])
    assert (await mod.get(f"/api/v1/admin/reports/{made['id']}"))["assigned_account"] is None
    await town.kith("reports", "assign", made["id"], mod.name)
    assert "not of the team" in await town.kith("reports", "assign", made["id"], ada.name, expect=1)
    await town.kith("reports", "resolve", made["id"])
    seen = await mod.get(f"/api/v1/admin/reports/{made['id']}")
    assert (seen["action_taken"], seen["assigned_account"]["id"]) == (True, mod.id)
    assert made["id"] not in await town.kith("reports", "list")
    assert made["id"] in await town.kith("reports", "list", "--all")
    await town.kith("reports", "reopen", made["id"])
    assert (await mod.get(f"/api/v1/admin/reports/{made['id']}"))["action_taken"] is False


async def test_servers_are_blocked_allowed_listed_and_unblocked(town: Town) -> None:
    ada = (await join_all(town, 1))[0]
    far = await stranger(town, "shell.example")

    await town.kith("domains", "block", "shell.example", "--severity", "suspend", "--comment", "spam")
    assert (await ada.get(f"/api/v1/accounts/{far.id}"))["suspended"] is True
    assert "stricter" in await town.kith("domains", "block", "shell.example", expect=1)
    await town.kith("domains", "allow", "good.example")
    listed = json.loads(await town.kith("domains", "list", "--json"))
    assert "shell.example" in [one["domain"] for one in listed["blocks"]]
    assert "good.example" in [one["domain"] for one in listed["allows"]]
    await town.kith("domains", "unblock", "shell.example")
    assert "suspended" not in await ada.get(f"/api/v1/accounts/{far.id}")
    assert "is not blocked" in await town.kith("domains", "unblock", "shell.example", expect=1)
    assert await verdict(ada, "GET", f"/api/v1/accounts/{far.id}") == 200


async def test_what_a_command_does_is_heard_by_open_streams(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    async with listen(ada, "user") as events, open_socket(ada, "user") as socket, listen(bob, "user") as others:
        await town.kith("announcements", "create", "Tea at five")
        for ear in (events, socket, others):
            name, told = await ear.next()
            assert (name, told["content"]) == ("announcement", "<p>Tea at five</p>")

        await town.kith("accounts", "suspend", ada.name, "--no-mail")
        assert await events.ended()
        assert (await socket.closed())[0] == 1008

        await town.kith("announcements", "create", "Still here")
        assert (await others.next())[1]["content"] == "<p>Still here</p>"

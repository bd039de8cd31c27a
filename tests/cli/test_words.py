"""What commands say and refuse, whichever the database."""

from __future__ import annotations

import asyncio
import os
import pty
import socket
import subprocess
from pathlib import Path

import pytest

from kith.social.roles.permissions import NAMES
from tests.cli.running import kith, settle
from tests.cli.test_jobs import LETTER, bury
from tests.town import Town, build_town
from tests.town.nursery import KITH, run

NEW = ["--email", "ada@example.org"]
PERMISSIONS = ", ".join(sorted(NAMES))


async def test_every_refusal_is_one_line(tmp_path: Path) -> None:
    refusals = {
        ("users", "create", "x", *NEW): "cannot ask for the password without a terminal: "
        "use --password (or --password - for standard input)",
        ("users", "set-password", "ada", "--password", "-"): "there is no password on standard input",
        (
            "users",
            "create",
            "ADA",
            *NEW,
            "--password",
            "long enough",
        ): "username: A user with that username already exists.",
        ("users", "show", "\udcff"): "NAME is not UTF-8 text",
        ("tokens", "create", "ada"): 'give the scopes of the token: --scopes "read write follow push"',
        ("tokens", "revoke", "kith_x"): "there is no token with this ID or value; see `kith tokens list NAME`",
        ("jobs", "retry", "4", "--all"): "give the ID of one job, or --all",
        ("jobs", "discard", "4"): "there is no dead job 4; see `kith jobs list --state dead`",
        ("users", "set-role", "ada", "king"): "there is no role called king, but Owner, Admin, Moderator",
        ("roles", "delete", "king"): "there is no role called king, but Owner, Admin, Moderator",
        ("roles", "create", "x", "--permission", "fly"): f"there is no permission fly; there are {PERMISSIONS}",
        ("roles", "create", "x", "--color", "red"): "--color must be like #3366cc, not red",
        ("reports", "show", "7"): "there is no report 7; see `kith reports list --all`",
        ("announcements", "delete", "7"): "there is no announcement 7; see `kith announcements list`",
        ("blueprints", "export", "--with-secrets"): "cannot ask for a passphrase without a terminal: use --key-file",
        ("federation", "relays", "add", "relay"): "the address must be like https://example.org/..., not relay",
        ("federation", "subscriptions", "add", "x"): "the address must be like https://example.org/..., not x",
        ("federation", "resolve", "@ada@127.0.0.1:1"): "@ada@127.0.0.1:1 cannot be found: its address is none of the "
        "public internet (KITH_PRIVATE_HOSTS can name it)",
        ("restore", "nowhere", "--database", "mysql"): "--database must be sqlite, sqlite:///PATH or postgresql://..., "
        "as KITH_DATABASE is",
        ("export", "grants", "--filter", "size=1"): "there is no filter size; there are application, user",
    }
    async with build_town("sqlite", tmp_path, start=False) as town:
        await settle(town, "ada", role="owner")

        done = await asyncio.gather(*(kith(town, *words) for words in refusals))

    assert [(one.code, one.said, one.complained) for one in done] == [
        (1, "", f"kith: {words}\n") for words in refusals.values()
    ]


async def test_what_the_system_refuses_names_what_it_was_and_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    held = socket.socket()
    held.bind(("127.0.0.1", 0))
    held.listen()
    taken = held.getsockname()[1]
    nobody = "postgresql://kith:secret@127.0.0.1:1/kith"
    cases = [
        ({"KITH_DATABASE": nobody}, ("users", "list"), "at 127.0.0.1:1/kith cannot be opened: nothing answers there"),
        ({"KITH_DATABASE": nobody}, ("serve",), "KITH_DATABASE says where it is"),
        ({"KITH_DATABASE": nobody}, ("check",), "make sure that PostgreSQL is running"),
        ({"KITH_DATABASE": "postgresql://kith@nobody.invalid/kith"}, ("migrate",), "there is no such host"),
        ({"KITH_DATABASE": "postgresql:///kith?host=/nowhere"}, ("migrate",), "there is no such socket"),
        ({"KITH_DATA": str(tmp_path / "file" / "in")}, ("migrate",), "a folder is needed there"),
        ({"KITH_DATA": "/proc/none"}, ("migrate",), "/proc/none: No such file or directory"),
        ({"KITH_DATA": str(tmp_path / "file")}, ("migrate",), "a folder is needed there, not a file"),
        ({"KITH_LDAP_BIND": f"127.0.0.1:{taken}"}, ("serve",), "Address already in use; set KITH_LDAP_BIND"),
        *[
            ({}, words, "at 127.0.0.1:1/kith cannot be opened: nothing answers there")
            for words in (("import", "mastodon", nobody), ("import", "authentik", nobody))
        ],
        ({}, ("move", "--to", nobody), "postgresql://kith:...@127.0.0.1:1/kith: nothing answers there"),
    ]
    plain = {name: value for name, value in os.environ.items() if not name.startswith("KITH_")}
    told = {"KITH_DATA": str(tmp_path / "data"), "KITH_BIND": "127.0.0.1:0"}
    assert (await run("migrate", environment=plain | told)).code == 0

    with held:
        done = await asyncio.gather(*(run(*words, environment=plain | told | own) for own, words, _ in cases))

    for (_, words, expected), one in zip(cases, done, strict=True):
        assert expected in one.complained + one.said, words
        assert "secret" not in one.complained + one.said
        assert (one.code, "Traceback" in one.complained) == (1, False)


async def test_a_list_without_rows_says_so_beside_the_pipe(tmp_path: Path) -> None:
    lists = [
        ("users", "list"),
        ("jobs", "list"),
        ("domains", "list"),
        ("emoji", "list"),
        ("announcements", "list"),
        ("reports", "list"),
        ("blueprints", "list"),
        ("federation", "peers"),
        ("why",),
    ]
    async with build_town("sqlite", tmp_path, start=False) as town:
        done = await asyncio.gather(*(kith(town, *words) for words in lists))

    for words, one in zip(lists, done, strict=True):
        assert (one.code, one.said) == (0, ""), words
        assert one.complained.startswith(("No", "There")), words


async def test_headings_are_told_beside_a_pipe(tmp_path: Path) -> None:
    async with build_town("sqlite", tmp_path, start=False) as town:
        ours, theirs = pty.openpty()
        process = await asyncio.create_subprocess_exec(
            *KITH, "roles", "list", env=town.environment, stdout=asyncio.subprocess.PIPE, stderr=theirs
        )
        os.close(theirs)
        shown = await asyncio.to_thread(_read, ours)
        said, _ = await process.communicate()
        os.close(ours)

    assert shown.split() == [b"id", b"name", b"position", b"permissions"]
    assert {line.split("\t")[1] for line in said.decode().splitlines()} >= {"Owner", "Moderator"}


async def test_a_group_without_a_command_shows_its_commands(tmp_path: Path) -> None:
    done = await run("users", environment=os.environ | {"KITH_DATA": str(tmp_path)})

    assert (done.code, done.said) == (2, "")
    assert done.complained.startswith("Usage: kith users")


@pytest.mark.parametrize(
    ("typed", "position", "offered"),
    [("kith re", 1, {"restore", "reports", "recovery"}), ("kith users cr", 2, {"create"})],
)
async def test_a_shell_completes_commands(typed: str, position: int, offered: set[str]) -> None:
    asked = {"_KITH_COMPLETE": "bash_complete", "COMP_WORDS": typed, "COMP_CWORD": str(position)}

    done = await asyncio.to_thread(
        subprocess.run, [*KITH], env=os.environ | asked, capture_output=True, text=True, check=False
    )

    assert {line.partition(",")[2] for line in done.stdout.splitlines()} == offered


async def test_a_pipe_gets_plain_lines(tmp_path: Path) -> None:
    async with build_town("sqlite", tmp_path, start=False) as town:
        await settle(town, "ada", "bob", role="owner")
        await bury(town, LETTER, 1, 2)

        user, people, jobs, found = await asyncio.gather(
            kith(town, "users", "show", "ada"),
            kith(town, "users", "list", "--limit", "1"),
            kith(town, "jobs", "list", "--limit", "1"),
            kith(town, "check"),
        )

    assert {"username\tada", "role\towner", "is_active\tyes", "has_password\tyes"} <= set(user.said.splitlines())
    assert "argon2" not in user.said
    assert people.said == "1\tada\tada\tada@example.org\towner\tactive\t-\n"
    assert people.complained == "kith: there are more than 1; use --limit to see more\n"
    assert jobs.said.split("\t")[:4] == ["1", "letter", "dead", "12"]
    assert jobs.said.endswith("\tConnectionError: nobody is at home\n")
    assert jobs.complained == "kith: there are more than 1; use --limit to see more\n"
    assert found.code == 0
    assert "warning  mail      no mail is sent" in found.said
    assert {line.split()[0] for line in found.said.splitlines()} == {"ok", "warning"}


async def test_a_terminal_is_asked_for_the_password_unseen_and_gets_a_table(tmp_path: Path) -> None:
    async with build_town("sqlite", tmp_path, start=False) as town:
        asked = on_a_terminal(
            town,
            ["users", "create", "ada", *NEW, "--name", "\x1b[2J[red]Ada"],
            typed=["open sesame", "open sesame"],
        )
        table = on_a_terminal(town, ["users", "list"])

    assert "Created ada (id 1, user)." in asked
    assert "sesame" not in asked
    assert "username" in table
    assert "[red]Ada" in table
    assert "\x1b[2J" not in table


def on_a_terminal(town: Town, words: list[str], *, typed: list[str] | None = None) -> str:
    """All that is seen. Each of `typed` is entered when the screen asks for it with a colon."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*KITH, *words],
        env=town.environment | {"TERM": "xterm", "COLUMNS": "120"},
        preexec_fn=lambda: os.login_tty(theirs),  # noqa: PLW1509 - how else to have a terminal of its own
    )
    os.close(theirs)
    seen = b""
    waiting = list(typed or [])
    while piece := _read(ours):
        seen += piece
        if waiting and seen.endswith(b": "):
            os.write(ours, waiting.pop(0).encode() + b"\n")
    os.close(ours)
    assert process.wait(60) == 0, seen
    return seen.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other side was closed
        return b""

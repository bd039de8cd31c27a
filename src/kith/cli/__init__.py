"""The `kith` command. Each sub-command is loaded when it is called, so that help is there at once."""

from __future__ import annotations

import gc
import importlib
import sys
from typing import TYPE_CHECKING, Any

import click

from kith import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS = {
    "serve": "Start the server.",
    "demo": "Try Kith with an example community.",
    "gateway": "Run the application gateway as a process of its own.",
    "work": "Run background jobs without a web server (PostgreSQL only).",
    "migrate": "Upgrade the database to the current schema.",
    "backup": "Back up the whole server while it runs.",
    "restore": "Restore a backup to an empty machine.",
    "move": "Move from SQLite to PostgreSQL, or back.",
    "users": "Create, show and change user accounts.",
    "accounts": "Limit, disable and suspend accounts, and undo it.",
    "reports": "List reports and resolve them.",
    "domains": "Block and allow other servers.",
    "federation": "See and govern what goes on with other servers.",
    "roles": "Show, make and change roles.",
    "tokens": "Create, list and revoke tokens.",
    "recovery": "Create a one-time sign-in link.",
    "lockdown": "End everything of a person at once.",
    "import": "Move people, posts and whole servers in.",
    "export": "Write people, grants or events as CSV.",
    "flows": "Restore the default flows.",
    "why": "Find out why somebody was denied access.",
    "instance": "Edit the rules and pages of the community.",
    "emoji": "Add, list and remove custom emoji.",
    "announcements": "Announce something to everybody here.",
    "blueprints": "Keep the configuration in files, and apply them.",
    "franking": "Who sent a reported encrypted message?",
    "jobs": "List background jobs and retry failed ones.",
    "keys": "Replace the keys that sign ID tokens.",
    "certificate": "Show or renew the server's own certificate.",
    "top": "Watch what the server is doing.",
    "check": "Check the configuration and the database.",
}
MODULES = {"import": "imports"}  # where a command cannot be the name of a module

LONG_RUNNING = {"serve", "gateway", "work"}


class LazyGroup(click.Group):
    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        gc.disable()  # what is loaded stays: looking through it for garbage while it grows finds none
        try:
            if name in LONG_RUNNING:
                importlib.import_module("kith.base.lean")
            found = MODULES.get(name, name)
            module = importlib.import_module(f"kith.cli.{found}")
        finally:
            gc.freeze()
            gc.enable()
        command: click.Command = getattr(module, found)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Nothing is imported to complete the name of a command."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - loaded where a shell asks

        return [CompletionItem(name, help=words) for name, words in COMMANDS.items() if name.startswith(incomplete)]

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Only the names and one line each: nothing is imported to print help."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="kith")
def kith() -> None:
    """Kith: a community's home on the fediverse and its single sign-on."""


def main(arguments: list[str] | None = None) -> Any:
    """Errors are one line and a non-zero exit."""
    try:
        return kith.main(arguments, prog_name="kith", standalone_mode=False)
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.Abort:
        return 130
    except click.exceptions.NoArgsIsHelpError as help_:
        print(help_.format_message(), file=sys.stderr)
        return help_.exit_code
    except click.ClickException as error:
        print(f"kith: {error.format_message()}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        words = _words(error)
        if words is None:
            raise
        if words:
            print(f"kith: {words}", file=sys.stderr)
        return 1


def _words(error: Exception) -> str | None:
    """What an expected failure says; anything else is a bug and keeps its traceback."""
    from kith.cli.failures import words_for  # noqa: PLC0415 - loaded only when something went wrong

    return words_for(error)

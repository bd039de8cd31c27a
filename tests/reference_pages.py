"""`scripts/docs reference`: writes the pages of docs/reference that say what the code says.

A test compares them with what would be written.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_args, get_type_hints

import click
import msgspec
from prometheus_client import REGISTRY

from kith.base import metrics as _metrics
from kith.base.settings import Settings
from kith.base.stored_settings import STORABLE
from kith.cli import COMMANDS, kith
from kith.identity.authority.powers import SPECIAL, power_of
from kith.identity.collections import RESOURCES
from kith.social.admin.webhooks import EVENTS

__all__ = ["FOLDER", "PAGES", "setting_words"]

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "reference"
NOTE = "<!-- Written by `scripts/docs reference`; do not edit. -->\n"
SETTINGS_NOTE = """<!-- `scripts/docs reference` writes this page: which settings there are, their order and their values. The columns
"Default" and "Meaning" are written by hand, here, and stay. A new setting gets a row without words. -->
"""
_VERBS = {"add": "create", "change": "partial_update", "delete": "delete"}
_ROW = re.compile(r"^\| `KITH_([A-Z_]+)` \| [^|]* \| *([^|]*?) *\| *(.*?) *\|$", re.MULTILINE)
assert _metrics.REQUESTS  # what it declares is in the registry


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def settings_page() -> str:
    words = setting_words()
    kinds = get_type_hints(Settings)
    rows = [
        (f"`KITH_{field.name.upper()}`", _kind(kinds[field.name]), *words.get(field.name, ("", "")))
        for field in msgspec.structs.fields(Settings)
    ]
    stored = ", ".join(f"`{name}`" for name in STORABLE)
    return f"""{SETTINGS_NOTE}# Settings

From `kith.toml` in the working folder (or the file that `KITH_CONFIG` names), then from the environment, which wins. In the
file the names are lower case and without `KITH_`. An unknown name is an error that tells the nearest right one.

```toml
base_url = "https://example.org"
database = "postgresql://kith@localhost/kith"
registrations = "approval"
```

{_table(("Setting", "Value", "Default", "Meaning"), rows)}
Some can also be changed while the server runs, in the console or at `/api/v1/admin/settings`, unless the operator has set them:
{stored}.
"""


def setting_words() -> dict[str, tuple[str, str]]:
    """By setting: its default and its meaning, as the page says them in people's words."""
    found = _ROW.findall((FOLDER / "settings.md").read_text())
    return {name.lower(): (default, meaning) for name, default, meaning in found}


def _kind(kind: Any) -> str:
    plain = {bool: "`on`, `off`", int: "a number", str: "text", Path: "a path", tuple[str, ...]: "a comma list"}
    if kind in plain:
        return plain[kind]
    words = [word for word in get_args(kind) if isinstance(word, str) and word]
    return ", ".join(f"`{word}`" for word in words) or "text"


def commands_page() -> str:
    rows = [(f"[`kith {name}`](#kith-{name})", words) for name, words in COMMANDS.items()]
    beginning = f"""{NOTE}# Commands

All of them work beside a running server, with its settings, and take `--json` where a script would want it.
`kith COMMAND --help` tells the same. A table is for a terminal: a pipe gets the same cells between tabs. Headings, and that
a list is empty, are told beside it.

**Completion.** For bash, put `eval "$(_KITH_COMPLETE=bash_source kith)"` into `~/.bashrc`; for zsh the same with `zsh_source`
into `~/.zshrc`; for fish `_KITH_COMPLETE=fish_source kith | source` into `~/.config/fish/completions/kith.fish`. `kith` must be
on the `PATH`.

{_table(("Command", "What it does"), rows)}"""
    parts = [beginning]
    for name, words in COMMANDS.items():
        command = kith.get_command(click.Context(kith), name)
        assert command is not None
        parts.append(f"\n## kith {name}\n\n{words}\n")
        parts += [_help(f"kith {path}", one) for path, one in _leaves(name, command)]
    return "".join(parts)


def _leaves(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield path, command
        return
    for name in command.list_commands(click.Context(command)):
        inner = command.get_command(click.Context(command), name)
        assert inner is not None
        yield from _leaves(f"{path} {name}", inner)


def _help(path: str, command: click.Command) -> str:
    context = click.Context(command, info_name=path, terminal_width=100, max_content_width=100)
    return f"\n```text\n{command.get_help(context).strip()}\n```\n"


def metrics_page() -> str:
    rows = []
    known: dict[str, Any] = dict(REGISTRY._names_to_collectors)  # there is no other list of them
    for name, collector in sorted(known.items()):
        kind = type(collector).__name__.lower()
        if not name.startswith("kith_") or name.endswith(("_created", "_bucket", "_sum", "_count")):
            continue
        if kind == "counter" and not name.endswith("_total"):
            continue
        labels = ", ".join(f"`{label}`" for label in collector._labelnames)
        rows.append((f"`{name}`", kind, labels, collector._documentation))
    return f"""{NOTE}# Metrics

With `KITH_METRICS_BIND=127.0.0.1:9100` the server shows these to Prometheus at that address. A histogram has `_bucket`, `_sum`
and `_count`.

{_table(("Name", "Kind", "Labels", "Meaning"), rows)}"""


def events_page() -> str:
    actions = sorted(_recorded().items())
    rows = [(f"`{action}`", ", ".join(sorted(rooms))) for action, rooms in actions]
    return f"""{NOTE}# Events

## Audit trail

Every event has an `action`, an `app`, who did it, from where and when. They are listed at `/api/v2/events/events/`, in the console
and by `kith export events`; [rules](../notifications.md) tell people of them. `model_created`, `model_updated` and
`model_deleted` are recorded for every record of the identity API; of a field that may hold a secret they have a `fingerprint:`.

{_table(("Action", "Recorded by"), rows)}
## Webhooks of the social half

Set up at `/api/v1/admin/webhooks`; the body is `{{"event": …, "created_at": …, "object": …}}`, signed in `X-Hub-Signature`.

{_table(("Event",), [(f"`{event}`",) for event in EVENTS])}"""


def _recorded() -> dict[str, set[str]]:
    """Actions by name, with the rooms that record them."""
    found: dict[str, set[str]] = {}
    source = ROOT / "src" / "kith"
    for path in sorted(source.rglob("*.py")):
        text = path.read_text()
        if "record" not in text:
            continue
        room = ".".join(path.relative_to(source).with_suffix("").parts[:2])
        for node in ast.walk(ast.parse(text)):
            action = _action(node)
            if action:
                found.setdefault(action, set()).add(room)
    return found


def _action(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Call):
        return None
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name not in ("record", "record_event"):
        return None
    for argument in node.args[1:3]:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            return None if "." in argument.value else argument.value  # the name of an app; the action is a variable
    return None


def permissions_page() -> str:
    rows = []
    for resource in sorted(RESOURCES, key=lambda one: (one.area, one.model)):
        verbs = [verb for verb, operation in _VERBS.items() if operation in resource.allow]
        if verbs:
            rows.append((f"`{resource.area}.…_{resource.model}`", ", ".join(verbs), power_of(resource).leads_to))
    special = [(f"`{name}`", words) for name, words in sorted(SPECIAL.items())]
    return f"""{NOTE}# Permissions

A role grants permissions of the identity half, such as `core.view_user` or `core.change_group`; people have roles by
themselves and by groups. `view` shows records and changes nothing. What the others lead to stands here. Some writes are for superusers
whatever permissions somebody has: [what protects or vouches for whom](../decisions/0013-who-may-change-what-guards-an-account.md).

{_table(("Permission", "Verbs", "Leads to"), rows)}
## Others

{_table(("Permission", "Leads to"), special)}"""


PAGES = {
    "settings.md": settings_page,
    "commands.md": commands_page,
    "metrics.md": metrics_page,
    "events.md": events_page,
    "permissions.md": permissions_page,
}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, write in PAGES.items():
        (FOLDER / name).write_text(write())


if __name__ == "__main__":
    main()

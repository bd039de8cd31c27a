"""Writes exported entries as YAML."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from kith.identity.blueprints.exporting import ExportedFile
from kith.identity.blueprints.tags import Env, Find, KeyOf, Sealed

__all__ = ["as_yaml"]


@lru_cache(1)
def _dumper() -> Any:
    import yaml  # noqa: PLC0415 - loaded when first used

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, _data: Any) -> bool:
            return True

        def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
            super().increase_indent(flow, False)

    def text(dumper: Any, value: str) -> Any:
        style = "|" if "\n" in value and not value.startswith((" ", "\n")) else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    def find(dumper: Any, tag: Find) -> Any:
        parts = [tag.model, *([name, value] for name, value in tag.wanted)]
        return dumper.represent_sequence("!Find", parts, flow_style=True)

    Dumper.add_representer(str, text)
    Dumper.add_representer(KeyOf, lambda dumper, tag: dumper.represent_scalar("!KeyOf", tag.id))
    Dumper.add_representer(Env, lambda dumper, tag: dumper.represent_scalar("!Env", tag.name))
    Dumper.add_representer(Sealed, lambda dumper, tag: dumper.represent_scalar("!Sealed", tag.text))
    Dumper.add_representer(Find, find)
    return Dumper


def as_yaml(file: ExportedFile) -> str:
    import yaml  # noqa: PLC0415 - loaded when first used

    entries = []
    for one in file.entries:
        entry: dict[str, Any] = {"model": one.model}
        if one.id:
            entry["id"] = one.id
        if one.identifiers:
            entry["identifiers"] = one.identifiers
        entries.append(entry | {"attrs": one.attrs})
    document = {"version": 1, "metadata": {"name": file.name, "labels": {"kith/export": "true"}}, "entries": entries}
    return str(yaml.dump(document, Dumper=_dumper(), sort_keys=False, allow_unicode=True, width=110))

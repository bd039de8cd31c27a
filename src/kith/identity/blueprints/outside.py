"""What a blueprint can read beside itself: variables of the environment, and files.

Whoever writes files on the server's machine can read both anyway. What comes over the API reads only variables that
begin with `KITH_BLUEPRINT_`, and files below the blueprint folder. Both hold secrets, and a rehearsal shows what it
would set: so what somebody sends who is no superuser reads neither.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from kith.identity.blueprints import tags
from kith.identity.blueprints.tags import BadBlueprint

__all__ = ["PREFIX", "OutsideValues"]

PREFIX = "KITH_BLUEPRINT_"
MOST_BYTES = 2 << 20


class OutsideValues:
    """`folder` is what paths begin at; `is_open` lets them lead anywhere, and every variable be read.

    With `is_shut` nothing is read at all.
    """

    def __init__(
        self, folder: Path, *, is_open: bool, is_shut: bool = False, environment: Mapping[str, str] | None = None
    ) -> None:
        self._folder = folder
        self._is_open = is_open
        self._is_shut = is_shut
        self._environment = os.environ if environment is None else environment

    def _refuse_shut(self, line: int) -> None:
        if self._is_shut:
            raise BadBlueprint(f"line {line}: only a superuser may read variables and files of the server")

    def variable(self, tag: tags.Env) -> Any:
        self._refuse_shut(tag.line)
        if not self._is_open and not tag.name.startswith(PREFIX):
            raise BadBlueprint(f"line {tag.line}: only variables that begin with {PREFIX} can be read here")
        return self._environment.get(tag.name, tag.default)

    def file(self, tag: tags.File) -> Any:
        """Its text; what is not text is given as a `data:` address."""
        self._refuse_shut(tag.line)
        path = self._folder / tag.path
        try:
            resolved = path.resolve()
            if not self._is_open and not resolved.is_relative_to(self._folder.resolve()):
                raise BadBlueprint(f"line {tag.line}: only files below the blueprint folder can be read here")
            if not resolved.is_file():
                raise FileNotFoundError
            with resolved.open("rb") as file:
                data = file.read(MOST_BYTES + 1)
        except (OSError, ValueError):
            if tag.default is not msgspec.UNSET:
                return tag.default
            raise BadBlueprint(f"line {tag.line}: the file {tag.path[:100]} cannot be read") from None
        if len(data) > MOST_BYTES:
            raise BadBlueprint(f"line {tag.line}: the file {tag.path[:100]} is larger than {MOST_BYTES >> 20} MB")
        try:
            return data.decode()
        except UnicodeDecodeError:
            return f"data:application/octet-stream;base64,{base64.b64encode(data).decode()}"

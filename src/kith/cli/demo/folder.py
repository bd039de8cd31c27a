"""The folder of an example community: what is in it says that it is one, and with which settings it runs."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from kith.base.settings import BadSettings, Settings
from kith.cli.demo.making import DemoLogin

__all__ = ["DemoFolder", "DemoMark"]

MARK = "kith-demo.json"
CONFIG = "kith.toml"
_TAKEN_OVER = ("log_level", "log_format", "watchdog", "watchdog_seconds", "trusted_proxies")


class DemoMark(msgspec.Struct, frozen=True):
    """Written when the making begins; whoever finds it without people knows that it was not finished."""

    base_url: str
    began_at: datetime
    logins: tuple[DemoLogin, ...] = ()


class DemoFolder:
    def __init__(self, path: Path, operator: Settings) -> None:
        self.path = path.absolute()
        self._operator = operator

    def mark(self) -> DemoMark | None:
        """None where nothing has been made yet; a folder that is somebody else's is refused."""
        file = self.path / MARK
        if file.is_file():
            try:
                return msgspec.json.decode(file.read_bytes(), type=DemoMark)
            except msgspec.MsgspecError as error:
                raise BadSettings(f"{file} cannot be read: delete the folder yourself, or name another") from error
        if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise BadSettings(f"{self.path} was not made by `kith demo`, so it is left alone: name another with --data")
        return None

    def delete(self) -> None:
        """Only what a demo has made."""
        if self.mark() is not None:
            shutil.rmtree(self.path)

    def begin(self) -> DemoMark:
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        mark = DemoMark(self._base_url(), datetime.now(UTC))
        self.write(mark)
        return mark

    def write(self, mark: DemoMark) -> None:
        """With passwords in it, so for the owner of the folder only."""
        file = self.path / MARK
        file.touch(mode=0o600)
        file.write_bytes(msgspec.json.format(msgspec.json.encode(mark)) + b"\n")

    def _base_url(self) -> str:
        if "base_url" in self._operator.given:
            return self._operator.base_url
        return f"http://localhost:{self._operator.address[1]}"

    def refuse_elsewhere(self, mark: DemoMark) -> None:
        """Links in posts lead to where it was made for, so at another address it would be half a server."""
        wanted = self._base_url()
        if mark.base_url != wanted:
            raise BadSettings(f"this demo was made for {mark.base_url}: add --anew for a new one at {wanted}")

    def settings(self, mark: DemoMark) -> Settings:
        """The operator's place and log, and else only what a demo needs: no mail, no question to other hosts."""
        return Settings(
            data=self.path,
            base_url=mark.base_url,
            bind=self._operator.bind,
            title="Harbour House",
            description="An example community: a neighbourhood centre by the harbour.",
            registrations="approval",
            confirm_email=False,
            breach_url="",
            federation="allow-list",
            **{name: getattr(self._operator, name) for name in _TAKEN_OVER},
        )

    def environment(self, settings: Settings) -> dict[str, str]:
        """For `kith` in this folder: a file with its settings, and nothing of the operator's own."""
        usual = Settings()
        given = {name: getattr(settings, name) for name in Settings.__struct_fields__}
        lines = [
            f"{name} = {msgspec.json.encode(value, enc_hook=str).decode()}\n"
            for name, value in given.items()
            if value != getattr(usual, name)
        ]
        file = self.path / CONFIG
        file.write_text("".join(lines), "utf-8")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("KITH_")}
        return kept | {"KITH_CONFIG": str(file)}

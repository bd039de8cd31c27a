"""What an operator may set: `kith.toml` first, then the environment (`KITH_...`), which wins."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints
from urllib.parse import urlsplit

import msgspec

__all__ = ["BadSettings", "Settings", "config_file", "label", "load", "read_size", "split_bind"]

Port = Annotated[int, msgspec.Meta(ge=0, le=65535)]


class BadSettings(Exception):  # noqa: N818 - it is the settings that are bad
    """The set-up cannot be used; the message says which setting, why, and what to do."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """Every setting, its type and its default. docs/reference/settings.md is held against this."""

    data: Path = Path("var")
    base_url: str = "http://localhost:8000"
    bind: str = "127.0.0.1:8000"
    local_domain: str = ""
    database: str = "sqlite"
    database_replicas: tuple[str, ...] = ()
    replica_lag_seconds: Annotated[int, msgspec.Meta(ge=1, le=3600)] = 15
    processes: Annotated[int, msgspec.Meta(ge=1, le=64)] = 1
    worker: bool = True
    gateway: bool = False
    gateway_bind: str = "127.0.0.1:9000"
    gateway_tls_bind: str = ""
    acme: bool = False
    acme_directory: str = "https://acme-v02.api.letsencrypt.org/directory"
    acme_email: str = ""
    acme_names: tuple[str, ...] = ()
    acme_bind: str = "[::]:80"
    compress: Literal["auto", "on", "off"] = "auto"
    tls_bind: str = "[::]:443"
    registrations: Literal["open", "approval", "closed"] = "open"
    confirm_email: bool = True
    check_email_host: bool = False
    minimum_age: Annotated[int, msgspec.Meta(ge=0, le=120)] = 0
    reserved_names: tuple[str, ...] = ()
    password_grant: bool = True
    rate_limits: bool = True
    max_connections: Annotated[int, msgspec.Meta(ge=16)] = 8192
    max_connections_per_address: Annotated[int, msgspec.Meta(ge=1)] = 256
    max_streams_per_person: Annotated[int, msgspec.Meta(ge=1)] = 32
    max_streams_per_address: Annotated[int, msgspec.Meta(ge=1)] = 128
    streaming_url: str = ""
    breach_file: str = ""
    breach_url: str = "https://api.pwnedpasswords.com/range/"
    geoip_file: str = ""
    geoip_asn_file: str = ""
    breach_unreachable: Literal["", "refuse", "allow"] = ""
    smtp: str = ""
    mail_from: str = ""
    media: str = ""
    media_url: str = ""
    media_access_key: str = ""
    media_secret_key: str = ""
    media_budget: Annotated[int, msgspec.Meta(ge=0)] = 0
    translator: Literal["", "libretranslate", "deepl"] = ""
    translator_url: str = ""
    translator_key: str = ""
    private_hosts: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    metrics_bind: str = ""
    work_metrics_bind: str = ""
    otlp: str = ""
    ldap_bind: str = ""
    ldaps_bind: str = ""
    radius_bind: str = ""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["auto", "json", "text"] = "auto"
    watchdog: Literal["auto", "log", "end", "off"] = "auto"
    watchdog_seconds: Annotated[int, msgspec.Meta(ge=1, le=3600)] = 30
    max_body: Annotated[int, msgspec.Meta(ge=1024)] = 104_857_600
    title: str = "Kith"
    description: str = "A home for our community."
    contact_email: str = ""
    source_url: str = ""
    mail_footer: str = ""
    backups: bool = False
    backup: str = ""
    backup_schedule: str = ""
    backup_keep: str = "7 daily, 4 weekly, 12 monthly"
    backup_rehearsal: Literal["off", "daily", "weekly", "monthly"] = "weekly"
    backup_key: str = ""
    backup_key_file: str = ""
    backup_access_key: str = ""
    backup_secret_key: str = ""
    publish_peers: bool = True
    publish_activity: bool = True
    publish_directory: bool = True
    publish_domain_blocks: Literal["off", "members", "on"] = "off"
    secure_mode: bool = False
    federation: Literal["open", "allow-list"] = "open"
    events_days: Annotated[int, msgspec.Meta(ge=1)] = 365
    blueprints: str = ""
    blueprints_key: str = ""

    @property
    def given(self) -> frozenset[str]:
        """The names of those that the operator has set, in the file or in the environment."""
        found: frozenset[str] = self.__dict__.get("given", frozenset())
        return found

    @property
    def is_sqlite(self) -> bool:
        return not self.database.startswith(("postgresql://", "postgres://"))

    @property
    def sqlite_path(self) -> Path:
        if self.database == "sqlite":
            return self.data / "kith.sqlite3"
        return Path(self.database.removeprefix("sqlite:///"))

    @property
    def restore_mark(self) -> Path:
        """There while a backup is being restored to the data folder."""
        return self.data / "restoring"

    @property
    def domain(self) -> str:
        """Where handles live: `local_domain`, or else where the server is."""
        return self.local_domain.lower() or self.web_domain

    @property
    def web_domain(self) -> str:
        """Where the server is: the host of the public address, with its port when it has one."""
        return urlsplit(self.base_url).netloc

    @property
    def compresses(self) -> bool:
        """With a certificate of our own nothing stands in front that could compress what goes out."""
        return self.compress == "on" or (self.compress == "auto" and self.acme)

    @property
    def is_allow_list(self) -> bool:
        """Whether only servers that the team has listed are talked to."""
        return self.federation == "allow-list"

    @property
    def is_members_only(self) -> bool:
        """Whether strangers see nothing of people and posts, on pages, in the API and as documents.

        Where only listed servers are talked to, nobody reads as a stranger what those alone may have.
        """
        return self.secure_mode or self.is_allow_list

    def is_own_domain(self, domain: str) -> bool:
        """Whether somebody at `domain` lives here: both of the server's names count."""
        return domain.lower() in (self.domain.lower(), self.web_domain.lower())

    @property
    def sender(self) -> str:
        return self.mail_from or f"kith@{urlsplit(self.base_url).hostname}"

    @property
    def address(self) -> tuple[str, int]:
        return split_bind(self.bind, "bind")


def load(environment: Mapping[str, str] | None = None, folder: Path | None = None) -> Settings:
    """Read the settings; anything unknown or out of bounds is an error that names the nearest right name."""
    environ = os.environ if environment is None else environment
    values = _read_file(environ.get("KITH_CONFIG"), folder or Path.cwd())
    for name, text in environ.items():
        if name.startswith("KITH_") and name != "KITH_CONFIG" and not name.startswith("KITH_BLUEPRINT_"):
            values[_known(name.removeprefix("KITH_").lower(), "the environment", name)] = text
    try:
        settings = msgspec.convert(
            {name: _from_text(name, value) for name, value in values.items()},
            Settings,
            strict=False,
            dec_hook=lambda kind, value: kind(value),
        )
    except msgspec.ValidationError as error:
        from kith.base.setting_words import complaint  # noqa: PLC0415 - loaded when something is wrong

        raise BadSettings(complaint(str(error), values)) from error
    from kith.base.setting_checks import check  # noqa: PLC0415 - the checks know what is declared here

    check(settings)
    settings.__dict__["given"] = frozenset(values)
    return settings


def split_bind(text: str, name: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not re.fullmatch("[0-9]{1,5}", port) or int(port) > 65535:
        raise BadSettings(f"{label(name)} must be an address with a port such as 127.0.0.1:8000, not {text!r}")
    return host.strip("[]") or "0.0.0.0", int(port)  # noqa: S104 - an empty host means every interface


def config_file(environment: Mapping[str, str] | None = None) -> Path | None:
    """The file that settings were read from, if there is one."""
    environ = os.environ if environment is None else environment
    path = Path(environ.get("KITH_CONFIG") or "kith.toml")
    return path if path.is_file() else None


def _read_file(named: str | None, folder: Path) -> dict[str, Any]:
    path = Path(named) if named else folder / "kith.toml"
    if not path.exists():
        if named:
            raise BadSettings(f"KITH_CONFIG names {named}, which does not exist")
        return {}
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise BadSettings(f"{path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSettings(f"{path} is not valid TOML: {error}") from error
    return {_known(name, str(path), name): value for name, value in values.items()}


def _known(name: str, where: str, shown: str) -> str:
    names = Settings.__struct_fields__
    if name in names:
        return name
    near = difflib.get_close_matches(name, names, n=1)
    prefix = "KITH_" if shown.startswith("KITH_") else ""
    hint = f"; did you mean {prefix}{near[0].upper() if prefix else near[0]}?" if near else ""
    raise BadSettings(f"unknown setting {shown} in {where}{hint}")


_KINDS = get_type_hints(Settings)
_TUPLES = {name for name, kind in _KINDS.items() if kind == tuple[str, ...]}
_SWITCHES = {name for name, kind in _KINDS.items() if kind is bool}
_SIZES = {"media_budget"}
_WORDS = {
    "on": True,
    "true": True,
    "1": True,
    "yes": True,
    "off": False,
    "false": False,
    "0": False,
    "no": False,
}


def _from_text(name: str, value: object) -> object:
    if name in _TUPLES and isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if name in _SWITCHES and isinstance(value, str):
        if value.lower() not in _WORDS:
            raise BadSettings(f"{label(name)} must be on or off, not {value!r}")
        return _WORDS[value.lower()]
    if name in _SIZES and isinstance(value, str):
        return read_size(value, name)
    return value


def read_size(text: str, name: str) -> int:
    """Bytes: a number, alone or with a unit of thousands (`10GB`) or of 1024s (`10GiB`)."""
    found = re.fullmatch(r"([0-9]{1,18})(\.[0-9]{1,3})? ?(?:([KMGT])(i?))?B?", text.strip(), re.IGNORECASE)
    if found is None and text.strip():
        raise BadSettings(f"{label(name)} must be a size such as 500MB, 10GB or 2TiB, not {text!r}")
    if found is None:
        return 0
    whole, part, unit, binary = found.groups()
    step: int = (1024 if binary else 1000) ** " KMGT".index((unit or " ").upper())
    size = int(whole) * step + int(float(part or 0) * step)
    if size >= 1 << 63:
        raise BadSettings(f"{label(name)} is larger than anything that can be kept: {text!r}")
    return size


def label(name: str) -> str:
    return f"KITH_{name.upper()}"

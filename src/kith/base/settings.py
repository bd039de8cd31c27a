"""What an operator may set: `kith.toml` first, then the environment (`KITH_...`), which wins."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec

__all__ = ["BadSettings", "Settings", "config_file", "load"]

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
        raise BadSettings(_words(str(error))) from error
    _check(settings)
    settings.__dict__["given"] = frozenset(values)
    return settings


def split_bind(text: str, name: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not re.fullmatch("[0-9]{1,5}", port) or int(port) > 65535:
        raise BadSettings(f"{_label(name)} must be an address with a port such as 127.0.0.1:8000, not {text!r}")
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


_TUPLES = {"acme_names", "database_replicas", "private_hosts", "reserved_names", "trusted_proxies"}
_SWITCHES = {
    "acme",
    "check_email_host",
    "confirm_email",
    "gateway",
    "password_grant",
    "publish_activity",
    "publish_directory",
    "publish_peers",
    "rate_limits",
    "secure_mode",
    "worker",
}
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
            raise BadSettings(f"{_label(name)} must be on or off, not {value!r}")
        return _WORDS[value.lower()]
    if name in _SIZES and isinstance(value, str):
        return read_size(value, name)
    return value


def read_size(text: str, name: str) -> int:
    """Bytes: a number, alone or with a unit of thousands (`10GB`) or of 1024s (`10GiB`)."""
    found = re.fullmatch(r"([0-9]{1,18})(\.[0-9]{1,3})? ?(?:([KMGT])(i?))?B?", text.strip(), re.IGNORECASE)
    if found is None and text.strip():
        raise BadSettings(f"{_label(name)} must be a size such as 500MB, 10GB or 2TiB, not {text!r}")
    if found is None:
        return 0
    whole, part, unit, binary = found.groups()
    step: int = (1024 if binary else 1000) ** " KMGT".index((unit or " ").upper())
    size = int(whole) * step + int(float(part or 0) * step)
    if size >= 1 << 63:
        raise BadSettings(f"{_label(name)} is larger than anything that can be kept: {text!r}")
    return size


def _check_replicas(settings: Settings) -> None:
    if settings.database_replicas and settings.is_sqlite:
        raise BadSettings(f"{_label('database_replicas')} needs PostgreSQL, and {_label('database')} names none")
    if not all(url.startswith(("postgresql://", "postgres://")) for url in settings.database_replicas):
        raise BadSettings(f"{_label('database_replicas')} must be a comma list of postgresql://... addresses")


def _check(settings: Settings) -> None:
    if not _is_origin(settings.base_url):
        raise BadSettings(f"{_label('base_url')} must be like https://example.org, not {settings.base_url!r}")
    if settings.base_url.endswith("/"):
        raise BadSettings(f"{_label('base_url')} must not end with a slash")
    if settings.local_domain and not re.fullmatch(r"[\w.-]+(:[0-9]{1,5})?", settings.local_domain):
        raise BadSettings(f"{_label('local_domain')} must be a domain like example.org, not {settings.local_domain!r}")
    if settings.media_url and not re.fullmatch(r"https?://[^\s/?#]+(/[^\s/?#]+)*", settings.media_url):
        raise BadSettings(
            f"{_label('media_url')} must be like https://files.example.org, without a slash at its end, "
            f"not {settings.media_url!r}"
        )
    if settings.streaming_url and not _is_streaming_origin(settings.streaming_url):
        raise BadSettings(
            f"{_label('streaming_url')} must be like wss://streaming.example.org, without a path, "
            f"not {settings.streaming_url!r}"
        )
    if settings.source_url and not _is_address(settings.source_url):
        raise BadSettings(f"{_label('source_url')} must be like https://example.org/code, not {settings.source_url!r}")
    _check_replicas(settings)
    known = ("sqlite:///", "postgresql://", "postgres://")
    if settings.database != "sqlite" and not settings.database.startswith(known):
        raise BadSettings(
            f"{_label('database')} must be sqlite, sqlite:///PATH or postgresql://..., not what was given"
        )
    if settings.processes > 1 and settings.is_sqlite:
        raise BadSettings(f"{_label('processes')} above 1 needs PostgreSQL: set {_label('database')}")
    for network in settings.trusted_proxies:
        try:
            ip_network(network, strict=False)
        except ValueError as error:
            raise BadSettings(
                f"{_label('trusted_proxies')} must be addresses or networks such as 10.0.0.0/8, not {network!r}"
            ) from error
    if settings.breach_url and not _is_address(settings.breach_url):
        raise BadSettings(f"{_label('breach_url')} must be like https://example.org/range/, or empty")
    _check_translator(settings)
    _check_backups(settings)
    _check_addresses(settings)
    _check_acme(settings)


def _check_backups(settings: Settings) -> None:
    """A schedule that nobody can read would be found when the first backup is missed."""
    from kith.base.backups.retention import read_keep  # noqa: PLC0415 - they raise what is declared here
    from kith.base.backups.schedule import read_schedule  # noqa: PLC0415

    for name, read in (("backup_schedule", read_schedule), ("backup_keep", read_keep)):
        try:
            read(getattr(settings, name))
        except BadSettings as error:
            raise BadSettings(f"{_label(name)}: {error}") from error


def _check_addresses(settings: Settings) -> None:
    for name in (
        "bind",
        "gateway_bind",
        "gateway_tls_bind",
        "metrics_bind",
        "work_metrics_bind",
        "acme_bind",
        "tls_bind",
    ):
        if getattr(settings, name) or name in ("bind", "gateway_bind", "acme_bind", "tls_bind"):
            split_bind(getattr(settings, name), name)


def _check_acme(settings: Settings) -> None:
    if settings.otlp and not _is_address(settings.otlp):
        raise BadSettings(f"{_label('otlp')} must be like http://127.0.0.1:4318, or empty")
    if not settings.acme:
        return
    url = urlsplit(settings.base_url)
    if url.scheme != "https":
        raise BadSettings(f"{_label('acme')} is on: {_label('base_url')} must begin with https://")
    if not _is_address(settings.acme_directory):
        raise BadSettings(f"{_label('acme_directory')} must be like https://acme.example.org/directory")
    for name in (url.hostname or "", *settings.acme_names):
        if not re.fullmatch(r"(?=.{1,253}\Z)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*", name.lower()) or name[-1].isdigit():
            raise BadSettings(f"{_label('acme')} is on: there can be no certificate for {name!r}, only for host names")


def _check_translator(settings: Settings) -> None:
    if settings.translator_url and not _is_address(settings.translator_url):
        raise BadSettings(f"{_label('translator_url')} must be like https://translate.example.org, or empty")
    if settings.translator == "libretranslate" and not settings.translator_url:
        raise BadSettings(f"{_label('translator')} is libretranslate: {_label('translator_url')} must say where it is")
    if settings.translator == "deepl" and not settings.translator_key:
        raise BadSettings(f"{_label('translator')} is deepl, which needs {_label('translator_key')}")
    if not settings.translator and (settings.translator_url or settings.translator_key):
        raise BadSettings(f"{_label('translator')} must say which kind of service it is: libretranslate or deepl")


def _is_address(text: str) -> bool:
    try:
        url = urlsplit(text)
    except ValueError:
        return False
    return url.scheme in ("http", "https") and bool(url.hostname)


def _is_origin(text: str) -> bool:
    """Scheme, host and perhaps a port; a slash at the end has an error of its own."""
    try:
        url = urlsplit(text)
        host, _port = url.hostname, url.port
    except ValueError:
        return False
    is_plain = not (url.path.strip("/") or url.query or url.fragment or url.username or url.password)
    return url.scheme in ("http", "https") and bool(host) and is_plain and not re.search(r"\s", text)


def _is_streaming_origin(text: str) -> bool:
    """As an origin, or the same with the scheme of sockets."""
    rest = text.removeprefix("http").removeprefix("ws")
    return rest != text and not text.endswith("/") and _is_origin(f"http{rest}")


def _words(error: str) -> str:
    """msgspec says "Expected `int` - at `$.processes`"; an operator should read the setting's name first."""
    words, _, path = error.partition(" - at `$.")
    name = path.rstrip("`").split("[")[0]
    return f"{_label(name)}: {words}" if name else words


def _label(name: str) -> str:
    return f"KITH_{name.upper()}"

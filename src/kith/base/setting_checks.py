"""Whether settings can be used, alone and together: what is wrong is found at the start, and named."""

from __future__ import annotations

import re
from ipaddress import ip_network
from urllib.parse import SplitResult, parse_qsl, urlsplit

from kith.base.backups.retention import read_keep
from kith.base.backups.schedule import read_schedule
from kith.base.settings import BadSettings, Settings, label, split_bind

__all__ = ["check"]


def check(settings: Settings) -> None:
    if not _is_origin(settings.base_url):
        raise BadSettings(f"{label('base_url')} must be like https://example.org, not {settings.base_url!r}")
    if settings.base_url.endswith("/"):
        raise BadSettings(f"{label('base_url')} must not end with a slash")
    if settings.local_domain and not re.fullmatch(r"[\w.-]+(:[0-9]{1,5})?", settings.local_domain):
        raise BadSettings(f"{label('local_domain')} must be a domain like example.org, not {settings.local_domain!r}")
    if settings.media_url and not re.fullmatch(r"https?://[^\s/?#]+(/[^\s/?#]+)*", settings.media_url):
        raise BadSettings(
            f"{label('media_url')} must be like https://files.example.org, without a slash at its end, "
            f"not {settings.media_url!r}"
        )
    if settings.streaming_url and not _is_streaming_origin(settings.streaming_url):
        raise BadSettings(
            f"{label('streaming_url')} must be like wss://streaming.example.org, without a path, "
            f"not {settings.streaming_url!r}"
        )
    if settings.source_url and not _is_address(settings.source_url):
        raise BadSettings(f"{label('source_url')} must be like https://example.org/code, not {settings.source_url!r}")
    _check_replicas(settings)
    _check_database(settings)
    for network in settings.trusted_proxies:
        try:
            ip_network(network, strict=False)
        except ValueError as error:
            raise BadSettings(
                f"{label('trusted_proxies')} must be addresses or networks such as 10.0.0.0/8, not {network!r}"
            ) from error
    if settings.breach_url and not _is_address(settings.breach_url):
        raise BadSettings(f"{label('breach_url')} must be like https://example.org/range/, or empty")
    _check_translator(settings)
    _check_private_hosts(settings)
    _check_mail(settings)
    _check_buckets(settings)
    _check_backups(settings)
    _check_addresses(settings)
    _check_acme(settings)


def _check_replicas(settings: Settings) -> None:
    if settings.database_replicas and settings.is_sqlite:
        raise BadSettings(f"{label('database_replicas')} needs PostgreSQL, and {label('database')} names none")
    if not all(url.startswith(("postgresql://", "postgres://")) for url in settings.database_replicas):
        raise BadSettings(f"{label('database_replicas')} must be a comma list of postgresql://... addresses")


def _check_database(settings: Settings) -> None:
    known = ("sqlite:///", "postgresql://", "postgres://")
    if settings.database != "sqlite" and not settings.database.startswith(known):
        raise BadSettings(f"{label('database')} must be sqlite, sqlite:///PATH or postgresql://..., not what was given")
    if not settings.is_sqlite and not _has_good_port(settings.database):
        raise BadSettings(f"{label('database')} must be like postgresql://name:password@host:5432/database")
    if settings.processes > 1 and settings.is_sqlite:
        raise BadSettings(f"{label('processes')} above 1 needs PostgreSQL: set {label('database')}")


def _check_private_hosts(settings: Settings) -> None:
    if not settings.private_hosts:
        return
    from kith.base.http.addresses import PrivateHosts  # noqa: PLC0415 - most servers name none

    for one in settings.private_hosts:
        try:
            PrivateHosts([one])
        except ValueError as error:
            raise BadSettings(
                f"{label('private_hosts')} must be a comma list of addresses, networks and host names, with a port "
                f"if you like, such as 10.0.0.0/8, ldap.example.org:389, not {one!r}"
            ) from error


def _check_mail(settings: Settings) -> None:
    if not settings.smtp:
        return
    url = _parts(settings.smtp)
    if url is None or url.scheme not in ("smtp", "smtps") or not url.hostname:
        raise BadSettings(f"{label('smtp')} must be like smtp://user:password@host:587 or smtps://host")
    tls = dict(parse_qsl(url.query, keep_blank_values=True))
    if tls.pop("tls", "none") not in ("none", "starttls", "required") or tls:
        raise BadSettings(f"{label('smtp')} takes only ?tls=none, ?tls=starttls or ?tls=required")


def _check_buckets(settings: Settings) -> None:
    """Media are in the data folder or in a bucket, backups in a folder or in a bucket."""
    for name, what in (("media", "s3://bucket/prefix"), ("backup", "a folder or s3://bucket/prefix")):
        text: str = getattr(settings, name)
        if not text or (name == "backup" and "://" not in text):
            continue
        url = _parts(text)
        is_bucket = url is not None and url.scheme == "s3" and bool(url.netloc)
        if url is None or not is_bucket or dict(parse_qsl(url.query)).keys() - {"endpoint", "region", "allow_http"}:
            raise BadSettings(f"{label(name)} must be {what}, with ?endpoint=, &region= and &allow_http= if needed")
        keys = [
            getattr(settings, f"{name}_{kind}") or getattr(settings, f"media_{kind}")
            for kind in ("access_key", "secret_key")
        ]
        if not all(keys):
            raise BadSettings(
                f"{label(name)} is a bucket: set {label(f'{name}_access_key')} and {label(f'{name}_secret_key')}"
            )


def _check_backups(settings: Settings) -> None:
    """A schedule that nobody can read would be found when the first backup is missed."""
    for name, read in (("backup_schedule", read_schedule), ("backup_keep", read_keep)):
        try:
            read(getattr(settings, name))
        except BadSettings as error:
            raise BadSettings(f"{label(name)}: {error}") from error


def _check_addresses(settings: Settings) -> None:
    for name in (
        "bind",
        "gateway_bind",
        "gateway_tls_bind",
        "metrics_bind",
        "work_metrics_bind",
        "acme_bind",
        "tls_bind",
        "ldap_bind",
        "ldaps_bind",
        "radius_bind",
    ):
        if getattr(settings, name) or name in ("bind", "gateway_bind", "acme_bind", "tls_bind"):
            split_bind(getattr(settings, name), name)


def _check_acme(settings: Settings) -> None:
    if settings.otlp and not _is_address(settings.otlp):
        raise BadSettings(f"{label('otlp')} must be like http://127.0.0.1:4318, or empty")
    if not settings.acme:
        return
    url = urlsplit(settings.base_url)
    if url.scheme != "https":
        raise BadSettings(f"{label('acme')} is on: {label('base_url')} must begin with https://")
    if not _is_address(settings.acme_directory):
        raise BadSettings(f"{label('acme_directory')} must be like https://acme.example.org/directory")
    for name in (url.hostname or "", *settings.acme_names):
        if not re.fullmatch(r"(?=.{1,253}\Z)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*", name.lower()) or name[-1].isdigit():
            raise BadSettings(f"{label('acme')} is on: there can be no certificate for {name!r}, only for host names")


def _check_translator(settings: Settings) -> None:
    if settings.translator_url and not _is_address(settings.translator_url):
        raise BadSettings(f"{label('translator_url')} must be like https://translate.example.org, or empty")
    if settings.translator == "libretranslate" and not settings.translator_url:
        raise BadSettings(f"{label('translator')} is libretranslate: {label('translator_url')} must say where it is")
    if settings.translator == "deepl" and not settings.translator_key:
        raise BadSettings(f"{label('translator')} is deepl, which needs {label('translator_key')}")
    if not settings.translator and (settings.translator_url or settings.translator_key):
        raise BadSettings(f"{label('translator')} must say which kind of service it is: libretranslate or deepl")


def _has_good_port(text: str) -> bool:
    return _parts(text) is not None


def _parts(text: str) -> SplitResult | None:
    """None where no host or no port can be read in it."""
    try:
        url = urlsplit(text)
        is_usable = url.port != 0
    except ValueError:
        return None
    return url if is_usable else None


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

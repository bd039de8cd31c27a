"""Settings: read from a file and the environment, and refused in words that name them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from kith.base.settings import BadSettings, Settings, load, split_bind


def test_without_a_word_everything_has_a_default(tmp_path: Path) -> None:
    assert load({}, tmp_path) == Settings()
    assert load({"PATH": "/bin", "KITHLIKE": "x"}, tmp_path) == Settings()


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("data", "/srv/kith", Path("/srv/kith")), ("base_url", "https://example.org", "https://example.org"),
        ("base_url", "http://[::1]:8000", "http://[::1]:8000"), ("processes", "1", 1),
        ("worker", "off", False), ("worker", "Yes", True), ("rate_limits", "0", False), ("confirm_email", "TRUE", True),
        ("registrations", "approval", "approval"), ("private_hosts", "a.example, 10.0.0.1 ,", ("a.example", "10.0.0.1")),
        ("trusted_proxies", "", ()), ("trusted_proxies", "10.0.0.0/8,::1", ("10.0.0.0/8", "::1")),
        ("max_body", "1024", 1024), ("title", "5", "5"), ("title", "", ""), ("database", "sqlite:////tmp/x", "sqlite:////tmp/x"),
        ("media_budget", "", 0), ("media_budget", "0", 0), ("media_budget", "12345", 12_345), ("media_budget", "10GB", 10**10),
        ("media_budget", "1.5 kb", 1500), ("media_budget", "2GiB", 2 << 30), ("media_budget", " 1TiB ", 1 << 40),
        ("log_level", "debug", "debug"), ("metrics_bind", "[::1]:9100", "[::1]:9100"),
    ],
)  # fmt: skip
def test_the_environment_is_read_as_text(tmp_path: Path, name: str, text: str, expected: object) -> None:
    assert getattr(load({f"KITH_{name.upper()}": text}, tmp_path), name) == expected


def test_the_environment_wins_over_the_file_and_the_file_over_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "kith.toml").write_text(
        'title = "From the file"\nprocesses = 3\nworker = false\nprivate_hosts = ["a.example"]\n'
        'database = "postgresql:///kith"\n'
    )

    settings = load({"KITH_TITLE": "From outside"}, tmp_path)

    assert settings.title == "From outside"
    assert settings.processes == 3
    assert settings.worker is False
    assert settings.private_hosts == ("a.example",)
    assert settings.description == Settings().description


def test_a_file_of_another_name_is_read_in_its_stead(tmp_path: Path) -> None:
    (tmp_path / "kith.toml").write_text('title = "Not this"')
    (tmp_path / "other.toml").write_text('title = "This"')
    assert load({"KITH_CONFIG": str(tmp_path / "other.toml")}, tmp_path).title == "This"


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"KITH_CONFIG": "/nowhere/kith.toml"}, ["KITH_CONFIG", "/nowhere/kith.toml", "does not exist"]),
        ({"KITH_CONFIG": "/"}, ["/", "cannot be read"]),
        ({"KITH_DATABSE": "sqlite"}, ["KITH_DATABSE", "the environment", "did you mean KITH_DATABASE?"]),
        ({"KITH_BASEURL": "x"}, ["KITH_BASEURL", "did you mean KITH_BASE_URL?"]),
        ({"KITH_ZZZZZZ": "x"}, ["unknown setting KITH_ZZZZZZ"]),
        ({"KITH_PROCESSES": "0"}, ["KITH_PROCESSES", "from 1 to 64", "'0'"]),
        ({"KITH_PROCESSES": "65"}, ["KITH_PROCESSES", "from 1 to 64"]),
        ({"KITH_PROCESSES": "many"}, ["KITH_PROCESSES", "a whole number", "'many'"]),
        ({"KITH_FEDERATION": "maybe"}, ["KITH_FEDERATION must be open or allow-list, not 'maybe'"]),
        ({"KITH_TRANSLATOR": "x"}, ["KITH_TRANSLATOR must be empty, libretranslate or deepl"]),
        ({"KITH_MAX_CONNECTIONS": "1"}, ["KITH_MAX_CONNECTIONS must be a whole number, 16 or more"]),
        ({"KITH_DATABASE": "postgresql://a:b@host:port/kith"}, ["KITH_DATABASE", "host:5432"]),
        ({"KITH_PROCESSES": "2"}, ["KITH_PROCESSES", "PostgreSQL", "KITH_DATABASE"]),
        ({"KITH_WORKER": "perhaps"}, ["KITH_WORKER", "on or off", "perhaps"]),
        ({"KITH_REGISTRATIONS": "ajar"}, ["KITH_REGISTRATIONS", "ajar"]),
        ({"KITH_LOG_LEVEL": "loud"}, ["KITH_LOG_LEVEL", "loud"]),
        ({"KITH_LOG_FORMAT": "xml"}, ["KITH_LOG_FORMAT"]),
        ({"KITH_MAX_BODY": "12"}, ["KITH_MAX_BODY", "1024"]),
        ({"KITH_EVENTS_DAYS": "0"}, ["KITH_EVENTS_DAYS"]),
        *[
            ({"KITH_MEDIA_BUDGET": text}, ["KITH_MEDIA_BUDGET", "10GB", text])
            for text in ("much", "-1", "10XB", "1e9", "GB", "10 G B", "9" * 19)
        ],
        ({"KITH_MEDIA_BUDGET": "99999999999TB"}, ["KITH_MEDIA_BUDGET", "larger"]),
        ({"KITH_DATABASE": "mysql://root:secret@db/kith"}, ["KITH_DATABASE", "postgresql://"]),
        ({"KITH_TRUSTED_PROXIES": "10.0.0.0/8,proxy.local"}, ["KITH_TRUSTED_PROXIES", "proxy.local"]),
        *[
            ({"KITH_BIND": text}, ["KITH_BIND", "127.0.0.1:8000", text])
            for text in ("8000", "localhost", "localhost:", "localhost:http", ":65536", "h:²", "h:-1", "h: 80")
        ],
        ({"KITH_METRICS_BIND": "9100"}, ["KITH_METRICS_BIND"]),
        *[
            ({"KITH_LOCAL_DOMAIN": text}, ["KITH_LOCAL_DOMAIN", "example.org", text])
            for text in ("https://example.org", "a b", "a/b", "a:x", "ada@example.org")
        ],
        *[
            ({"KITH_BASE_URL": text}, ["KITH_BASE_URL", "https://example.org"])
            for text in (
                "",
                "example.org",
                "ftp://example.org",
                "https://",
                "https://example.org/kith",
                "https://example.org?x",
                "https://example.org#x",
                "http://[::1",
                "http://example.org:99999",
                "http://example.org:x",
                "https://ada:secret@example.org",
                "https://exa mple.org",
            )
        ],
        ({"KITH_BASE_URL": "https://example.org/"}, ["KITH_BASE_URL", "slash"]),
        ({"KITH_BACKUP_SCHEDULE": "at night"}, ["KITH_BACKUP_SCHEDULE", "daily at 03:00", "at night"]),
        ({"KITH_BACKUP_KEEP": "some"}, ["KITH_BACKUP_KEEP", "7 daily", "some"]),
        *[
            ({"KITH_BACKUP": text}, ["KITH_BACKUP", "a folder or s3://bucket/prefix"])
            for text in ("s4://root:secret@bucket", "s3://", "s3://bucket?key=root:secret", "s3://[")
        ],
        ({"KITH_BACKUP": "s3://bucket/prefix"}, ["KITH_BACKUP_ACCESS_KEY", "KITH_BACKUP_SECRET_KEY"]),
        ({"KITH_MEDIA": "var/media"}, ["KITH_MEDIA", "s3://bucket/prefix"]),
        ({"KITH_MEDIA": "s3://bucket", "KITH_MEDIA_ACCESS_KEY": "x"}, ["KITH_MEDIA_SECRET_KEY"]),
        *[
            ({"KITH_SMTP": text}, ["KITH_SMTP", "smtp://user:password@host:587"])
            for text in ("mail.example.org", "http://mail.example.org", "smtp://", "smtp://root:secret@host:x")
        ],
        ({"KITH_SMTP": "smtp://root:secret@host?tls=maybe"}, ["KITH_SMTP", "?tls=starttls"]),
        *[
            ({"KITH_PRIVATE_HOSTS": text}, ["KITH_PRIVATE_HOSTS", "10.0.0.0/8", repr(text)])
            for text in ("???", "10.0.0.0/99", "http://ldap.example.org", "[ldap]", "1.2.3.400")
        ],
        *[
            ({f"KITH_{name}_BIND": text}, [f"KITH_{name}_BIND", "127.0.0.1:8000", text])
            for name in ("LDAP", "LDAPS", "RADIUS")
            for text in ("389", "localhost:ldap")
        ],
        ({"KITH_SOURCE_URL": "our code"}, ["KITH_SOURCE_URL", "https://example.org/code", "our code"]),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, environment: dict[str, str], words: list[str]) -> None:
    with pytest.raises(BadSettings) as caught:
        load(environment, tmp_path)
    message = str(caught.value)
    assert "root:secret" not in message
    assert all(word in message for word in words), message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("titel = 'x'", ["titel", "kith.toml", "did you mean title?"]),
        ("title = ", ["kith.toml", "not valid TOML"]),
        ("title = 5", ["KITH_TITLE", "str"]),
        ("data = 5", ["KITH_DATA"]),
        ("processes = 'x'", ["KITH_PROCESSES"]),
        ("processes = 1.5", ["KITH_PROCESSES"]),
        ("private_hosts = [1]", ["KITH_PRIVATE_HOSTS"]),
        ("worker = []", ["KITH_WORKER"]),
        ("[title]\nx = 1", ["KITH_TITLE"]),
    ],
)
def test_what_cannot_be_used_in_the_file_is_named(tmp_path: Path, text: str, words: list[str]) -> None:
    (tmp_path / "kith.toml").write_text(text)
    with pytest.raises(BadSettings) as caught:
        load({}, tmp_path)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kith.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadSettings, match="not valid TOML"):
        load({}, tmp_path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("127.0.0.1:8000", ("127.0.0.1", 8000)),
        (":80", ("0.0.0.0", 80)),
        ("[::1]:0", ("::1", 0)),
        ("[::]:65535", ("::", 65535)),
    ],
)
def test_an_address_has_a_host_and_a_port(text: str, expected: tuple[str, int]) -> None:
    assert split_bind(text, "bind") == expected


def test_what_follows_from_the_settings(tmp_path: Path) -> None:
    plain = load({"KITH_DATA": "/srv", "KITH_BASE_URL": "https://example.org:8443"}, tmp_path)
    other = load({"KITH_DATABASE": "sqlite:////var/x.db", "KITH_MAIL_FROM": "a@b.example"}, tmp_path)

    assert (plain.sqlite_path, plain.domain, plain.sender) == (
        Path("/srv/kith.sqlite3"),
        "example.org:8443",
        "kith@example.org",
    )
    assert (other.sqlite_path, other.sender, other.is_sqlite) == (Path("/var/x.db"), "a@b.example", True)
    assert not load({"KITH_DATABASE": "postgres:///kith"}, tmp_path).is_sqlite


@pytest.mark.parametrize("name", [field.name for field in msgspec.structs.fields(Settings) if field.type is bool])
def test_every_switch_is_on_and_off_in_words(name: str) -> None:
    for words, value in (("on", True), ("off", False)):
        given = {f"KITH_{name.upper()}": words, "KITH_BASE_URL": "https://example.org"}
        assert getattr(load(given), name) is value

"""What `kith check` asks outside: told in plain sentences, and no worry where nobody could be asked."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kith.base.settings import load
from kith.base.vapid import public_key
from kith.cli.check.reach import ask_outside
from kith.cli.check.world import NotAsked, Page

_NOW = datetime.max.replace(tzinfo=UTC)  # whenever one asks: a run of all tests takes longer than a clock may be off
KEY = bytes(range(32))
NAME = "social.example.org"


class MadeUpWorld:
    """Answers as it is told to; whoever asks for something else is not answered."""

    def __init__(self, **answers: Any) -> None:
        self.names: dict[str, list[str]] = answers.get("names", {})
        self.pages: dict[str, Page] = answers.get("pages", {})
        self.end: datetime | Exception = answers.get("end", datetime.now(UTC) + timedelta(days=60))
        self.is_away = answers.get("is_away", False)

    async def addresses(self, host: str) -> list[str]:
        return self._named(host)

    async def texts(self, name: str) -> list[str]:
        return self._named(f"TXT {name}")

    async def mail_hosts(self, domain: str) -> list[str]:
        return self._named(f"MX {domain}")

    def _named(self, name: str) -> list[str]:
        if self.is_away:
            raise NotAsked("no name server answers")
        return self.names.get(name, [])

    async def certificate_end(self, host: str, port: int) -> datetime:
        if self.is_away:
            raise NotAsked(f"{host}:{port} does not answer")
        if isinstance(self.end, Exception):
            raise self.end
        return self.end

    async def get(self, url: str, accept: str = "") -> Page:
        if self.is_away:
            raise NotAsked("connect")
        page = self.pages.get(url.partition("?")[0], Page(404, b"", None))
        return Page(page.status, page.body, datetime.now(UTC) if page.date is _NOW else page.date)

    async def close(self) -> None: ...


def _page(value: object) -> Page:
    return Page(200, msgspec.json.encode(value), _NOW)


SOUND: dict[str, Any] = {
    "names": {
        NAME: ["192.0.2.1"],
        f"TXT {NAME}": ["v=spf1 -all"],
        f"TXT s1._domainkey.{NAME}": ["v=DKIM1; p=abc"],
        f"TXT _dmarc.{NAME}": ["v=DMARC1; p=reject"],
        f"MX {NAME}": ["mail.example.org."],
    },
    "pages": {
        "https://api.pwnedpasswords.com/": _page({}),
        f"https://{NAME}/api/v2/instance": _page({"configuration": {"vapid": {"public_key": public_key(KEY)}}}),
        f"https://{NAME}/actor": _page({"id": f"https://{NAME}/actor"}),
        f"https://{NAME}/.well-known/webfinger": _page({"subject": f"acct:{NAME}@{NAME}"}),
    },
}
_LATE = Page(200, b"{}", datetime.now(UTC) - timedelta(hours=2))
_OTHER = _page({"configuration": {"vapid": {"public_key": public_key(bytes(32))}}})


async def _found(folder: Path, world: MadeUpWorld) -> list[tuple[str, str, str]]:
    (folder / "keys").mkdir(exist_ok=True)
    (folder / "keys" / "vapid.key").write_bytes(KEY)
    given = {"KITH_DATA": str(folder), "KITH_BASE_URL": f"https://{NAME}", "KITH_SMTP": "smtp://mail.example.org:25"}
    return [(one.check, one.state, f"{one.what} -> {one.mend}") for one in await ask_outside(load(given), world)]


async def test_a_server_that_others_can_find_has_nothing_to_worry_about(tmp_path: Path) -> None:
    found = await _found(tmp_path, MadeUpWorld(**SOUND))

    assert {state for _, state, _ in found} == {"ok"}
    assert {check for check, _, _ in found} == {"dns", "tls", "clock", "mail", "reach"}


async def test_without_a_network_everything_could_not_be_asked(tmp_path: Path) -> None:
    found = await _found(tmp_path, MadeUpWorld(is_away=True))

    assert [(check, state) for check, state, _ in found] == [
        (check, "ok") for check in ("dns", "tls", "clock", "mail", "reach")
    ]
    assert all("could not be asked" in words for _, _, words in found)


def _with(part: str, **changed: Any) -> dict[str, Any]:
    return {**SOUND, part: {**SOUND[part], **changed}}


@pytest.mark.parametrize(
    ("world", "check", "state", "words"),
    [
        (_with("names", **{NAME: []}), "dns", "problem", "leads nowhere"),
        ({**SOUND, "end": datetime.now(UTC) + timedelta(days=3)}, "tls", "warning", "kith certificate --renew"),
        ({**SOUND, "end": ssl.SSLCertVerificationError("expired")}, "tls", "problem", "is not believed"),
        (_with("pages", **{"https://api.pwnedpasswords.com/": _LATE}), "clock", "problem", "timedatectl set-ntp true"),
        (_with("names", **{f"TXT {NAME}": ["something"]}), "mail", "warning", "(SPF)"),
        (_with("names", **{f"TXT s1._domainkey.{NAME}": []}), "mail", "warning", "(DKIM)"),
        (_with("names", **{f"TXT _dmarc.{NAME}": []}), "mail", "warning", "(DMARC)"),
        (_with("names", **{f"MX {NAME}": []}), "mail", "warning", "takes no mail"),
        (_with("pages", **{f"https://{NAME}/api/v2/instance": Page(502, b"", None)}), "reach", "problem", "no Kith"),
        (_with("pages", **{f"https://{NAME}/api/v2/instance": _OTHER}), "reach", "problem", "another server"),
        (_with("pages", **{f"https://{NAME}/.well-known/webfinger": _LATE}), "reach", "problem", "finds people here"),
    ],
)
async def test_each_worry_has_a_sentence(
    world: dict[str, Any], check: str, state: str, words: str, tmp_path: Path
) -> None:
    worries = [one for one in await _found(tmp_path, MadeUpWorld(**world)) if one[1] != "ok"]

    assert [(one[0], one[1]) for one in worries] == [(check, state)]
    assert words in worries[0][2]

"""Services elsewhere that translate: which languages they know, and texts from one into another.

Texts go out and come back as HTML. Which service it is, and its key, is the operator's choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from kith.base.errors import Unavailable
from kith.base.http import Outgoing, OutgoingError
from kith.base.settings import Settings

__all__ = ["UNDETECTED", "DeepL", "Languages", "LibreTranslate", "OutOfQuota", "Provider", "TooBusy", "provider_of"]

UNDETECTED = "und"
SECONDS = 15.0
MOST_BYTES = 2 << 20
MOST_LANGUAGES = 500
DEEPL_FREE, DEEPL_PAID = "https://api-free.deepl.com", "https://api.deepl.com"

# Of each language, those it can be translated into; `und` is any that the service must find out by itself.
Languages = dict[str, list[str]]


class OutOfQuota(Unavailable):
    code = "translation_quota"
    message = "This server has used up what its translation service grants it; please try again later"


class TooBusy(Unavailable):
    code = "translation_busy"
    message = "The translation service is asked too often at the moment; please try again in a while"


class Failed(Unavailable):
    code = "translation_failed"
    message = "Service Unavailable"


class Translated(msgspec.Struct, frozen=True):
    text: str
    language: str


class Provider(Protocol):
    name: str

    async def languages(self) -> Languages: ...

    async def translate(self, texts: Sequence[str], source: str | None, target: str) -> list[Translated]:
        """Each text in its order; without a `source` the service finds it out."""
        ...


def provider_of(settings: Settings, outgoing: Outgoing) -> Provider | None:
    match settings.translator:
        case "libretranslate":
            return LibreTranslate(outgoing, settings.translator_url, settings.translator_key)
        case "deepl":
            key = settings.translator_key
            usual = DEEPL_FREE if key.endswith(":fx") else DEEPL_PAID
            return DeepL(outgoing, settings.translator_url or usual, key)
    return None


class LibreTranslate:
    name = "LibreTranslate"

    def __init__(self, outgoing: Outgoing, url: str, key: str) -> None:
        self._outgoing = outgoing
        self._url = url.rstrip("/")
        self._key = key

    async def languages(self) -> Languages:
        told = await _ask(self._outgoing, "GET", f"{self._url}/languages", quota=403)
        known: Languages = {}
        for row in _rows(told)[:MOST_LANGUAGES]:
            code = _text(row.get("code"))
            targets = row.get("targets")
            known[code] = [one for one in targets if isinstance(one, str)] if isinstance(targets, list) else []
        return _complete(known)

    async def translate(self, texts: Sequence[str], source: str | None, target: str) -> list[Translated]:
        sent: dict[str, Any] = {"q": list(texts), "source": source or "auto", "target": target, "format": "html"}
        if self._key:
            sent["api_key"] = self._key
        told = await _ask(self._outgoing, "POST", f"{self._url}/translate", sent, quota=403)
        made = told.get("translatedText") if isinstance(told, dict) else None
        if not isinstance(made, list) or len(made) != len(texts):
            raise Failed
        found = told.get("detectedLanguage")
        heard = found[0] if isinstance(found, list) and found else found
        heard = heard.get("language") if isinstance(heard, dict) else None
        language = source or (heard if isinstance(heard, str) else UNDETECTED)
        return [Translated(_text(text), language) for text in made]


class DeepL:
    name = "DeepL.com"

    def __init__(self, outgoing: Outgoing, url: str, key: str) -> None:
        self._outgoing = outgoing
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"DeepL-Auth-Key {key}"}

    async def languages(self) -> Languages:
        """It tells English and Portuguese as targets only with a country, and takes them without one."""
        sources, targets = await self._listed("source"), await self._listed("target")
        return _complete({one: ["en", "pt", *targets] for one in sources})

    async def _listed(self, kind: str) -> list[str]:
        url = f"{self._url}/v2/languages?type={kind}"
        told = await _ask(self._outgoing, "GET", url, quota=456, headers=self._headers)
        return [_written(_text(row.get("language"))) for row in _rows(told)[:MOST_LANGUAGES]]

    async def translate(self, texts: Sequence[str], source: str | None, target: str) -> list[Translated]:
        sent: dict[str, Any] = {"text": list(texts), "target_lang": target.upper(), "tag_handling": "html"}
        if source is not None:
            sent["source_lang"] = source.upper()
        url = f"{self._url}/v2/translate"
        told = await _ask(self._outgoing, "POST", url, sent, quota=456, headers=self._headers)
        made = told.get("translations") if isinstance(told, dict) else None
        rows = _rows(made)
        if len(rows) != len(texts):
            raise Failed
        return [
            Translated(_text(row.get("text")), _written(_text(row.get("detected_source_language", UNDETECTED))))
            for row in rows
        ]


async def _ask(
    outgoing: Outgoing, method: str, url: str, sent: Any = None, *, quota: int, headers: Mapping[str, str] | None = None
) -> Any:
    """What was answered. Nobody is sent on to another address, which would be told the key."""
    said = {"Accept": "application/json", **(headers or {})}
    body = None
    if sent is not None:
        said["Content-Type"] = "application/json"
        body = msgspec.json.encode(sent)
    try:
        answer = await outgoing.request(
            method, url, headers=said, body=body, max_bytes=MOST_BYTES, timeout=SECONDS, max_redirects=0
        )
    except OutgoingError as error:
        raise Failed from error
    if answer.status == quota:
        raise OutOfQuota
    if answer.status == 429:
        raise TooBusy
    if answer.status != 200:
        raise Failed from ValueError(f"the translation service answered {answer.status}")
    try:
        return answer.json()
    except ValueError as error:
        raise Failed from error


def _rows(told: object) -> list[dict[str, Any]]:
    if not isinstance(told, list) or not all(isinstance(row, dict) for row in told):
        raise Failed
    return told


def _text(told: object) -> str:
    if not isinstance(told, str):
        raise Failed
    return told


def _written(code: str) -> str:
    """`EN-GB` as `en-GB`, `ZH-HANS` as `zh-Hans`."""
    language, _, rest = code.partition("-")
    rest = rest.title() if len(rest) > 2 else rest.upper()
    return f"{language.lower()}-{rest}" if rest else language.lower()


def _complete(known: Languages) -> Languages:
    """None into itself; what is not known to be in a language goes into any that another goes into."""
    every = list(dict.fromkeys(target for targets in known.values() for target in targets))
    return {source: [one for one in targets if one != source] for source, targets in known.items()} | {
        UNDETECTED: every
    }

"""Posts in another language, by services that speak LibreTranslate's protocol and DeepL's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from sqlalchemy import bindparam, update

from kith.base.db import command
from kith.base.settings import BadSettings, load
from kith.social.statuses.tables import statuses
from tests.conftest import TownBuilder
from tests.social.members import Member, join
from tests.social.posts import does, post
from tests.social.samples import image_file
from tests.social.shapes import check, entity
from tests.town import Town

TRANSLATION = entity("Translation")
_set_language = command(
    update(statuses).where(statuses.c.id == bindparam("status")).values(language=bindparam("language"))
)


class Service:
    """It puts the target before every text, shouts, and adds what no page should show."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.status = 200
        self.body: str | None = None

    def __call__(self, text: str, target: str) -> str:
        return f"[{target}]<script>x()</script> {text.replace('Katze', 'cat')}"

    async def libre(self, request: web.Request) -> web.Response:
        sent = await request.json()
        if self.status != 200 or self.body is not None:
            return web.Response(status=self.status, text=self.body or "{}", content_type="application/json")
        self.asked.append(sent)
        self.keys.append(sent.get("api_key", ""))
        told: dict[str, Any] = {"translatedText": [self(text, sent["target"]) for text in sent["q"]]}
        if sent["source"] == "auto":
            told["detectedLanguage"] = [{"confidence": 90, "language": "fr"} for _ in sent["q"]]
        return web.json_response(told)

    async def libre_languages(self, _request: web.Request) -> web.Response:
        if self.status != 200:
            return web.Response(status=self.status)
        known = ("en", "de", "fr")
        return web.json_response([{"code": code, "name": code, "targets": list(known)} for code in known])

    async def deepl(self, request: web.Request) -> web.Response:
        sent = await request.json()
        if self.status != 200:
            return web.Response(status=self.status)
        self.asked.append(sent)
        self.keys.append(request.headers.get("Authorization", ""))
        texts = [self(text, sent["target_lang"]) for text in sent["text"]]
        language = sent.get("source_lang", "FR")
        return web.json_response({"translations": [{"detected_source_language": language, "text": t} for t in texts]})

    async def deepl_languages(self, request: web.Request) -> web.Response:
        known = {"source": ("EN", "DE", "FR"), "target": ("EN-GB", "EN-US", "DE", "FR")}[request.query["type"]]
        return web.json_response([{"language": code, "name": code} for code in known])


@asynccontextmanager
async def service() -> AsyncIterator[Service]:
    made = Service()
    app = web.Application()
    app.router.add_post("/translate", made.libre)
    app.router.add_get("/languages", made.libre_languages)
    app.router.add_post("/v2/translate", made.deepl)
    app.router.add_get("/v2/languages", made.deepl_languages)
    async with TestServer(app) as server:
        made.url = f"http://127.0.0.1:{server.port}"
        yield made


async def _asks(member: Member, status: dict[str, Any], **sent: str) -> tuple[int, Any]:
    answer = await member.call("POST", f"/api/v1/statuses/{status['id']}/translate", json=sent)
    return answer.status_code, answer.json()


async def _reads(member: Member, status: dict[str, Any], **sent: str) -> Any:
    code, told = await _asks(member, status, **sent)
    assert code == 200, told
    check(told, TRANSLATION)
    return told


async def test_a_post_is_told_in_another_language(new_town: TownBuilder) -> None:
    async with service() as there:
        # given
        town = await new_town(
            translator="libretranslate", translator_url=f"{there.url}/", translator_key="k1", private_hosts="127.0.0.1"
        )
        ada, bob = await join(town), await join(town)
        await _add_emoji(town)
        cat = await post(
            ada,
            "Katze <b> :katze: #Katze",
            language="de",
            spoiler_text="Katze & Maus",
            poll={"options": ["Katze", "Maus <i>"], "expires_in": 600},
        )

        # when
        told = await _reads(bob, cat, lang="en")

        # then
        assert (told["language"], told["detected_source_language"], told["provider"]) == ("en", "de", "LibreTranslate")
        assert told["content"].startswith("[en] <p>cat &lt;b&gt; :katze: <a ")
        assert "script" not in str(told)
        assert told["spoiler_text"] == "[en] cat & Maus"
        assert told["poll"] == {
            "id": cat["poll"]["id"],
            "options": [{"title": "[en] cat"}, {"title": "[en] Maus <i>"}],
        }
        assert told["media_attachments"] == []
        [sent] = there.asked
        assert (sent["source"], sent["target"], sent["format"], sent["api_key"]) == ("de", "en", "html", "k1")
        assert '<span translate="no">:katze:</span>' in sent["q"][0]
        assert sent["q"][1:] == ["Katze &amp; Maus", "Katze", "Maus &lt;i&gt;"]

        # when another asks, for the same and for other languages
        assert await _reads(ada, cat, lang="en-GB") == told
        assert len(there.asked) == 1
        assert (await _reads(bob, cat, lang="fr"))["language"] == "fr"
        assert len(there.asked) == 2

        # when it is edited
        await ada.does("PUT", f"/api/v1/statuses/{cat['id']}", json={"status": "Die Katze", "language": "de"})
        assert (await _reads(bob, cat))["content"].startswith("[en] <p>Die cat")
        assert len(there.asked) == 3


async def test_pictures_and_boosts_are_told_too(new_town: TownBuilder) -> None:
    async with service() as there:
        town = await new_town(translator="libretranslate", translator_url=there.url, private_hosts="127.0.0.1")
        ada, bob = await join(town), await join(town)
        files = {"file": ("a.png", image_file("PNG", (40, 30)), "image/png")}
        cat, mouse = [
            (await ada.post("/api/v2/media", files=files, data={"description": text}))["id"] for text in ("Katze", "")
        ]
        seen = await post(ada, "", media_ids=[cat, mouse], language="de", visibility="unlisted")

        told = await _reads(bob, await does(bob, "reblog", seen), lang="en")

        assert (told["content"], told["poll"]) == ("", None)
        assert told["media_attachments"] == [
            {"id": cat, "description": "[en] cat"},
            {"id": mouse, "description": ""},
        ]
        assert there.asked[0]["q"] == ["Katze"]
        assert there.keys == [""]


async def test_the_language_is_the_readers(new_town: TownBuilder) -> None:
    """What they ask for, else what they have chosen, else what their app speaks, else English."""
    async with service() as there:
        town = await new_town(translator="libretranslate", translator_url=there.url, private_hosts="127.0.0.1")
        ada, bob = await join(town), await join(town)
        unknown = await post(ada, "Chat")
        async with town.house() as house, house.works.begin() as work:
            await work.db.run(_set_language, status=int(unknown["id"]), language=None)

        async def speaking(language: str) -> Any:
            path = f"/api/v1/statuses/{unknown['id']}/translate"
            return (await bob.post(path, headers={"Accept-Language": language}))["language"]

        told = await _reads(bob, unknown)
        assert (told["language"], told["detected_source_language"]) == ("en", "fr")
        assert await speaking("de-DE,de;q=0.9") == "de"
        assert await speaking("*") == "en"


async def test_what_is_not_translated(new_town: TownBuilder) -> None:
    async with service() as there:
        town = await new_town(translator="libretranslate", translator_url=there.url, private_hosts="127.0.0.1")
        ada, bob = await join(town), await join(town)
        await bob.to(ada, "follow")
        open_one = await post(ada, "Katze", language="de")
        private = await post(ada, "Katze", language="de", visibility="private")
        direct = await post(ada, "Katze", language="de", visibility="direct")
        strange = await post(ada, "nuqneH", language="tok")
        refused = (403, {"error": "This action is not allowed"})

        assert await _asks(bob, open_one, lang="de") == (403, {"error": "Diese Aktion ist nicht erlaubt"})
        assert await _asks(bob, open_one, lang="tok") == refused
        assert await _asks(bob, open_one, lang="x" * 5000) == refused
        assert await _asks(bob, strange, lang="en") == refused
        assert await _asks(bob, private, lang="en") == refused
        assert await _asks(bob, direct, lang="en") == (404, {"error": "Record not found"})
        assert await _asks(bob, {"id": "1"}, lang="en") == (404, {"error": "Record not found"})
        assert (await town.http.post(f"/api/v1/statuses/{open_one['id']}/translate")).status_code == 401
        assert there.asked == []


FAILURES = (
    (500, None, "Service Unavailable"),
    (403, None, "used up"),
    (429, None, "too often"),
    (200, "no JSON", "Service Unavailable"),
    (200, '{"translatedText": []}', "Service Unavailable"),
    (200, '{"translatedText": [1]}', "Service Unavailable"),
    (200, "[]", "Service Unavailable"),
)


async def test_a_service_that_fails_is_told_and_asked_again(new_town: TownBuilder) -> None:
    async with service() as there:
        town = await new_town(translator="libretranslate", translator_url=there.url, private_hosts="127.0.0.1")
        ada = await join(town)
        for status, body, words in FAILURES:
            cat = await post(ada, "Katze", language="de")
            there.status, there.body = status, body

            code, told = await _asks(ada, cat, lang="en")

            assert (code, words in told["error"]) == (503, True), (status, body, told)
            there.status, there.body = 200, None
            assert (await _reads(ada, cat, lang="en"))["language"] == "en"


async def test_nobody_is_asked_who_may_not_be_reached(new_town: TownBuilder) -> None:
    async with service() as there:
        town = await new_town(translator="libretranslate", translator_url=there.url)
        ada = await join(town)

        assert (await _asks(ada, await post(ada, "Katze", language="de"), lang="en"))[0] == 503
        assert (await town.http.get("/api/v1/instance/translation_languages")).status_code == 503
        assert there.asked == []


async def test_deepl(new_town: TownBuilder) -> None:
    async with service() as there:
        town = await new_town(
            translator="deepl", translator_url=there.url, translator_key="k2:fx", private_hosts="127.0.0.1"
        )
        ada = await join(town)
        cat = await post(ada, "Katze", language="de-AT")

        told = await _reads(ada, cat, lang="en-US")
        assert (told["language"], told["provider"], told["detected_source_language"]) == ("en-US", "DeepL.com", "de")
        assert told["content"] == "[EN-US] <p>cat</p>"
        assert (await _reads(ada, cat, lang="en-AU"))["content"] == "[EN] <p>cat</p>"
        sent = there.asked[0]
        assert (sent["source_lang"], sent["target_lang"], sent["tag_handling"]) == ("DE", "EN-US", "html")
        assert there.keys[0] == "DeepL-Auth-Key k2:fx"

        languages = (await town.http.get("/api/v1/instance/translation_languages")).json()
        assert languages["de"] == ["en", "pt", "en-GB", "en-US", "fr"]
        assert languages["und"] == ["en", "pt", "en-GB", "en-US", "de", "fr"]
        there.status = 456
        code, told = await _asks(ada, cat, lang="fr")
        assert (code, "used up" in told["error"]) == (503, True)


async def test_the_server_says_whether_it_translates(new_town: TownBuilder, town: Town) -> None:
    async with service() as there:
        other = await new_town(translator="libretranslate", translator_url=there.url, private_hosts="127.0.0.1")

        assert (await other.http.get("/api/v1/instance/translation_languages")).json() == {
            "en": ["de", "fr"],
            "de": ["en", "fr"],
            "fr": ["en", "de"],
            "und": ["en", "de", "fr"],
        }
        assert (await other.http.get("/api/v2/instance")).json()["configuration"]["translation"] == {"enabled": True}
    ada = await join(town)
    assert await _asks(ada, await post(ada, "Katze", language="de"), lang="en") == (404, {"error": "Record not found"})
    assert (await town.http.get("/api/v2/instance")).json()["configuration"]["translation"] == {"enabled": False}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"TRANSLATOR": "libretranslate"}, "KITH_TRANSLATOR_URL must say"),
        ({"TRANSLATOR": "deepl"}, "needs KITH_TRANSLATOR_KEY"),
        ({"TRANSLATOR": "deepl", "TRANSLATOR_KEY": "k", "TRANSLATOR_URL": "ftp://x"}, "must be like https"),
        ({"TRANSLATOR_KEY": "k"}, "libretranslate or deepl"),
        ({"TRANSLATOR": "somebody"}, "KITH_TRANSLATOR"),
    ],
)
def test_half_a_translator_is_told(settings: dict[str, str], words: str) -> None:
    with pytest.raises(BadSettings, match=words):
        load({f"KITH_{name}": value for name, value in settings.items()})


async def _add_emoji(town: Town) -> None:
    path = town.folder / "katze.png"
    path.write_bytes(image_file("PNG", (20, 20)))
    await town.kith("emoji", "add", "katze", str(path))

"""What the social API says when something cannot be done, in the language of whoever asks."""

from __future__ import annotations

import pytest

from kith.social.languages import language
from tests.social.members import join
from tests.social.tokens import new_app
from tests.town import Town


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("can't be blank", "muss ausgefüllt werden"),
        ("is too long (maximum is 30 characters)", "ist zu lang (höchstens 30 Zeichen)"),
        (
            "Media 1, 2 not found or already attached to another post",
            "Die Datei 1, 2 gibt es nicht, oder sie gehört schon zu einem anderen Beitrag",
        ),
        (
            "is invalid: File type of uploaded media could not be verified",
            "ist nicht gültig: Die Art der Datei ließ sich nicht feststellen",
        ),
        ("contained a disallowed hashtag: {count}", "enthält einen nicht erlaubten Hashtag: {count}"),
        ("is too long (maximum is 1 character)", "ist zu lang (höchstens 1 Zeichen)"),
        ("There is more than 1 file", "Es ist mehr als 1 Datei"),
        ("There are more than 4 files", "Es sind mehr als 4 Dateien"),
        ("100x200 images are not supported", "Bilder mit 100x200 Punkten werden nicht unterstützt"),
        ("100x200 GIFs are not supported", "GIFs mit 100x200 Punkten werden nicht unterstützt"),
        ("nobody ever says this", "nobody ever says this"),
        ("x" * 5000, "x" * 5000),
        ("", ""),
    ],
)
def test_finished_sentences_are_said_again(said: str, meant: str) -> None:
    assert language("de").say(said) == meant
    assert language("en").say(said) == said


async def test_errors_are_told_in_the_callers_language(town: Town) -> None:
    ada = await join(town)
    german = {"Accept-Language": "de-AT,de;q=0.9,en;q=0.5"}
    blank = "Gültigkeitsprüfung fehlgeschlagen: Titel muss ausgefüllt werden"
    answer = await ada.call("POST", "/api/v1/lists", json={"title": ""}, headers=german)
    assert (answer.status_code, answer.json()["error"]) == (422, blank)
    assert answer.json()["details"]["title"] == [{"error": "ERR_BLANK", "description": "muss ausgefüllt werden"}]
    assert answer.headers["content-language"] == "de"
    assert "accept-language" in answer.headers["vary"].lower()
    # The parameter goes before the header, wherever it stands.
    for options in ({"params": {"lang": "de-DE"}}, {"json": {"title": "", "lang": "de"}}, {"data": {"lang": "de"}}):
        answer = await ada.call("POST", "/api/v1/lists", headers={"Accept-Language": "en"}, **options)
        assert (answer.status_code, answer.json()["error"]) == (422, blank), options
    answer = await ada.call("POST", "/api/v1/lists", json={"title": "", "lang": "en"}, headers=german)
    assert answer.json()["error"] == "Validation failed: Title can't be blank"
    # Whatever a stranger is told, and what other rooms say.
    for path, words in (
        ("/api/v1/statuses/1", "Eintrag nicht gefunden"),
        ("/api/v1/nothing/here", "Eintrag nicht gefunden"),
        ("/api/v1/lists", "Der Zugang ist ungültig"),
    ):
        answer = await town.http.get(path, headers=german)
        assert answer.json()["error"] == words, path
        assert answer.headers["content-language"] == "de"
        assert (await town.http.get(path)).headers["content-language"] == "en"
    app = await new_app(town, "read write")
    headers = german | {"Authorization": f"Bearer {await app.token('write:accounts')}"}
    answer = await town.http.post("/api/v1/accounts", json={"username": "a b"}, headers=headers)
    details = answer.json()["details"]
    assert details["agreement"] == [{"error": "ERR_ACCEPTED", "description": "muss akzeptiert werden"}]
    assert [one["error"] for one in details["email"]] == ["ERR_BLANK", "ERR_INVALID"]
    assert "E-Mail-Adresse muss ausgefüllt werden" in answer.json()["error"]

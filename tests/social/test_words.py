"""What the social API says when something cannot be done, in the language of whoever asks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kith.base.words import Phrases, best_of
from kith.social.languages import LANGUAGES, de
from tests.social.members import join
from tests.social.tokens import new_app
from tests.sources import tree_of
from tests.town import Town

SOURCES = Path(__file__).parents[2] / "src" / "kith"
# Where errors of the social API are raised, and what says them. What only commands say is not among it.
ROOMS = [
    *SOURCES.glob("social/**/*.py"), *SOURCES.glob("base/params/*.py"), *SOURCES.glob("identity/registration/*.py"),
    SOURCES / "base/errors.py", SOURCES / "base/edge.py", SOURCES / "base/exchange.py", *SOURCES.glob("base/server/*.py"), SOURCES / "identity/users/reserved.py", SOURCES / "app.py",
]  # fmt: skip
BY_COMMANDS = {"social/instance/service.py", "social/emojis/own.py"}
SAY = {
    "Complaint", "wrong", "_wrong", "_full", "Invalid", "Forbidden", "NotFound", "Unauthenticated", "Unprocessable",
    "Malformed", "Refused", "BadFile", "CannotAttach", "Problem", "Conflict", "_refused", "UnsupportedMedia",
    "MethodNotAllowed", "Unavailable", "Throttled",
}  # fmt: skip
_GAP = re.compile(r"\{\w*\}")


def texts_of(node: ast.AST | None, known: dict[str, list[ast.expr]]) -> Iterator[str]:
    """Plain and made texts, with `{}` for what is put into them; names are followed within a file."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=values):
            yield "".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in values)
        case ast.IfExp(body=body, orelse=orelse):
            yield from texts_of(body, known)
            yield from texts_of(orelse, known)
        case ast.Name(id=name):
            for value in known.pop(name, ()):
                yield from texts_of(value, known)
        case _:
            return


def said_in(page: Path) -> set[str]:
    tree = tree_of(page)
    known: dict[str, list[ast.expr]] = {}
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            known.setdefault(node.targets[0].id, []).append(node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            known.setdefault(node.target.id, []).append(node.value)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in SAY:
            for given in (
                *node.args[:1],
                *(one.value for one in node.keywords if one.arg not in ("fields", "headers")),
            ):
                found.update(texts_of(given, dict(known)))
    for value in known.get("message", ()):
        found.update(texts_of(value, dict(known)))
    if page.name == "poll.py":  # complaints that are gathered before they are raised
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "complaints.append":
                [pair] = node.args
                assert isinstance(pair, ast.Tuple)
                found.update(texts_of(pair.elts[1], {}))
    return found


def all_said() -> set[str]:
    pages = [page for page in ROOMS if str(page.relative_to(SOURCES)) not in BY_COMMANDS]
    said = {text for page in pages for text in said_in(page)}
    return {_GAP.sub("{}", text) for text in said if " " in text or text[:1].isupper()}


# What is said elsewhere than by raising, or is put together from several places.
ELSEWHERE = {
    "Internal Server Error", "Post would be sent to unexpected accounts",
    "Ensure this field has no more than 150 characters.", "Ensure this field has no more than 254 characters.",
    "{} of more than {} frames are not supported", "param is missing or the value is empty or invalid: {}",
}  # fmt: skip


def test_the_catalogue_knows_every_error() -> None:
    known = {_GAP.sub("{}", text) for text in de.WORDS}
    said = all_said()
    made = Phrases(de.WORDS)
    assert sorted(text for text in said if _GAP.sub("{}", text) not in known and made(text) == text) == []
    assert sorted(known - said - ELSEWHERE) == []


def test_what_stands_in_a_sentence_stays_in_it() -> None:
    for said, meant in de.WORDS.items():
        assert sorted(_GAP.findall(said)) == sorted(_GAP.findall(meant)), said


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("can't be blank", "muss ausgefüllt werden"),
        ("is too long (maximum is 30 characters)", "ist zu lang (höchstens 30 Zeichen)"),
        ("Media 1, 2 not found or already attached to another post",
         "Die Datei 1, 2 gibt es nicht, oder sie gehört schon zu einem anderen Beitrag"),
        ("is invalid: File type of uploaded media could not be verified",
         "ist nicht gültig: Die Art der Datei ließ sich nicht feststellen"),
        ("contained a disallowed hashtag: {count}", "enthält einen nicht erlaubten Hashtag: {count}"),
        ("nobody ever says this", "nobody ever says this"),
        ("x" * 5000, "x" * 5000),
        ("", ""),
    ],
)  # fmt: skip
def test_finished_sentences_are_said_again(said: str, meant: str) -> None:
    assert LANGUAGES["de"].say(said) == meant
    assert LANGUAGES["en"].say(said) == said


def test_the_best_language() -> None:
    assert best_of("fr, de;q=0.5, en;q=0.4", LANGUAGES) == "de"
    assert best_of("fr", LANGUAGES) == "en"
    assert best_of("", LANGUAGES) == "en"


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

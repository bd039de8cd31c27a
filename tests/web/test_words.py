"""Every word of our pages is known in every language, and no catalogue holds words that nobody says."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from jinja2 import Environment
from jinja2.ext import extract_from_ast

from kith.identity.executor import shipped_flows
from kith.identity.providers.oauth2.access import checks
from kith.identity.providers.oauth2.authorize import attempt
from kith.identity.providers.oauth2.consent import scope_texts
from kith.web import device
from kith.web.languages import de
from kith.web.words import CATALOGUES, LANGUAGES, SPEAKERS, best_of
from tests.sources import tree_of
from tests.town import Town
from tests.web.browsing import Browser

SOURCES = Path(__file__).parents[2] / "src" / "kith"
# What speaks to people in flows and settings, and which of its arguments is the words.
_SPEAK = {"Denied": 0, "complain": 1, "messages.leave": 2}


def in_templates() -> set[str]:
    environment = Environment(autoescape=True)
    found: set[str] = set()
    for page in (SOURCES / "web" / "templates").rglob("*.html"):
        for _line, _name, said in extract_from_ast(environment.parse(page.read_text()), ["_"]):
            first = said[0] if isinstance(said, tuple) else said
            if isinstance(first, str):
                found.add(first)
    return found


def said_in(folder: Path, speaks: dict[str, int]) -> set[str]:
    """What is handed to these functions at this place: plain text, or a constant of the same module."""
    found: set[str] = set()
    for page in folder.rglob("*.py"):
        tree = tree_of(page)
        constants = {
            target.id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                whole = ast.unparse(node.func)
                if whole == "draft.complain":
                    continue  # to a program, by the API
                name = whole if whole in speaks else whole.rpartition(".")[2]
                given = node.args[speaks[name]] if name in speaks and len(node.args) > speaks[name] else None
                given = constants.get(given.id) if isinstance(given, ast.Name) else given
                if isinstance(given, ast.Constant) and isinstance(given.value, str):
                    found.add(given.value)
    return found


def in_pages() -> set[str]:
    return said_in(SOURCES / "web", {"say": 0, "later": 0})


def in_flows() -> set[str]:
    """What stages say, and what the flows that come with kith are called and ask."""
    rooms = [SOURCES / "identity" / room for room in ("executor", "stages", "own")]
    said = {words for room in rooms for words in said_in(room, _SPEAK)}
    named = {str(values["name"]) for values, _ in shipped_flows.FLOWS.values()}
    asked = {
        str(prompt[key]) for prompt in shipped_flows.PROMPTS.values() for key in ("label", "sub_text") if key in prompt
    }
    return said | named | asked


def in_applications() -> set[str]:
    """What is said to whoever lets an application in."""
    room = SOURCES / "identity" / "providers" / "oauth2"
    turned_away = {words for name, words in vars(checks).items() if name.isupper() and isinstance(words, str)}
    shown = {device.WRONG, device.TOO_MANY, attempt.DENIED}
    return (
        said_in(room, {"Unfit": 0})
        | said_in(room, {"Unfit": 1})
        | turned_away
        | shown
        | set(scope_texts.WORDS.values())
    )


def all_strings() -> set[str]:
    """Every piece of text in the code; what is said with a value in it stands there in parts."""
    found: set[str] = set()
    for page in SOURCES.rglob("*.py"):
        if "languages" not in page.parts:
            found |= {
                node.value
                for node in ast.walk(tree_of(page))
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            }
    return found


def test_every_word_is_known_in_every_language() -> None:
    needed = in_templates() | in_pages() | in_flows() | in_applications()
    assert len(needed) > 200
    for language, catalogue in CATALOGUES.items():
        if language != "en":
            assert sorted(needed - set(catalogue)) == [], language


def test_no_catalogue_holds_words_that_nobody_says() -> None:
    assert sorted(set(de.WORDS) - in_templates() - in_pages()) == []
    assert sorted(set(de.SAID_ELSEWHERE) - all_strings()) == []
    assert sorted(set(de.WORDS) & set(de.SAID_ELSEWHERE)) == []


def test_translations_have_the_same_places_for_values() -> None:
    assert set(LANGUAGES) == set(CATALOGUES) == set(SPEAKERS)
    for catalogue in CATALOGUES.values():
        for english, translated in catalogue.items():
            assert sorted(re.findall(r"{\w+}", english)) == sorted(re.findall(r"{\w+}", translated)), english
            assert translated.strip() == translated != ""


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        ("", "en"),
        ("de", "de"),
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("fr, de;q=0.5, en;q=0.7", "en"),
        ("en;q=0, de;q=0.1", "de"),
        ("*", "en"),
        ("de;q=rubbish", "en"),
        ("DE-de", "de"),
        (";;;,,,q=", "en"),
    ],
)
def test_the_browsers_best_language_is_taken(accepted: str, expected: str) -> None:
    assert best_of(accepted) == expected


async def test_a_visitor_reads_their_browsers_language_and_may_choose_another(town: Town) -> None:
    browser = Browser(town)
    browser.http.headers["Accept-Language"] = "de-DE,de;q=0.9"
    try:
        page = await browser.open("/")
        assert '<html lang="de">' in page.text
        assert "Anmelden" in page.text
        assert '<html lang="de">' in (await browser.http.get("/nothing/here")).text
        form = {"csrf": browser.cookie("kith_csrf") or "", "language": "en", "next": "/flows/default-enrollment-flow/"}

        assert (await browser.http.post("/settings/language", data=form | {"csrf": "x"})).status_code == 403
        assert (await browser.http.post("/settings/language", data=form | {"language": "tlh"})).status_code == 400
        away = await browser.http.post("/settings/language", data=form | {"next": "https://evil.example/"})
        assert away.headers["location"] == "/"
        page = await browser.http.post("/settings/language", data=form, follow_redirects=True)

        assert page.url.path == "/flows/default-enrollment-flow/"
        assert '<html lang="en">' in page.text
        assert "Sign up" in page.text
    finally:
        await browser.close()


async def test_a_members_language_goes_with_them_to_other_browsers(town: Town) -> None:
    ada = await town.sign_up()
    here, there = Browser(town), Browser(town)
    try:
        await here.sign_in(ada.username, ada.password)
        form = {"csrf": here.cookie("kith_csrf") or "", "language": "de", "next": "/settings/security"}
        page = await here.http.post("/settings/language", data=form, follow_redirects=True)
        assert "Sicherheit" in page.text

        there.http.headers["Accept-Language"] = "en"
        page = await there.sign_in(ada.username, ada.password)
        assert f"Du bist angemeldet als {ada.username}." in page.text
        assert '<html lang="de">' in (await there.open("/flows/default-password-change/")).text
        me = (await ada.get("/api/v2/core/users/me/")).json()
        assert me["attributes"]["settings"]["locale"] == "de"
    finally:
        await here.close()
        await there.close()

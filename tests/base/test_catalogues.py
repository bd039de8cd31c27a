"""Catalogues: what is read of `.po` files, which plural form a number takes, and texts that are translated afterwards."""

from __future__ import annotations

import gettext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kith.base.catalogues import Catalogue, FinishedTexts, catalogue, counted
from kith.base.catalogues.plural_rule import PluralRuleError, read_plural_rule
from kith.base.catalogues.po_file import CatalogueEntry, CatalogueError, read_entries
from kith.base.languages import preferred_language

PO = r"""
# A translator's comment.
msgid ""
msgstr ""
"Language: pl\n"
"Plural-Forms: nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);\n"

#: somewhere.py
msgid "A \"quoted\" text\n"
"in two lines"
msgstr "Tekst \"w cudzysłowie\"\n"
"w dwóch wierszach"

#, fuzzy
msgid "A guess"
msgstr "Domysł"

msgid "Not translated yet"
msgstr ""

msgctxt "field"
msgid "Name"
msgstr "Nazwa"

msgid "Name"
msgstr "Imię"

msgid "{count} file"
msgid_plural "{count} files"
msgstr[0] "{count} plik"
msgstr[1] "{count} pliki"
msgstr[2] "{count} plików"

#~ msgid "Obsolete"
#~ msgstr "Stary"
"""


def test_what_stands_in_a_file_is_found() -> None:
    polish = Catalogue(read_entries(PO.splitlines()))
    assert polish.translate('A "quoted" text\nin two lines') == 'Tekst "w cudzysłowie"\nw dwóch wierszach'
    assert polish.translate("Name") == "Imię"
    assert polish.translate("Name", context="field") == "Nazwa"
    for text in ("A guess", "Not translated yet", "Obsolete", "unknown", ""):
        assert polish.translate(text) == text
    forms = [polish.translate_count("{count} file", "{count} files", count) for count in (1, 2, 5, 12, 22, 0)]
    assert forms == [f"{{count}} {word}" for word in ("plik", "pliki", "plików", "plików", "pliki", "plików")]
    assert polish.translate_count("{count} fish", "{count} fishes", 1) == "{count} fish"
    assert polish.translate_count("{count} fish", "{count} fishes", 2) == "{count} fishes"


def test_finished_texts_are_translated_with_what_is_in_them() -> None:
    say = FinishedTexts(Catalogue(read_entries(PO.splitlines())))
    assert [say(counted("{count} file", "{count} files", count)) for count in (1, 3, 5)] == [
        "1 plik",
        "3 pliki",
        "5 plików",
    ]
    assert say("Name") == "Imię"
    assert say("many files") == "many plik"  # not a number: the first form
    assert say("x" * 5000 + " files") == "x" * 5000 + " files"


@pytest.mark.parametrize("line", ['msgid "open', "msgid", 'msgfoo "x"', '"belongs to nothing"', "rubbish"])
def test_what_is_no_catalogue_is_refused(line: str) -> None:
    with pytest.raises(CatalogueError, match="line 1"):
        list(read_entries([line]))


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        entries = list(read_entries(text.splitlines()))
    except CatalogueError:
        return
    assert all(isinstance(one, CatalogueEntry) for one in entries)


RULES = [
    (1, "0"),
    (2, "n != 1"),
    (2, "(n > 1)"),
    (2, "n%10!=1 || n%100==11"),
    (3, "n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2"),
    (4, "(n%100==1 ? 1 : n%100==2 ? 2 : n%100==3 || n%100==4 ? 3 : 0)"),
    (6, "n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5"),
    (3, "n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2"),
    (2, "!(n == 1)"),
    (3, "(n + 1) * 2 / 3 - 1 > 2 ? n % 3 : !n"),
]


@pytest.mark.parametrize(("count", "rule"), RULES)
def test_plural_rules_give_what_gettext_gives(count: int, rule: str) -> None:
    forms, form_of = read_plural_rule(f"nplurals={count}; plural={rule};")
    theirs = gettext.c2py(rule)
    assert forms == count
    for number in (*range(250), 1000, 1_000_001):
        assert form_of(number) == int(theirs(number)), number


@pytest.mark.parametrize(
    "header",
    [
        "",
        "plural=n",
        "nplurals=2",
        "nplurals=2; plural=",
        "nplurals=2; plural=__import__('os')",
        "nplurals=2; plural=n n",
        "nplurals=2; plural=(n",
        "nplurals=2; plural=n ? 1",
        "nplurals=2; plural=m",
        f"nplurals=2; plural={'(' * 200}n{')' * 200}",
        f"nplurals=2; plural={'!' * 400}n",
        f"nplurals=2; plural={'n+' * 5000}n",
        "nplurals=2; plural=n**9**9",
    ],
)
def test_other_plural_rules_are_refused(header: str) -> None:
    with pytest.raises(PluralRuleError):
        read_plural_rule(header)


def test_a_rule_that_points_nowhere_means_the_first_form() -> None:
    for rule in ("n", "n / 0", "0 - 1"):
        assert read_plural_rule(f"nplurals=2; plural={rule};")[1](7) == 0


@given(st.text(alphabet="n0123456789()?:!=<>&|+-*/% ", max_size=60), st.integers(0, 10**6))
def test_any_rule_is_refused_or_gives_one_of_its_forms(rule: str, number: int) -> None:
    try:
        _, form_of = read_plural_rule(f"nplurals=3; plural={rule};")
    except PluralRuleError:
        return
    assert 0 <= form_of(number) < 3


def test_a_language_is_read_once_and_english_not_at_all() -> None:
    assert catalogue("pages", "de") is catalogue("pages", "de")
    assert list(catalogue("pages", "en").entries) == []
    assert catalogue("pages", "en").translate_count("{count} file", "{count} files", 2) == "{count} files"


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [("fr, de;q=0.5, en;q=0.4", "de"), ("fr", "en"), ("", "en"), ("en, de", "en"), ("de, en", "de")],
)
def test_the_language_that_is_liked_best(accepted: str, expected: str) -> None:
    assert preferred_language(accepted) == expected

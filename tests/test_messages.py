"""Every text for people is in every catalogue, and no catalogue holds anything else."""

from __future__ import annotations

import pytest

from kith.base.catalogues import DOMAINS, FOLDER
from kith.base.catalogues.plural_rule import read_plural_rule
from kith.base.catalogues.po_file import CatalogueEntry, read_entries
from kith.base.languages import LANGUAGES
from tests.messages import TEXTS, path_of, updated
from tests.source_texts import PLACEHOLDER, Text, shape_of

TRANSLATED = sorted(set(LANGUAGES) - {"en"})
PAIRS = [(domain, language) for domain in DOMAINS for language in TRANSLATED]


def entries_of(domain: str, language: str) -> list[CatalogueEntry]:
    return [one for one in read_entries(path_of(domain, language).read_text().splitlines()) if one.text]


def needed_in(domain: str) -> set[tuple[str, str, bool]]:
    return {(one.context, shape_of(one.text), bool(one.plural)) for one in TEXTS[domain]()}


def test_every_language_has_its_catalogues() -> None:
    assert sorted(folder.name for folder in FOLDER.iterdir()) == TRANSLATED
    for domain, language in PAIRS:
        assert path_of(domain, language).is_file()


def test_enough_is_found_in_the_sources() -> None:
    assert len(TEXTS["pages"]()) > 480
    assert len(TEXTS["social_api"]()) > 180
    for text in (
        Text("{count} code left", "{count} codes left", place="web/templates/settings/factors.html"),
        Text("Name", context="field", place="social/languages.py"),
    ):
        assert text in [*TEXTS["pages"](), *TEXTS["social_api"]()]


@pytest.mark.parametrize(("domain", "language"), PAIRS)
def test_catalogues_hold_all_texts_and_no_others(domain: str, language: str) -> None:
    held = {(one.context, shape_of(one.text), bool(one.plural)) for one in entries_of(domain, language)}
    assert sorted(needed_in(domain) - held) == [], "run scripts/messages, then translate these"
    assert sorted(held - needed_in(domain)) == [], "nobody says these any more: run scripts/messages"


@pytest.mark.parametrize(("domain", "language"), PAIRS)
def test_catalogues_are_written_as_the_script_writes_them(domain: str, language: str) -> None:
    """In what order, and with which file beside each text, does not matter: code may move."""
    there, written = (
        sorted(
            "\n".join(line for line in block.splitlines() if not line.startswith("#:")) for block in text.split("\n\n")
        )
        for text in (path_of(domain, language).read_text(), updated(domain, language))
    )
    assert [block.strip() for block in there] == [block.strip() for block in written], "run scripts/messages"


@pytest.mark.parametrize(("domain", "language"), PAIRS)
def test_translations_keep_the_placeholders(domain: str, language: str) -> None:
    header = next(read_entries(path_of(domain, language).read_text().splitlines())).translations[0]
    rule = next(line for line in header.splitlines() if line.startswith("Plural-Forms:"))
    forms, _ = read_plural_rule(rule.partition(":")[2])
    for entry in entries_of(domain, language):
        assert len(entry.translations) == (forms if entry.plural else 1), entry
        wanted = sorted(PLACEHOLDER.findall(entry.text))
        for translated in entry.translations:
            assert translated.strip() == translated != "", entry
            assert sorted(PLACEHOLDER.findall(translated)) == wanted, entry

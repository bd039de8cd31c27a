"""`scripts/messages`: brings the catalogues in src/kith/locale to what the sources say.

New texts are added without a translation, texts that nobody says any more are removed, all else stays. With the name of
a language that has no catalogues yet, they are made.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from kith.base.catalogues import DOMAINS, FOLDER
from kith.base.catalogues.plural_rule import read_plural_rule
from kith.base.catalogues.po_file import CatalogueEntry, read_entries
from tests.source_texts import Text, shape_of, texts_of_mails, texts_of_pages, texts_of_social_api

__all__ = ["TEXTS", "path_of", "updated"]

TEXTS: dict[str, Callable[[], list[Text]]] = {
    "pages": texts_of_pages,
    "social_api": texts_of_social_api,
    "mails": texts_of_mails,
}
assert set(TEXTS) == set(DOMAINS)
_HEADER = "Language: {language}\nContent-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=(n != 1);\n"


def path_of(domain: str, language: str) -> Path:
    return FOLDER / language / "LC_MESSAGES" / f"{domain}.po"


def updated(domain: str, language: str) -> str:
    """The text of the catalogue as it should be."""
    path = path_of(domain, language)
    entries = list(read_entries(path.read_text(encoding="utf-8").splitlines())) if path.exists() else []
    header = next((one.translations[0] for one in entries if not one.text), _HEADER.format(language=language))
    rule = next(line for line in header.splitlines() if line.startswith("Plural-Forms:"))
    forms, _ = read_plural_rule(rule.partition(":")[2])
    known = {(one.context, shape_of(one.text), bool(one.plural)): one for one in entries if one.text}
    blocks = ['msgid ""\n' + _written("msgstr", header)]
    blocks += [
        _block(text, known.get((text.context, shape_of(text.text), bool(text.plural))), forms)
        for text in sorted(TEXTS[domain](), key=lambda one: one.place)
    ]
    return "\n".join(blocks)


def _block(text: Text, known: CatalogueEntry | None, forms: int) -> str:
    """An entry that is there keeps its own names for placeholders: its translation uses them."""
    one, many = (known.text, known.plural) if known else (text.text, text.plural)
    lines = [f"#: {text.place}\n"]
    if text.context:
        lines.append(_written("msgctxt", text.context))
    lines.append(_written("msgid", one))
    if not text.plural:
        lines.append(_written("msgstr", known.translations[0] if known else ""))
        return "".join(lines)
    lines.append(_written("msgid_plural", many))
    translations = known.translations if known and len(known.translations) == forms else [""] * forms
    lines += [_written(f"msgstr[{place}]", translation) for place, translation in enumerate(translations)]
    return "".join(lines)


def _written(keyword: str, text: str) -> str:
    lines = text.splitlines(keepends=True)
    if len(lines) > 1:
        return f'{keyword} ""\n' + "".join(f"{_quoted(line)}\n" for line in lines)
    return f"{keyword} {_quoted(text)}\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def main(languages: list[str]) -> int:
    for language in languages or sorted(folder.name for folder in FOLDER.iterdir() if folder.is_dir()):
        for domain in DOMAINS:
            path = path_of(domain, language)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(updated(domain, language), encoding="utf-8")
            translated = sum(1 for one in read_entries(path.read_text().splitlines()) if one.text)
            total = len(TEXTS[domain]())
            print(f"{path.relative_to(FOLDER.parents[2])}: {translated} of {total} texts are translated")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

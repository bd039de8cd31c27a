"""What pages say of a collection, of its fields and of what can be chosen: texts of the catalogue, by the tables here.

What is in no table still has a page: its words are made from the API's.
"""

from __future__ import annotations

from typing import Any

from kith.identity import for_pages as identity
from kith.web.admin.words import applications, everywhere, people, signing_in, sources
from kith.web.admin.words.choices import CHOICES
from kith.web.admin.words.events import PLACES, event_words
from kith.web.admin.words.names import NAMES, RecordName
from kith.web.admin.words.spelling import label_of

__all__ = ["HELPS", "LABELS", "choice_words", "field_help", "field_label", "kind_name", "name_of", "place_words"]

_MODELS = {f"{one.area}.{one.model}": NAMES[one.path].one for one in identity.RESOURCES if one.path in NAMES}
_TABLES = (everywhere, people, applications, signing_in, sources)
LABELS: dict[str, str] = {key: words for table in _TABLES for key, words in table.LABELS.items()}
HELPS: dict[str, str] = {key: words for table in _TABLES for key, words in table.HELPS.items()}


def name_of(resource: Any) -> RecordName:
    found = NAMES.get(resource.path)
    if found is None:
        words = label_of(resource.path.strip("/").replace("/", "_").partition("_")[2] or resource.name)
        return RecordName(words, words, resource.describe)
    return found


def kind_name(resources: Any, area: str, kind: str) -> RecordName:
    """Of a kind (`otpstatic`) among those of an area (`stages`)."""
    found = next((one for one in resources if one.area == area and one.kind == kind and one.family is not None), None)
    return RecordName(label_of(kind), label_of(kind), "") if found is None else name_of(found)


def field_label(resource: Any, name: str) -> str:
    """The key of a record is its ID, whatever the API calls it."""
    if name == resource.key and name not in {field.name for field in resource.all_fields}:
        name = "pk"
    return _of(LABELS, resource.path, name) or label_of(name)


def field_help(resource: Any, field: Any) -> str:
    """The page's own help where there is one (it may be empty), and else the API's."""
    found = _of(HELPS, resource.path, field.name)
    return str(field.help) if found is None else found


def choice_words(resource: Any, name: str, value: Any) -> str:
    if (resource.path, name) == ("/audit/events/", "action"):
        return event_words(str(value))
    if (resource.path, name) == ("/audit/events/", "app"):
        return place_words(str(value))
    table = CHOICES.get(resource.path + name) or CHOICES.get(name) or {}
    return table.get(str(value), str(value))


def place_words(app: str) -> str:
    """The part of the server that wrote down an event; what extensions call theirs stays as it is."""
    return PLACES.get(app) or _MODELS.get(app, app)


def _of(table: dict[str, str], path: str, name: str) -> str | None:
    return table.get(path + name, table.get(name))
